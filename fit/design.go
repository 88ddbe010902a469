package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/curveil/curveil/space"
)

// relativeRank is where a singular value counts as zero: it is then dropped
// and the fit is the one of minimum norm. Kernel spaces have cut their own
// rank before, on the eigenvalues of K_T.
const relativeRank = 1e-14

// overflow is where the projections of a curve are taken to be too large to go
// on: all its samples are then divided by 2¹⁰⁰. That is still so far outside
// any ball that only the direction counts, which a power of two keeps. It is a
// function of one curve alone and does not touch the guarantee.
const overflow = 1e280

// Design is a weighted least-squares problem on one grid of times, factorised
// once: W^{1/2}A = USVᵀ. It is safe for concurrent use.
type Design struct {
	space space.Space
	t     []float64
	root  []float64      // square roots of the weights; nil for ones
	ut    blas64.General // r×T: row k is W^{1/2}u_k, so that z = Ut·x
	v     blas64.General // p×r
	spectrum
	floor float64
}

// NewDesign factorises the problem for samples at the times t, which must
// increase strictly inside the domain of the space. Weights w, one per
// time and positive, may be nil for ones.
func NewDesign(sp space.Space, t, w []float64) (*Design, error) {
	if len(t) == 0 {
		return nil, errors.New("fit: no sample times")
	}
	if w != nil && len(w) != len(t) {
		panic("fit: as many weights as times are needed")
	}
	d := &Design{}
	return d, d.set(sp, t, w, &factors{})
}

// set makes d the problem, in the memory of both.
func (d *Design) set(sp space.Space, t, w []float64, f *factors) error {
	p, n := sp.Dim(), len(t)
	a := f.start(n, p)
	d.space, d.t, d.floor = sp, append(d.t[:0], t...), 0
	d.root = nil
	if w != nil {
		d.root = make([]float64, n)
	}
	for j, tj := range t {
		if !sp.Domain().Contains(tj) {
			return fmt.Errorf("fit: time %g is outside the domain of %v", tj, sp)
		}
		if j > 0 && tj <= t[j-1] {
			return fmt.Errorf("fit: time %g does not come after %g", tj, t[j-1])
		}
		row := a.Data[j*p : (j+1)*p]
		sp.Eval(row, tj)
		if w == nil {
			continue
		}
		if !(w[j] > 0) || math.IsInf(w[j], 0) {
			return fmt.Errorf("fit: weight %g at time %g must be positive and finite", w[j], tj)
		}
		d.root[j] = math.Sqrt(w[j])
		for k := range row {
			row[k] *= d.root[j]
		}
	}
	return d.factorise(f)
}

// factors is the memory of a factorisation.
type factors struct {
	a, u, vt blas64.General
	s, work  []float64
	best     [1]float64 // length of work
}

// start returns the matrix to factorise, to be filled in.
func (f *factors) start(n, p int) blas64.General {
	if f.a.Rows == n && f.a.Cols == p {
		return f.a
	}
	m := min(n, p)
	f.a, f.u, f.vt = general(f.a, n, p), general(f.u, n, m), general(f.vt, m, p)
	f.s = slices.Grow(f.s[:0], m)[:m]
	lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, f.a, f.u, f.vt, f.s, f.best[:], -1)
	f.work = slices.Grow(f.work[:0], int(f.best[0]))[:int(f.best[0])]
	return f.a
}

func (d *Design) factorise(f *factors) error {
	if !lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, f.a, f.u, f.vt, f.s, f.work, len(f.work)) {
		return fmt.Errorf("fit: the singular value decomposition of %v on %d times did not converge", d.space, len(d.t))
	}
	// Where every basis function is zero at all the times (a Brownian kernel at
	// its origin), the rank is 0 and the shortest fit is 0.
	rank := 0
	for rank < len(f.s) && f.s[rank] > relativeRank*f.s[0] {
		rank++
	}
	d.spectrum.clear()
	if rank > 0 {
		d.top = f.s[0]
	}
	for _, s := range f.s[:rank] {
		d.add(s / d.top)
	}
	n, p, m := f.a.Rows, f.a.Cols, f.u.Cols
	d.ut = general(d.ut, rank, n)
	for k := range rank {
		row := d.ut.Data[k*n : (k+1)*n]
		for j := range row {
			row[j] = f.u.Data[j*m+k]
			if d.root != nil {
				row[j] *= d.root[j]
			}
		}
	}
	d.v = general(d.v, p, rank)
	for i := range p {
		for k := range rank {
			d.v.Data[i*rank+k] = f.vt.Data[k*p+i]
		}
	}
	return nil
}

