// Measured series on linear or logarithmic axes.

package plot

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Series is a line through points, with error bars where Lo and Hi are given.
type Series struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // nil, or one per point with Lo ≤ Y ≤ Hi
	Marks  bool      // draw the points; implied by error bars
	NoLine bool      // do not join them
	Theory bool      // drawn in black, dashed, without marks: what was predicted
	Color  int       // of the palette: 1, 2, …; 0 for the next one. For series that are not in all of several panels
	// Boxes makes it box plots at the X instead, without Y: the ends of the whiskers, the quartiles and the median,
	// ascending.
	Boxes []Box
}

// Axes describes a picture of series.
type Axes struct {
	Title, XLabel, YLabel, Caption string
	LogX, LogY                     bool
	Equal                          bool // a unit is as long on both axes, which are not logarithmic: for maps and shapes
	Size                           Size // zero: Paper
}

// Lines draws series into one pair of axes. On a logarithmic axis all points
// must be positive; error bars may reach 0.
func Lines(series []Series, a Axes) (*Picture, error) {
	size, err := a.Size.orPaper()
	if err != nil {
		return nil, err
	}
	if len(series) == 0 {
		return nil, errors.New("plot: no series to draw; give at least one")
	}
	if a.Equal && (a.LogX || a.LogY) {
		return nil, errors.New("plot: a unit has no length on a logarithmic axis: ask for equal units on linear axes")
	}
	q := &panel{x: axis{label: a.XLabel, log: a.LogX}, y: axis{label: a.YLabel, log: a.LogY}, equal: a.Equal}
	p := &Picture{title: a.Title, caption: a.Caption, look: size, columns: 1, panels: []*panel{q}}
	color, theory := 0, 0
	for i, s := range series {
		if err := s.check(a); err != nil {
			return nil, fmt.Errorf("plot: series %d %q: %w", i, s.Name, err)
		}
		if s.Color > 0 {
			color = s.Color - 1
		}
		look := stroke{palette[color%len(palette)], 1.4, nil}
		if s.Theory {
			look = stroke{ink, 0.9, [][]vg.Length{dashed, dotted, {7, 2, 1, 2}}[theory%3]}
			theory++
		}
		k := key{label: s.Name}
		if s.Boxes != nil {
			q.boxes = append(q.boxes, boxes{s.X, s.Boxes, look})
			k.fill = &stroke{tint(look.color, boxTint), 0, nil}
			k.line = &look
			color++
			p.addKey(k)
			continue
		}
		if !s.NoLine {
			q.lines = append(q.lines, line{s.X, s.Y, look})
			k.line = &look
		}
		if !s.Theory && (s.Marks || s.NoLine || s.Lo != nil) {
			m := marks{s.X, s.Y, s.Lo, s.Hi, look, color}
			q.marks = append(q.marks, m)
			k.mark = &m
		}
		if !s.Theory {
			color++
		}
		p.addKey(k)
	}
	return p, q.fit()
}

func (s Series) check(a Axes) error {
	if s.Boxes != nil {
		return s.checkBoxes(a)
	}
	if len(s.X) == 0 || len(s.X) != len(s.Y) {
		return fmt.Errorf("%d x and %d y; give as many of each, at least one", len(s.X), len(s.Y))
	}
	if (s.Lo == nil) != (s.Hi == nil) || s.Lo != nil && (len(s.Lo) != len(s.Y) || len(s.Hi) != len(s.Y)) {
		return fmt.Errorf("%d lower and %d upper ends of error bars for %d points", len(s.Lo), len(s.Hi), len(s.Y))
	}
	if s.Theory && s.NoLine {
		return errors.New("a theory without a line is nothing to draw")
	}
	if err := finite("series "+s.Name, s.X, s.Y, s.Lo, s.Hi); err != nil {
		return err
	}
	for i := range s.X {
		if a.LogX && s.X[i] <= 0 || a.LogY && s.Y[i] <= 0 {
			return fmt.Errorf("point %d (%v, %v) is not positive and has no place on a logarithmic axis", i, s.X[i], s.Y[i])
		}
		if s.Lo != nil && !(s.Lo[i] <= s.Y[i] && s.Y[i] <= s.Hi[i]) {
			return fmt.Errorf("error bar [%v, %v] of point %d does not hold its value %v", s.Lo[i], s.Hi[i], i, s.Y[i])
		}
	}
	return nil
}
