// Spaces of functions of several variables on a box: products of the one-variable trigonometric bases,
// over a set of frequencies. They are what densities live in.

package space

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// BoxSpace is a finite-dimensional Hilbert space of functions on a d-dimensional box, with an orthonormal
// basis in the average inner product: ‖f‖² is the average of f² over the box.
type BoxSpace interface {
	// Dim is the number of basis functions.
	Dim() int
	// Box holds the domain of each variable; the slice must not be changed.
	Box() []Interval
	// Eval sets dst to e(x) without allocating. It panics if len(dst) ≠ Dim or len(x) ≠ len(Box()). A
	// coordinate outside the box is evaluated at the nearest end; a NaN gives NaN.
	Eval(dst, x []float64)
	// Bound is ‖e(x)‖₂, the largest |f(x)| over the unit ball.
	Bound(x []float64) float64
	// String is the short text form, which ParseBox reads back on the same box.
	String() string
	// MarshalJSON is the full form, which UnmarshalBox reads back.
	MarshalJSON() ([]byte, error)
}

// MaxVariables is the largest number of variables of a box, and MaxBoxDim the largest dimension of a space
// on it.
const (
	MaxVariables = 4
	MaxBoxDim    = 1 << 19
)

// Set says which frequencies k ∈ {0,…,M₁}×…×{0,…,M_d} a space on a box holds. With rank M = max Mᵢ and
// κᵢ = kᵢM/Mᵢ (so κ = k when all ranks are equal), the level of k is
//
//	cube   max κᵢ
//	total  Σ κᵢ
//	cross  Π max(1, κᵢ)   (0 for k = 0)
//
// and the set holds the levels up to M.
type Set string

// The sets of frequencies.
const (
	Cube  Set = "cube"
	Total Set = "total"
	Cross Set = "cross"
)

// Tensor is the space spanned by the products e_{j₁}(x₁)⋯e_{j_d}(x_d) of Fourier or cosine functions whose
// frequencies lie in a set. The functions are ordered like the entries of a d-dimensional array, the last
// axis fastest, those outside the set left out; the constant comes first. It is immutable and safe for
// concurrent use.
type Tensor struct {
	kind  string
	box   []Interval
	rank  []int
	set   Set
	axes  []Space    // one-variable bases
	index [][]uint16 // of each axis: the one-variable function in each product
	level []float64
	pool  *sync.Pool
}

var _ BoxSpace = (*Tensor)(nil)

// FourierBox is the space of products of 1, √2cos2πku, √2sin2πku with k ≤ Mᵢ on axis i, u = (x−a)/(b−a), for
// functions that are periodic along every axis. rank holds M₁…M_d, or one M for all axes.
func FourierBox(box []Interval, rank []int, set Set) (*Tensor, error) {
	return newTensor("fourier", box, rank, set)
}

// CosineBox is the space of products of 1, √2cosπku with k ≤ Mᵢ on axis i, for functions without
// periodicity. rank holds M₁…M_d, or one M for all axes.
func CosineBox(box []Interval, rank []int, set Set) (*Tensor, error) {
	return newTensor("cosine", box, rank, set)
}

