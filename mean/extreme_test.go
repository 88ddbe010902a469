package mean

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Whatever one person's samples are, the person's integer vector is in the ball:
// the lattice panics otherwise, and the sum of one would exceed it.
func TestExtremeCurvesStayInTheBall(t *testing.T) {
	const big, tiny = math.MaxFloat64, math.SmallestNonzeroFloat64
	rnd := rand.New(rand.NewPCG(1, 1))
	grid := []float64{0, 0.25, 0.5, 0.75, 1}
	samples := [][]float64{
		{big, big, big, big, big}, {-big, big, -big, big, -big}, {1e308, 0, 0, 0, -1e308}, {big, tiny, -tiny, 1, -big},
		{tiny, tiny, tiny, tiny, tiny}, {tiny, 0, -tiny, 0, tiny}, {1e-310, 1e-320, 0, 1e-300, 5e-324},
		{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {7, 7, 7, 7, 7}, {1e300, 1e300, 1e300, 1e300, 1e300}, {1e-200, 1e200, 1, -1e200, 0},
	}
	table, err := release.Table([]float64{0, 0.25, 1}, []float64{-big, big, -big})
	if err != nil {
		t.Fatal(err)
	}
	references := [][]release.Reference{nil, {release.Constant(big)}, {release.Constant(-big)}, {release.Constant(tiny)}, {table}}
	for _, text := range []string{"legendre:1", "legendre:4", "legendre:12", "kernel:gauss:0.2:10", "kernel:brownian:10"} {
		sp, err := space.Parse(text, space.Interval{A: 0, B: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []Method{FitThenProtect, ProtectThenFit} {
			times := grid
			if method == ProtectThenFit && text == "kernel:brownian:10" {
				times = grid[1:]
			}
			for _, radius := range []float64{1e-100, 1e-90, 0.1, math.Pi, 1e90, 1e100} {
				for _, reference := range references {
					c := Config{Space: sp, Radius: radius, Guarantee: privacy.GDP(1), Unit: "person", Method: method, Grid: times, Reference: reference}
					for _, x := range samples {
						x = x[len(x)-len(times):]
						m := mustNew(t, c)
						curve := fit.Curve{{T: times, X: x}}
						switch rnd.IntN(3) { // the different paths
						case 0:
							mustAdd(t, m, curve)
						case 1:
							mustAdd(t, m, curve)
							mustAdd(t, m, curve)
							mustAdd(t, m, curve)
						case 2:
							mustAdd(t, m, curve, curve)
						}
						checkBound(t, m)
					}
					if method == FitThenProtect {
						m := mustNew(t, c)
						for _, u := range []float64{0, 5e-324, 0.3, 1} { // one point each
							mustAdd(t, m, fit.Curve{{T: []float64{u}, X: []float64{1e308}}})
							mustAdd(t, m, fit.Curve{{T: []float64{u}, X: []float64{-3}}})
						}
						checkBound(t, m)
					}
				}
			}
		}
	}
}

func checkBound(t *testing.T, m *Mean) {
	t.Helper()
	sum, err := m.total()
	if err != nil {
		t.Fatalf("%+v: %v", m.cfg, err)
	}
	v := exactMean(t, m)
	for k, x := range v {
		if math.IsNaN(x) {
			t.Fatalf("coordinate %d is NaN", k)
		}
	}
	if n := norm2(v); n > sum.Ball().Radius()*(1+1e-12) {
		t.Fatalf("mean of norm %g in a ball of %g", n, sum.Ball().Radius())
	}
	r, err := m.Release(noise.Seeded(1))
	if err != nil {
		t.Fatalf("radius %g: %v", m.cfg.Radius, err)
	}
	if c := norm2(slices.Concat(r.Coefficients...)); !(c <= m.cfg.Radius*(1+1e-12)) {
		t.Fatalf("released norm %g, radius %g", c, m.cfg.Radius)
	}
}

// Fits on the sphere leave it by an ulp now and then; their integers do not.
func TestFitOnTheSphereStaysInside(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	outside := 0
	for _, radius := range []float64{1, 1.1, math.Sqrt(3), 0.3} {
		sp := legendre(t, 3)
		times := increasing(rnd, 6)
		d, err := fit.NewDesign(sp, times, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := mustNew(t, Config{Space: sp, Radius: radius, Guarantee: privacy.GDP(1), Unit: "person"})
		for range 3000 {
			x := normals(rnd, 6, 100)
			beta := make([]float64, 3)
			new(fit.Solver).Fit(d, beta, slices.Clone(x), 1, radius, nil)
			if norm2(beta) > radius {
				outside++
			}
			mustAdd(t, m, fit.Curve{{T: times, X: x}}) // lattice.Sum.Add panics outside the ball
		}
		sumOf(t, m)
	}
	if outside == 0 {
		t.Error("no fit left the ball: the test has lost its purpose")
	}
}

// Extreme public numbers still give a release that is valid and in the ball.
func TestExtremeConfigurations(t *testing.T) {
	grid := []float64{0.1, 0.5, 0.9}
	for _, g := range []privacy.Guarantee{privacy.GDP(1e-6), privacy.GDP(1e6), privacy.ZCDP(1e-12), privacy.ZCDP(1e9), privacy.Approx{Epsilon: 0, Delta: 1e-5}, privacy.Approx{Epsilon: 20, Delta: 1e-300}, privacy.Pure(1e-6), privacy.Pure(1e6)} {
		for _, radius := range []float64{1e-100, 1, 1e100} {
			for _, method := range []Method{FitThenProtect, ProtectThenFit} {
				if _, pure := g.(privacy.Pure); pure && method == ProtectThenFit {
					continue
				}
				m := mustNew(t, Config{Space: legendre(t, 3), Radius: radius, Guarantee: g, Unit: "person", Method: method, Grid: grid})
				mustAdd(t, m, fit.Curve{{T: grid, X: []float64{1, 2, 3}}})
				checkBound(t, m)
			}
		}
	}
}
