package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/curveil/curveil/fit"
)

// People of a long file: rows are gathered by person. Three ways, by need:
//
//   - the file's rows fit into the buffer: any order of rows will do;
//   - they do not: what filled the buffer is handed out, but for the person of
//     the last row, and from there on a person ends where the next one begins.
//     Every person handed out is remembered, so that one who comes back is an
//     error and not a second person;
//   - option Unsorted: pass after pass over the file, each for the people whose
//     hash is above that of all before, and not above a bound that comes down
//     as often as the buffer overflows.

// longRow is one row. All slices are valid until the next row.
type longRow struct {
	unit, id []byte // nil where the file has no such column
	t        float64
	v        []float64 // one per component, NaN where missing
	line     int
}

type rowSource interface {
	next(*longRow) (bool, error)
	rewind() error
}

type groups struct {
	origin
	src        rowSource
	components []string
	timeName   string
	timeColumn int // from 1
	hasUnit    bool
	hasID      bool
	constant   bool
	budget     int64
	unsorted   bool

	block   block
	row     longRow
	pending bool // row belongs to the next person
	stream  bool
	done    bool
	emit    int // next person of the block to hand out
	ready   int // people of the block that may be handed out are emit..ready-1 …
	open    int // … without this one, whose rows go on (-1 none)
	seen    *idSet
	lo, hi  uint64 // Unsorted: this pass is for parts lo..hi

	assembly
}

func newGroups(src rowSource, org origin, s Schema, c *columns, o Options) *groups {
	return &groups{
		origin: org, src: src, components: s.Components, timeName: s.Time, timeColumn: c.time + 1,
		hasUnit: c.unit >= 0, hasID: c.id >= 0, constant: o.Constant, budget: o.buffer(), unsorted: o.Unsorted,
		block: newBlock(len(s.Components), c.unit >= 0), seen: newIDSet(), open: -1, hi: math.MaxUint64,
	}
}

func (g *groups) next(p *Person) (bool, error) {
	for {
		if g.emit < g.ready {
			g.emit++
			if g.emit-1 == g.open {
				continue
			}
			if err := g.person(p, g.emit-1); err != nil {
				return false, err
			}
			return true, nil
		}
		if g.done {
			return false, nil
		}
		if err := g.fill(); err != nil {
			return false, err
		}
	}
}

// fill reads rows until some people are complete.
func (g *groups) fill() error {
	switch {
	case g.stream:
		return g.fillOne()
	case g.unsorted:
		return g.fillPart()
	}
	b := &g.block
	for {
		ok, err := g.src.next(&g.row)
		if err != nil {
			return err
		}
		if !ok {
			g.release()
			g.done = true
			return nil
		}
		b.add(&g.row)
		if b.size > g.budget {
			g.stream = true
			g.release()
			g.open = b.curves[b.last].person
			return nil
		}
	}
}

// release makes everybody in the block ready.
func (g *groups) release() {
	g.block.sortRows()
	g.emit, g.ready, g.open = 0, len(g.block.people), -1
}

// fillOne reads the rows of one person who stands together in the file.
func (g *groups) fillOne() error {
	b := &g.block
	for i, p := range b.people {
		if i != g.open {
			g.seen.addHash(p.hash, p.line)
		}
	}
	if g.open >= 0 {
		open := g.open
		b.keep(func(i int, _ personRun) bool { return i == open })
		b.shrink()
		g.open = -1
	} else {
		b.reset()
	}
	for {
		if !g.pending {
			ok, err := g.src.next(&g.row)
			if err != nil {
				return err
			}
			if !ok {
				g.release()
				g.done = true
				return nil
			}
		}
		if len(b.people) == 0 {
			person := g.row.id
			if g.hasUnit {
				person = g.row.unit
			}
			if e := g.seen.find(b.ids.hash(person)); e.line != 0 {
				return &UngroupedError{File: g.file, Line: g.row.line, First: e.line, ID: string(person)}
			}
		} else if !b.samePerson(&g.row) {
			g.pending = true
			g.release()
			return nil
		}
		g.pending = false
		b.add(&g.row)
	}
}

