// [FTP] Figures 3 and 6: observation noise.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/plot"
)

func meanNoise(f family) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		ns, xs := sampleSizes()
		sigmas := []float64{0.1, 1, 10}
		full := len(sigmas) * len(meanDims) * len(ns)
		const otherShare = 0.5 // once more at the largest n, to see what the latent law does
		cells := make([]meanErrors, full+len(sigmas)*len(meanDims))
		err := r.each(ctx, len(cells), func(i int) error {
			at := i
			if i >= full {
				at = (i-full)*len(ns) + len(ns) - 1
			}
			s, err := f.make(meanDims[at/len(ns)%len(meanDims)])
			if err != nil {
				return err
			}
			if i >= full {
				s.share = otherShare
			}
			n := ns[at%len(ns)]
			c := meanCell{meanSetting: s, n: n, mu: 1, sigma: sigmas[at/len(ns)/len(meanDims)], radius: f.noiseRadius(n), seed: r.seed(uint64(20000 + i))}
			cells[i], err = c.measure(r.reps)
			return err
		})
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: []string{"common_share", "sigma0", f.symbol, "n", "B'", "ftp", "ftp_se", "ptf", "ptf_se", "ratio", "ratio_se"},
			Claim: "at the largest n fit-then-protect wins for σ₀ = 0.1 and 1, and protect-then-fit for σ₀ = 10"}
		if f.coefficients() {
			out.Claim = "at the largest n fit-then-protect wins for σ₀ = 0.1 and 1; for σ₀ = 10 protect-then-fit wins for m = 8 only"
		}
		agree, doubt := true, false
		finding, other := "", ""
		share := 0.0
		var pictures []*plot.Picture
		for a, sigma := range sigmas {
			var series []plot.Series
			finding += fmt.Sprintf("σ₀ = %g: ", sigma)
			for b, d := range meanDims {
				s, err := f.make(d)
				if err != nil {
					return nil, err
				}
				share = s.share
				add := func(share float64, n int, e meanErrors) estimate {
					ftp, ptf := estimateOf(e.ftp), estimateOf(e.ptf)
					q := ftp.over(ptf)
					out.Rows = append(out.Rows, []any{share, sigma, d, n, f.noiseRadius(n), ftp.mean, ftp.se, ptf.mean, ptf.se, q.mean, q.se})
					return q
				}
				var ratios []estimate
				for k, n := range ns {
					ratios = append(ratios, add(share, n, cells[(a*len(meanDims)+b)*len(ns)+k]))
				}
				if q := add(otherShare, ns[len(ns)-1], cells[full+a*len(meanDims)+b]); sigma == 10 {
					other += fmt.Sprintf("%.3f (%.3f), ", q.mean, q.se)
				}
				q := ratios[len(ratios)-1]
				wins := sigma < 10 || f.coefficients() && d < 8
				agree = agree && (wins == (q.mean < 1))
				doubt = doubt || math.Abs(q.mean-1) < z*q.se
				finding += fmt.Sprintf("%.3f (%.3f), ", q.mean, q.se)
				series = append(series, points(fmt.Sprintf("%s = %d", f.symbol, d), xs, ratios), level("1/"+f.symbol, xs, 1/float64(d)))
			}
			finding = finding[:len(finding)-2] + "; "
			p, err := plot.Lines(series, plot.Axes{Title: fmt.Sprintf("σ₀ = %g", sigma), XLabel: "n", YLabel: f.error + " ratio FTP / PTF", LogX: true, LogY: true,
				Caption: caption("μ = 1, B′ = %s, %d repetitions, bars of two standard errors.", f.radiusName, r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, p)
		}
		out.Finding = fmt.Sprintf("ratios at n = 4096 for %s = 2, 4, 6, 8: %s; with half of the curves' radius common to all instead of %g, at σ₀ = 10: %s", f.symbol, finding[:len(finding)-2], share, other[:len(other)-2])
		if doubt {
			out.Finding += " (some of the first within chance of 1)"
		}
		// The other share says at σ₀ = 10 where the claim rests on the latent law, which the paper leaves open.
		out.Verdict = Depends
		if agree {
			out.Finding += "; all on the paper's side of 1 in the first case, not in the second"
		} else {
			out.Finding += "; not all on the paper's side of 1"
		}
		return out, out.join(3, pictures...)
	}
}
