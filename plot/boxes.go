// Box plots, and frames in which a unit is as long on both axes.

package plot

import (
	"fmt"
	"math"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Box is the lower end of the whiskers, the first quartile, the median, the third quartile, and the upper end.
type Box [5]float64

const boxTint = 0.35

// boxes are box plots of one colour.
type boxes struct {
	x    []float64
	five []Box
	look stroke
}

func (s Series) checkBoxes(a Axes) error {
	switch {
	case len(s.X) == 0 || len(s.X) != len(s.Boxes):
		return fmt.Errorf("%d x and %d boxes; give as many of each, at least one", len(s.X), len(s.Boxes))
	case s.Y != nil || s.Lo != nil || s.Hi != nil || s.Theory || s.Marks || s.NoLine:
		return fmt.Errorf("boxes have no points, lines or error bars: leave the other fields out")
	}
	if err := finite("series "+s.Name, s.X); err != nil {
		return err
	}
	for i, b := range s.Boxes {
		if err := finite("series "+s.Name, b[:]); err != nil {
			return err
		}
		if !slices.IsSorted(b[:]) {
			return fmt.Errorf("box %d %v is not ascending", i, b)
		}
		if a.LogX && s.X[i] <= 0 || a.LogY && b[0] <= 0 {
			return fmt.Errorf("box %d %v at %v is not positive and has no place on a logarithmic axis", i, b, s.X[i])
		}
	}
	return nil
}

func (b boxes) scaled(x, y axis) boxes {
	out := boxes{x.scale(b.x), make([]Box, len(b.five)), b.look}
	for i, f := range b.five {
		copy(out.five[i][:], y.scale(f[:]))
	}
	return out
}

func (b boxes) Plot(c draw.Canvas, g *gplot.Plot) {
	tx, ty := g.Transforms(&c)
	thin, thick := draw.LineStyle{Color: b.look.color, Width: 0.8}, draw.LineStyle{Color: b.look.color, Width: 1.8}
	half := 0.011 * (c.Max.X - c.Min.X)
	for i, f := range b.five {
		x := tx(b.x[i])
		var y [5]vg.Length
		for k, v := range f {
			y[k] = ty(v)
		}
		corners := []vg.Point{{X: x - half, Y: y[1]}, {X: x + half, Y: y[1]}, {X: x + half, Y: y[3]}, {X: x - half, Y: y[3]}}
		c.FillPolygon(tint(b.look.color, boxTint), corners)
		c.StrokeLines(thin, append(corners, corners[0]))
		c.StrokeLine2(thick, x-half, y[2], x+half, y[2])
		for _, w := range [][2]int{{0, 1}, {4, 3}} {
			c.StrokeLine2(thin, x, y[w[0]], x, y[w[1]])
			c.StrokeLine2(thin, x-half/2, y[w[0]], x+half/2, y[w[0]])
		}
	}
}

// widen makes the range of one axis longer, on both sides, so that a unit is as long on both in a frame of the aspect
// ratio width over height.
func (p *panel) widen(aspect float64) {
	x, y := p.x.hi-p.x.lo, p.y.hi-p.y.lo
	a, more := &p.x, y*aspect-x
	if more < 0 {
		a, more = &p.y, x/aspect-y
	}
	if !math.IsInf(more, 0) && more > 0 {
		a.lo, a.hi = a.lo-more/2, a.hi+more/2
	}
}