// fillPart makes one pass over the file for the people of parts lo..hi.
func (g *groups) fillPart() error {
	b := &g.block
	if g.lo > 0 {
		if err := g.src.rewind(); err != nil {
			return err
		}
	}
	b.reset()
	for {
		ok, err := g.src.next(&g.row)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		person := g.row.id
		if g.hasUnit {
			person = g.row.unit
		}
		if p := part(person); p < g.lo || p > g.hi {
			continue
		}
		b.add(&g.row)
		for b.size > g.budget && g.narrow() {
		}
	}
	g.release()
	g.done = g.hi == math.MaxUint64
	g.lo, g.hi = g.hi+1, math.MaxUint64
	return nil
}

// narrow leaves the upper half of the people in the block to a later pass. It
// returns false if they cannot be told apart: one person at least is read.
func (g *groups) narrow() bool {
	parts := make([]uint64, len(g.block.people))
	for i, p := range g.block.people {
		parts[i] = part([]byte(p.unit))
	}
	slices.Sort(parts)
	hi := parts[(len(parts)-1)/2]
	if hi == parts[len(parts)-1] {
		return false
	}
	g.hi = hi
	g.block.keep(func(_ int, p personRun) bool { return part([]byte(p.unit)) <= hi })
	return true
}

// part places a person on the line that passes divide. It is the same in every
// run, so that people come in the same order.
func part(id []byte) uint64 {
	h := fnv.New64a()
	h.Write(id)
	x := h.Sum64()
	// FNV's high bits hardly depend on the last bytes: mix (MurmurHash3).
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

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

// samePerson reports whether the row is of the person of the last row.
func (b *block) samePerson(row *longRow) bool {
	if b.hasUnit {
		return string(row.unit) == string(b.unit)
	}
	return string(row.id) == string(b.id)
}

func (b *block) add(row *longRow) {
	if len(b.curves) == 0 || b.last < 0 || string(row.id) != string(b.id) || string(row.unit) != string(b.unit) {
		b.last = b.lookup(row)
		b.id, b.unit = append(b.id[:0], row.id...), append(b.unit[:0], row.unit...)
	}
	c := &b.curves[b.last]
	if c.n == 0 {
		c.start = len(b.t)
	} else if c.start+c.n != len(b.t) {
		b.interrupted = true
	}
	c.n++
	b.t = append(b.t, row.t)
	for k, x := range row.v {
		b.v[k] = append(b.v[k], x)
	}
	b.line = append(b.line, row.line)
	b.curve = append(b.curve, int32(b.last))
	b.size += int64(20 + 8*len(b.v))
}

// lookup finds the curve of a row, or begins it.
func (b *block) lookup(row *longRow) int {
	name := row.id
	if b.hasUnit {
		name = row.unit
	}
	h := b.ids.hash(name)
	p, known := b.byUnit[h]
	if !known {
		p = len(b.people)
		b.people = append(b.people, personRun{unit: string(name), hash: h, line: row.line, first: -1, last: -1})
		b.byUnit[h] = p
		b.size += personBytes + int64(len(name))
	} else if !b.hasUnit {
		return b.people[p].first
	}
	id := b.people[p].unit
	if b.hasUnit {
		b.key = append(append(binary.AppendUvarint(b.key[:0], uint64(len(row.unit))), row.unit...), row.id...)
		h = b.ids.hash(b.key)
		if c, ok := b.byCurve[h]; ok {
			return c
		}
		b.byCurve[h] = len(b.curves)
		if row.id != nil {
			id = string(row.id)
		}
	}
	c := len(b.curves)
	b.curves = append(b.curves, curveRun{id: id, person: p, next: -1})
	b.size += curveBytes + int64(len(row.id))
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

// assembly is the memory of the person being put together.
type assembly struct {
	curves []fit.Curve
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
	p.Unit, p.Curves, p.Line = run.unit, g.curves, run.line
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