// general is a matrix in the memory of another.
func general(of blas64.General, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: slices.Grow(of.Data[:0], rows*cols)[:rows*cols]}
}

// WithFloor returns the same design whose multiplier is never below floor: a
// ridge that the reference implementation of [FTP] adds for stability.
func (d *Design) WithFloor(floor float64) *Design {
	c := *d
	c.floor = floor
	return &c
}

// T is the grid; the caller must not change it.
func (d *Design) T() []float64 { return d.t }

// Rank is the number of singular values kept.
func (d *Design) Rank() int { return len(d.s) }

// Solver fits curves on one goroutine; it owns the scratch memory.
type Solver struct {
	z     []float64
	all   spectrum
	parts []*Design
	own   []*Design // of times that nothing else has
	factors
}

// Fit fits rows curves of comps components each. x holds rows×comps series of
// len(T()) finite samples end to end; dst receives rows×comps coordinate vectors
// of length Dim, end to end. The coordinates of one row (all components
// together) have norm at most radius, up to rounding in the last bits; the
// lattice checks exactly. lambda, when not nil, receives the multiplier of each
// row. A row's coordinates do not depend on the other rows, to the bit.
//
// Samples so large that their sums would overflow are scaled down in place.
func (s *Solver) Fit(d *Design, dst, x []float64, comps int, radius float64, lambda []float64) {
	n, r, p := len(d.t), len(d.s), d.v.Rows
	series := len(x) / n
	if comps < 1 || series*n != len(x) || series%comps != 0 || len(dst) != series*p {
		panic("fit: slices of the wrong length")
	}
	if cap(s.z) < comps*r {
		s.z = make([]float64, comps*r)
	}
	z := s.z[:comps*r]
	for row := range series / comps {
		own := x[row*comps*n : (row+1)*comps*n]
		if !d.projectAll(z, own) {
			shrink(own)
			d.projectAll(z, own)
		}
		l := secular(&d.spectrum, z, radius, d.floor/d.top/d.top) * d.top * d.top
		if lambda != nil {
			lambda[row] = l
		}
		for c := range comps {
			i := row*comps + c
			d.expand(dst[i*p:(i+1)*p], z[c*r:(c+1)*r])
		}
	}
}

// project sets z = Uᵀ W^{1/2}x and reports whether all of it is below overflow.
//
// It is a matrix times one vector: a product of whole blocks would be no faster
// here, and could add in an order that depends on the block, which a person's
// integers must not.
func (d *Design) project(z, x []float64) bool {
	blas64.Gemv(blas.NoTrans, 1, d.ut, vector(x), 0, vector(z))
	for _, v := range z {
		if !(math.Abs(v) <= overflow) {
			return false
		}
	}
	return true
}

// projectAll projects all components of one curve.
func (d *Design) projectAll(z, x []float64) bool {
	n, r, ok := len(d.t), len(d.s), true
	for ; len(x) > 0; x, z = x[n:], z[r:] {
		ok = d.project(z[:r], x[:n]) && ok
	}
	return ok
}

// expand sets dst = V·y.
func (d *Design) expand(dst, y []float64) {
	if len(y) == 0 {
		clear(dst)
		return
	}
	blas64.Gemv(blas.NoTrans, 1, d.v, vector(y), 0, vector(dst))
}

func shrink(x []float64) {
	for i, v := range x {
		x[i] = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, v)) * 0x1p-100
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Linearised returns the p×r matrix L(λ) = V·diag(s/(s²+λ)) by which noise of
// unit variance in the weighted samples W^{1/2}x enters the coordinates at the
// multiplier λ.
func (d *Design) Linearised(lambda float64) [][]float64 {
	r := len(d.s)
	out := make([][]float64, d.v.Rows)
	for i := range out {
		out[i] = make([]float64, r)
		for k := range r {
			out[i][k] = d.v.Data[i*r+k] * d.s[k] / (d.s2[k] + lambda/d.top/d.top) / d.top
		}
	}
	return out
}
