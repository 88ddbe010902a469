package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/curveil/curveil/fit"
	iso "github.com/curveil/curveil/internal/clock"
)

// Rows of Parquet files whose curves are lists, and of long ones.

// pqList reads rows whose list column holds one value per public time.
type pqList struct {
	*pqTable
	col         *pqColumn
	m           int
	x           []float64
	plain       []float64
	repeated    []byte // repetition and definition levels of the page
	defined     []byte
	level, last int // next level; next value of plain
	top         byte
}

func newPqList(t *pqTable, m int) *pqList {
	l := &pqList{pqTable: t, col: t.values[0], m: m}
	l.top = byte(l.col.leaf.MaxDefinitionLevel())
	// The list column's pages do not end where those of the others do.
	t.read = t.read[:len(t.read)-1]
	return l
}

func (l *pqList) rewind() error {
	if err := l.pqTable.rewind(); err != nil {
		return err
	}
	l.col.open(l.groups)
	l.plain, l.repeated, l.defined, l.level, l.last = nil, nil, nil, 0, 0
	return nil
}

// page moves to the next page of the list column.
func (l *pqList) page() error {
	c := l.col
	for {
		c.x, c.pos = nil, 0
		if err := c.next(); err != nil {
			return err
		}
		l.plain, l.repeated, l.defined = c.x, c.page.RepetitionLevels(), c.page.DefinitionLevels()
		l.level, l.last = 0, 0
		if len(l.repeated) != len(l.defined) {
			return errors.New("a page of lists has no levels")
		}
		if len(l.repeated) > 0 {
			return nil
		}
	}
}

func (l *pqList) fill(b *rows) {
	b.resetWide(l.m, l.id != nil, l.unit != nil)
	b.takeWide(l.next, &l.x, blockOf(l.m))
}

func (l *pqList) next(row *wideRow) (ok bool, err error) {
	if l.level == len(l.repeated) {
		if err := l.page(); err == io.EOF {
			if len(l.read) > 0 {
				if n, err := l.batch(1); err != nil || n > 0 {
					return false, l.damage(errors.New("its columns have different numbers of rows"))
				}
			}
			return false, nil
		} else if err != nil {
			return false, l.damage(err)
		}
	}
	if len(l.read) > 0 {
		if n, err := l.batch(1); err != nil {
			return false, err
		} else if n == 0 {
			return false, l.damage(errors.New("its columns have different numbers of rows"))
		}
	}
	l.row++
	if err := l.keys(&row.id, &row.unit); err != nil {
		return false, err
	}
	x := l.x[:0]
	for first := true; ; first = false {
		// The row's levels on this page: one 0, then those that are not.
		end := len(l.repeated)
		from := l.level
		if first {
			if l.repeated[from] != 0 {
				return false, l.damage(errors.New("a page of lists begins inside a list"))
			}
			from++
		}
		if i := bytes.IndexByte(l.repeated[from:], 0); i >= 0 {
			end = from + i
		}
		if x, err = l.elements(x, l.defined[l.level:end]); err != nil {
			return false, err
		}
		l.level = end
		if end < len(l.repeated) {
			break
		}
		// A list may go on on the next page (data pages of version 1).
		if err := l.page(); err == io.EOF {
			l.repeated, l.level = nil, 0
			break
		} else if err != nil {
			return false, l.damage(err)
		}
		if l.repeated[0] == 0 {
			break
		}
	}
	l.x = x
	row.x, row.line, row.missing = x, l.row, 0
	if len(x) != l.m && len(x) > 0 {
		return false, l.fault(l.col, l.row, "the list has "+count(len(x), "element")+", the times option "+count(l.m, "time"),
			"write null for a missing value, so that every list has one element per time")
	}
	if len(x) == 0 {
		row.missing = l.m
		for range l.m {
			x = append(x, math.NaN())
		}
		l.x, row.x = x, x
		return true, nil
	}
	var infinite int
	if row.missing, infinite = countMissing(x); infinite >= 0 {
		return false, l.fault(l.col, l.row, "a value is not finite", infiniteFix)
	}
	return true, nil
}

