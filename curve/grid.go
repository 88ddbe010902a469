package curve

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/release"
)

// maxGrid is the largest number of points that Grid returns.
const maxGrid = 1 << 22

// Grid evaluates a release on the public uniform grid a, a+every, … inside its
// window: times, and values by component and time. Read a release off on such a
// grid, never at the times of the person's samples, which would tell them.
func Grid(r *release.Release, every float64) (t []float64, x [][]float64, err error) {
	d := r.Space.Domain()
	if !(every > 0) || math.IsInf(every, 0) || d.Length()/every > maxGrid {
		return nil, nil, fmt.Errorf("curve: grid step %g on %v: give a positive number that makes at most %d points", every, d, maxGrid)
	}
	x = make([][]float64, len(r.Components))
	values := make([]float64, len(x))
	for i := 0; ; i++ {
		at := d.A + float64(i)*every
		if at > d.B {
			return t, x, nil
		}
		if err := r.Eval(values, at); err != nil {
			return nil, nil, fmt.Errorf("curve: %w", err)
		}
		t = append(t, at)
		for k, v := range values {
			x[k] = append(x[k], v)
		}
	}
}
