// [REG] Figure 4: computing time.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/regression"
)

func regressionTime(ctx context.Context, r run) (*Result, error) {
	basis, err := streamBasis()
	if err != nil {
		return nil, err
	}
	sizes := []int{4000, 8000, 16000, 28000, 40000}
	if r.small {
		sizes = []int{1000, 2000, 4000}
	}
	const long = 16000 // once is enough for the offline method beyond it
	methods := []method{sgd("H-FSGD", true, false, 1), sgd("L2-FSGD", false, false, 1), private("PH-FSGD", moderate, regression.Analytic, false)}
	names := []string{"H-FSGD", "L2-FSGD", "PH-FSGD", "offline, a centre for each x"}
	out := &Result{Columns: []string{"method", "n", "seconds"}, Claim: "the computing time of H-FSGD and PH-FSGD is linear in n, that of the offline method far from it"}
	times := make([][]float64, len(names))
	for k, n := range sizes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		points := truths[0].points(simulate.New(r.seed(uint64(n))), laws[0], n)
		for m := range names {
			best := math.Inf(1) // the least disturbed
			runs := r.reps
			if m == 3 {
				runs = 2
			}
			if m == 3 && n > long {
				runs = 1
			}
			for range runs {
				start := time.Now()
				if m == 3 {
					offline(points, 0.05)
				} else if _, err := methods[m].fit(ctx, basis, truths[0], laws[0], points, 0.67, 1); err != nil {
					return nil, err
				}
				best = math.Min(best, time.Since(start).Seconds())
			}
			times[m] = append(times[m], best)
			out.Rows = append(out.Rows, []any{names[m], n, best})
		}
		if r.progress != nil {
			r.progress(k+1, len(sizes))
		}
	}
	var series []plot.Series
	var powers []float64
	for m, name := range names {
		var x []float64
		var y []estimate
		for i, t := range times[m] {
			x, y = append(x, float64(sizes[i])), append(y, estimate{mean: t})
		}
		powers = append(powers, slope(x, y).mean)
		series = append(series, plot.Series{Name: name, X: x, Y: times[m], Marks: true})
	}
	last := len(sizes) - 1
	out.Finding = fmt.Sprintf("time grows like n^%.2f (H-FSGD), n^%.2f (L2-FSGD), n^%.2f (PH-FSGD), n^%.2f (offline); for n = %d they take %.3g, %.3g, %.3g and %.3g s", powers[0], powers[1], powers[2], powers[3], sizes[last], times[0][last], times[1][last], times[2][last], times[3][last])
	out.Verdict = Fails
	if powers[0] < 1.3 && powers[2] < 1.3 && powers[3] > 1.6 {
		out.Verdict = Holds
	}
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "seconds", LogX: true, LogY: true, Caption: caption("The fastest of %d runs (offline: of 2, and 1 beyond n = 16000) on one core. Times differ from run to run.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}
