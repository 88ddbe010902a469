package density

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/space"
)

// From points to exact sums of integer vectors, at the speed of a matrix product. Of one variable: see cells.go.
//
// The axes are split into two groups, and each product of a group's functions is rounded to the nearest
// multiple of 2⁻¹⁵: an integer of at most 2·2¹⁵. A coefficient's integer is the product of two such, at most 2³² in
// magnitude, so that float64 adds up 2¹⁹ of them and stays below 2⁵³, where every integer is a float64: no sum is
// rounded, in whatever order a machine likes to add, fused or not. A person's integers depend on that person's points
// alone, to the bit.
//
// Accuracy. A coefficient is within slack, some 4e-5, of the mean of its function, in the worst case, of people who are
// all in one place. Of people who are not, the errors cancel like slack/√n, four orders of magnitude below the
// sampling error (TestRoundingCancels). The account counts the worst case.
//
// A block of people is laid out function by function: the values of one function at all of them, then the next. A
// coefficient's sum over the block is then one inner product of two long rows, which gonum's does twice as fast
// as rank-one updates of short ones.

// coder turns points into integers. It is immutable.
type coder struct {
	space *space.Tensor
	cells *cells // of one variable, else nil and
	a, b  group
	pair  [][2]int32 // of each function: its place in the two groups
	waves []*waves
	dim   int     // of the integers that are summed
	limit int64   // of their size
	unit  float64 // of a coefficient's integers
	slack float64 // largest error of unit·integer against the function at a point of the box
	mean  float64 // what the average of several points adds to it
}

// group is some of the axes with the products of their functions that occur.
type group struct {
	axes  []int
	index [][]uint16 // of each axis, per product
	scale []float64  // of each product: from waves to integers
	size  int        // products
}

const groupRound = 0x1p15 // integers per unit

// evaluation bounds the error of the computed functions against the exact ones at the computed place of the point in
// the box (waves.go).
const evaluation = 0x1p-30

func newCoder(s *space.Tensor) *coder {
	c := &coder{space: s, dim: s.Dim()}
	d := len(s.Box())
	if d == 1 {
		c.cells = newCells(s)
		c.dim = moments * c.cells.count
		c.limit, _ = c.cells.limits()
		c.unit = math.Ldexp(1, -cellBits)
		c.slack, c.mean = c.cells.slack()
		return c
	}
	half := (d + 1) / 2
	c.a, c.b = newGroup(s, 0, half), newGroup(s, half, d)
	c.pair = make([][2]int32, s.Dim())
	seenA, seenB := map[uint64]int32{}, map[uint64]int32{}
	for j := range c.pair {
		c.pair[j] = [2]int32{c.a.place(s, j, seenA), c.b.place(s, j, seenB)}
	}
	for i := range d {
		c.waves = append(c.waves, newWaves(s, i))
	}
	c.a.amplitudes(s)
	c.b.amplitudes(s)
	c.unit = 1 / (groupRound * groupRound)
	topA, topB := math.Pow(math.Sqrt2, float64(half)), math.Pow(math.Sqrt2, float64(d-half))
	c.limit = int64(math.Ceil(topA*groupRound)) * int64(math.Ceil(topB*groupRound))
	const err = 0.5/groupRound + evaluation
	c.slack, c.mean = topA*err+topB*err+err*err, c.unit
	return c
}

func newGroup(s *space.Tensor, from, to int) group {
	g := group{}
	for i := from; i < to; i++ {
		g.axes = append(g.axes, i)
	}
	g.index = make([][]uint16, len(g.axes))
	return g
}

// place finds or makes the place of function j's part in the group.
func (g *group) place(s *space.Tensor, j int, seen map[uint64]int32) int32 {
	key := uint64(0)
	for _, i := range g.axes {
		key = key<<16 | uint64(s.Index(i)[j])
	}
	at, ok := seen[key]
	if !ok {
		at = int32(g.size)
		seen[key] = at
		for n, i := range g.axes {
			g.index[n] = append(g.index[n], s.Index(i)[j])
		}
		g.size++
	}
	return at
}

// amplitudes are √2 for each function that is not constant, in integers per unit.
func (g *group) amplitudes(s *space.Tensor) {
	for j := range g.size {
		scale := groupRound
		for n := range g.axes {
			if g.index[n][j] > 0 {
				scale *= math.Sqrt2
			}
		}
		g.scale = append(g.scale, scale)
	}
}

// rounder turns a float64 below 2⁵¹ in magnitude into the nearest integer, ties to even, when added and
// subtracted.
const rounder = 0x1.8p52

