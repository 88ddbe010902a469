// [FTP] Figures 2 and 5: the choice of the radius.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/plot"
)

type radiusChoice struct {
	name string
	of   func(n float64) float64
}

var radiusChoices = []radiusChoice{
	{"B", func(float64) float64 { return 1 }},
	{"1.1B", func(float64) float64 { return 1.1 }},
	{"√log n", func(n float64) float64 { return math.Sqrt(math.Log(n)) }},
	{"log n", math.Log},
	{"√n", math.Sqrt},
	{"n^2/3", func(n float64) float64 { return math.Pow(n, 2.0/3) }},
}

func meanRadius(f family) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		ns, xs := sampleSizes()
		s, err := f.make(4)
		if err != nil {
			return nil, err
		}
		cells := make([]meanErrors, len(radiusChoices)*len(ns))
		err = r.each(ctx, len(cells), func(i int) error {
			// The same seed for all radii: the same people.
			n := ns[i%len(ns)]
			c := meanCell{meanSetting: s, n: n, mu: 1, sigma: 1, radius: radiusChoices[i/len(ns)].of(float64(n)), seed: r.seed(uint64(9000 + i%len(ns)))}
			var err error
			cells[i], err = c.measure(r.reps)
			return err
		})
		if err != nil {
			return nil, err
		}
		best := "log n"
		if f.coefficients() {
			best = "√log n"
		}
		out := &Result{Columns: []string{"radius", "n", "B'", "n_ftp", "n_ftp_se", "n_ptf", "n_ptf_se", "ptf_active"},
			Claim: fmt.Sprintf("no radius is best at all n; B′ = B is good at small n and grows at large n; B′ = %s is best for fit-then-protect at the largest n", best)}
		var pictures []*plot.Picture
		var series [2][]plot.Series
		var last, first [2]string
		var least, smallest [2]float64
		growth := 0.0
		for a, c := range radiusChoices {
			var scaled [2][]estimate
			for k, n := range ns {
				e := cells[a*len(ns)+k]
				for m, v := range [][]float64{e.ftp, e.ptf} {
					y := estimateOf(v)
					y = estimate{y.mean * float64(n), y.se * float64(n)}
					scaled[m] = append(scaled[m], y)
					if k == len(ns)-1 && (last[m] == "" || y.mean < least[m]) {
						last[m], least[m] = c.name, y.mean
					}
					if k == 0 && (first[m] == "" || y.mean < smallest[m]) {
						first[m], smallest[m] = c.name, y.mean
					}
				}
				out.Rows = append(out.Rows, []any{c.name, n, c.of(float64(n)), scaled[0][k].mean, scaled[0][k].se, scaled[1][k].mean, scaled[1][k].se, probability(e.active, len(e.ptf)).mean})
			}
			if c.name == "B" {
				growth = scaled[0][len(ns)-1].mean / scaled[0][5].mean
			}
			for m := range series {
				series[m] = append(series[m], points("B′ = "+c.name, xs, scaled[m]))
			}
		}
		for m, name := range []string{"fit-then-protect", "protect-then-fit"} {
			p, err := plot.Lines(series[m], plot.Axes{Title: name, XLabel: "n", YLabel: "n × " + f.error, LogX: true, LogY: true,
				Caption: caption("σ₀ = 1, μ = 1, %s = 4, %d repetitions, bars of two standard errors.", f.symbol, r.reps), Size: wide})
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, p)
		}
		out.Finding = fmt.Sprintf("smallest at n = 4: %s (FTP), %s (PTF); at n = 4096: %s (FTP, n·%s = %.3g), %s (PTF, %.3g); under B′ = B the scaled error of FTP grows %.3g-fold from n = 128 to 4096", first[0], first[1], last[0], f.error, least[0], last[1], least[1], growth)
		out.Verdict = Depends
		if last[0] == best && growth > 2 && first[0] != last[0] {
			out.Verdict = Holds
		}
		return out, out.join(2, pictures...)
	}
}
