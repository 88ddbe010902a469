package curve

import (
	"bytes"
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
	"pgregory.net/rapid"
)

var window = space.Interval{A: 100, B: 116}

// wander is a random track of n samples over the window, by components.
func wander(seed uint64, n, components int) fit.Curve {
	r := rand.New(rand.NewPCG(seed, 1))
	c := make(fit.Curve, components)
	t := make([]float64, n)
	for i := range t {
		t[i] = window.A + window.Length()*(float64(i)+0.9*r.Float64())/float64(n)
	}
	for k := range c {
		x := make([]float64, n)
		v, at := 0.0, 100*r.NormFloat64()
		for i := range x {
			v = 0.9*v + 30*r.NormFloat64()
			at += v
			x[i] = at
		}
		c[k] = fit.Series{T: t, X: x}
	}
	return c
}

func base(g privacy.Guarantee, m Method) Config {
	return Config{Window: window, Guarantee: g, Components: []string{"x", "y"}, Distance: "m", Method: m, MaxLevel: 7}
}

var budgets = []privacy.Guarantee{privacy.Geo(0.02), privacy.Geo(2), privacy.ConcentratedGeo(1e-4), privacy.ConcentratedGeo(3)}

// recorder passes on to other draws and keeps what it was given.
type recorder struct {
	draws
	given   []privacy.Guarantee
	answers []any
}

func (r *recorder) first(g privacy.Guarantee, threshold float64, n int, f func(int) float64) (int, error) {
	r.given = append(r.given, g)
	j, err := r.draws.first(g, threshold, n, f)
	r.answers = append(r.answers, j)
	return j, err
}

func (r *recorder) scalar(g privacy.Guarantee, v float64) (float64, error) {
	r.given = append(r.given, g)
	x, err := r.draws.scalar(g, v)
	r.answers = append(r.answers, x)
	return x, err
}

func (r *recorder) vector(g privacy.Guarantee, dst, x []float64) error {
	r.given = append(r.given, g)
	err := r.draws.vector(g, dst, x)
	r.answers = append(r.answers, append([]float64(nil), dst...))
	return err
}

// replayer answers as recorded, whatever the curve.
type replayer struct{ answers []any }

func (r *replayer) next() any {
	a := r.answers[0]
	r.answers = r.answers[1:]
	return a
}
func (r *replayer) private() bool { return false }
func (r *replayer) first(privacy.Guarantee, float64, int, func(int) float64) (int, error) {
	return r.next().(int), nil
}
func (r *replayer) scalar(privacy.Guarantee, float64) (float64, error) {
	return r.next().(float64), nil
}
func (r *replayer) vector(_ privacy.Guarantee, dst, _ []float64) error {
	copy(dst, r.next().([]float64))
	return nil
}

// everyMethod runs check on all methods, models, metrics and options.
func everyMethod(t *testing.T, check func(t *testing.T, c Config)) {
	for _, m := range []Method{Project, Select, Segment, Denoise} {
		for _, g := range budgets {
			for _, metric := range []privacy.Metric{privacy.RMS, privacy.L2} {
				for _, reduce := range []Reduce{ReduceUseful, ReduceAlways} {
					if reduce == ReduceAlways && m != Segment {
						continue
					}
					c := base(g, m)
					c.Metric, c.Reduce = metric, reduce
					t.Run(string(m)+" "+g.String()+" "+string(metric)+" "+string(reduce), func(t *testing.T) { check(t, c) })
				}
			}
		}
	}
}

// checkTrace requires that the shares add up to the whole exactly, that the
// numbers do so but for rounding down, and that the noise was drawn with them.
func checkTrace(t interface{ Fatalf(string, ...any) }, p Config, trace []mechanism.Spending, given []privacy.Guarantee) {
	var shares mechanism.Share
	sum := new(big.Rat)
	for i, s := range trace {
		shares += s.Share
		sum.Add(sum, new(big.Rat).SetFloat64(value(s.Guarantee)))
		if given != nil && value(given[i]) > value(p.perRMS(s.Guarantee)) {
			t.Fatalf("step %q drew noise for %v, was given %v", s.Step, given[i], s.Guarantee)
		}
	}
	if shares != mechanism.Whole {
		t.Fatalf("shares add up to %d/%d: %v", shares, mechanism.Whole, trace)
	}
	if given != nil && len(given) != len(trace) {
		t.Fatalf("%d draws, %d steps in the trace", len(given), len(trace))
	}
	total := new(big.Rat).SetFloat64(value(p.Guarantee))
	if sum.Cmp(total) > 0 {
		t.Fatalf("the trace exceeds the total: %v", trace)
	}
	if missing, _ := new(big.Rat).Sub(total, sum).Float64(); missing > 1e-14*value(p.Guarantee) {
		t.Fatalf("%g of the total is not in the trace", missing)
	}
}

