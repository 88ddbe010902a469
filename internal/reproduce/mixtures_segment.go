// [GEO] Figures 12 and 16: segment on mixtures of Gaussian functions, by the degree of its polynomials.

package reproduce

import (
	"context"
	"fmt"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/plot"
)

var segmentDegrees = []int{1, 4, 8, 16}

func curveSegment(model string) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		budgets, symbol := budgetsOf(model, smallGP, mixtureRho)
		a := mixtures()
		budgets = r.settings(budgets, 2)
		a.curves = r.curves(a.curves, 4)
		var list []contender
		var names []string
		for _, degree := range segmentDegrees {
			name := fmt.Sprintf("segment, degree %d", degree)
			names = append(names, name)
			for _, b := range budgets {
				for _, continuous := range []bool{false, true} {
					own := name
					if continuous {
						own = fmt.Sprintf("segment continuous, degree %d", degree)
					}
					o, err := a.ours(own, curve.Config{Method: curve.Segment, Polynomials: degree + 1, Reduce: curve.ReduceAlways, Continuous: continuous}, model, b, false)
					if err != nil {
						return nil, err
					}
					list = append(list, o)
				}
			}
		}
		for _, b := range budgets {
			list = append(list, a.baselines(model, b, []int{10, 20, 50, 100}, []int{10, 20, 50, 100}, func(k int) []int { return []int{k / 10} })...)
		}
		scores, err := r.compete(ctx, len(a.curves), list)
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: scoreColumns, Rows: rows(model, scores), Claim: "segment is better than the baselines at every budget and degree; a small basis is better at small budgets and a larger one at large budgets"}
		out.verdict(scores, budgets, names...)
		best := func(b float64) string {
			name := names[0]
			for _, n := range names {
				if find(scores, n, b).mean.mean < find(scores, name, b).mean.mean {
					name = n
				}
			}
			return name
		}
		first, last := best(budgets[0]), best(budgets[len(budgets)-1])
		out.Finding += fmt.Sprintf("; best at %s = %g is %s, at %g %s", symbol, budgets[0], first, budgets[len(budgets)-1], last)
		return out, out.byDegree(scores, budgets, "privacy budget "+symbol, fmt.Sprintf(mixtureText, len(a.curves), r.reps)+", bars of two standard errors over curves.")
	}
}

// byDegree has the paper's panels: a column for each degree, errors above their squares.
func (r *Result) byDegree(scores []score, budgets []float64, xlabel, text string) error {
	var panels []*plot.Picture
	for k, what := range errorKinds[:2] {
		for _, degree := range segmentDegrees {
			suffix := fmt.Sprintf(", degree %d", degree)
			names := []string{"segment" + suffix, "segment continuous" + suffix, "baseline", "baseline smoothed", "matched baseline"}
			p, err := plot.Lines(lines(scores, budgets, names, suffix)[k], plot.Axes{Title: fmt.Sprintf("degree %d", degree), XLabel: xlabel, YLabel: what, LogX: true, LogY: true,
				Caption: caption("%s", text), Size: plot.Size{Width: 28 * 28.35, Height: 10 * 28.35, Font: 9}})
			if err != nil {
				return err
			}
			panels = append(panels, p)
		}
	}
	return r.join(len(segmentDegrees), panels...)
}
