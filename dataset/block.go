package dataset

import (
	"encoding/binary"
	"slices"
)

// Rows that wait in memory for the rest of their person.

// block holds rows in the order of the file and knows whose they are.
type block struct {
	t     []float64
	v     [][]float64 // of each component
	line  []int
	curve []int32 // of each row

	curves []curveRun
	people []personRun
	size   int64 // bytes in use

	ids     *idSet // for its keys only
	byUnit  map[idHash]int
	byCurve map[idHash]int // nil where each person has one curve
	hasUnit bool

	last         int // curve of the last row, -1 if it was dropped
	unit, id     []byte
	interrupted  bool    // some curve's rows do not stand together
	order, place []int32 // then: the rows by curve, and where each curve begins
	key          []byte
}

// curveRun is the rows of one curve: start..start+n-1 unless interrupted.
type curveRun struct {
	id           string
	person, next int // next curve of the person, -1 none
	start, n     int
}

type personRun struct {
	unit        string
	hash        idHash
	line        int
	first, last int // curves
}

// What a person and a curve take in memory beside their rows, about.
const (
	personBytes = 200
	curveBytes  = 100
)

func newBlock(components int, hasUnit bool) block {
	b := block{v: make([][]float64, components), ids: newIDSet(), byUnit: map[idHash]int{}, hasUnit: hasUnit}
	if hasUnit {
		b.byCurve = map[idHash]int{}
	}
	return b
}

func (b *block) reset() {
	b.t, b.line, b.curve = b.t[:0], b.line[:0], b.curve[:0]
	for k := range b.v {
		b.v[k] = b.v[k][:0]
	}
	b.curves, b.people, b.size, b.interrupted = b.curves[:0], b.people[:0], 0, false
	clear(b.byUnit)
	clear(b.byCurve)
}

// samePerson reports whether the rows are of the person of the last row.
func (b *block) samePerson(run *longRun) bool {
	if b.hasUnit {
		return string(run.unit) == string(b.unit)
	}
	return string(run.id) == string(b.id)
}

// add takes rows from the run until the block is larger than budget: one at least.
func (b *block) add(run *longRun, budget int64) {
	if len(b.curves) == 0 || b.last < 0 || string(run.id) != string(b.id) || string(run.unit) != string(b.unit) {
		b.last = b.lookup(run)
		b.id, b.unit = append(b.id[:0], run.id...), append(b.unit[:0], run.unit...)
	}
	row := int64(20 + 8*len(b.v))
	n := len(run.line)
	if fits := max(0, budget-b.size)/row + 1; fits < int64(n) {
		n = int(fits)
	}
	c := &b.curves[b.last]
	at := len(b.t)
	if c.n == 0 {
		c.start = at
	} else if c.start+c.n != at {
		b.interrupted = true
	}
	c.n += n
	b.reserve(at+n, int(min(budget, defaultBuffer)/row)+1)
	b.t = append(b.t, run.t[:n]...)
	for k, v := range run.v {
		b.v[k] = append(b.v[k], v[:n]...)
	}
	b.line = append(b.line, run.line[:n]...)
	b.curve = b.curve[:at+n]
	for i := range b.curve[at:] {
		b.curve[at+i] = int32(b.last)
	}
	b.size += row * int64(n)
	run.drop(n)
}

// reserve makes room for n rows and, before it is needed, for as many as most: a block of the usual size is copied
// twice on its way there, and memory that is not written to costs nothing.
func (b *block) reserve(n, most int) {
	if n <= cap(b.t) && n <= cap(b.curve) {
		return
	}
	n = max(n, 2*cap(b.t), min(16*cap(b.t), most))
	b.t, b.line, b.curve = atLeast(b.t, n), atLeast(b.line, n), atLeast(b.curve, n)
	for k, v := range b.v {
		b.v[k] = atLeast(v, n)
	}
}

// atLeast returns s with a capacity of n.
func atLeast[T any](s []T, n int) []T { return append(make([]T, 0, n), s...) }

