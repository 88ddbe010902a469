// [GEO] Figures 8, 12, 14 and 16: select and segment on mixtures of Gaussian functions.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/space"
)

// mixtures are 50 linear combinations of 1 to 5 Gaussian functions on [0,100]; heights, centres and widths are our
// choice, in the range of the paper's Figure 9.
func mixtures() arena {
	window := space.Interval{A: 0, B: 100}
	list := make([]fit.Curve, 50)
	for i := range list {
		rnd := simulate.New(uint64(500 + i))
		s := fit.Series{}
		type bump struct{ height, centre, width float64 }
		var bumps []bump
		for range 1 + rnd.IntN(5) {
			bumps = append(bumps, bump{uniform(rnd, 50, 250), uniform(rnd, 0, 100), uniform(rnd, 5, 20)})
		}
		for k := range 501 {
			t := float64(k) / 5
			v := 0.0
			for _, b := range bumps {
				v += b.height * math.Exp(-(t-b.centre)*(t-b.centre)/(2*b.width*b.width))
			}
			s.T, s.X = append(s.T, t), append(s.X, v)
		}
		list[i] = fit.Curve{s}
	}
	return newArena(list, window)
}

func uniform(rnd *rand.Rand, a, b float64) float64 { return a + (b-a)*rnd.Float64() }

var mixtureRho = []float64{1e-7, 4e-7, 2.5e-6, 1e-5, 4e-5, 2.5e-4, 1e-3}

const mixtureText = "%d mixtures of 1 to 5 Gaussian functions (heights 50–250, widths 5–20), %d repetitions on each, best parameters of the baselines in hindsight"

func curveSelect(model string) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		budgets, symbol := budgetsOf(model, smallGP, mixtureRho)
		budgets = r.settings(budgets, 2)
		a := mixtures()
		a.curves = r.curves(a.curves, 10)
		sp, err := space.Legendre(a.window, 33)
		if err != nil {
			return nil, err
		}
		var list []contender
		for _, b := range budgets {
			o, err := a.ours("select", curve.Config{Method: curve.Select, Space: sp}, model, b, false)
			if err != nil {
				return nil, err
			}
			ours, err := a.ours("denoise (ours)", curve.Config{Method: curve.Denoise}, model, b, false)
			if err != nil {
				return nil, err
			}
			list = append(append(list, o, ours), a.baselines(model, b, []int{10, 20, 50, 100}, []int{10, 20, 50, 100}, func(k int) []int { return []int{k / 10} })...)
		}
		scores, err := r.compete(ctx, len(a.curves), list)
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: scoreColumns, Rows: rows(model, scores), Claim: "select, over polynomials of degree up to 32, is better than the baselines at every budget"}
		out.verdict(scores, budgets, "select")
		return out, out.pictures(scores, budgets, "privacy budget "+symbol, fmt.Sprintf(mixtureText, len(a.curves), r.reps), "curves")
	}
}

// verdict compares the method with the paper's baselines and with the matched one.
func (r *Result) verdict(scores []score, budgets []float64, names ...string) {
	low, high, chance, matched := math.Inf(1), 0.0, true, 0
	for _, b := range budgets {
		base := find(scores, "baseline", b)
		if s := find(scores, "baseline smoothed", b); s.mean.mean < base.mean.mean {
			base = s
		}
		for _, name := range names {
			s := find(scores, name, b)
			q := base.mean.mean / s.mean.mean
			low, high = math.Min(low, q), math.Max(high, q)
			chance = chance && base.mean.mean > s.mean.mean-z*math.Hypot(s.mean.se, base.mean.se)
			if find(scores, "matched baseline", b).mean.mean < s.mean.mean {
				matched++
			}
		}
	}
	r.Finding = fmt.Sprintf("the best of the paper's baselines has %.3g to %.3g times the error; a baseline with the same protection in dist₂ (matched) is the better one in %d of %d comparisons", low, high, matched, len(budgets)*len(names))
	switch {
	case !chance:
		r.Verdict = Fails
	case matched > 0:
		r.Verdict = Depends
	default:
		r.Verdict = Holds
	}
	if low < 1 && chance {
		r.Verdict = Depends
		r.Finding += "; where it is not better the difference is within chance"
	}
}
