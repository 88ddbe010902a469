// [REG] Figures 2 and 5: without privacy.

package reproduce

import (
	"context"
	"fmt"
	"math"
)

func regressionPlain(decaying bool) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		methods := []method{sgd("H-FSGD", true, decaying, 1), sgd("L2-FSGD", false, decaying, 1), sgd("offline (L2, 5 passes)", false, decaying, 5)}
		sizes := r.sizes()
		cells := streamCells(laws, sizes)
		if err := r.stream(ctx, cells, methods, 1); err != nil {
			return nil, err
		}
		text := fmt.Sprintf("Gaussian kernel 0.1 on 64 centres, τ from 200 pilot points, %d repetitions.", r.reps)
		out, err := streamResult(cells, methods, sizes, text)
		if err != nil {
			return nil, err
		}
		out.Claim = "under t(3) errors the Huber loss is far better than the squared loss, under normal errors it matches it; all errors fall with n"
		ratio := map[string][2]float64{} // smallest and largest squared/Huber by law
		falls := true
		for i, c := range cells {
			h, _, _, se := c.box(0)
			l, _, _, _ := c.box(1)
			q, ok := ratio[c.law.name]
			if !ok {
				q = [2]float64{math.Inf(1), 0}
			}
			ratio[c.law.name] = [2]float64{math.Min(q[0], l/h), math.Max(q[1], l/h)}
			if c.n != sizes[0] {
				before, _, _, other := cells[i-1].box(0)
				falls = falls && h < before+z*math.Hypot(se, other)
			}
		}
		heavy, normal := ratio["t(3)"], ratio["N(0,0.25)"]
		out.Finding = fmt.Sprintf("median error of L2-FSGD over that of H-FSGD: %.2f to %.2f under t(3), %.2f to %.2f under normal errors; errors of H-FSGD fall with n: %v", heavy[0], heavy[1], normal[0], normal[1], falls)
		out.Verdict = Fails
		if heavy[0] > 1.2 && normal[0] > 0.7 && falls {
			out.Verdict = Holds
		}
		return out, nil
	}
}
