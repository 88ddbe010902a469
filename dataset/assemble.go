package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/curveil/curveil/fit"
)

// From the rows of a person to sorted curves without missing samples.

// assembly is the memory of the person being put together.
type assembly struct {
	curves []fit.Curve
	ids    []string
	series []fit.Series
	rows   []int32
	t      []float64
	x      []float64
	times  timeBlocks
	grid   []float64 // times that came before and may come again …
	recent []float64 // … and the last new ones
}

func (g *groups) person(p *Person, i int) error {
	run := g.block.people[i]
	g.curves, g.series, g.x = g.curves[:0], g.series[:0], g.x[:0]
	for c := run.first; c >= 0; c = g.block.curves[c].next {
		curve, err := g.assemble(c)
		if err != nil {
			return err
		}
		g.curves = append(g.curves, curve)
	}
	p.Unit, p.Curves, p.IDs, p.Line = run.unit, g.curves, nil, run.line
	if g.hasID {
		g.ids = g.ids[:0]
		for c := run.first; c >= 0; c = g.block.curves[c].next {
			g.ids = append(g.ids, g.block.curves[c].id)
		}
		p.IDs = g.ids
	}
	if !g.hasID && !g.hasUnit {
		p.Unit = strconv.Itoa(run.line)
	}
	return nil
}

// assemble sorts the samples of a curve by time and leaves missing ones out.
func (g *groups) assemble(c int) (fit.Curve, error) {
	b, run := &g.block, g.block.curves[c]
	t := b.t[run.start:]
	rows := g.rows[:0]
	if b.interrupted {
		rows = append(rows, b.order[b.place[c]:int(b.place[c])+run.n]...)
		t = g.gather(&g.t, b.t, rows)
	} else {
		t = t[:run.n]
	}
	if !increasing(t) {
		if !b.interrupted {
			for i := range run.n {
				rows = append(rows, int32(run.start+i))
			}
		}
		slices.SortFunc(rows, func(i, j int32) int {
			switch {
			case b.t[i] < b.t[j]:
				return -1
			case b.t[i] > b.t[j]:
				return 1
			}
			return int(i) - int(j)
		})
		t = g.gather(&g.t, b.t, rows)
		if err := g.distinct(run.id, t, rows); err != nil {
			return nil, err
		}
	}
	g.rows = rows
	shared := g.share(t)
	from := len(g.series)
	for k := range b.v {
		var x []float64
		if len(rows) > 0 {
			x = g.gather(nil, b.v[k], rows)
		} else {
			x = b.v[k][run.start : run.start+run.n : run.start+run.n]
		}
		n := present(x)
		if n == 0 || n == 1 && !g.constant {
			component := ""
			if len(g.components) > 1 {
				component = g.components[k]
			}
			line := b.line[run.start]
			if len(rows) > 0 {
				line = b.line[slices.Min(rows)]
			}
			fix := tooFewFix(n)
			if g.stream {
				fix += "; if more of its rows stand further down, sort the file by id or set the unsorted option"
			}
			return nil, g.at(line, 0, "", tooFew(run.id, component, n), fix)
		}
		if n == len(x) {
			g.series = append(g.series, fit.Series{T: shared, X: x})
			continue
		}
		own := g.times.take(n)
		kept := g.reserve(n)
		n = 0
		for i, xi := range x {
			if xi == xi {
				own[n], kept[n] = shared[i], xi
				n++
			}
		}
		g.series = append(g.series, fit.Series{T: own, X: kept})
	}
	return g.series[from:len(g.series):len(g.series)], nil
}

// distinct refuses two samples at one time.
func (g *groups) distinct(id string, t []float64, rows []int32) error {
	for i := 1; i < len(t); i++ {
		if t[i] != t[i-1] {
			continue
		}
		first, again := g.block.line[rows[i-1]], g.block.line[rows[i]]
		whose, fix := "", "keep one sample per time, or average them first"
		switch {
		case g.hasID || g.hasUnit:
			whose = " of " + quote(id)
		default:
			fix += "; if a column tells curves apart, name it in the id option"
		}
		return g.at(again, g.timeColumn, g.timeName, fmt.Sprintf("time %s%s is already on %s",
			strconv.FormatFloat(t[i], 'g', -1, 64), whose, g.place(first)), fix)
	}
	return nil
}

// gather copies the rows' values into *to, or behind what the person has.
func (g *groups) gather(to *[]float64, from []float64, rows []int32) []float64 {
	var dst []float64
	if to != nil {
		*to = slices.Grow((*to)[:0], len(rows))[:len(rows)]
		dst = *to
	} else {
		dst = g.reserve(len(rows))
	}
	for i, r := range rows {
		dst[i] = from[r]
	}
	return dst
}

// reserve takes n floats that live as long as the person. Growing leaves what
// was given out before where it is.
func (a *assembly) reserve(n int) []float64 {
	if len(a.x)+n > cap(a.x) {
		a.x = make([]float64, 0, max(2*cap(a.x), n, 1024))
	}
	a.x = a.x[:len(a.x)+n]
	return a.x[len(a.x)-n : len(a.x) : len(a.x)]
}

// share returns a slice equal to t that is never written again: the very
// slice of an earlier curve on the same grid, if there is one at hand.
func (a *assembly) share(t []float64) []float64 {
	if slices.Equal(t, a.grid) && a.grid != nil {
		return a.grid
	}
	if slices.Equal(t, a.recent) && a.recent != nil {
		a.grid, a.recent = a.recent, a.grid
		return a.grid
	}
	a.recent = a.times.take(len(t))
	copy(a.recent, t)
	return a.recent
}

func increasing(t []float64) bool {
	for i := 1; i < len(t); i++ {
		if t[i] <= t[i-1] {
			return false
		}
	}
	return true
}

func present(x []float64) int {
	n := 0
	for _, xi := range x {
		if xi == xi {
			n++
		}
	}
	return n
}
