package mean

import "github.com/curveil/curveil/fit"

// batchPeople is how many people that are fitted one by one travel together.
const batchPeople = 16

// batch is people of any curves, copied into memory of its own.
type batch struct {
	people [][]fit.Curve
	curves []fit.Curve
	series []fit.Series
	floats []float64
}

func (m *Mean) newBatch() *batch {
	last := len(m.batches) - 1
	if last < 0 {
		return &batch{}
	}
	b := m.batches[last]
	m.batches = m.batches[:last]
	*b = batch{b.people[:0], b.curves[:0], b.series[:0], b.floats[:0]}
	return b
}

// add copies a person. What was handed out before stays where it is when the
// memory grows.
func (b *batch) add(curves []fit.Curve) {
	first := len(b.curves)
	for _, c := range curves {
		from := len(b.series)
		for _, s := range c {
			b.series = append(b.series, fit.Series{T: b.copy(s.T), X: b.copy(s.X)})
		}
		b.curves = append(b.curves, b.series[from:len(b.series):len(b.series)])
	}
	b.people = append(b.people, b.curves[first:len(b.curves):len(b.curves)])
}

func (b *batch) copy(x []float64) []float64 {
	from := len(b.floats)
	b.floats = append(b.floats, x...)
	return b.floats[from:len(b.floats):len(b.floats)]
}
