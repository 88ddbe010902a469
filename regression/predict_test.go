package regression

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// TestPlanPredictsFarCurves: what a plan says of curves that are many τ away from the center, and of x that is thin in places, is
// within a quarter of what simulated streams come to. A prediction linearised around the curve, or with x uniform, is not.
func TestPlanPredictsFarCurves(t *testing.T) {
	kernel, err := space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, 50))
	if err != nil {
		t.Fatal(err)
	}
	s := Stream{Name: "p", Basis: OneVariable(kernel), Tau: 1, Budget: privacy.Approx{Epsilon: 2, Delta: 1e-6}, Center: 3}
	thin := func(x []float64) float64 { return math.Exp(-6 * x[0]) }
	for _, c := range []struct {
		name    string
		truth   func(x []float64) float64
		density func(x []float64) float64
		n       int64
	}{
		{"offset of 8 τ", func([]float64) float64 { return 11 }, nil, 5_000},
		{"amplitude of 6 τ", func(x []float64) float64 { return 3 + 6*math.Sin(2*math.Pi*x[0]) }, nil, 20_000},
		{"prices", func(x []float64) float64 { return 16 * x[0] * x[0] }, thin, 20_000},
		{"near", func(x []float64) float64 { return 3 + math.Sin(2*math.Pi*x[0]) }, nil, 20_000},
		{"near and thin", func(x []float64) float64 { return 3 + math.Sin(2*math.Pi*x[0]) }, thin, 20_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := NewPlan(PlanConfig{Stream: s, People: []int64{c.n}, Errors: 0.5, Truth: c.truth, Density: c.density})
			if err != nil {
				t.Fatal(err)
			}
			p := plan.Predictions[0]
			for _, of := range []struct {
				name  string
				steps Steps
				says  float64
			}{{"default", defaultsAt(t, s, c.n), p.Default}, {"chosen", p.Steps, p.Error}} {
				run := s
				run.Steps = of.steps
				mean := 0.0
				const repetitions = 8
				for seed := range uint64(repetitions) {
					rnd := rand.New(rand.NewPCG(seed, 77))
					points := make([]Point, 0, c.n)
					for int64(len(points)) < c.n {
						x := []float64{rnd.Float64()}
						if c.density == nil || rnd.Float64() < c.density(x) {
							points = append(points, Point{x, c.truth(x) + 0.5*rnd.NormFloat64()})
						}
					}
					v, err := Simulate(context.Background(), Simulation{Stream: run, Source: noise.Seeded(seed)}, Sequence(points))
					if err != nil {
						t.Fatal(err)
					}
					for i := range 101 {
						x := []float64{float64(i) / 100}
						d := v.Estimate(x) - c.truth(x)
						mean += d * d / (101 * repetitions)
					}
				}
				actual := math.Sqrt(mean)
				t.Logf("%s step: predicted %.3f, simulated %.3f", of.name, of.says, actual)
				if ratio := of.says / actual; ratio < 0.75 || ratio > 1.33 {
					t.Errorf("%s step: predicted %.3f, simulated %.3f", of.name, of.says, actual)
				}
			}
			if p.Error > 1.03*p.Default || p.Far < p.Default {
				t.Errorf("%+v", p)
			}
		})
	}
	for name, c := range map[string]PlanConfig{
		"a negative density":   {Density: func([]float64) float64 { return -1 }},
		"no density":           {Density: func([]float64) float64 { return 0 }},
		"two laws of x":        {Density: func([]float64) float64 { return 1 }, X: [][]float64{{0.5}}},
		"a curve of no number": {Truth: func([]float64) float64 { return math.NaN() }},
	} {
		c.Stream, c.People = s, []int64{1000}
		if _, err := NewPlan(c); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// The moments of a clipped normal variable against sums over its law.
func TestClipped(t *testing.T) {
	for _, c := range [][3]float64{{1, 0, 1}, {1, 0.7, 0.3}, {0.5, -3, 2}, {1, 40, 0.1}, {1, -40, 1e-9}, {math.Inf(1), 2, 3}} {
		tau, d, v := c[0], c[1], c[2]
		mean, square, inside := clipped(tau, d, v)
		var want [3]float64
		const points, widest = 200_000, 9.0
		for i := range points {
			z := widest * (2*(float64(i)+0.5)/points - 1)
			w := normal(z) * 2 * widest / points
			u := d + math.Sqrt(v)*z
			l := huber(u, tau)
			want[0] += w * l
			want[1] += w * l * l
			if math.Abs(u) <= tau {
				want[2] += w
			}
		}
		for i, got := range []float64{mean, square, inside} {
			if math.Abs(got-want[i]) > 2e-4*(1+math.Abs(want[i])) {
				t.Errorf("τ = %g, mean %g, variance %g: moment %d is %v, want %v", tau, d, v, i, got, want[i])
			}
		}
	}
}

// TestReach: people who all stand far away take the estimate, without its noise, as far as Reach says and no further.
func TestReach(t *testing.T) {
	kernel, err := space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, 50))
	if err != nil {
		t.Fatal(err)
	}
	basis := OneVariable(kernel)
	for _, steps := range []Steps{{0.01, 0, 1}, {0.3, 0.5, 0}} {
		s := Stream{Name: "r", Basis: basis, Tau: 2, Steps: steps, Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Center: 5}.WithDefaults()
		g, err := NewSGD(SGDConfig{Basis: basis, Tau: s.Tau, Steps: steps, Bound: s.Bound})
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{0.5}
		for range 300 {
			if err := g.Add(x, 1e9); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := g.At(x), s.Reach(300); got > want*(1+1e-9) || got < 0.9*want {
			t.Errorf("%+v: the estimate is %v from the center, the bound is %v", steps, got, want)
		}
		s.Radius = 1
		if s.Reach(300) > s.Bound {
			t.Error("beyond the ball")
		}
	}
}
