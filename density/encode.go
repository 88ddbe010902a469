package density

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/space"
)

// From points to exact sums of integer vectors, at the speed of a matrix product. Of one variable: see cells.go.
//
// The axes are split into two groups, and each product of a group's functions is rounded to the nearest
// multiple of 2⁻¹⁵: an integer of at most 17 bits. A coefficient's integer is the product of two such, so one
// float64 matrix product over a block of people adds up products below 2³⁴ without any rounding, in whatever order
// it likes, as long as there are fewer than 2¹⁹ of them. A person's integers depend on that person's points
// alone, to the bit.

// coder turns points into integers. It is immutable.
type coder struct {
	space *space.Tensor
	cells *cells // of one variable, else nil and
	a, b  group
	pair  [][2]int32 // of each function: its place in the two groups
	cube  bool       // every pair occurs, in order
	dim   int        // of the integers that are summed
	limit int64      // of their size
	unit  float64    // of a coefficient's integers
	slack float64    // largest error of unit·integer against the function at a point of the box
	mean  float64    // what the average of several points adds to it
}

// group is some of the axes with the products of their functions that occur.
type group struct {
	axes  []int
	index [][]uint16 // of each axis, per product
	size  int        // products
}

const groupRound = 0x1p15 // integers per unit

// evaluation bounds the error of the computed functions against the exact ones at some point of the box near
// the given: a recurrence of 32 steps has an error of some 1e-14.
const evaluation = 0x1p-40

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
	c.cube = c.a.size*c.b.size == s.Dim()
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

// rounder turns a float64 below 2⁵¹ in magnitude into the nearest integer, ties to even, when added and
// subtracted.
const rounder = 0x1.8p52

// values sets dst to the rounded products of the group at x, as floats that hold integers.
func (g *group) values(s *space.Tensor, dst, scratch, x []float64) {
	if len(g.axes) == 1 && g.size == s.Axis(g.axes[0]).Dim() {
		s.Axis(g.axes[0]).Eval(dst, x[g.axes[0]])
	} else {
		for n, i := range g.axes {
			e := scratch[:s.Axis(i).Dim()]
			s.Axis(i).Eval(e, x[i])
			for j, at := range g.index[n] {
				if n == 0 {
					dst[j] = e[at]
				} else {
					dst[j] *= e[at]
				}
			}
		}
	}
	for j, v := range dst {
		dst[j] = float64(v*groupRound+rounder) - rounder
	}
}

// work is one goroutine's memory.
type work struct {
	c       *coder
	a, b    []float64 // rows × group size
	scratch []float64
	sum     []float64 // exact integers: of functions, or for a cube of all pairs
	terms   int       // rows in sum
	total   []int64   // what has left sum, and people with several points
	own     []int64   // of one person
	people  int64
}

// exactTerms is how many products of 2³⁴ stay below 2⁵³.
const exactTerms = 1 << 19

func newWork(c *coder) *work {
	w := &work{c: c, total: make([]int64, c.dim)}
	if c.cells != nil {
		return w
	}
	widest := 1
	for i := range c.space.Box() {
		widest = max(widest, c.space.Axis(i).Dim())
	}
	w.scratch, w.sum = make([]float64, widest), make([]float64, c.dim)
	return w
}

// reserve makes room for rows.
func (w *work) reserve(rows int) {
	if len(w.a) < rows*w.c.a.size {
		w.a, w.b = make([]float64, rows*w.c.a.size), make([]float64, rows*w.c.b.size)
	}
}

// points adds people with one point each. Points that keep does not want count as people only.
func (w *work) points(x []float64, keep func([]float64) bool) {
	c, d := w.c, len(w.c.space.Box())
	if c.cells != nil {
		w.people += int64(len(x))
		for i, v := range x {
			if keep(x[i : i+1]) {
				c.cells.add(w.total, v)
			}
		}
		return
	}
	w.reserve(len(x) / d)
	rows := 0
	for ; len(x) > 0; x = x[d:] {
		w.people++
		if !keep(x[:d]) {
			continue
		}
		c.a.values(c.space, w.a[rows*c.a.size:(rows+1)*c.a.size], w.scratch, x)
		c.b.values(c.space, w.b[rows*c.b.size:(rows+1)*c.b.size], w.scratch, x)
		rows++
	}
	if w.terms += rows; w.terms > exactTerms {
		w.flush()
		w.terms = rows
	}
	w.multiply(rows)
}

func (w *work) multiply(rows int) {
	c := w.c
	if rows == 0 {
		return
	}
	na, nb := c.a.size, c.b.size
	if c.cube {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: rows, Cols: na, Stride: na, Data: w.a},
			blas64.General{Rows: rows, Cols: nb, Stride: nb, Data: w.b}, 1, blas64.General{Rows: na, Cols: nb, Stride: nb, Data: w.sum})
		return
	}
	for r := range rows {
		a, b := w.a[r*na:(r+1)*na], w.b[r*nb:(r+1)*nb]
		for j, p := range c.pair {
			w.sum[j] += a[p[0]] * b[p[1]]
		}
	}
}

// person adds one person with several points: their average, rounded toward zero.
func (w *work) person(x []float64, keep func([]float64) bool) {
	c, d := w.c, len(w.c.space.Box())
	if w.own == nil {
		w.own = make([]int64, len(w.total))
	}
	clear(w.own)
	points := int64(len(x) / d)
	for ; len(x) > 0; x = x[d:] {
		if !keep(x[:d]) {
			continue
		}
		if c.cells != nil {
			c.cells.add(w.own, x[0])
			continue
		}
		w.reserve(1)
		a, b := w.a[:c.a.size], w.b[:c.b.size]
		c.a.values(c.space, a, w.scratch, x)
		c.b.values(c.space, b, w.scratch, x)
		for j, p := range c.pair {
			w.own[j] += int64(a[p[0]] * b[p[1]])
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