func TestTraceSumsToBudget(t *testing.T) {
	everyMethod(t, func(t *testing.T, config Config) {
		p, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(6) {
			d := &recorder{draws: exact{noise.Seeded(seed)}}
			r, err := p.privatize(wander(seed, 60, 2), d)
			if err != nil {
				t.Fatal(err)
			}
			checkTrace(t, p.config, r.Trace, d.given)
			if err := r.Release.Validate(); err != nil {
				t.Error(err)
			}
			if r.Release.Private {
				t.Error("a seeded release says that it is private")
			}
		}
	})
}

// Random answers to every question walk all adaptive branches.
type arbitrary struct {
	t *rapid.T
}

func (a arbitrary) private() bool { return false }
func (a arbitrary) first(_ privacy.Guarantee, _ float64, n int, _ func(int) float64) (int, error) {
	return rapid.IntRange(0, n-1).Draw(a.t, "first"), nil
}
func (a arbitrary) scalar(privacy.Guarantee, float64) (float64, error) {
	return rapid.SampledFrom([]float64{-1e9, 1e9}).Draw(a.t, "scalar"), nil
}
func (a arbitrary) vector(_ privacy.Guarantee, dst, x []float64) error {
	for i := range dst {
		dst[i] = x[i] + math.Sin(float64(i))
	}
	return nil
}

func TestTraceOnEveryPath(t *testing.T) {
	c := wander(3, 40, 2)
	rapid.Check(t, func(rt *rapid.T) {
		config := base(rapid.SampledFrom(budgets).Draw(rt, "budget"), rapid.SampledFrom([]Method{Select, Segment, Denoise}).Draw(rt, "method"))
		config.Reduce = ReduceAlways
		config.Metric = rapid.SampledFrom([]privacy.Metric{privacy.RMS, privacy.L2}).Draw(rt, "metric")
		config.MaxLevel = 6
		p, err := New(config)
		if err != nil {
			rt.Fatal(err)
		}
		d := &recorder{draws: arbitrary{rt}}
		r, err := p.privatize(c, d)
		if err != nil {
			rt.Fatal(err)
		}
		checkTrace(rt, p.config, r.Trace, d.given)
	})
}

