package regression

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// TestModeClosedForm compares stretches in closed form with one step after the other.
func TestModeClosedForm(t *testing.T) {
	for _, c := range []float64{1e-12, 1e-7, 1e-4, 0.03, 0.5, 1, 1.7} {
		for _, stretch := range []float64{1, 2, 7, 300} {
			noise := [2]float64{2, 0.3}
			quick := mode{nu: c, mean: -1.5, sum: 0.2, v: [2]float64{1, 2}, cov: [2]float64{0.5, 3}, sumV: [2]float64{4, 5}}
			slow := quick
			for range int(stretch) {
				rho := 1 - c
				slow.mean *= rho
				slow.sum += slow.mean
				for k := range noise {
					// a' = ρa + ζ, T' = T + a'.
					v := rho*rho*slow.v[k] + 0.25*noise[k]
					cov := rho * slow.cov[k] // of a' with T
					slow.sumV[k] += 2*cov + v
					slow.cov[k] = cov + v
					slow.v[k] = v
				}
			}
			quick.advance(stretch, 0.5, 2, noise) // γκν = ν
			pairs := [][2]float64{{quick.mean, slow.mean}, {quick.sum, slow.sum}}
			for k := range noise {
				pairs = append(pairs, [2]float64{quick.v[k], slow.v[k]}, [2]float64{quick.cov[k], slow.cov[k]}, [2]float64{quick.sumV[k], slow.sumV[k]})
			}
			for i, p := range pairs {
				if !(math.Abs(p[0]-p[1]) <= 2e-3*math.Abs(p[1])) {
					t.Errorf("c = %g, %g steps: quantity %d is %v, step by step %v", c, stretch, i, p[0], p[1])
				}
			}
		}
	}
}

func TestSmoothed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const draws = 200000
	for _, tau := range []float64{0.3, 1, 3} {
		var inside, square float64
		for range draws {
			z := math.Sqrt(2) * rnd.NormFloat64()
			if math.Abs(z) <= tau {
				inside++
			}
			square += huber(z, tau) * huber(z, tau)
		}
		kappa, q := smoothed(tau, 2)
		// Six standard errors: 2e-9 each.
		if math.Abs(inside/draws-kappa) > 3/math.Sqrt(draws) || math.Abs(square/draws-q) > 6*tau*tau/math.Sqrt(draws) {
			t.Errorf("τ = %g: κ %v, q %v; simulated %v, %v", tau, kappa, q, inside/draws, square/draws)
		}
	}
}

// TestPlanPredictsTheTable: the prediction lies within 25% of the reference medians for normal errors, which are within 10% of
// the means, at the reference's steps; and its own choice of step is near the reference's, found by hand.
func TestPlanPredictsTheTable(t *testing.T) {
	basis := tableBasis(t)
	for _, row := range table {
		if row.tau > 1 {
			continue
		}
		for k, n := range tableSizes {
			s := Stream{Name: "p", Basis: basis, Tau: row.tau, Bound: 1, Budget: privacy.Approx{Epsilon: 3, Delta: 0.1}}
			sigma, err := s.NoiseScale(s.Budget)
			if err != nil {
				t.Fatal(err)
			}
			c := PlanConfig{Stream: s, People: []int64{int64(n)}, Errors: 0.5, Truth: func(x []float64) float64 { return row.truth(x[0]) }}
			c.Stream.Steps = Steps{row.g / (sigma / (2 * row.tau) * row.tau), 2.0 / 3, int64(n)}
			fixed, err := NewPlan(c)
			if err != nil {
				t.Fatal(err)
			}
			hand := c.Stream.Steps.At(1)
			c.Stream.Steps = Steps{}
			free, err := NewPlan(c)
			if err != nil {
				t.Fatal(err)
			}
			p, own := fixed.Predictions[0], free.Predictions[0]
			t.Logf("%s, n = %d: predicted MSE %.4f (bias %.4f, privacy %.4f, sampling %.4f), reference %.4f; own step %.4f (by hand %.4f), MSE %.4f", row.name, n,
				p.Error*p.Error, p.Bias*p.Bias, p.Privacy*p.Privacy, p.Sampling*p.Sampling, row.want[3][k], own.Steps.At(1), hand, own.Error*own.Error)
			if ratio := p.Error * p.Error / row.want[3][k]; ratio < 0.75 || ratio > 1.25 {
				t.Errorf("%s, n = %d: predicted %v, reference %v", row.name, n, p.Error*p.Error, row.want[3][k])
			}
			if own.Error > p.Error*1.03 { // how near a step must be to the best is refine's
				t.Errorf("%s, n = %d: the chosen step predicts %v, the one by hand %v", row.name, n, own.Error, p.Error)
			}
			if ratio := own.Steps.At(1) / hand; ratio < 0.5 || ratio > 2 {
				t.Errorf("%s, n = %d: the chosen step is %v, the one by hand %v", row.name, n, own.Steps.At(1), hand)
			}
			if w := free.Warnings; len(w) == 0 {
				t.Error("δ = 0.1 without a warning")
			}
		}
	}
}

