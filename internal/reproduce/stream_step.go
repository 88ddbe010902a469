// How much the step size matters, as in [REG] Appendix F, of which we have no copy.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/regression"
)

// scaled is the method with its step times the factor.
func scaled(m method, factor float64) method {
	inner := m.fit
	m.fit = func(ctx context.Context, basis regression.Basis, t truth, l law, points []regression.Point, tau float64, seed uint64) (func(x []float64) float64, error) {
		t.gamma, t.initial, t.g = factor*t.gamma, factor*t.initial, factor*t.g
		return inner(ctx, basis, t, l, points, tau, seed)
	}
	return m
}

func regressionStep(ctx context.Context, r run) (*Result, error) {
	n := 5000
	if r.small {
		n = 1000
	}
	kinds := []struct {
		method
		factors []float64
	}{
		{sgd("H-FSGD, constant step", true, false, 1), []float64{0.0625, 0.125, 0.25, 0.5, 1, 2, 4}},
		// The first step of a decaying sequence is at its bound already.
		{sgd("H-FSGD, decaying step", true, true, 1), []float64{0.0625, 0.125, 0.25, 0.5, 1}},
		{private("(3,0.1) analytic, constant step", moderate, regression.Analytic, false), []float64{0.0625, 0.125, 0.25, 0.5, 1, 2, 4}},
	}
	var methods []method
	for _, k := range kinds {
		for _, f := range k.factors {
			methods = append(methods, scaled(k.method, f))
		}
	}
	cells := streamCells(laws, []int{n})
	if err := r.stream(ctx, cells, methods, 4); err != nil {
		return nil, err
	}
	out := &Result{Columns: []string{"truth", "errors", "method", "n", "factor", "median", "median_se", "q25", "q75"},
		Claim: "(the appendix is not in our copy; what we ask:) halving or doubling a constant step changes the error less than twofold"}
	var panels []*plot.Picture
	most, far := 0.0, 0.0 // over cells, halved or doubled and 16 times smaller
	clear := true
	for _, c := range cells {
		var series []plot.Series
		at := 0
		for i, k := range kinds {
			s := plot.Series{Name: k.name, Marks: true}
			medians, errors := map[float64]float64{}, map[float64]float64{}
			for _, f := range k.factors {
				median, q25, q75, se := c.box(at)
				at++
				medians[f], errors[f] = median, se
				out.Rows = append(out.Rows, []any{c.truth.name, c.law.name, k.name, n, f, median, se, q25, q75})
				shift := math.Pow(1.05, float64(i-1))
				s.X, s.Y, s.Lo, s.Hi = append(s.X, f*shift), append(s.Y, median), append(s.Lo, q25), append(s.Hi, q75)
			}
			series = append(series, s)
			far = math.Max(far, medians[0.0625]/medians[1])
			if _, ok := medians[2]; !ok {
				continue
			}
			for _, f := range []float64{0.5, 2} {
				q := estimate{medians[f], errors[f]}.over(estimate{medians[1], errors[1]})
				most = math.Max(most, math.Max(q.mean, 1/q.mean))
				clear = clear && q.mean < 2+z*q.se && 1/q.mean < 2+z*q.se/(q.mean*q.mean)
			}
		}
		p, err := plot.Lines(series, plot.Axes{Title: c.truth.name + ", " + c.law.name, XLabel: "step, in those of the other figures", YLabel: "mean squared error", LogX: true, LogY: true,
			Caption: caption("n = %d, medians and quartiles of %d repetitions.", n, r.reps), Size: plot.Size{Width: 20 * 28.35, Height: 10 * 28.35, Font: 9}})
		if err != nil {
			return nil, err
		}
		panels = append(panels, p)
	}
	out.Verdict = Fails
	if clear {
		out.Verdict = Holds
	}
	out.Finding = fmt.Sprintf("halved or doubled constant steps change the median error at most %.2f-fold; a step 16 times too small makes it up to %.3g times as large", most, far)
	return out, out.join(2, panels...)
}
