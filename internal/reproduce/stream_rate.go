// The rate of [REG] Theorem 2 under privacy.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// regressionRate compares the step exponent of the paper's rate with the one that balances noise that is white in the
// space, in a kernel whose eigenvalues fall like k^−2; both begin at n = 10⁴ with the same step. Errors are predicted in
// closed form, and simulated where that is quick.
func regressionRate(ctx context.Context, r run) (*Result, error) {
	sp, err := space.Kernel(space.PeriodicSobolev(1), space.Midpoints(0, 1, 64), space.Floor(0))
	if err != nil {
		return nil, err
	}
	s := regression.Stream{Name: "reproduce", Basis: regression.OneVariable(sp), Tau: 0.67, Bound: 1, Budget: moderate}.WithDefaults()
	const first, smoothness, alpha = 10000, 1.0, 2.0
	sizes := []int64{first, 30000, 100000, 300000, 1000000}
	simulated := 2 // a hundred thousand people a run are not quick
	if r.small {
		simulated = 1
	}
	x := make([]float64, len(sizes))
	for i, n := range sizes {
		x[i] = float64(n)
	}
	standard, err := regression.DefaultSteps(s, first)
	if err != nil {
		return nil, err
	}
	exponents := []struct {
		name string
		zeta float64
	}{{"paper's step", regression.PaperExponent(alpha, smoothness)}, {"smaller step (ours)", regression.PrivateExponent(alpha, smoothness)}}
	out := &Result{Columns: []string{"steps", "zeta", "n", "predicted", "simulated", "simulated_se", "not_private"}, Claim: "with privacy the rate is that of the paper's steps, the same as without", Verdict: Fails}
	steps := func(k int, n int64) regression.Steps {
		return regression.Steps{Gamma0: standard.At(1) * math.Pow(first, exponents[k].zeta), Exponent: exponents[k].zeta, Horizon: n}
	}
	measured := make([][]float64, len(exponents)*simulated)
	for i := range measured {
		measured[i] = make([]float64, r.reps)
	}
	want := onGrid(truths[0].at)
	err = r.each(ctx, len(measured)*r.reps, func(job int) error {
		i, rep := job/r.reps, job%r.reps
		n := sizes[i%simulated]
		own := s
		own.Steps = steps(i/simulated, n)
		own.Staleness = 0
		points := truths[0].points(simulate.New(r.seed(uint64(90000+job))), laws[0], int(n))
		v, err := regression.Simulate(ctx, regression.Simulation{Stream: own, Source: noise.Seeded(r.seed(uint64(job)))}, regression.Sequence(points))
		if err != nil {
			return err
		}
		measured[i][rep] = meanSquare(onGrid(func(x float64) float64 { return v.Estimate([]float64{x}) }), want)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var series []plot.Series
	var slopes []float64
	var plain []estimate
	for k, e := range exponents {
		var y []estimate
		plain = nil
		for i, n := range sizes {
			c := regression.PlanConfig{Stream: s, People: []int64{n}, Errors: 0.5, Truth: func(x []float64) float64 { return truths[0].at(x[0]) }}
			c.Stream.Steps = steps(k, n)
			plan, err := regression.NewPlan(c)
			if err != nil {
				return nil, err
			}
			p := plan.Predictions[0]
			y, plain = append(y, estimate{mean: p.Error * p.Error}), append(plain, estimate{mean: p.NonPrivate * p.NonPrivate})
			row := []any{e.name, e.zeta, int(n), p.Error * p.Error, "", "", p.NonPrivate * p.NonPrivate}
			if i < simulated {
				m := estimateOf(measured[k*simulated+i])
				row[4], row[5] = m.mean, m.se
			}
			out.Rows = append(out.Rows, row)
		}
		slopes = append(slopes, slope(x, y).mean)
		line := points(e.name+", predicted", x, y)
		line.Lo, line.Hi, line.Marks = nil, nil, false
		var m []estimate
		for i := range simulated {
			m = append(m, estimateOf(measured[k*simulated+i]))
		}
		dots := points(e.name+", simulated", x[:simulated], m)
		dots.NoLine = true
		series = append(series, line, dots)
	}
	rate := regression.PrivateRate(alpha, smoothness)
	free := slope(x, plain).mean
	if slopes[0] < free+0.1 {
		out.Verdict = Holds
	}
	line := points("without privacy", x, plain)
	line.Lo, line.Hi = nil, nil
	series = append(series, line)
	out.Finding = fmt.Sprintf("slopes of the mean squared error from n = 10⁴ to 10⁶, α = 2: without privacy %.3f; with it %.3f for the paper's exponent ζ = %.3f, %.3f for ζ = %.3f, theory for white noise −%.3f", free, slopes[0], exponents[0].zeta, slopes[1], exponents[1].zeta, rate)
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "mean squared error", LogX: true, LogY: true, Caption: caption("Case 1, normal errors, periodic Sobolev kernel, (3,0.1)-LDP, %d repetitions, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}