// lookup finds the curve of some rows, or begins it.
func (b *block) lookup(run *longRun) int {
	name := run.id
	if b.hasUnit {
		name = run.unit
	}
	h := b.ids.hash(name)
	p, known := b.byUnit[h]
	if !known {
		p = len(b.people)
		b.people = append(b.people, personRun{unit: string(name), hash: h, line: run.line[0], first: -1, last: -1})
		b.byUnit[h] = p
		b.size += personBytes + int64(len(name))
	} else if !b.hasUnit {
		return b.people[p].first
	}
	id := b.people[p].unit
	if b.hasUnit {
		b.key = append(append(binary.AppendUvarint(b.key[:0], uint64(len(run.unit))), run.unit...), run.id...)
		h = b.ids.hash(b.key)
		if c, ok := b.byCurve[h]; ok {
			return c
		}
		b.byCurve[h] = len(b.curves)
		if run.id != nil {
			id = string(run.id)
		}
	}
	c := len(b.curves)
	b.curves = append(b.curves, curveRun{id: id, person: p, next: -1})
	b.size += curveBytes + int64(len(run.id))
	if b.people[p].first < 0 {
		b.people[p].first = c
	} else {
		b.curves[b.people[p].last].next = c
	}
	b.people[p].last = c
	return c
}

// keep drops the rows of all but some people.
func (b *block) keep(stays func(int, personRun) bool) {
	old := *b
	size := int64(0)
	b.curves, b.people, b.interrupted = nil, nil, false
	clear(b.byUnit)
	newPerson, newCurve := make([]int, len(old.people)), make([]int, len(old.curves))
	for i, p := range old.people {
		newPerson[i] = -1
		if stays(i, p) {
			newPerson[i] = len(b.people)
			b.byUnit[p.hash] = len(b.people)
			p.first, p.last = -1, -1
			b.people = append(b.people, p)
			size += personBytes + int64(len(p.unit))
		}
	}
	for i, c := range old.curves {
		newCurve[i] = -1
		p := newPerson[c.person]
		if p < 0 {
			continue
		}
		n := len(b.curves)
		newCurve[i] = n
		b.curves = append(b.curves, curveRun{id: c.id, person: p, next: -1})
		size += curveBytes + int64(len(c.id))
		if b.people[p].first < 0 {
			b.people[p].first = n
		} else {
			b.curves[b.people[p].last].next = n
		}
		b.people[p].last = n
	}
	if b.hasUnit {
		b.byCurve = map[idHash]int{}
		for h, c := range old.byCurve {
			if newCurve[c] >= 0 {
				b.byCurve[h] = newCurve[c]
			}
		}
	}
	b.last = newCurve[b.last]
	n := 0
	for i, c := range b.curve {
		c := newCurve[c]
		if c < 0 {
			continue
		}
		run := &b.curves[c]
		if run.n == 0 {
			run.start = n
		} else if run.start+run.n != n {
			b.interrupted = true
		}
		run.n++
		b.t[n], b.line[n], b.curve[n] = b.t[i], b.line[i], int32(c)
		for k := range b.v {
			b.v[k][n] = b.v[k][i]
		}
		n++
	}
	b.t, b.line, b.curve = b.t[:n], b.line[:n], b.curve[:n]
	for k := range b.v {
		b.v[k] = b.v[k][:n]
	}
	b.size = size + int64(n*(20+8*len(b.v)))
}

// shrink gives back the memory of the rows that were dropped.
func (b *block) shrink() {
	b.t, b.line, b.curve = slices.Clone(b.t), slices.Clone(b.line), slices.Clone(b.curve)
	for k := range b.v {
		b.v[k] = slices.Clone(b.v[k])
	}
	b.order, b.place = nil, nil
}

// sortRows lists the rows by curve where some curve's do not stand together.
func (b *block) sortRows() {
	if !b.interrupted {
		return
	}
	b.place = b.place[:0]
	n := 0
	for _, c := range b.curves {
		b.place = append(b.place, int32(n))
		n += c.n
	}
	b.order = slices.Grow(b.order[:0], n)[:n]
	next := slices.Clone(b.place)
	for i, c := range b.curve {
		b.order[next[c]] = int32(i)
		next[c]++
	}
}
