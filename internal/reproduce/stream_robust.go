// [REG] Appendix F: contamination, and errors without a mean.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/curveil/curveil/regression"
)

var badLaws = []law{
	{"5 % contaminated", func(r *rand.Rand) float64 {
		if r.Float64() < 0.05 {
			return 10 * r.NormFloat64()
		}
		return 0.5 * r.NormFloat64()
	}, 0.7},
	{"20 % contaminated", func(r *rand.Rand) float64 {
		if r.Float64() < 0.2 {
			return 10 * r.NormFloat64()
		}
		return 0.5 * r.NormFloat64()
	}, 0.9},
	{"Cauchy", func(r *rand.Rand) float64 { return 0.5 * student(r, 1) }, 1.2},
}

func regressionRobust(ctx context.Context, r run) (*Result, error) {
	methods := []method{sgd("H-FSGD", true, false, 1), sgd("L2-FSGD", false, false, 1), private("PH-FSGD (3,0.1) analytic", moderate, regression.Analytic, false)}
	sizes := r.sizes()
	cells := streamCells(badLaws, sizes)
	if err := r.stream(ctx, cells, methods, 3); err != nil {
		return nil, err
	}
	out, err := streamResult(cells, methods, sizes, fmt.Sprintf("Errors N(0,0.25), the contaminated ones N(0,100) instead; Cauchy of scale 0.5. %d repetitions.", r.reps))
	if err != nil {
		return nil, err
	}
	out.Claim = "the Huber loss stays good under contamination and under Cauchy errors, beyond the theory, where the squared loss breaks"
	low, worst := math.Inf(1), 0.0
	cauchy := [2]float64{math.Inf(1), 0}
	for _, c := range cells {
		h, _, _, _ := c.box(0)
		l, _, _, _ := c.box(1)
		low, worst = math.Min(low, l/h), math.Max(worst, h)
		if c.law.name == "Cauchy" {
			cauchy = [2]float64{math.Min(cauchy[0], l/h), math.Max(cauchy[1], l/h)}
		}
	}
	out.Finding = fmt.Sprintf("median error of L2-FSGD over that of H-FSGD: at least %.3g, under Cauchy errors %.3g to %.3g; the largest median error of H-FSGD is %.3g", low, cauchy[0], cauchy[1], worst)
	out.Verdict = Fails
	if low > 2 && worst < 0.1 {
		out.Verdict = Holds
	}
	return out, nil
}
