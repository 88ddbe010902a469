// [FTP] Table 1: how often the constraint of protect-then-fit is active.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/plot"
)

// meanActive varies what the paper leaves open: how much of the curves is common.
func meanActive(ctx context.Context, r run) (*Result, error) {
	ns, xs := sampleSizes()
	shares := []float64{0, 0.5, 0.95}
	mus := []float64{0.1, 1}
	cells := make([]meanErrors, len(shares)*len(mus)*len(meanDims)*len(ns))
	err := r.each(ctx, len(cells), func(i int) error {
		s, err := rkhs.make(meanDims[i/len(ns)%len(meanDims)])
		if err != nil {
			return err
		}
		s.share = shares[i/len(ns)/len(meanDims)/len(mus)]
		c := meanCell{meanSetting: s, n: ns[i%len(ns)], mu: mus[i/len(ns)/len(meanDims)%len(mus)], radius: 1.1, seed: r.seed(uint64(5000 + i)), protectOnly: true}
		cells[i], err = c.measure(r.reps)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Columns: []string{"common_share", "mu", "T", "n", "ptf", "ptf_se", "active", "active_se"},
		Claim: "the constraint is active less often as n grows, more often for larger T or smaller μ; 0.755 at T = 8, n = 1024, μ = 0.1, never at μ = 1 there"}
	lo, hi, none := 1.0, 0.0, true
	var pictures []*plot.Picture
	for a, share := range shares {
		var series []plot.Series
		for b, mu := range mus {
			for c, T := range meanDims {
				var p []estimate
				for k, n := range ns {
					e := cells[((a*len(mus)+b)*len(meanDims)+c)*len(ns)+k]
					active, ptf := probability(e.active, len(e.ptf)), estimateOf(e.ptf)
					out.Rows = append(out.Rows, []any{share, mu, T, n, ptf.mean, ptf.se, active.mean, active.se})
					p = append(p, active)
					if T == 8 && n == 1024 {
						if mu == 1 {
							none = none && e.active == 0
						} else {
							lo, hi = math.Min(lo, active.mean), math.Max(hi, active.mean)
						}
					}
				}
				if mu == 0.1 {
					s := points(fmt.Sprintf("T = %d", T), xs, p)
					for j := range s.Lo {
						s.Lo[j] = math.Max(0, p[j].mean-2*p[j].se)
					}
					series = append(series, s)
				}
			}
		}
		p, err := plot.Lines(append(series, level("paper, T = 8, n = 1024", xs, 0.755)), plot.Axes{Title: fmt.Sprintf("common part %g", share), XLabel: "n", YLabel: "probability, μ = 0.1", LogX: true,
			Caption: caption("B′ = 1.1, %d repetitions. The common part is the norm of the mean of the latent curves, which the paper does not state.", r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, p)
	}
	out.Verdict = Fails
	if none {
		out.Verdict = Depends
	}
	out.Finding = fmt.Sprintf("at T = 8, n = 1024 it is %.3f to %.3f for μ = 0.1, according to the unstated law of the latent curves, and never active in %d repetitions for μ = 1: %v", lo, hi, r.reps, none)
	return out, out.join(3, pictures...)
}