// values sets each product's row of dst to its rounded values at the people of a block, as floats that hold integers,
// from the waves of the axes.
func (g *group) values(dst []float64, waves [][]float64, rows int) {
	for j, scale := range g.scale {
		first := row(waves[g.axes[0]], int(g.index[0][j]), rows)
		dst := row(dst, j, len(first))
		if len(g.axes) == 1 {
			for r, v := range first {
				dst[r] = float64(v*scale+rounder) - rounder
			}
			continue
		}
		second := row(waves[g.axes[1]], int(g.index[1][j]), len(first))
		for r, v := range first {
			dst[r] = float64(float64(v*second[r])*scale+rounder) - rounder
		}
	}
}

// row is row j of an array of rows of block values each.
func row(array []float64, j, rows int) []float64 { return array[j*block:][:rows] }

// work is one goroutine's memory.
type work struct {
	c      *coder
	x      []float64   // axes × block: places of a block's people
	waves  [][]float64 // of each axis: functions × block
	a, b   []float64   // group size × block
	sum    []float64   // exact integers
	terms  int         // rows in sum
	total  []int64     // what has left sum, and people with several points
	own    []int64     // of one person
	people int64
}

const (
	// block is how many people are added up at once: long rows, which still stay in the cache.
	block = 128
	// exactTerms is how many products of 2³² stay below 2⁵³, with room.
	exactTerms = 1 << 19
)

func newWork(c *coder) *work { return &work{c: c, total: make([]int64, c.dim)} }

// reserve makes room for a block.
func (w *work) reserve() {
	if w.x != nil {
		return
	}
	w.x = make([]float64, len(w.c.waves)*block)
	for _, v := range w.c.waves {
		w.waves = append(w.waves, make([]float64, v.dim*block))
	}
	w.a, w.b = make([]float64, w.c.a.size*block), make([]float64, w.c.b.size*block)
	w.sum = make([]float64, w.c.dim)
}

// points adds people with one point each. Points that keep does not want count as people only.
func (w *work) points(x []float64, keep func([]float64) bool) {
	c := w.c
	if c.cells != nil {
		w.people += int64(len(x))
		for i, v := range x {
			if keep(x[i : i+1]) {
				c.cells.add(w.total, v)
			}
		}
		return
	}
	w.people += int64(len(x) / len(c.waves))
	for len(x) > 0 {
		rows := 0
		rows, x = w.fill(x, keep)
		if w.terms += rows; w.terms > exactTerms {
			w.flush()
			w.terms = rows
		}
		for j, p := range c.pair {
			w.sum[j] += floats.Dot(row(w.a, int(p[0]), rows), row(w.b, int(p[1]), rows))
		}
	}
}

// fill computes both groups at the points that keep wants, as many as fit, and returns their number and
// what is left.
func (w *work) fill(x []float64, keep func([]float64) bool) (rows int, rest []float64) {
	w.reserve()
	c, d := w.c, len(w.c.waves)
	for ; len(x) > 0 && rows < block; x = x[d:] {
		if !keep(x[:d]) {
			continue
		}
		for i, v := range x[:d] {
			w.x[i*block+rows] = v
		}
		rows++
	}
	for i, v := range c.waves {
		v.eval(w.waves[i], row(w.x, i, rows))
	}
	c.a.values(w.a, w.waves, rows)
	c.b.values(w.b, w.waves, rows)
	return rows, x
}

// person adds one person with several points: their average, rounded toward zero.
func (w *work) person(x []float64, keep func([]float64) bool) {
	c := w.c
	if w.own == nil {
		w.own = make([]int64, len(w.total))
	}
	clear(w.own)
	d := 1
	if c.cells == nil {
		d = len(c.waves)
	}
	points := int64(len(x) / d)
	for len(x) > 0 {
		if c.cells != nil {
			if keep(x[:1]) {
				c.cells.add(w.own, x[0])
			}
			x = x[1:]
			continue
		}
		rows := 0
		rows, x = w.fill(x, keep)
		for j, p := range c.pair {
			w.own[j] += int64(floats.Dot(row(w.a, int(p[0]), rows), row(w.b, int(p[1]), rows)))
		}
	}
	for j, k := range w.own {
		w.total[j] += k / points
	}
	w.people++
	w.forget()
}

// flush moves the floats to the integers.
func (w *work) flush() {
	for j, v := range w.sum {
		w.total[j] += int64(v)
	}
	clear(w.sum)
	w.terms = 0
	w.forget()
}

// forget drops the constant, which would count the points inside the box; it is known and never summed.
func (w *work) forget() {
	if w.c.cells == nil {
		w.total[0] = 0
	}
}

// coefficients is the exact sum of the coefficients' integers, from that of what the workers summed.
func (c *coder) coefficients(t *lattice.Tally) (*lattice.Tally, error) {
	if c.cells == nil {
		return t, nil
	}
	return c.cells.coefficients(t)
}
