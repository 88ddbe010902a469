package plot

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/curveil/curveil/release"
)

// surfaceCells is the number of cells an axis of the picture of a regression of two variables.
const surfaceCells = 120

// surface draws a regression of two variables as a heat map of its values. A picture holds no band of it.
func surface(r *release.Release, o Options) (*Picture, error) {
	box := r.Box.Box()
	if len(box) != 2 {
		return nil, fmt.Errorf("plot: a regression of %d variables has no picture; values at points say what it is", len(box))
	}
	if len(o.Overlay) > 0 {
		return nil, errors.New("plot: an overlay is a curve, and a heat map has no place for it")
	}
	size, err := o.Size.orPaper()
	if err != nil {
		return nil, err
	}
	h := &heat{nx: surfaceCells, ny: surfaceCells, box: [4]float64{box[0].A, box[0].B, box[1].A, box[1].B}}
	b := &bar{label: pick(pick(o.YLabel, r.YLabel), "value"), low: math.Inf(1), top: math.Inf(-1)}
	for i := range h.nx {
		for j := range h.ny {
			v := r.AtPoint([]float64{middle(box[0].A, box[0].B, i, h.nx), middle(box[1].A, box[1].B, j, h.ny)})
			h.values = append(h.values, v)
			b.low, b.top = math.Min(b.low, v), math.Max(b.top, v)
		}
	}
	if !(b.top > b.low) { // a constant
		b.low, b.top = b.low-1, b.top+1
	}
	h.scale = b
	names := strings.Split(r.XLabel, ", ")
	if len(names) != 2 {
		names = []string{"x1", "x2"}
	}
	q := &panel{heat: h, x: axis{label: pick(o.XLabel, names[0]), lo: h.box[0], hi: h.box[1]}, y: axis{label: names[1], lo: h.box[2], hi: h.box[3]}}
	q.square = size.Width <= size.Height
	p := &Picture{title: o.Title, columns: 1, look: size, panels: []*panel{q}, bar: b}
	p.caption = remarked(guaranteeOf(r)+". No band is shown; ask for values at points to have it: "+r.BandCaveat(), "", r)
	if !r.Private {
		p.caption = "Not private: made with seeded noise, as a demonstration. " + p.caption
	}
	return p, nil
}

// middle is the middle of the i-th of n equal parts.
func middle(a, b float64, i, n int) float64 { return a + (b-a)*(float64(i)+0.5)/float64(n) }
