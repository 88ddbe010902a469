package regression_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/curveil/curveil/audit"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

func smallStream(t testing.TB, budget privacy.Approx) regression.Stream {
	sp, err := space.Fourier(space.Interval{A: 0, B: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return regression.Stream{Name: "small", Basis: regression.OneVariable(sp), Tau: 2, Steps: regression.Steps{Gamma0: 0.1, Exponent: 0.5}, Budget: budget}.WithDefaults()
}

// worstCase is the client under audit: at a model whose curve is not zero, the person moves from (x, +∞) to (x, −∞), so to
// say, at an x with ‖φ(x)‖ = B, and the report goes through its JSON.
func worstCase(t testing.TB, s regression.Stream, sabotage float64) audit.Subject {
	v, err := regression.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	m := v.Model()
	m.Coordinates = []float64{1, -2, 3}
	x := []float64{0.3}
	direction := make([]float64, 3)
	s.Basis.Eval(direction, x)
	var clients sync.Map // one for each source: of the same law as a new one for each release, and faster
	return audit.Subject{Name: "regression", Claim: s.Budget, Release: func(neighbour int, src *noise.Source) (float64, error) {
		kept, ok := clients.Load(src)
		if !ok {
			c, err := regression.NewClient(m, regression.ClientConfig{Source: src, Ledger: free{}})
			if err != nil {
				return 0, err
			}
			if sabotage != 1 {
				c.Sabotage(sabotage)
			}
			kept, _ = clients.LoadOrStore(src, c)
		}
		r, err := kept.(*regression.Client).Contribute(context.Background(), x, []float64{-1e9, 1e9}[neighbour])
		if err != nil {
			return 0, err
		}
		text, err := json.Marshal(r)
		if err != nil {
			return 0, err
		}
		var sent regression.Report
		if err := json.Unmarshal(text, &sent); err != nil {
			return 0, err
		}
		sum := 0.0
		for j, k := range sent.Coordinates {
			sum += float64(k) * direction[j]
		}
		return sum, nil
	}}
}

// TestWorstCaseReport: the best attack on one report proves a loss that is below the claim and close to it, and finds out
// noise of 0.9 times what it should be. The bound of an audit is above the true loss with probability 1e-6.
func TestWorstCaseReport(t *testing.T) {
	for _, budget := range []privacy.Approx{{Epsilon: 8, Delta: 1e-6}} {
		s := smallStream(t, budget)
		run := func(sabotage float64) *audit.Report {
			r, err := audit.Run(context.Background(), worstCase(t, s, sabotage), audit.Options{Releases: 40000, Source: noise.Seeded(7)})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("(%g, %g), noise ×%g: claimed μ %.4f, proved %.4f", budget.Epsilon, budget.Delta, sabotage, r.Claimed, r.Bound())
			return r
		}
		honest := run(1)
		if honest.Refuted() {
			t.Errorf("the claim %v is refuted: the attack proves μ = %v > %v", budget, honest.Bound(), honest.Claimed)
		}
		if honest.Bound() < 0.9*honest.Claimed {
			t.Errorf("the attack proves only μ = %v of %v: is there more noise than needed?", honest.Bound(), honest.Claimed)
		}
		if weak := run(0.9); !weak.Refuted() {
			t.Errorf("noise ×0.9 is not found out: the attack proves %v of %v", weak.Bound(), weak.Claimed)
		}
	}
}

// TestReportLaw measures the report itself: with N draws the mean of the projection on the worst direction is ±τB and its standard deviation s,
// each within six standard errors (2e-9 each), and s is within 1e-6 of the exact calibration; noise of 0.9 fails by far.
func TestReportLaw(t *testing.T) {
	const draws = 20000
	budget := privacy.Approx{Epsilon: 3, Delta: 0.1}
	s := smallStream(t, budget)
	v, err := regression.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	mu, err := privacy.GaussianMu(budget)
	if err != nil {
		t.Fatal(err)
	}
	step := mustBall(t, s).Step()
	want := 2 * s.Tau * s.Bound / float64(mu)
	for _, sabotage := range []float64{1, 0.9} {
		c, err := regression.NewClient(v.Model(), regression.ClientConfig{Source: noise.Seeded(1), Ledger: free{}})
		if err != nil {
			t.Fatal(err)
		}
		if sabotage != 1 {
			c.Sabotage(sabotage)
		}
		direction := make([]float64, 3)
		s.Basis.Eval(direction, []float64{0.3})
		floats.Scale(1/floats.Norm(direction, 2), direction)
		var sum, squares float64
		for range draws {
			r, err := c.Contribute(context.Background(), []float64{0.3}, 1e9)
			if err != nil {
				t.Fatal(err)
			}
			along := 0.0
			for j, k := range r.Coordinates {
				along += float64(k) * step * direction[j]
			}
			along -= s.Tau * s.Bound
			sum += along / want
			squares += along * along / (want * want)
		}
		mean, variance := sum/draws, squares/draws
		ok := math.Abs(mean) < 6/math.Sqrt(draws) && math.Abs(variance-1) < 6*math.Sqrt(2.0/draws)
		if ok != (sabotage == 1) {
			t.Errorf("noise ×%g: normalised mean %.4f, variance %.4f over %d draws", sabotage, mean, variance, draws)
		}
	}
}

// free is a ledger that grants everything.
type free struct{}

func (free) Spend(context.Context, string, any, privacy.Statement) (func(context.Context, [32]byte) error, error) {
	return func(context.Context, [32]byte) error { return nil }, nil
}

func mustBall(t testing.TB, s regression.Stream) lattice.Ball {
	b, err := lattice.NewBall(privacy.MulUp(s.Tau, s.Bound), s.Basis.Dim())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bases are spaces of every kind that a stream can have.
func bases(t testing.TB) map[string]regression.Basis {
	unit := space.Interval{A: 0, B: 1}
	out := map[string]regression.Basis{}
	for _, text := range []string{"legendre:6", "fourier:9", "cosine:8", "bspline:12", "kernel:gauss:0.1", "kernel:laplace:20%", "kernel:matern52:0.3",
		"kernel:brownian", "kernel:periodic:0.2", "kernel:sobolev1", "kernel:sobolev2", "piecewise:4:legendre:2"} {
		sp, err := space.Parse(text, unit)
		if err != nil {
			t.Fatal(err)
		}
		out[text] = regression.OneVariable(sp)
	}
	box := []space.Interval{{A: -1, B: 1}, {A: 0, B: 5}}
	centres, err := space.Centres(box, 5, 5)
	if err != nil {
		t.Fatal(err)
	}
	if out["radial"], err = space.NewRadial(space.Gaussian(0.2).Relative(), box, centres, space.DefaultFloor); err != nil {
		t.Fatal(err)
	}
	if out["fourier2d"], err = space.FourierBox(box, []int{2}, space.Cube); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFeaturesNeverLonger: ‖φ(x)‖ ≤ B everywhere, also far outside the domain, and for a B that cuts.
func TestFeaturesNeverLonger(t *testing.T) {
	all := bases(t)
	rapid.Check(t, func(t *rapid.T) {
		basis := all[rapid.SampledFrom([]string{"legendre:6", "fourier:9", "kernel:gauss:0.1", "kernel:brownian", "kernel:periodic:0.2", "kernel:sobolev1", "radial", "fourier2d", "piecewise:4:legendre:2"}).Draw(t, "basis")]
		bound := regression.LargestFeature(basis) * rapid.SampledFrom([]float64{1, 0.5, 1e-3}).Draw(t, "part")
		x := make([]float64, len(basis.Box()))
		for i := range x {
			x[i] = rapid.OneOf(rapid.Float64Range(-2, 7), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)).Draw(t, "x")
		}
		phi := make([]float64, basis.Dim())
		regression.Features(phi, basis, bound, x)
		if n := floats.Norm(phi, 2); !(n <= bound*(1+1e-14)) {
			t.Fatalf("‖φ(%v)‖ = %v > B = %v", x, n, bound)
		}
	})
}

// TestReportStaysInBall: whatever the model and the point, what noise is added to is an integer vector of the ball. The noise is
// subtracted by drawing it again from the same seed.
func TestReportStaysInBall(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6})
	v, err := regression.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	ball := mustBall(t, s)
	mu, err := s.Mu(s.Budget)
	if err != nil {
		t.Fatal(err)
	}
	device, err := mechanism.NewDevice(ball, mu)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := v.Model()
		for j := range m.Coordinates {
			m.Coordinates[j] = rapid.OneOf(rapid.Float64Range(-5, 5), rapid.Float64Range(-1e50, 1e50)).Draw(t, "a")
		}
		seed := rapid.Uint64().Draw(t, "seed")
		c, err := regression.NewClient(m, regression.ClientConfig{Source: noise.Seeded(seed)})
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{rapid.Float64Range(-10, 10).Draw(t, "x")}
		y := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)).Draw(t, "y")
		r, err := c.Contribute(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		again := noise.Seeded(seed)
		again.Uint64()
		again.Uint64() // the id
		drawn := make([]int64, len(r.Coordinates))
		if err := device.Release(drawn, make([]float64, len(drawn)), again); err != nil {
			t.Fatal(err)
		}
		for j := range drawn {
			drawn[j] = r.Coordinates[j] - drawn[j]
		}
		if !ball.Contains(drawn) {
			t.Fatalf("(%v, %v) at %v gives %v, outside the ball", x, y, m.Coordinates, drawn)
		}
	})
}

// TestSensitivityIsAttained: the bound 2τB is not loose.
func TestSensitivityIsAttained(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6})
	phi := make([]float64, 3)
	regression.Features(phi, s.Basis, s.Bound, []float64{rand.New(rand.NewPCG(1, 1)).Float64()})
	if d := 2 * s.Tau * floats.Norm(phi, 2); d < 2*s.Tau*s.Bound*(1-1e-9) {
		t.Errorf("two gradients are at most %v apart here, the bound is %v", d, 2*s.Tau*s.Bound)
	}
}
