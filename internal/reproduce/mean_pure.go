// [FTP], a constant function under pure ε.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// meanPure is the constant function of the appendix: fit-then-protect adds one Laplace variable to the mean, and
// protect-then-fit one to each of T times at ε/T, which it averages.
func meanPure(ctx context.Context, r run) (*Result, error) {
	const n, epsilon, bound = 100, 1.0, 1.0
	one, err := space.Legendre(space.Interval{A: 0, B: 1}, 1)
	if err != nil {
		return nil, err
	}
	times := []int{1, 2, 4, 8, 16, 32}
	out := &Result{Columns: []string{"T", "n", "epsilon", "ftp", "ftp_se", "ptf", "ptf_se", "ratio", "ratio_se", "theory"}, Claim: "the error of fit-then-protect is 1/T of that of protect-then-fit", Verdict: Holds,
		Finding: "ratio times T: "}
	ratios := make([]estimate, len(times))
	rows := make([][]any, len(times))
	err = r.each(ctx, len(times), func(i int) error {
		T := times[i]
		src := noise.Seeded(r.seed(uint64(30000 + T)))
		m, err := mean.New(mean.Config{Space: one, Radius: bound, Guarantee: privacy.Pure(epsilon), Unit: "person", Raw: true, N: n})
		if err != nil {
			return err
		}
		truth := 0.0
		rnd := simulate.New(r.seed(uint64(T)))
		for range n {
			v := 2*rnd.Float64() - 1
			truth += v / n
			if err := m.Add(fit.Curve{{T: []float64{0, 1}, X: []float64{v, v}}}); err != nil {
				return err
			}
		}
		part, err := m.MarshalBinary()
		if err != nil {
			return err
		}
		ftp, ptf := make([]float64, r.reps), make([]float64, r.reps)
		const fine = 1 << 20 // lattice steps in the scale of the noise
		for k := range ftp {
			m, err := mean.New(m.Config())
			if err != nil {
				return err
			}
			if err := m.UnmarshalBinary(part); err != nil {
				return err
			}
			released, err := m.Release(src)
			if err != nil {
				return err
			}
			d := released.At(0.5) - truth
			ftp[k] = d * d
			sum := 0.0
			for range T {
				sum += float64(src.RoundedLaplace(fine)) / fine * 2 * bound * float64(T) / (n * epsilon) / float64(T)
			}
			ptf[k] = sum * sum
		}
		f, p := estimateOf(ftp), estimateOf(ptf)
		ratios[i] = f.over(p)
		rows[i] = []any{T, n, epsilon, f.mean, f.se, p.mean, p.se, ratios[i].mean, ratios[i].se, 1 / float64(T)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Rows = rows
	var xs, theory []float64
	for i, T := range times {
		xs, theory = append(xs, float64(T)), append(theory, 1/float64(T))
		if math.Abs(ratios[i].mean-theory[i]) > z*ratios[i].se {
			out.Verdict = Fails
		}
		out.Finding += fmt.Sprintf("%.3f (%.3f), ", ratios[i].mean*float64(T), ratios[i].se*float64(T))
	}
	out.Finding = out.Finding[:len(out.Finding)-2] + " for T = 1, 2, 4, 8, 16, 32"
	p, err := plot.Lines([]plot.Series{points("measured", xs, ratios), {Name: "1/T", X: xs, Y: theory, Theory: true}}, plot.Axes{XLabel: "T", YLabel: "error ratio FTP / PTF", LogX: true, LogY: true,
		Caption: caption("A constant function, n = %d, ε = %g, %d repetitions, bars of two standard errors.", n, epsilon, r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}
