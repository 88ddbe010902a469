// Densities against a private histogram.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/plot"
)

func densityHistogram(ctx context.Context, r run) (*Result, error) {
	ns := []int64{1000, 3000, 10000, 30000, 100000}
	if r.small {
		ns = ns[:3]
	}
	names := []string{"two-bumps", "steps", "two-hills"}
	const rho = 0.1
	type cell struct {
		riskCell
		histogram float64
		bins      int
	}
	var cells []cell
	for _, name := range names {
		t, err := densities.Named(name)
		if err != nil {
			return nil, err
		}
		for _, n := range ns {
			c := cell{riskCell: riskCell{target: targetOf(t), n: n, rho: rho}}
			c.histogram, c.bins = densities.HistogramRisk(t, n, rho)
			cells = append(cells, c)
		}
	}
	err := r.each(ctx, len(cells), func(i int) (err error) {
		c := &cells[i]
		if c.oracle, c.rank, err = c.target.oracle(c.n, c.rho); err != nil {
			return err
		}
		c.measured, err = c.measure(ctx, c.config(c.n, c.rho), r.reps, r.seed(uint64(80000+i)))
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Columns: append(append([]string{}, riskColumns...), "histogram", "bins"), Claim: "for smooth densities projections beat a private histogram, even one with the best number of bins in hindsight", Verdict: Holds}
	var pictures []*plot.Picture
	for k, name := range names {
		var x []float64
		var y, h []estimate
		low, high := math.Inf(1), 0.0
		for i := range ns {
			c := cells[k*len(ns)+i]
			out.Rows = append(out.Rows, append(c.row(), c.histogram, c.bins))
			x, y, h = append(x, float64(c.n)), append(y, c.measured), append(h, estimate{mean: c.histogram})
			q := estimate{mean: c.histogram}.over(c.measured)
			low, high = math.Min(low, q.mean), math.Max(high, q.mean)
			if name != "steps" && q.mean < 1-z*c.measured.se/c.measured.mean {
				out.Verdict = Fails
			}
		}
		out.Finding += fmt.Sprintf("%s: the histogram has %.2f to %.2f times the error; ", name, low, high)
		s := points("histogram, best bins (exact)", x, h)
		s.Lo, s.Hi = nil, nil
		p, err := plot.Lines([]plot.Series{points("layered", x, y), s}, plot.Axes{Title: name, XLabel: "n", YLabel: "integrated squared error", LogX: true, LogY: true,
			Caption: caption("ρ = %g, %d data sets each, bars of two standard errors; steps are rough, the others smooth; two-hills has two variables.", rho, r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, p)
	}
	out.Finding += "steps have jumps where bins end, which suits a histogram"
	return out, out.join(3, pictures...)
}
