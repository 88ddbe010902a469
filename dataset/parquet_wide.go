package dataset

import (
	"math"

	"github.com/curveil/curveil/fit"
)

// Rows of wide Parquet files. The file holds columns and people are rows: a
// goroutine of its own decodes the columns and turns them, block by block, while
// the caller works on the block before.

// A block has wideRows rows, fewer where rows are long: it is to stay in the cache
// (measured from 128 to 1024 rows of 100).
const (
	wideRows   = 512
	wideFloats = 1 << 16
	wideBlocks = 3
)

// pqRows is a block of rows.
type pqRows struct {
	x    []float64 // n rows of len(values)
	n    int
	keys []byte
	ends []int // in keys, of each row's id and unit
	err  error // what keeps row n from being read
}

type pqWide struct {
	*pqTable
	rows       int // of a full block
	full, free chan *pqRows
	stop, done chan struct{} // of the goroutine; nil where it does not run
	block      *pqRows       // being handed out
	row0       int           // its next row
	line       int           // rows handed out
}

func newPqWide(t *pqTable) *pqWide {
	return &pqWide{pqTable: t, rows: max(1, min(wideRows, wideFloats/max(1, len(t.values))))}
}

func (w *pqWide) rewind() error {
	w.halt()
	w.block, w.row0, w.line = nil, 0, 0
	return w.pqTable.rewind()
}

// halt ends the goroutine.
func (w *pqWide) halt() {
	if w.stop != nil {
		close(w.stop)
		<-w.done
		w.stop = nil
	}
}

func (w *pqWide) start() {
	w.full, w.free = make(chan *pqRows, wideBlocks), make(chan *pqRows, wideBlocks)
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	for range wideBlocks {
		w.free <- &pqRows{x: make([]float64, w.rows*len(w.values))}
	}
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.stop:
				return
			case b := <-w.free:
				w.fill(b)
				w.full <- b // as many places as blocks
				if b.n == 0 || b.err != nil {
					return
				}
			}
		}
	}()
}

func (w *pqWide) next(row *wideRow) (bool, error) {
	if w.stop == nil {
		w.start()
	}
	for w.block == nil || w.row0 == w.block.n {
		if b := w.block; b != nil {
			if b.err != nil || b.n == 0 {
				return false, b.err
			}
			w.free <- b
		}
		w.block, w.row0 = <-w.full, 0
		if w.block.n == 0 {
			return false, w.block.err
		}
	}
	b, m := w.block, len(w.values)
	x := b.x[w.row0*m : w.row0*m+m : w.row0*m+m]
	row.id, row.unit = b.key(2*w.row0, w.id != nil), b.key(2*w.row0+1, w.unit != nil)
	w.row0++
	w.line++
	row.x, row.line, row.missing = x, w.line, 0
	var infinite int
	if row.missing, infinite = countMissing(x); infinite >= 0 {
		return false, w.fault(w.values[infinite], w.line, "the value is not finite", infiniteFix)
	}
	return true, nil
}

// countMissing returns the number of NaN in x and the place of the first infinite value, -1 where there is none.
func countMissing(x []float64) (missing, infinite int) {
	if fit.Finite(x) {
		return 0, -1
	}
	for k, xk := range x {
		if math.IsInf(xk, 0) {
			return missing, k
		}
		if xk != xk {
			missing++
		}
	}
	return missing, -1
}

// key is the i-th text of the block; nil where the file has no such column.
func (b *pqRows) key(i int, has bool) []byte {
	if !has {
		return nil
	}
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.keys[from:b.ends[i]:b.ends[i]]
}

// fill reads the next rows, as many as every column can give.
func (w *pqWide) fill(b *pqRows) {
	b.n, b.keys, b.ends, b.err = 0, b.keys[:0], b.ends[:0], nil
	defer w.recoverDamage(&b.err)
	n, err := w.batch(w.rows)
	if err != nil {
		b.err = err
		return
	}
	w.turn(b.x, n)
	for b.n < n {
		w.row++
		var id, unit []byte
		if b.err = w.pqTable.keys(&id, &unit); b.err != nil {
			return
		}
		b.keys = append(b.keys, id...)
		b.ends = append(b.ends, len(b.keys))
		b.keys = append(b.keys, unit...)
		b.ends = append(b.ends, len(b.keys))
		b.n++
	}
}

// turn copies n rows out of the columns, on two goroutines where it pays.
func (w *pqWide) turn(x []float64, n int) {
	m := len(w.values)
	half := m / 16 * 8
	if n*half < 4096 {
		w.turnColumns(x, n, 0, m)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.turnColumns(x, n, 0, half)
	}()
	w.turnColumns(x, n, half, m)
	<-done
}

// turnColumns turns eight columns at a time, so that a line of the cache is
// filled while it is there.
func (w *pqWide) turnColumns(x []float64, n, k, end int) {
	m := len(w.values)
	for ; k+8 <= end; k += 8 {
		var from [8][]float64
		for j := range from {
			c := w.values[k+j]
			from[j] = c.x[c.pos : c.pos+n]
			c.pos += n
		}
		a, b, c, d := from[0][:n], from[1][:n], from[2][:n], from[3][:n]
		e, f, g, h := from[4][:n], from[5][:n], from[6][:n], from[7][:n]
		for i := range n {
			to := x[i*m+k : i*m+k+8 : i*m+k+8]
			to[0], to[1], to[2], to[3] = a[i], b[i], c[i], d[i]
			to[4], to[5], to[6], to[7] = e[i], f[i], g[i], h[i]
		}
	}
	for ; k < end; k++ {
		c := w.values[k]
		for i, v := range c.x[c.pos : c.pos+n] {
			x[i*m+k] = v
		}
		c.pos += n
	}
}