func TestExponents(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ alpha, r, paper, private, rate float64 }{
		{2, 0.5, 1.0 / 3, 0.6, 0.4},
		{2, 1, 0.6, 5.0 / 7, 4.0 / 7},
		{2, 0.1, 0, 1.4 / 3.4, 0.4 / 3.4},
		{2, 2, 1.0 / 3, 9.0 / 11, 8.0 / 11},
		{inf, 0.5, 0, 0.5, 0.5},
	} {
		got := []float64{PaperExponent(c.alpha, c.r), PrivateExponent(c.alpha, c.r), PrivateRate(c.alpha, c.r)}
		for i, want := range []float64{c.paper, c.private, c.rate} {
			if math.Abs(got[i]-want) > 1e-12 {
				t.Errorf("α = %g, r = %g: %v", c.alpha, c.r, got)
			}
		}
	}
}

// TestDelayIsHarmless: people who answer at a model as old as the default staleness allows cost no visible accuracy.
func TestDelayIsHarmless(t *testing.T) {
	s := rateStream(t)
	s.Basis = tableBasis(t)
	steps, err := DefaultSteps(s, 2000)
	if err != nil {
		t.Fatal(err)
	}
	s.Steps, s.Staleness = steps, 0
	s = s.WithDefaults()
	if s.Staleness < 20 {
		t.Fatalf("staleness %d", s.Staleness)
	}
	truth := onGrid(case1)
	var logs [2]float64
	const repetitions = 12
	for seed := range uint64(repetitions) {
		points := draw(rand.New(rand.NewPCG(seed, 5)), case1, normalErrors, 2000)
		for k, delay := range []int{0, int(s.Staleness)} {
			v, err := Simulate(context.Background(), Simulation{Stream: s, Delay: delay, Source: noise.Seeded(seed)}, Sequence(points))
			if err != nil {
				t.Fatal(err)
			}
			logs[k] += math.Log(meanSquareError(v.Estimate, truth)) / repetitions
		}
	}
	t.Logf("delay %d: mean log MSE %.3f, without delay %.3f", s.Staleness, logs[1], logs[0])
	if logs[1] > logs[0]+0.2 {
		t.Errorf("a delay of %d reports raises the mean log MSE from %.3f to %.3f", s.Staleness, logs[0], logs[1])
	}
}

// TestDefaultSteps: up to 10,000 people the step is the best under the default guesses, beyond it falls with the exponent for r, and it
// is never beyond 1/B², however few the people and large their budget.
func TestDefaultSteps(t *testing.T) {
	s := rateStream(t)
	at := map[int64]float64{}
	for _, n := range []int64{1, 50, 500, 10_000, 1_000_000} {
		steps := defaultsAt(t, s, n)
		at[n] = steps.At(1)
		if n > defaultReference {
			continue
		}
		best, err := SuggestSteps(PlanConfig{Stream: s}, n)
		if err != nil || math.Abs(at[n]/best.At(1)-1) > 1e-12 {
			t.Errorf("n = %d: step %v, the best one %v, %v", n, at[n], best.At(1), err)
		}
	}
	if want := at[10_000] * math.Pow(100, -5.0/7); math.Abs(at[1_000_000]/want-1) > 1e-12 {
		t.Errorf("a million people: %v, want %v", at[1_000_000], want)
	}
	rough, err := SmoothSteps(s, 1_000_000, 0.5)
	if want := at[10_000] * math.Pow(100, -0.6); err != nil || math.Abs(rough.At(1)/want-1) > 1e-12 {
		t.Errorf("r = 1/2: %v, want %v, %v", rough.At(1), want, err)
	}
	s.Budget = privacy.Approx{Epsilon: 20, Delta: 1e-6}
	for _, n := range []int64{1, 10, 300, 20_000} {
		if steps := defaultsAt(t, s, n); steps.Validate(s.Bound) != nil || steps.At(1) > 1/(s.Bound*s.Bound) {
			t.Errorf("ε = 20, n = %d: step %v", n, steps.At(1))
		}
	}
	for _, r := range []float64{-1, 1.5, math.NaN()} {
		if _, err := SmoothSteps(s, 1000, r); err == nil {
			t.Errorf("smoothness %v was accepted", r)
		}
	}
}
