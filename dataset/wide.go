package dataset

import (
	"fmt"
	"strconv"

	"github.com/curveil/curveil/fit"
)

// People of a wide file: each row is one curve on the times of the header.

// wideRow is one row. All slices are valid until the next row.
type wideRow struct {
	unit, id []byte
	name     string    // id, for the caller to keep
	x        []float64 // by increasing time, NaN where missing
	missing  int
	line     int
}

type wideSource interface {
	next(*wideRow) (bool, error)
	rewind() error
}

// wide hands out one person per row.
type wide struct {
	origin
	src      wideSource
	idColumn int
	idName   string
	constant bool
	seen     *idSet
	row      wideRow
	grid     []float64
	times    timeBlocks
	x        []float64
	series   [1]fit.Series
	curves   [1]fit.Curve
}

// newWide reads one person per row, or groups the rows by the unit column.
func newWide(src wideSource, org origin, s Schema, c *columns, o Options) source {
	if c.unit >= 0 {
		g := newGroups(&rowsOfWide{src: src, times: s.Times, hasID: c.id >= 0}, org, s, c, o)
		g.grid = s.Times
		return g
	}
	w := &wide{origin: org, src: src, idColumn: c.id, idName: s.ID, constant: o.Constant, grid: s.Times}
	if c.id >= 0 {
		w.seen = newIDSet()
	}
	return w
}

func (w *wide) next(p *Person) (bool, error) {
	row := &w.row
	if ok, err := w.src.next(row); !ok {
		return false, err
	}
	if w.seen != nil {
		if first, again := w.seen.add(row.id, row.line); again {
			return false, w.at(row.line, w.idColumn+1, w.idName, fmt.Sprintf("%s is already on %s", quote(string(row.id)), w.place(first)),
				"if one person has several curves, name the column that tells people apart in the unit option (it may be this one)")
		}
		p.Unit = row.name
	} else {
		p.Unit = strconv.Itoa(row.line)
	}
	n := len(row.x) - row.missing
	if n == 0 || n == 1 && !w.constant {
		return false, w.at(row.line, 0, "", tooFew(p.Unit, "", n), tooFewFix(n))
	}
	if row.missing == 0 {
		w.series[0] = fit.Series{T: w.grid, X: row.x}
	} else {
		t := w.times.take(n)
		w.x = w.x[:0]
		for i, x := range row.x {
			if x == x {
				t[len(w.x)] = w.grid[i]
				w.x = append(w.x, x)
			}
		}
		w.series[0] = fit.Series{T: t, X: w.x}
	}
	w.curves[0] = w.series[:]
	p.Curves, p.Line = w.curves[:], row.line
	return true, nil
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func tooFew(id, component string, n int) string {
	of := ""
	if component != "" {
		of = " of " + quote(component)
	}
	who := "the curve"
	if id != "" {
		who = "the curve of " + quote(id)
	}
	if n == 0 {
		return fmt.Sprintf("%s has no sample%s", who, of)
	}
	return fmt.Sprintf("%s has one sample only%s", who, of)
}

func tooFewFix(n int) string {
	const out = "give it more samples, or take it out of the file (which changes the number of curves)"
	if n == 1 {
		return out + ", or set the constant option, which extends it as a constant"
	}
	return out
}

// rowsOfWide turns a wide file into the rows of a long one, for grouping.
type rowsOfWide struct {
	src    wideSource
	times  []float64
	hasID  bool
	row    wideRow
	number []byte // id of a row that has none
	line   []int
}

func (r *rowsOfWide) next(out *longRun) (bool, error) {
	row := &r.row
	if ok, err := r.src.next(row); !ok {
		return false, err
	}
	out.unit, out.id = row.unit, row.id
	if !r.hasID {
		r.number = strconv.AppendInt(r.number[:0], int64(row.line), 10)
		out.id = r.number
	}
	r.line = r.line[:0]
	for range row.x {
		r.line = append(r.line, row.line)
	}
	out.t, out.v, out.line = r.times, append(out.v[:0], row.x), r.line
	return true, nil
}

func (r *rowsOfWide) rewind() error { return r.src.rewind() }

// timeBlocks gives out times that are never written again, from blocks, so
// that an irregular curve costs no allocation of its own.
type timeBlocks struct{ free []float64 }

func (b *timeBlocks) take(n int) []float64 {
	if n > len(b.free) {
		b.free = make([]float64, max(n, 4096))
	}
	t := b.free[:n:n]
	b.free = b.free[n:]
	return t
}
