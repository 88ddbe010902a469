// Legendre polynomials, shifted to [a,b] and normalised: e_k(t) = √(2k+1)·P_k(x), x = (2t−a−b)/(b−a). They
// span the polynomials of degree < Dim; monomials would have a hopelessly conditioned Gram matrix.

package space

import (
	"math"
	"strconv"
)

type legendre struct {
	domain Interval
	// e_{k+1} = up[k]·x·e_k − down[k]·e_{k−1}
	up, down []float64
}

// Legendre is the space of the polynomials of degree less than dim on the domain, with the orthonormal
// Legendre basis by rising degree, in the average inner product. It refuses an invalid domain and a dim
// outside 1…MaxDim.
func Legendre(domain Interval, dim int) (Space, error) {
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if err := checkDim("legendre", dim); err != nil {
		return nil, err
	}
	s := &legendre{domain: domain, up: make([]float64, dim), down: make([]float64, dim)}
	// Bonnet's recurrence (k+1)P_{k+1} = (2k+1)xP_k − kP_{k−1} (DLMF 18.9.1), normalised.
	for k := range dim {
		n := float64(k)
		s.up[k] = math.Sqrt((2*n+1)*(2*n+3)) / (n + 1)
		if k > 0 {
			s.down[k] = n / (n + 1) * math.Sqrt((2*n+3)/(2*n-1))
		}
	}
	return s, nil
}

func (s *legendre) Dim() int         { return len(s.up) }
func (s *legendre) Domain() Interval { return s.domain }
func (s *legendre) String() string   { return "legendre:" + strconv.Itoa(s.Dim()) }

func (s *legendre) Eval(dst []float64, t float64) {
	checkLen(dst, len(s.up))
	d := s.domain
	t = d.clamp(t)
	x := ((t - d.A) - (d.B - t)) / (d.B - d.A)
	before, now := 0.0, 1.0
	up, down := s.up, s.down[:len(s.up)]
	for k := range dst {
		dst[k] = now
		before, now = now, up[k]*x*now-down[k]*before
	}
}

func (s *legendre) Bound(t float64) float64 {
	return boundByEval(s.Dim(), func(dst []float64) { s.Eval(dst, t) })
}