// Given the same answers to the same questions, an altogether different curve,
// with other times and another number of samples, gives the same bytes: nothing
// else of the curve reaches the release, the trace or the deviations.
func TestNothingElseOfTheCurve(t *testing.T) {
	everyMethod(t, func(t *testing.T, config Config) {
		p, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		d := &recorder{draws: exact{noise.Seeded(7)}}
		first, err := p.privatize(wander(1, 60, 2), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []fit.Curve{wander(2, 17, 2), wander(3, 400, 2), {{T: []float64{101, 102}, X: []float64{-5, 9}}, {T: []float64{100, 116}, X: []float64{1e6, 0}}}} {
			second, err := p.privatize(other, &replayer{d.answers})
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			if err := first.Release.Encode(&a); err != nil {
				t.Fatal(err)
			}
			if err := second.Release.Encode(&b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("another release:\n%s\n%s", a.Bytes(), b.Bytes())
			}
			if len(first.Trace) != len(second.Trace) {
				t.Errorf("another trace: %v, %v", first.Trace, second.Trace)
			}
			for k := range first.Deviation {
				for i, v := range first.Deviation[k] {
					if second.Deviation[k][i] != v {
						t.Fatalf("another deviation at %d,%d", k, i)
					}
				}
			}
		}
	})
}

// The same function sampled elsewhere: all times and values are dyadic, so that
// the coordinates are the same numbers, and a seeded source gives the same bytes.
func TestSampleTimesDoNotMatter(t *testing.T) {
	sparse := fit.Curve{{T: []float64{100, 104, 108, 116}, X: []float64{0, 64, -32, 32}}, {T: []float64{100, 112, 116}, X: []float64{16, 16, -16}}}
	var dense fit.Curve
	for _, s := range sparse {
		var d fit.Series
		for i := range 65 {
			at := 100 + float64(i)/4
			d.T, d.X = append(d.T, at), append(d.X, s.At(at))
		}
		dense = append(dense, d)
	}
	everyMethod(t, func(t *testing.T, config Config) {
		config.MaxLevel = 5
		var files [2]bytes.Buffer
		for i, c := range []fit.Curve{sparse, dense} {
			r, err := Privatize(config, c, noise.Seeded(9))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Release.Encode(&files[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Error("the times of the samples show in the release")
		}
	})
}

func TestCurveRefused(t *testing.T) {
	good := wander(1, 30, 2)
	spoil := func(f func(c fit.Curve)) fit.Curve {
		c := fit.Curve{{}, {}}
		for k := range good {
			c[k].T, c[k].X = append([]float64(nil), good[k].T...), append([]float64(nil), good[k].X...)
		}
		f(c)
		return c
	}
	for _, c := range []struct {
		name, says string
		curve      fit.Curve
	}{
		{"one component", "components", good[:1]},
		{"no samples", "no samples", spoil(func(c fit.Curve) { c[1] = fit.Series{} })},
		{"one sample", "single sample", spoil(func(c fit.Curve) { c[1].T, c[1].X = c[1].T[:1], c[1].X[:1] })},
		{"before the window", "outside the domain", spoil(func(c fit.Curve) { c[0].T[0] = 99 })},
		{"after the window", "outside the domain", spoil(func(c fit.Curve) { c[0].T[29] = 117 })},
		{"not a number", "NaN", spoil(func(c fit.Curve) { c[1].X[3] = math.NaN() })},
		{"infinite", "Inf", spoil(func(c fit.Curve) { c[1].X[3] = math.Inf(1) })},
		{"time twice", "increase", spoil(func(c fit.Curve) { c[0].T[5] = c[0].T[4] })},
		{"gap", "longer than the largest gap", spoil(func(c fit.Curve) {
			c[0].T, c[0].X = append(c[0].T[:5], c[0].T[15:]...), append(c[0].X[:5], c[0].X[15:]...)
		})},
		{"missing values", "times but", spoil(func(c fit.Curve) { c[0].X = c[0].X[:10] })},
	} {
		config := base(privacy.Geo(1), Segment)
		config.MaxGap = 2
		_, err := Privatize(config, c.curve, noise.Seeded(1))
		if err == nil || !strings.HasPrefix(err.Error(), "curve: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", c.name, err, c.says)
		}
	}
	if _, err := Privatize(base(privacy.Geo(1), Segment), good, noise.Seeded(1)); err != nil {
		t.Error(err)
	}
}

func TestConfigRefused(t *testing.T) {
	kernel, err := space.Parse("kernel:gauss:20%", window)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, _ := space.Legendre(space.Interval{A: 0, B: 1}, 3)
	for _, c := range []struct {
		says  string
		spoil func(*Config)
	}{
		{"window", func(c *Config) { c.Window = space.Interval{A: 5, B: 5} }},
		{"window", func(c *Config) { c.Window = space.Interval{A: 5, B: math.Inf(1)} }},
		{"guarantee", func(c *Config) { c.Guarantee = nil }},
		{"metric", func(c *Config) { c.Metric = "sup" }},
		{"per unit of distance", func(c *Config) { c.Guarantee = privacy.GDP(1) }},
		{"geo", func(c *Config) { c.Guarantee = privacy.Geo(0) }},
		{"components", func(c *Config) { c.Components = nil }},
		{"method", func(c *Config) { c.Method = "magic" }},
		{"reduce", func(c *Config) { c.Reduce = "sometimes" }},
		{"polynomials", func(c *Config) { c.Polynomials = -1 }},
		{"pieces", func(c *Config) { c.MaxLevel = 60 }},
		{"beta", func(c *Config) { c.Beta = 1 }},
		{"gap", func(c *Config) { c.MaxGap = -1 }},
		{"roughness", func(c *Config) { c.Roughness = math.Inf(1) }},
		{"inner product of its own", func(c *Config) { c.Space = kernel }},
		{"make the space on the window", func(c *Config) { c.Space = elsewhere }},
		{"too short", func(c *Config) { c.Window = space.Interval{A: 1e15, B: 1e15 + 2} }},
		{"noise of scale", func(c *Config) { c.Guarantee = privacy.Geo(1e-290) }},
	} {
		config := base(privacy.Geo(1), Segment)
		c.spoil(&config)
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
}

func TestAllAgreesWithOneByOne(t *testing.T) {
	p, err := New(base(privacy.Geo(0.5), Segment))
	if err != nil {
		t.Fatal(err)
	}
	var curves []fit.Curve
	for i := range uint64(20) {
		curves = append(curves, wander(i, 30, 2))
	}
	all, err := p.All(context.Background(), curves, noise.Seeded(4))
	if err != nil {
		t.Fatal(err)
	}
	src := noise.Seeded(4)
	for i, c := range curves {
		one, err := p.Privatize(c, src.Split())
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range one.Release.Coefficients {
			for j, v := range row {
				if all[i].Release.Coefficients[k][j] != v {
					t.Fatalf("curve %d differs", i)
				}
			}
		}
	}
	curves[7] = fit.Curve{{T: []float64{101}, X: []float64{1}}, curves[7][1]}
	if _, err := p.All(context.Background(), curves, noise.Crypto()); err == nil || !strings.Contains(err.Error(), "curve 8 of 20") {
		t.Errorf("error %v does not name curve 8", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.All(stopped, curves[:3], noise.Crypto()); err == nil {
		t.Error("a cancelled run returns results")
	}
	if got, err := p.All(context.Background(), nil, noise.Crypto()); err != nil || len(got) != 0 {
		t.Errorf("no curves: %v, %v", got, err)
	}
}

func TestAuto(t *testing.T) {
	config := base(privacy.Geo(1), Auto)
	p, err := New(config)
	if err != nil || p.Config().Method != Denoise {
		t.Errorf("auto without a space is %q (%v)", p.Config().Method, err)
	}
	config.Space, _ = space.Parse("sinc:20", window)
	p, err = New(config)
	if err != nil || p.Config().Method != Project {
		t.Errorf("auto with a space is %q (%v)", p.Config().Method, err)
	}
	r, err := p.Privatize(wander(1, 50, 2), noise.Crypto())
	if err != nil || !r.Release.Private {
		t.Errorf("%v", err)
	}
}
