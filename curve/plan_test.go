package curve

import (
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func planConfig(g privacy.Guarantee) PlanConfig {
	return PlanConfig{Config: Config{Window: space.Interval{A: 0, B: 64}, Guarantee: g, Components: []string{"east", "north"}}}
}

// The predicted noise is that of releases: the mean square of what Project adds on
// the same pieces, 200 releases, within 5 standard deviations (false alarm < 1e-6).
func TestPlanNoiseIsThatOfReleases(t *testing.T) {
	for _, g := range []privacy.Guarantee{privacy.Geo(0.5), privacy.ConcentratedGeo(0.1)} {
		p := planConfig(g)
		plan, err := NewPlan(p)
		if err != nil {
			t.Fatal(err)
		}
		sp, err := space.Parse("piecewise:8:legendre:2", p.Window)
		if err != nil {
			t.Fatal(err)
		}
		p.Space, p.Method = sp, Project
		flat := fit.Curve{{T: []float64{0, 64}, X: []float64{3, 3}}, {T: []float64{0, 64}, X: []float64{-1, -1}}}
		src := noise.Seeded(4)
		var squares []float64
		for range 200 {
			r, err := Privatize(p.Config, flat, src)
			if err != nil {
				t.Fatal(err)
			}
			var sum float64
			for k, row := range r.Release.Coefficients {
				for j, v := range row {
					if j%2 == 0 { // the constant of a piece, of norm 1/√8
						v -= flat[k].X[0] / math.Sqrt(8)
					}
					sum += v * v
				}
			}
			squares = append(squares, sum)
		}
		mean, sd := meanSD(squares)
		want := plan.Rows[3].Noise * plan.Rows[3].Noise
		if plan.Rows[3].Pieces != 8 || math.Abs(mean-want) > 5*sd/math.Sqrt(200) {
			t.Errorf("%v: mean square %g ± %g, predicted %g", g, mean, sd/math.Sqrt(200), want)
		}
	}
}

func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

// A Brownian motion loses the predicted share of its shape to 16 linear pieces.
func TestPlanShape(t *testing.T) {
	p := planConfig(privacy.ConcentratedGeo(1))
	p.Roughness = 2
	plan, err := NewPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	const points, walks = 4096, 60
	r := simulate.New(8)
	var squares []float64
	for range walks {
		times, x := make([]float64, points+1), make([]float64, points+1)
		for i := 1; i <= points; i++ {
			times[i] = 64 * float64(i) / points
			x[i] = x[i-1] + 2*math.Sqrt(64.0/points)*r.NormFloat64()
		}
		sp, err := space.Parse("piecewise:16:legendre:2", p.Window)
		if err != nil {
			t.Fatal(err)
		}
		projection, err := fit.Project(fit.Curve{{T: times, X: x}}, sp)
		if err != nil {
			t.Fatal(err)
		}
		squares = append(squares, projection.Residual)
	}
	mean, sd := meanSD(squares)
	want := plan.Rows[4].Shape * plan.Rows[4].Shape / 2 // one of two components
	if math.Abs(mean-want) > 5*sd/math.Sqrt(walks)+0.02*want {
		t.Errorf("lost %g ± %g, predicted %g", mean, sd/math.Sqrt(walks), want)
	}
	if plan.Best == 0 || plan.Rows[0].Error < plan.Rows[2].Error {
		t.Errorf("best %d pieces, errors %v", plan.Best, plan.Rows)
	}
}

// Denoising leaves of random walks the error that is planned, to a fifth. (The prior's rate is found from the noisy values, and
// the releases are few: that is not a bound.)
func TestPlanDenoised(t *testing.T) {
	const points, walks = 2048, 12
	for _, rho := range []float64{0.5, 0.02} {
		p := planConfig(privacy.ConcentratedGeo(rho))
		p.Roughness = 2
		plan, err := NewPlan(p)
		if err != nil {
			t.Fatal(err)
		}
		pr, err := New(p.Config)
		if err != nil {
			t.Fatal(err)
		}
		r, src := simulate.New(9), noise.Seeded(9)
		var sum float64
		for range walks {
			times := make([]float64, points+1)
			c := make(fit.Curve, len(p.Components))
			for k := range c {
				x := make([]float64, points+1)
				for i := 1; i <= points; i++ {
					times[i] = p.Window.A + p.Window.Length()*float64(i)/points
					x[i] = x[i-1] + 2*math.Sqrt(64.0/points)*r.NormFloat64()
				}
				c[k] = fit.Series{T: times, X: x}
			}
			results, err := pr.All(t.Context(), []fit.Curve{c}, src)
			if err != nil {
				t.Fatal(err)
			}
			y := make([]float64, len(c))
			for i, at := range times {
				if err := results[0].Release.Eval(y, at); err != nil {
					t.Fatal(err)
				}
				for k := range y {
					d := y[k] - c[k].X[i]
					sum += d * d / float64((points+1)*walks)
				}
			}
		}
		if found := math.Sqrt(sum); math.Abs(found/plan.Denoised-1) > 0.2 {
			t.Errorf("ρ = %g: error %g, planned %g", rho, found, plan.Denoised)
		}
	}
}

func TestPlanRemarksAndRefusals(t *testing.T) {
	p := planConfig(privacy.Geo(1e-6))
	p.Roughness, p.Size = 1, 10
	plan, err := NewPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Warnings) == 0 || !strings.Contains(plan.Warnings[0], "too small for any shape") {
		t.Errorf("warnings %q", plan.Warnings)
	}
	for _, change := range []func(*PlanConfig){
		func(p *PlanConfig) { p.Stay = -1 }, func(p *PlanConfig) { p.Stay = 100 },
		func(p *PlanConfig) { p.Size = math.NaN() }, func(p *PlanConfig) { p.Guarantee = privacy.GDP(1) },
	} {
		q := planConfig(privacy.Geo(1))
		change(&q)
		if _, err := NewPlan(q); err == nil {
			t.Errorf("%+v was accepted", q)
		}
	}
}

// The paper's ε = 0.01 with the clock in seconds locates a one-hour stay to about
// 66 m: here 53 m for each axis at 256 linear pieces, 75 m in the plane, and 66 m at
// 196 pieces in the plane ([GEO]; methods §4).
func TestPlanStay(t *testing.T) {
	p := planConfig(privacy.Geo(0.01))
	p.Window, p.Metric, p.Stay = space.Interval{A: 0, B: 43200}, privacy.L2, 3600
	plan, err := NewPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Rows[8].Stay; math.Abs(got-75.5) > 0.2 {
		t.Errorf("a stay is located to %g m at 256 pieces, want 75.5", got)
	}
	if lo, hi := plan.Rows[7].Stay, plan.Rows[8].Stay; !(lo < 66 && 66 < hi) {
		t.Errorf("66 m does not lie between %g and %g", lo, hi)
	}
}

func TestReadings(t *testing.T) {
	r, err := Readings(0.02, 0.0002, 43200, 50, 300, 1200)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r[0].Geo-1/(1+math.Exp(-1))) > 1e-12 || math.Abs(r[0].Concentrated-0.6914624612740131) > 1e-9 {
		t.Errorf("%+v", r[0])
	}
	if math.Abs(r[1].Distance-50) > 1e-12 {
		t.Errorf("%+v", r[1])
	}
	if _, err := Readings(1, 1, 10, 1, 1, 11); err == nil {
		t.Error("a detour longer than the window was accepted")
	}
}