func newTensor(kind string, box []Interval, rank []int, set Set) (*Tensor, error) {
	d := len(box)
	if d < 1 || d > MaxVariables {
		return nil, fmt.Errorf("space: a box of %d variables: give between 1 and %d", d, MaxVariables)
	}
	if len(rank) == 1 && d > 1 {
		rank = slices.Repeat(rank, d)
	}
	if len(rank) != d {
		return nil, fmt.Errorf("space: %d ranks for a box of %d variables: give one, or one for each", len(rank), d)
	}
	if set == "" {
		set = Cube
	}
	if set != Cube && set != Total && set != Cross {
		return nil, fmt.Errorf("space: unknown set of frequencies %q: take %s, %s or %s", set, Cube, Total, Cross)
	}
	s := &Tensor{kind: kind, box: slices.Clone(box), rank: slices.Clone(rank), set: set}
	sizes, all := make([]int, d), 1
	for i, m := range rank {
		if err := box[i].Validate(); err != nil {
			return nil, fmt.Errorf("%w (variable %d)", err, i+1)
		}
		if m < 1 || 2*m+1 > MaxDim {
			return nil, fmt.Errorf("space: rank %d on axis %d: it must lie between 1 and %d", m, i+1, (MaxDim-1)/2)
		}
		sizes[i] = m + 1
		if kind == "fourier" {
			sizes[i] = 2*m + 1
		}
		var axis Space = &cosine{box[i], sizes[i]}
		if kind == "fourier" {
			axis = &fourier{box[i], sizes[i]}
		}
		s.axes = append(s.axes, axis)
		all *= sizes[i] // ≤ 2⁴⁸
	}
	if err := s.enumerate(sizes, all); err != nil {
		return nil, err
	}
	width := 0
	for _, n := range sizes {
		width += n
	}
	s.pool = &sync.Pool{New: func() any {
		scratch := make([]float64, width)
		return &scratch
	}}
	return s, nil
}

// enumerate lists the functions of the set. It cuts whole branches, so that a sparse set in a large cube is
// listed in time that grows with the set.
func (s *Tensor) enumerate(sizes []int, all int) error {
	d := len(sizes)
	s.index = make([][]uint16, d)
	if s.set == Cube && all > MaxBoxDim {
		return s.tooLarge()
	}
	at, k := make([]int, d), make([]int, d)
	var list func(axis int) bool
	list = func(axis int) bool {
		if axis == d {
			if len(s.level) == MaxBoxDim {
				return false
			}
			for i := range at {
				s.index[i] = append(s.index[i], uint16(at[i]))
			}
			s.level = append(s.level, s.levelOf(k))
			return true
		}
		for at[axis] = 0; at[axis] < sizes[axis]; at[axis]++ {
			k[axis] = s.frequency(at[axis])
			if s.levelOf(k) > float64(s.Rank()) { // levels grow with every kᵢ, and the later ones are 0
				break
			}
			if !list(axis + 1) {
				return false
			}
		}
		k[axis] = 0
		return true
	}
	if !list(0) {
		return s.tooLarge()
	}
	return nil
}

func (s *Tensor) tooLarge() error {
	return fmt.Errorf("space: %v has more than %d functions: take a lower rank, or the set %q", s, MaxBoxDim, Cross)
}

func (s *Tensor) frequency(j int) int {
	if s.kind == "fourier" {
		return (j + 1) / 2
	}
	return j
}

// levelOf divides once, so that a level that is a whole number is that number exactly.
func (s *Tensor) levelOf(k []int) float64 {
	m := float64(s.Rank())
	switch s.set {
	case Total:
		sum, all := 0.0, 1.0
		for _, r := range s.rank {
			all *= float64(r)
		}
		for i, x := range k {
			sum += float64(x) * (all / float64(s.rank[i]))
		}
		return sum * m / all
	case Cross:
		if !slices.ContainsFunc(k, func(x int) bool { return x > 0 }) {
			return 0
		}
		product, all := 1.0, 1.0
		for i, x := range k {
			product *= math.Max(float64(s.rank[i]), float64(x)*m)
			all *= float64(s.rank[i])
		}
		return product / all
	}
	top := 0.0
	for i, x := range k {
		top = math.Max(top, float64(x)*m/float64(s.rank[i]))
	}
	return top
}

// Dim is the number of functions in the set.
func (s *Tensor) Dim() int { return len(s.level) }

// Box holds the domain of each variable; the slice must not be changed.
func (s *Tensor) Box() []Interval { return s.box }

// Kind is "fourier" or "cosine".
func (s *Tensor) Kind() string { return s.kind }

// Set is the set of frequencies.
func (s *Tensor) Set() Set { return s.set }