// elements appends the elements of which the definition levels are given.
func (l *pqList) elements(x []float64, defined []byte) ([]float64, error) {
	n := bytes.Count(defined, []byte{l.top})
	if l.last+n > len(l.plain) {
		return nil, l.damage(errFewValues)
	}
	if n == len(defined) {
		x = append(x, l.plain[l.last:l.last+n]...)
		l.last += n
		return x, nil
	}
	for _, d := range defined {
		switch {
		case d == l.top:
			x = append(x, l.plain[l.last])
			l.last++
		case d == l.top-1 && l.col.nullable:
			x = append(x, math.NaN())
		}
		// Any other level is an empty list or none.
	}
	return x, nil
}

// pqLong reads one sample per row.
type pqLong struct {
	*pqTable
	time   *pqColumn
	clock  clock
	v      []float64
	lo, hi []float64
}

func newPqLong(t *pqTable, c *columns) (*pqLong, error) {
	l := &pqLong{pqTable: t, time: t.columns[c.time], clock: clock{zone: c.zone}, v: make([]float64, len(t.values))}
	col := l.time
	switch {
	case col.refused != "" || col.list:
		return nil, t.fault(col, 0, "the column holds no times: it "+col.cause(), "write numbers, timestamps, or ISO 8601 text")
	case col.naive && c.zone == nil:
		return nil, t.fault(col, 0, "the times have no zone, so they name no instants", "write them as adjusted to UTC, or set the zone option")
	}
	col.text = col.kind == kindText
	t.read = append(t.read, col)
	for _, col := range t.values {
		lo, hi := limits(col.name)
		l.lo, l.hi = append(l.lo, lo), append(l.hi, hi)
	}
	return l, nil
}

// fill reads rows that every page has. Column by column where nothing is wrong; else row by row, which finds out what.
func (l *pqLong) fill(b *rows) {
	b.resetLong(len(l.v), l.id != nil, l.unit != nil)
	n, err := l.batch(8 * blockRows)
	if n == 0 {
		b.end, b.err = true, err
		return
	}
	if !l.plain(n) {
		b.takeLong(l.next, n)
		return
	}
	b.reserve(n)
	copy(b.t, l.time.x[l.time.pos:l.time.pos+n])
	l.time.pos += n
	for k, c := range l.values {
		copy(b.v[k], c.x[c.pos:c.pos+n])
		c.pos += n
	}
	for range n {
		l.row++
		var id, unit []byte
		if b.err = l.keys(&id, &unit); b.err != nil {
			b.end = true
			return
		}
		b.line = append(b.line, l.row)
		b.name(id, unit)
	}
}

// plain reports whether the times and values of the next n rows are numbers as they stand, with nothing to object to.
func (l *pqLong) plain(n int) bool {
	c := l.time
	if c.text || c.naive || !fit.Finite(c.x[c.pos:c.pos+n]) {
		return false
	}
	for k, c := range l.values {
		for _, x := range c.x[c.pos : c.pos+n] {
			if x < l.lo[k] || x > l.hi[k] || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}

func (l *pqLong) next(row *longRow) (ok bool, err error) {
	l.row++
	row.line, row.v = l.row, l.v
	if err := l.keys(&row.id, &row.unit); err != nil {
		return false, err
	}
	if row.t, err = l.readTime(); err != nil {
		return false, err
	}
	for k, c := range l.values {
		x := c.x[c.pos]
		c.pos++
		l.v[k] = x
		if x < l.lo[k] || x > l.hi[k] {
			return false, l.fault(c, l.row, outsideMsg(x, l.lo[k], l.hi[k]), outsideFix)
		}
		if math.IsInf(x, 0) {
			return false, l.fault(c, l.row, "the value is not finite", infiniteFix)
		}
	}
	return true, nil
}

func (l *pqLong) readTime() (float64, error) {
	c := l.time
	if c.text {
		f, err := c.textAt(c.pos)
		if err != nil {
			return 0, l.damage(err)
		}
		c.pos++
		t, msg, fix := l.clock.read(f, '.')
		if msg != "" {
			return 0, l.fault(c, l.row, msg, fix)
		}
		return t, nil
	}
	t := c.x[c.pos]
	c.pos++
	switch {
	case t != t:
		return 0, l.fault(c, l.row, "the sample has no time", "fill it in, or take the row out")
	case math.IsInf(t, 0):
		return 0, l.fault(c, l.row, "the time is not finite", "correct it, or take the row out")
	case c.naive:
		whole := math.Floor(t)
		unix, err := iso.InZone(int64(whole), l.clock.zone)
		if err != nil {
			return 0, l.fault(c, l.row, "the time "+err.Error(), zoneFix(err))
		}
		return float64(unix) + (t - whole), nil
	}
	return t, nil
}
