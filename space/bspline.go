// B-splines on clamped uniform knots, orthonormalised: with G = UᵀU the Cholesky factorisation of the
// banded Gram matrix of the B-splines b, e(t) = U^{−T}b(t) is orthonormal. At any t only degree+1 B-splines
// are not 0, so b costs O(degree²) and the forward substitution O(Dim·degree).

package space

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// MaxDegree is the largest degree of a B-spline space; beyond it the B-splines are nearly dependent.
const MaxDegree = 9

const defaultDegree = 3

type bspline struct {
	domain      Interval
	dim, degree int
	spans       int
	// Row i of U from its diagonal, degree+1 numbers; the diagonal is stored as its reciprocal.
	u []float64
}

// A BSplineOption changes how BSpline builds its space.
type BSplineOption func(*bspline)

// Degree sets the degree of the pieces, 1…MaxDegree; 3 if the option is absent.
func Degree(degree int) BSplineOption { return func(s *bspline) { s.degree = degree } }

// BSpline is the space of the splines of the given degree with dim−degree equal pieces on the domain, whose
// derivatives below the degree are continuous, in the average inner product. The basis is the orthonormalised
// B-splines from left to right. It refuses an invalid domain, a degree outside 1…MaxDegree and a dim outside
// degree+1…MaxDim.
func BSpline(domain Interval, dim int, opts ...BSplineOption) (Space, error) {
	s := &bspline{domain: domain, dim: dim, degree: defaultDegree}
	for _, o := range opts {
		o(s)
	}
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if s.degree < 1 || s.degree > MaxDegree {
		return nil, fmt.Errorf("space: bspline of degree %d: give 1 (straight pieces) to %d; 3 is usual", s.degree, MaxDegree)
	}
	if err := checkDim("bspline", dim); err != nil {
		return nil, err
	}
	if dim <= s.degree {
		return nil, fmt.Errorf("space: bspline of degree %d with %d functions: one piece already needs %d: use bspline:%d or more, or a lower degree", s.degree, dim, s.degree+1, s.degree+1)
	}
	s.spans = dim - s.degree
	if err := s.orthonormalise(); err != nil {
		return nil, err
	}
	return s, nil
}

// orthonormalise integrates the products of B-splines exactly, degree+1 Gauss points per piece, and factors.
func (s *bspline) orthonormalise() error {
	width := s.degree + 1
	gram := blas64.SymmetricBand{Uplo: blas.Upper, N: s.dim, K: s.degree, Stride: width, Data: make([]float64, s.dim*width)}
	x, w := make([]float64, width), make([]float64, width)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	var b [MaxDegree + 1]float64
	for span := range s.spans {
		for q, xq := range x {
			s.local(&b, span, xq)
			for i := range width {
				for j := i; j < width; j++ {
					// Scaled by the number of pieces, undone below, so that the entries are of order 1.
					gram.Data[(span+i)*width+j-i] += w[q] * b[i] * b[j]
				}
			}
		}
	}
	factor, ok := lapack64.Pbtrf(gram)
	if !ok {
		return fmt.Errorf("space: bspline of degree %d with %d functions cannot be orthonormalised in 64 bits: use a lower degree or fewer functions", s.degree, s.dim)
	}
	s.u = factor.Data
	scale := 1 / math.Sqrt(float64(s.spans))
	for i := range s.dim {
		row := s.u[i*width : (i+1)*width]
		for j := range row {
			row[j] *= scale
		}
		row[0] = 1 / row[0]
	}
	return nil
}

// knot is the i-th knot of the clamped sequence in units of the piece's length, i from −degree.
func (s *bspline) knot(i int) float64 { return float64(min(max(i, 0), s.spans)) }

// local sets b to the values of the degree+1 B-splines that live on a piece, at the fraction x of it, by the
// recurrence of Cox and de Boor (Piegl and Tiller, The NURBS Book, algorithm A2.2), in units of pieces.
func (s *bspline) local(b *[MaxDegree + 1]float64, span int, x float64) {
	at := float64(span) + x
	var left, right [MaxDegree + 1]float64
	b[0] = 1
	for j := 1; j <= s.degree; j++ {
		left[j] = at - s.knot(span+1-j)
		right[j] = s.knot(span+j) - at
		saved := 0.0
		for r := range j {
			part := b[r] / (right[r+1] + left[j-r])
			b[r] = saved + right[r+1]*part
			saved = left[j-r] * part
		}
		b[j] = saved
	}
}

func (s *bspline) Dim() int         { return s.dim }
func (s *bspline) Domain() Interval { return s.domain }

func (s *bspline) String() string {
	text := "bspline:" + strconv.Itoa(s.dim)
	if s.degree != defaultDegree {
		text += ":degree=" + strconv.Itoa(s.degree)
	}
	return text
}

func (s *bspline) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	at := s.domain.unit(t) * float64(s.spans)
	if math.IsNaN(at) {
		for i := range dst {
			dst[i] = at
		}
		return
	}
	span := min(int(at), s.spans-1)
	var b [MaxDegree + 1]float64
	s.local(&b, span, at-float64(span))
	clear(dst)
	copy(dst[span:], b[:s.degree+1])
	width := s.degree + 1
	for i := span; i < s.dim; i++ {
		row := s.u[i*width : (i+1)*width]
		e := dst[i] * row[0]
		dst[i] = e
		for j := 1; j < min(width, s.dim-i); j++ {
			dst[i+j] -= row[j] * e
		}
	}
}

func (s *bspline) Bound(t float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, t) })
}
