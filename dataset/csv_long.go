package dataset

import (
	"math"
	"slices"
)

// longRow is one row of a long file. All slices are valid until the next row.
type longRow struct {
	unit, id []byte // nil where the file has no such column
	t        float64
	v        []float64 // one per component, NaN where missing
	line     int
}

// csvLong reads the rows of a long file.
type csvLong struct {
	*csvTable
	time   int
	slot   []int     // of each column: its component, -1 if it is none
	v      []float64 // of the row
	lo, hi []float64 // limits of each component
	clock  clock
}

func newCSVLong(t *csvTable, c *columns) *csvLong {
	l := &csvLong{csvTable: t, time: c.time, slot: slices.Repeat([]int{-1}, len(t.names)), v: make([]float64, len(c.values)), clock: clock{zone: c.zone}}
	l.lo, l.hi = make([]float64, len(c.values)), make([]float64, len(c.values))
	for k, i := range c.values {
		l.slot[i] = k
		l.lo[k], l.hi[k] = limits(t.names[i])
	}
	return l
}

func (l *csvLong) next(row *longRow) (bool, error) {
	if !l.s.next() {
		return false, l.readError()
	}
	row.line, row.v, row.unit, row.id = l.s.line, l.v, nil, nil
	if l.s.quoted {
		fields, err := l.row()
		for k, f := range fields {
			if err = l.field(row, k, f); err != nil {
				break
			}
		}
		return err == nil, err
	}
	rec, sep := l.s.rec, l.sep
	i, k := 0, 0
	for ; k < len(l.slot) && i <= len(rec); k++ {
		end := 0
		if at := l.slot[k]; at >= 0 || k == l.time && l.clock.state != clockISO {
			x, next, ok := number(rec, i, l.point)
			if ok && (next == len(rec) || rec[next] == sep) {
				i = next + 1
				if at < 0 {
					row.t = x
					l.clock.state = clockNumber
					continue
				}
				l.v[at] = x
				if x < l.lo[at] || x > l.hi[at] {
					return false, l.outside(k, at)
				}
				continue
			}
			end = next
		}
		end = fieldEnd(rec, max(i, end), sep)
		if err := l.field(row, k, rec[i:end]); err != nil {
			if _, uneven := l.row(); uneven != nil {
				err = uneven
			}
			return false, err
		}
		i = end + 1
	}
	if k < len(l.slot) || i <= len(rec) {
		_, err := l.row()
		return false, err
	}
	return true, nil
}

func (l *csvLong) parse(c *chunk) {
	c.scan(l.s)
	c.rows.resetLong(len(l.v), l.id >= 0, l.unit >= 0)
	c.rows.takeLong(l.next, math.MaxInt)
}

func (l *csvLong) fork() rowParser {
	other := *l
	other.csvTable, other.v = l.csvTable.fork(), make([]float64, len(l.v))
	return &other
}

func (l *csvLong) outside(column, at int) error {
	return l.fault(column, outsideMsg(l.v[at], l.lo[at], l.hi[at]), outsideFix)
}

func (l *csvLong) field(row *longRow, k int, f []byte) (err error) {
	switch at := l.slot[k]; {
	case at >= 0:
		x, err := l.value(k, f)
		if err != nil {
			return err
		}
		l.v[at] = x
		if x < l.lo[at] || x > l.hi[at] {
			return l.outside(k, at)
		}
	case k == l.time:
		x, msg, fix := l.clock.read(f, l.decimal)
		if msg != "" {
			return l.fault(k, msg, fix)
		}
		row.t = x
	case k == l.id:
		row.id, err = l.key(k, f)
	case k == l.unit:
		row.unit, err = l.key(k, f)
	}
	return err
}
