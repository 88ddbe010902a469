package fit

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/space"
)

// relativeRank is where a singular value counts as zero: it is then dropped
// and the fit is the one of minimum norm. Kernel spaces have cut their own
// rank before, on the eigenvalues of K_T.
const relativeRank = 1e-14

// sampleLimit bounds a sample's magnitude in a fit, far outside any radius, so
// that sums over the samples cannot overflow. It is a function of one
// person's data alone and does not touch the guarantee.
const sampleLimit = 1e280

// Design is a weighted least-squares problem on one grid of times, factorised
// once: W^{1/2}A = USVᵀ. It is safe for concurrent use.
type Design struct {
	space space.Space
	t     []float64
	root  []float64      // square roots of the weights; nil for ones
	ut    blas64.General // r×T: row k is W^{1/2}u_k, so that z = Ut·x
	v     blas64.General // p×r
	s, s2 []float64      // singular values and their squares, descending
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
	p, n := sp.Dim(), len(t)
	a := mat.NewDense(n, p, nil)
	d := &Design{space: sp, t: append([]float64(nil), t...)}
	if w != nil {
		d.root = make([]float64, n)
	}
	for j, tj := range t {
		if !sp.Domain().Contains(tj) {
			return nil, fmt.Errorf("fit: time %g is outside the domain of %v", tj, sp)
		}
		if j > 0 && tj <= t[j-1] {
			return nil, fmt.Errorf("fit: time %g does not come after %g", tj, t[j-1])
		}
		row := a.RawRowView(j)
		sp.Eval(row, tj)
		if w == nil {
			continue
		}
		if !(w[j] > 0) || math.IsInf(w[j], 0) {
			return nil, fmt.Errorf("fit: weight %g at time %g must be positive and finite", w[j], tj)
		}
		d.root[j] = math.Sqrt(w[j])
		for k := range row {
			row[k] *= d.root[j]
		}
	}
	return d, d.factorise(a)
}

func (d *Design) factorise(a *mat.Dense) error {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return fmt.Errorf("fit: the singular value decomposition of %v on %d times did not converge", d.space, len(d.t))
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > relativeRank*values[0] {
		rank++
	}
	if rank == 0 {
		return fmt.Errorf("fit: every basis function of %v is zero at the sample times", d.space)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	d.s = values[:rank:rank]
	d.s2 = make([]float64, rank)
	for k, s := range d.s {
		d.s2[k] = s * s
	}
	n, p := a.Dims()
	d.ut = general(rank, n)
	for k := range rank {
		row := d.ut.Data[k*n : (k+1)*n]
		for j := range row {
			row[j] = u.At(j, k)
			if d.root != nil {
				row[j] *= d.root[j]
			}
		}
	}
	d.v = general(p, rank)
	for i := range p {
		for k := range rank {
			d.v.Data[i*rank+k] = v.At(i, k)
		}
	}
	return nil
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
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

// Solver fits blocks of curves on one goroutine; it owns the scratch memory.
type Solver struct{ z []float64 }

// Fit fits rows curves of comps components each. x holds rows×comps series of
// len(T()) samples end to end; dst receives rows×comps coordinate vectors of
// length Dim, end to end. The coordinates of one row (all components together)
// have norm at most radius, up to rounding in the last bits; the lattice
// checks exactly. lambda, when not nil, receives the multiplier of each row.
//
// x is clamped to ±1e280 in place.
func (s *Solver) Fit(d *Design, dst, x []float64, comps int, radius float64, lambda []float64) {
	n, r, p := len(d.t), len(d.s), d.v.Rows
	series := len(x) / n
	if comps < 1 || series*n != len(x) || series%comps != 0 || len(dst) != series*p {
		panic("fit: slices of the wrong length")
	}
	for i, v := range x {
		if v > sampleLimit {
			x[i] = sampleLimit
		} else if v < -sampleLimit {
			x[i] = -sampleLimit
		}
	}
	if cap(s.z) < comps*r {
		s.z = make([]float64, comps*r)
	}
	z := s.z[:comps*r]
	// Matrix times vector, one curve at a time: a product of whole blocks would
	// add in an order that depends on the block, and a person's integers must not.
	for row := range series / comps {
		for c := range comps {
			i := row*comps + c
			blas64.Gemv(blas.NoTrans, 1, d.ut, vector(x[i*n:(i+1)*n]), 0, vector(z[c*r:(c+1)*r]))
		}
		l := secular(d.s, d.s2, z, d.s2[0], radius, d.floor)
		if lambda != nil {
			lambda[row] = l
		}
		for c := range comps {
			i := row*comps + c
			blas64.Gemv(blas.NoTrans, 1, d.v, vector(z[c*r:(c+1)*r]), 0, vector(dst[i*p:(i+1)*p]))
		}
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
			out[i][k] = d.v.Data[i*r+k] * d.s[k] / (d.s2[k] + lambda)
		}
	}
	return out
}
