// Functions with values in R^n. A Space is for real functions, whose components share one basis with a
// coefficient each; a circle of unknown radius moves all components by one number.

package space

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
)

// Vector is a finite-dimensional space of functions of one variable with values in R^n, by a basis
// orthonormal in the average of ⟨f(t), g(t)⟩ over the domain: real coefficients, vector-valued functions
// ([GEO] §3.3).
type Vector interface {
	Dim() int
	Components() int
	Domain() Interval
	// EvalVector sets dst[k·n+c] to component c of function k at t, taken to the nearest end of the domain. It
	// panics if len(dst) ≠ Dim·Components.
	EvalVector(dst []float64, t float64)
}

type componentwise struct {
	Space
	n int
}

// Componentwise is the space with vector coefficients: one function of s in each of n components, dimension
// n·Dim, ordered by function, then component ([GEO] §3.3, real basis).
func Componentwise(s Space, n int) Vector { return componentwise{s, n} }

func (v componentwise) Dim() int        { return v.Space.Dim() * v.n }
func (v componentwise) Components() int { return v.n }

func (v componentwise) EvalVector(dst []float64, t float64) {
	checkLen(dst, v.Dim()*v.n)
	e := make([]float64, v.Space.Dim())
	v.Eval(e, t)
	clear(dst)
	for k, x := range e {
		for c := range v.n {
			dst[(k*v.n+c)*v.n+c] = x
		}
	}
}

type spanned struct {
	domain Interval
	n      int
	raw    []func(dst []float64, t float64)
	u      mat.Cholesky
	gram   *mat.SymDense
}

// Span is the space spanned by the given functions, each of which sets dst, of length n, to its value at t;
// they must be smooth on the domain and linearly independent. The basis is orthonormalised by the Cholesky
// factor of the Gram matrix, computed by quadrature to about 1e-12. It refuses functions whose Gram matrix has
// a condition above 1e12.
func Span(domain Interval, n int, functions ...func(dst []float64, t float64)) (Vector, error) {
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if n < 1 || len(functions) < 1 || len(functions) > MaxDim {
		return nil, fmt.Errorf("space: span of %d functions with %d components: give at least one of each, at most %d functions", len(functions), n, MaxDim)
	}
	p := len(functions)
	s := &spanned{domain: domain, n: n, raw: functions, gram: mat.NewSymDense(p, nil)}
	const pieces, order = 64, 16
	x, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	values := make([]float64, p*n)
	for piece := range pieces {
		for q := range x {
			s.evalRaw(values, domain.A+domain.Length()*((float64(piece)+x[q])/pieces))
			for j := range p {
				for k := j; k < p; k++ {
					var sum float64
					for c := range n {
						sum += values[j*n+c] * values[k*n+c]
					}
					s.gram.SetSym(j, k, s.gram.At(j, k)+w[q]/pieces*sum)
				}
			}
		}
	}
	for j := range p {
		if v := s.gram.At(j, j); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("space: span: function %d is not finite on %v", j+1, domain)
		}
	}
	if !s.u.Factorize(s.gram) || s.u.Cond() > 1e12 {
		return nil, fmt.Errorf("space: span: the functions are linearly dependent on %v, or nearly so: leave some out", domain)
	}
	return s, nil
}

func (s *spanned) evalRaw(dst []float64, t float64) {
	for k, f := range s.raw {
		f(dst[k*s.n:(k+1)*s.n], t)
	}
}

func (s *spanned) Dim() int         { return len(s.raw) }
func (s *spanned) Components() int  { return s.n }
func (s *spanned) Domain() Interval { return s.domain }

// Gram is the matrix of the inner products of the functions as given, averages over the domain.
func (s *spanned) Gram() mat.Symmetric { return s.gram }

func (s *spanned) EvalVector(dst []float64, t float64) {
	checkLen(dst, len(s.raw)*s.n)
	s.evalRaw(dst, s.domain.clamp(t))
	u := s.u.RawU().(*mat.TriDense).RawTriangular()
	for c := range s.n {
		for j := range s.raw {
			v := dst[j*s.n+c]
			for k := range j {
				v -= u.Data[k*u.Stride+j] * dst[k*s.n+c]
			}
			dst[j*s.n+c] = v / u.Data[j*u.Stride+j]
		}
	}
}
