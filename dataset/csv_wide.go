package dataset

import (
	"math"
	"slices"
)

// csvWide reads the rows of a wide file.
type csvWide struct {
	*csvTable
	slot []int     // of each column: place of its time in x, -1 if it is none
	x    []float64 // the row's values by increasing time, NaN missing
}

func newCSVWide(t *csvTable, c *columns) *csvWide {
	w := &csvWide{csvTable: t, slot: slices.Repeat([]int{-1}, len(t.names)), x: make([]float64, len(c.values))}
	for k, i := range c.values {
		w.slot[i] = k
	}
	return w
}

func (w *csvWide) next(row *wideRow) (bool, error) {
	if !w.s.next() {
		return false, w.readError()
	}
	row.line, row.missing, row.x, row.unit, row.id = w.s.line, 0, w.x, nil, nil
	if w.s.quoted {
		fields, err := w.row()
		for k, f := range fields {
			if err = w.field(row, k, f); err != nil {
				break
			}
		}
		return err == nil, err
	}
	rec, sep, point, slot := w.s.rec, w.sep, w.point, w.slot
	i, k := 0, 0
	for ; k < len(slot) && i <= len(rec); k++ {
		end := 0
		if at := slot[k]; at >= 0 {
			x, next, ok := number(rec, i, point)
			if ok && (next == len(rec) || rec[next] == sep) {
				w.x[at] = x
				i = next + 1
				continue
			}
			end = next
		}
		end = fieldEnd(rec, max(i, end), sep)
		if err := w.field(row, k, rec[i:end]); err != nil {
			// A row of the wrong length explains a cell in the wrong column.
			if _, uneven := w.row(); uneven != nil {
				err = uneven
			}
			return false, err
		}
		i = end + 1
	}
	if k < len(slot) || i <= len(rec) {
		_, err := w.row()
		return false, err
	}
	return true, nil
}

func (w *csvWide) parse(c *chunk) {
	c.scan(w.s)
	c.rows.resetWide(len(w.x), w.id >= 0, w.unit >= 0)
	c.rows.takeWide(w.next, &w.x, math.MaxInt)
}

func (w *csvWide) fork() rowParser {
	return &csvWide{csvTable: w.csvTable.fork(), slot: w.slot, x: make([]float64, len(w.x))}
}

// fieldEnd finds the end of the field that goes on at i.
func fieldEnd(rec []byte, i int, sep byte) int {
	for i < len(rec) && rec[i] != sep {
		i++
	}
	return i
}

func (w *csvWide) field(row *wideRow, k int, f []byte) (err error) {
	if at := w.slot[k]; at >= 0 {
		x, err := w.value(k, f)
		if err != nil {
			return err
		}
		if x != x {
			row.missing++
		}
		w.x[at] = x
		return nil
	}
	if k == w.id {
		row.id, err = w.key(k, f)
	} else if k == w.unit {
		row.unit, err = w.key(k, f)
	}
	return err
}
