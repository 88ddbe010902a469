package dataset

import (
	"math"
	"slices"

	"github.com/curveil/curveil/fit"
)

// Rows of wide Parquet files. The file holds columns and people are rows: the
// columns are decoded and turned block by block.

// A block has blockRows rows, fewer where rows are long: it is to stay in the cache
// (measured from 128 to 1024 rows of 100).
const (
	blockRows   = 512
	blockFloats = 1 << 16
)

func blockOf(width int) int { return max(1, min(blockRows, blockFloats/max(1, width))) }

type pqWide struct{ *pqTable }

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

// fill reads the next rows, as many as every column can give.
func (w pqWide) fill(b *rows) {
	b.resetWide(len(w.values), w.id != nil, w.unit != nil)
	n, err := w.batch(blockOf(len(w.values)))
	if err != nil {
		b.err = err
		return
	}
	b.end = n == 0
	b.x = slices.Grow(b.x, n*b.width)[:n*b.width]
	w.turn(b.x, n)
	complete := fit.Finite(b.x)
	for i := range n {
		w.row++
		var id, unit []byte
		if b.err = w.pqTable.keys(&id, &unit); b.err != nil {
			return
		}
		missing, infinite := 0, -1
		if !complete {
			missing, infinite = countMissing(b.values(i))
		}
		if infinite >= 0 {
			b.err = w.fault(w.values[infinite], w.row, "the value is not finite", infiniteFix)
			return
		}
		b.line, b.missing = append(b.line, w.row), append(b.missing, missing)
		b.name(id, unit)
	}
}

// turn copies n rows out of the columns, on two goroutines where it pays.
func (w pqWide) turn(x []float64, n int) {
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
func (w pqWide) turnColumns(x []float64, n, k, end int) {
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