// Ranks is M₁…M_d; the slice must not be changed.
func (s *Tensor) Ranks() []int { return s.rank }

// Rank is M, the largest of the ranks, and the largest level.
func (s *Tensor) Rank() int { return slices.Max(s.rank) }

// Axis is the one-variable basis of axis i, in the units of its variable.
func (s *Tensor) Axis(i int) Space { return s.axes[i] }

// Index is the place in [Tensor.Axis] of axis i of each function; the slice must not be changed.
func (s *Tensor) Index(i int) []uint16 { return s.index[i] }

// Frequency is |kᵢ| of function j on axis i.
func (s *Tensor) Frequency(j, i int) int { return s.frequency(int(s.index[i][j])) }

// Levels holds the level of each function, 0 for the constant alone; the slice must not be changed.
func (s *Tensor) Levels() []float64 { return s.level }

// Eval sets dst to e(x).
func (s *Tensor) Eval(dst, x []float64) {
	checkLen(dst, s.Dim())
	if len(x) != len(s.box) {
		panic(fmt.Sprintf("space: Eval at a point of %d coordinates, but the box has %d", len(x), len(s.box)))
	}
	scratch := s.pool.Get().(*[]float64)
	defer s.pool.Put(scratch)
	rest := *scratch
	for i, axis := range s.axes {
		e := rest[:axis.Dim()]
		rest = rest[axis.Dim():]
		axis.Eval(e, x[i])
		if i == 0 {
			for j, at := range s.index[0] {
				dst[j] = e[at]
			}
			continue
		}
		for j, at := range s.index[i] {
			dst[j] *= e[at]
		}
	}
}

// Bound is √Dim everywhere for Fourier functions, because every frequency comes with all its signs and
// cos²+sin² = 1; for cosines it is largest at the corners.
func (s *Tensor) Bound(x []float64) float64 {
	if s.kind == "fourier" {
		for _, v := range x {
			if math.IsNaN(v) {
				return v
			}
		}
		return math.Sqrt(float64(s.Dim()))
	}
	return boundByEval(s.Dim(), func(dst []float64) { s.Eval(dst, x) })
}

// OnGrid returns the function with the coefficients on the grid of all points (x₁[i₁],…,x_d[i_d]), the last
// axis fastest. It sums axis by axis, which for n points an axis takes about Dim·n + … + M·n^d steps instead of
// Dim·n^d.
func (s *Tensor) OnGrid(coefficients []float64, points [][]float64) []float64 {
	checkLen(coefficients, s.Dim())
	if len(points) != len(s.box) {
		panic("space: OnGrid needs the points of every axis")
	}
	values := make([][]float64, len(s.axes)) // points × functions
	for i, axis := range s.axes {
		values[i] = make([]float64, len(points[i])*axis.Dim())
		for p, x := range points[i] {
			axis.Eval(values[i][p*axis.Dim():(p+1)*axis.Dim()], x)
		}
	}
	cube := 1
	for _, axis := range s.axes {
		cube *= axis.Dim()
	}
	full := make([]float64, cube)
	for j, c := range coefficients {
		at := 0
		for i, axis := range s.axes {
			at = at*axis.Dim() + int(s.index[i][j])
		}
		full[at] = c
	}
	return contract(full, values, points)
}

// contract replaces the functions of one axis after the other, the first first, by the points: an array of
// shape (m₁,…,m_d) becomes (m₂,…,m_d,n₁), and after all axes (n₁,…,n_d).
func contract(full []float64, values [][]float64, points [][]float64) []float64 {
	for i, v := range values {
		n := len(points[i])
		m := len(v) / n
		rest := len(full) / m
		next := make([]float64, rest*n)
		for k := range m {
			for r, c := range full[k*rest : (k+1)*rest] {
				if c == 0 {
					continue
				}
				row := next[r*n : (r+1)*n]
				for p := range row {
					row[p] += c * v[p*m+k]
				}
			}
		}
		full = next
	}
	return full
}
