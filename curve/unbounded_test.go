package curve

import (
	"math"
	"strconv"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func ripple(t *testing.T) fit.Curve {
	g := golden(t).Unbounded
	s := fit.Series{X: g.Y}
	for _, at := range g.T {
		s.T = append(s.T, at-10)
	}
	return fit.Curve{s}
}

func unbounded(g privacy.Guarantee) Unbounded {
	return Unbounded{Config: Config{Guarantee: g, Metric: privacy.L2, Components: []string{"x"}, Method: Segment, MaxLevel: 7}, Unit: 1, Most: 5}
}

func TestGoldenTails(t *testing.T) {
	g := golden(t).Unbounded
	c := ripple(t)
	near(t, "norm", outside(c, space.Interval{A: -20, B: -20}), g.Norm)
	for half, want := range g.Tail {
		h, err := strconv.ParseFloat(half, 64)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "tail beyond "+half, outside(c, space.Interval{A: -h, B: h}), want)
	}
}

func TestUnboundedWindow(t *testing.T) {
	c := ripple(t)
	u := unbounded(privacy.Geo(1e6))
	for _, method := range []Method{Segment, Denoise, Project} {
		u.Method = method
		r, err := PrivatizeUnbounded(u, c, noise.Seeded(2))
		if err != nil {
			t.Fatal(err)
		}
		// At so large an ε all of the curve is needed, up to 10; beyond, chance decides.
		if d := r.Release.Space.Domain(); d != (space.Interval{A: -16, B: 16}) && d != (space.Interval{A: -32, B: 32}) {
			t.Errorf("window %v, want [-16,16] or twice that", d)
		}
		checkTrace(t, u.Config, r.Trace, nil)
		if at := r.Release.At(-15); math.Abs(at) > 0.3 {
			t.Errorf("%s: %g where the curve has ended", method, at)
		}
		if at := r.Release.At(0); method == Segment && math.Abs(at-1) > 0.1 {
			t.Errorf("%s: %g at the peak", method, at)
		}
	}
	u = unbounded(privacy.Geo(0.3))
	r, err := PrivatizeUnbounded(u, c, noise.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, u.Config, r.Trace, nil)
	if r.Trace[0].Step != "window (sparse vector)" {
		t.Errorf("trace %v", r.Trace)
	}
}

// Cut to a window, a curve keeps its values inside and is zero where it had no
// samples.
func TestWithin(t *testing.T) {
	s := fit.Series{T: []float64{-1, 0, 4}, X: []float64{2, 3, 7}}
	for _, c := range []struct {
		window space.Interval
		at     map[float64]float64
	}{
		{space.Interval{A: -8, B: 8}, map[float64]float64{-8: 0, -1.001: 0, -1: 2, 0: 3, 2: 5, 4: 7, 4.001: 0, 8: 0}},
		{space.Interval{A: -0.5, B: 2}, map[float64]float64{-0.5: 2.5, 0: 3, 1: 4, 2: 5}},
		{space.Interval{A: 1, B: 2}, map[float64]float64{1: 4, 1.5: 4.5, 2: 5}},
		{space.Interval{A: 5, B: 6}, map[float64]float64{5: 0, 5.5: 0, 6: 0}},
		{space.Interval{A: -1, B: 4}, map[float64]float64{-1: 2, 4: 7}},
	} {
		cut := within(s, c.window)
		if err := (fit.Curve{cut}).Check(c.window, 1); err != nil {
			t.Errorf("%v: %v", c.window, err)
		}
		for at, want := range c.at {
			if got := cut.At(at); math.Abs(got-want) > 1e-12 {
				t.Errorf("%v: %g at %g, want %g", c.window, got, at, want)
			}
		}
	}
}

func TestUnboundedRefused(t *testing.T) {
	for _, spoil := range []func(*Unbounded){
		func(u *Unbounded) { u.Metric = privacy.RMS },
		func(u *Unbounded) { u.Metric = "" },
		func(u *Unbounded) { u.Window = space.Interval{A: 0, B: 1} },
		func(u *Unbounded) { u.Unit = 0 },
		func(u *Unbounded) { u.Most = 0 },
		func(u *Unbounded) { u.Origin = math.NaN() },
		func(u *Unbounded) { u.Components = nil },
	} {
		u := unbounded(privacy.Geo(1))
		spoil(&u)
		if _, err := PrivatizeUnbounded(u, ripple(t), noise.Seeded(1)); err == nil {
			t.Errorf("%+v is accepted", u)
		}
	}
}

func TestProjectVectorCircle(t *testing.T) {
	domain := space.Interval{A: 0, B: 2 * math.Pi}
	circle := func(dst []float64, t float64) { dst[1], dst[0] = math.Sincos(t) }
	right := func(dst []float64, _ float64) { dst[0], dst[1] = 1, 0 }
	up := func(dst []float64, _ float64) { dst[0], dst[1] = 0, 1 }
	basis, err := space.Span(domain, 2, circle, right, up)
	if err != nil {
		t.Fatal(err)
	}
	c := fit.Curve{{}, {}}
	for i := range 1001 {
		at := domain.B * float64(i) / 1000
		for k, x := range []float64{4.8*math.Cos(at) - 2, 4.8*math.Sin(at) - 1} {
			c[k].T, c[k].X = append(c[k].T, min(at, domain.B)), append(c[k].X, x)
		}
	}
	config := Config{Window: domain, Guarantee: privacy.Geo(1e5), Components: []string{"x", "y"}}
	r, err := ProjectVector(config, basis, c, noise.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 2)
	for _, at := range []float64{0, 1, 4} {
		r.Eval(x, at)
		if math.Abs(x[0]-4.8*math.Cos(at)+2) > 1e-3 || math.Abs(x[1]-4.8*math.Sin(at)+1) > 1e-3 {
			t.Errorf("at %g: %v", at, x)
		}
	}
	if len(r.Coordinates) != 3 || r.Private {
		t.Errorf("%+v", r)
	}
	checkTrace(t, r.config(config), r.Trace, nil)
}

func (r *VectorResult) config(c Config) Config { return c.defaults() }
