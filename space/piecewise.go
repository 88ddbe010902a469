// A base space on each of the pieces of the domain: e_{s,k}(t) = √(L/h_s)·b_k on piece s, zero elsewhere, h_s
// the length of the piece and L that of the domain. Orthonormal in the average over the domain if the base is
// in the average over its own.

package space

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// MaxPiecewiseDim is the largest dimension of a piecewise space, whose functions are zero nearly everywhere.
const MaxPiecewiseDim = 1 << 21

// Local is a space of many functions of which few are not zero at a point.
type Local interface {
	Space
	// LocalDim is the number of functions, next to each other, that may be not zero
	// at a point.
	LocalDim() int
	// EvalLocal writes those at t to dst, which must have length LocalDim, and returns
	// the index of the first.
	EvalLocal(dst []float64, t float64) (first int)
}

type piecewise struct {
	base   Space
	breaks []float64
	weight []float64 // √(L/h_s)
}

// Piecewise is the space of functions that belong, on each piece [breaks[s], breaks[s+1]), to the base space
// moved there from its own domain; at a break the piece on the right counts, at the end the last. Coordinates
// are ordered by piece, then as in the base. The breaks increase strictly from one end of the domain to the
// other. It refuses a base whose inner product is not the average over its domain (kernel spaces, sinc,
// hermite, another piecewise space) and a dimension over MaxPiecewiseDim.
func Piecewise(base Space, breaks []float64) (Space, error) {
	switch base.(type) {
	case *legendre, *fourier, *cosine, *bspline:
	default:
		return nil, fmt.Errorf("space: piecewise %v: the base must have the average inner product: use legendre, fourier, cosine or bspline", base)
	}
	if len(breaks) < 2 {
		return nil, fmt.Errorf("space: piecewise with %d breaks: give both ends of the domain and what lies between", len(breaks))
	}
	if len(breaks)-1 > MaxPiecewiseDim/base.Dim() {
		return nil, fmt.Errorf("space: %d pieces of %v: at most %d functions in all are supported", len(breaks)-1, base, MaxPiecewiseDim)
	}
	s := &piecewise{base: base, breaks: slices.Clone(breaks)}
	domain := s.Domain()
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	for i, a := range breaks[:len(breaks)-1] {
		piece := Interval{a, breaks[i+1]}
		if err := piece.Validate(); err != nil {
			return nil, fmt.Errorf("space: piecewise: break %d: %w", i+1, err)
		}
		s.weight = append(s.weight, sqrtRatio(domain.Length(), piece.Length()))
	}
	return s, nil
}

// EqualPieces returns the n+1 ends of n equal pieces of the domain.
func EqualPieces(domain Interval, n int) []float64 {
	breaks := make([]float64, n+1)
	for i := range breaks {
		breaks[i] = domain.A + domain.Length()*(float64(i)/float64(n))
	}
	breaks[n] = domain.B
	return breaks
}

func (s *piecewise) Dim() int         { return len(s.weight) * s.base.Dim() }
func (s *piecewise) Domain() Interval { return Interval{s.breaks[0], s.breaks[len(s.breaks)-1]} }

// equal says whether the pieces are those of EqualPieces.
func (s *piecewise) equal() bool {
	return slices.Equal(s.breaks, EqualPieces(s.Domain(), len(s.weight)))
}

// String is "piecewise:8:legendre:2" for equal pieces.
func (s *piecewise) String() string {
	if s.equal() {
		return "piecewise:" + strconv.Itoa(len(s.weight)) + ":" + s.base.String()
	}
	return fmt.Sprintf("piecewise %v on %d given pieces", s.base, len(s.weight))
}

// locate returns the piece of t and the point of the base's domain that t corresponds to.
func (s *piecewise) locate(t float64) (piece int, u float64) {
	t = s.Domain().clamp(t)
	piece = sort.Search(len(s.weight)-1, func(i int) bool { return t < s.breaks[i+1] })
	d := s.base.Domain()
	return piece, d.A + d.Length()*Interval{s.breaks[piece], s.breaks[piece+1]}.unit(t)
}

func (s *piecewise) Eval(dst []float64, t float64) {
	checkLen(dst, s.Dim())
	clear(dst)
	piece, _ := s.locate(t)
	p := s.base.Dim()
	s.EvalLocal(dst[piece*p:(piece+1)*p], t)
}

func (s *piecewise) LocalDim() int { return s.base.Dim() }

func (s *piecewise) EvalLocal(dst []float64, t float64) (first int) {
	piece, u := s.locate(t)
	s.base.Eval(dst, u)
	for k := range dst {
		dst[k] *= s.weight[piece]
	}
	return piece * s.base.Dim()
}

func (s *piecewise) Bound(t float64) float64 {
	piece, u := s.locate(t)
	return s.weight[piece] * s.base.Bound(u)
}

func parsePiecewise(text, rest string, domain Interval) (Space, error) {
	number, inner, found := strings.Cut(rest, ":")
	n, err := strconv.Atoi(number)
	if err != nil || !found {
		return nil, fmt.Errorf("space: %q: after piecewise: come the number of pieces and the space on each, as in piecewise:8:legendre:2", text)
	}
	if n < 1 || n > MaxPiecewiseDim {
		return nil, fmt.Errorf("space: %q: %d pieces: give 1 to %d", text, n, MaxPiecewiseDim)
	}
	base, err := Parse(inner, Interval{0, 1})
	if err != nil {
		return nil, err
	}
	return Piecewise(base, EqualPieces(domain, n))
}

// Breaks are the points where functions of the space are not smooth, both ends of the domain included. Do not
// change them.
func (s *piecewise) Breaks() []float64 { return s.breaks }

// Breaks are the knots.
func (s *bspline) Breaks() []float64 { return EqualPieces(s.domain, s.spans) }

// Pieces is the number of pieces.
func (s *piecewise) Pieces() int { return len(s.weight) }

// Ends returns the values of the functions of one piece at its two ends, as limits from inside.
func (s *piecewise) Ends(piece int) (left, right []float64) {
	p := s.base.Dim()
	both := make([]float64, 2*p)
	left, right = both[:p:p], both[p:]
	d := s.base.Domain()
	s.base.Eval(left, d.A)
	s.base.Eval(right, d.B)
	for k := range left {
		left[k] *= s.weight[piece]
		right[k] *= s.weight[piece]
	}
	return left, right
}

// Base is the space on each piece.
func (s *piecewise) Base() Space { return s.base }
