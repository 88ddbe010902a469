// Package plot draws releases: the curve, the band of its noise, and the
// guarantee under it, as SVG, PNG or PDF. Pictures show public things only, so
// drawing spends nothing.
//
//	p, err := plot.Release(r, plot.Options{})
//	err = p.Save("mean.svg")
//
// [Release] and [Compare] draw releases, [Tradeoff] an audit, [Lines] measured
// series of any kind. Text in PNG and PDF files is limited to the characters of
// the Liberation Sans font: Latin, Greek, Cyrillic.
package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// Picture is a finished picture, to be written by [Picture.Save] or
// [Picture.Encode].
type Picture struct {
	title   string
	keys    []key // of the legend
	curves  int   // keys of releases and overlays, which come first
	panels  []*panel
	columns int
	caption string
	look    Size
	bar     *bar // scale of the colours of heat maps
}

// panel is one pair of axes with what is drawn in them.
type panel struct {
	title  string
	x, y   axis
	bands  []band // drawn first, under the grid
	lines  []line
	marks  []marks
	boxes  []boxes
	square bool // both axes alike and a square frame
	equal  bool // a unit is as long on both axes
	heat   *heat
	aspect float64 // width of the frame over its height; 0 as the picture's size gives it
}

type axis struct {
	label     string
	log, unix bool
	ends      bool    // ticks where it begins and ends, if there is room
	lo, hi    float64 // range; found from the data by fit when lo = hi = 0
}

type band struct {
	x, lo, hi []float64
	fill      stroke
}

type line struct {
	x, y []float64
	look stroke
}

// marks are points, with vertical error bars where lo and hi are not nil.
type marks struct {
	x, y, lo, hi []float64
	look         stroke
	shape        int
}

func (p *Picture) rows() int { return (len(p.panels) + p.columns - 1) / p.columns }

func (p *Picture) size() (width, height vg.Length) {
	w, h := p.look.Width, p.look.Height
	switch q := p.panels[0]; {
	case q.square:
		h = w
	case q.aspect > 0: // as wide as ever, as high as that needs, but no tower; draw cuts what is left
		labels, around := 9.5*p.look.Font, 11*p.look.Font
		h = min((w-labels)/vg.Length(q.aspect)+around, max(p.look.Height, 1.15*w))
		w = max((h-around)*vg.Length(q.aspect)+labels, min(w, 30*p.look.Font))
	}
	return w, h * (1 + 0.7*vg.Length(p.rows()-1))
}

func (s Size) orPaper() (Size, error) {
	if s == (Size{}) {
		return Paper, nil
	}
	for _, v := range []vg.Length{s.Width, s.Height, s.Font} {
		if !(v > 0 && v <= 200*vg.Centimeter) {
			return s, fmt.Errorf("plot: a size of %v × %v with letters of %v is no picture; give all three, positive and at most 2 m", s.Width, s.Height, s.Font)
		}
	}
	if s.Width < 12*s.Font || s.Height < 10*s.Font {
		return s, fmt.Errorf("plot: a size of %v × %v is too small for letters of %v; enlarge it or take smaller letters", s.Width, s.Height, s.Font)
	}
	return s, nil
}

// finite refuses NaN and infinity, naming what and where.
func finite(what string, values ...[]float64) error {
	for _, list := range values {
		for i, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("plot: %s: value %v at index %d is not finite and cannot be drawn", what, v, i)
			}
		}
	}
	return nil
}

// fit finds the ranges of both axes. Curves fill the horizontal axis; marks and
// the vertical axis get a margin. Bars that reach down to 0 do not count on a
// logarithmic axis: they are drawn to its end.
func (p *panel) fit() error {
	var x, y extent
	for _, b := range p.bands {
		x.add(p.x, b.x)
		y.add(p.y, b.lo, b.hi)
	}
	for _, l := range p.lines {
		x.add(p.x, l.x)
		y.add(p.y, l.y)
	}
	pad := 0.0
	if p.equal {
		pad = 0.03
	}
	for _, m := range p.marks {
		x.add(p.x, m.x)
		y.add(p.y, m.y, m.lo, m.hi)
		pad = 0.03
	}
	for _, b := range p.boxes {
		x.add(p.x, b.x)
		for _, v := range b.five {
			y.add(p.y, v[:])
		}
		pad = 0.08
	}
	if err := p.x.set(x, pad); err != nil {
		return err
	}
	return p.y.set(y, 0.05)
}

type extent struct {
	lo, hi float64
	some   bool
}

func (e *extent) add(a axis, lists ...[]float64) {
	for _, list := range lists {
		for _, v := range list {
			if a.log && v <= 0 {
				continue
			}
			if !e.some {
				e.lo, e.hi, e.some = v, v, true
			}
			e.lo, e.hi = math.Min(e.lo, v), math.Max(e.hi, v)
		}
	}
}

func (a *axis) set(e extent, pad float64) error {
	if a.lo != a.hi {
		return nil
	}
	lo, hi := e.lo, e.hi
	if a.log {
		l, h := math.Log10(lo), math.Log10(hi)
		if h-l < 1e-6 {
			l, h = l-0.5, h+0.5
		}
		margin := pad * (h - l)
		a.lo, a.hi = math.Pow(10, l-margin), math.Pow(10, h+margin)
	} else {
		if size := math.Max(math.Abs(lo), math.Abs(hi)); hi-lo <= 1e-9*size {
			half := math.Max(0.05*size, 1e-9)
			if size == 0 {
				half = 1
			}
			lo, hi = lo-half, hi+half
		}
		margin := pad * (hi - lo)
		a.lo, a.hi = lo-margin, hi+margin
	}
	if math.IsInf(a.hi-a.lo, 0) || !(a.lo < a.hi) || a.log && a.lo == 0 {
		return fmt.Errorf("plot: an axis from %v to %v cannot be drawn", lo, hi)
	}
	return nil
}
