package regression_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// TestTwoVariables learns a surface: the error falls below a fifth of the signal's mean square, at a generous budget.
func TestTwoVariables(t *testing.T) {
	basis := bases(t)["radial"]
	s := regression.Stream{Name: "surface", Basis: basis, Tau: 1, Center: 10, Budget: privacy.Approx{Epsilon: 8, Delta: 1e-5}}
	truth := func(x []float64) float64 { return 10 + math.Sin(2*x[0])*math.Cos(x[1]) }
	var err error
	const n = 20000
	if s.Steps, err = regression.SuggestSteps(regression.PlanConfig{Stream: s, Errors: 0.3, Truth: truth}, n); err != nil {
		t.Fatal(err)
	}
	points := make([]regression.Point, n)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range points {
		x := []float64{2*rnd.Float64() - 1, 5 * rnd.Float64()}
		points[i] = regression.Point{X: x, Y: truth(x) + 0.3*rnd.NormFloat64()}
	}
	v, err := regression.Simulate(context.Background(), regression.Simulation{Stream: s, Source: noise.Seeded(1)}, regression.Sequence(points))
	if err != nil {
		t.Fatal(err)
	}
	var mse, signal float64
	for range 2000 {
		x := []float64{2*rnd.Float64() - 1, 5 * rnd.Float64()}
		mse += math.Pow(v.Estimate(x)-truth(x), 2)
		signal += math.Pow(truth(x)-10, 2)
	}
	t.Logf("MSE %.4f of a signal of %.4f", mse/2000, signal/2000)
	if mse > signal/5 {
		t.Errorf("MSE %v of a signal of %v", mse/2000, signal/2000)
	}
}

func TestSimulate(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 4, Delta: 1e-6})
	s.Mixed = true
	points := make([]regression.Point, 300)
	for i := range points {
		points[i] = regression.Point{X: []float64{float64(i) / 300}, Y: 1}
	}
	calls := int64(0)
	delay := 3
	run := func() *regression.Server {
		v, err := regression.Simulate(context.Background(), regression.Simulation{Stream: s, Source: noise.Seeded(1), Delay: delay,
			Budget: func(i int64) privacy.Approx {
				return privacy.Approx{Epsilon: []float64{4, 1}[i%2], Delta: 1e-6}
			},
			After: func(v *regression.Server) {
				if calls++; v.At() != (calls-1)%300+1 {
					t.Fatalf("call %d at version %d", calls, v.At())
				}
			}}, regression.Sequence(points))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if a, b := run(), run(); string(snapshot(t, a)) != string(snapshot(t, b)) {
		t.Error("two seeded simulations differ")
	}
	if calls != 600 {
		t.Errorf("%d calls", calls)
	}
	late := run()
	delay = 0
	if distance(late.Coordinates(), run().Coordinates()) == 0 {
		t.Error("answering at old models makes no difference")
	}
	points[7].Y = math.NaN()
	if _, err := regression.Simulate(context.Background(), regression.Simulation{Stream: s}, regression.Sequence(points)); err == nil {
		t.Error("NaN was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := regression.Simulate(ctx, regression.Simulation{Stream: s}, regression.Sequence(points)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := regression.Simulate(context.Background(), regression.Simulation{Stream: s, Delay: 1 << 30}, regression.Sequence(points)); err == nil {
		t.Error("a delay beyond the staleness was accepted")
	}
}

func TestPilotTau(t *testing.T) {
	basis := bases(t)["kernel:gauss:0.1"]
	rnd := rand.New(rand.NewPCG(3, 3))
	pilot := make([]regression.Point, 2000)
	for i := range pilot {
		x := rnd.Float64()
		pilot[i] = regression.Point{X: []float64{x}, Y: math.Sin(6*x) + 0.5*rnd.NormFloat64()}
	}
	// MAD of 2000 normals has a relative standard error of 2.6%; six of them.
	if tau, err := regression.PilotTau(basis, pilot); err != nil || math.Abs(tau/(1.345*0.5)-1) > 0.16 {
		t.Errorf("τ = %v, %v", tau, err)
	}
	if _, err := regression.PilotTau(basis, pilot[:9]); err == nil {
		t.Error("a pilot of 9 was accepted")
	}
	for i := range pilot {
		pilot[i].Y = 0
	}
	if _, err := regression.PilotTau(basis, pilot); err == nil {
		t.Error("a pilot without errors was accepted")
	}
}
