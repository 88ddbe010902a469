// Trigonometric bases, u = (t−a)/(b−a): Fourier 1, √2cos2πku, √2sin2πku for periodic functions, and cosine
// √2cosπku (the Neumann eigenfunctions) for functions without periodicity.

package space

import (
	"fmt"
	"math"
	"strconv"
)

// anchor is the number of steps of e^{i(k+1)x} = e^{ikx}e^{ix} between exact values: the error grows by
// about an ulp a step.
const anchor = 32

// sincosTurns is the sine and cosine of 2πk·turns; the rounding error of the product is recovered.
func sincosTurns(k, turns float64) (sin, cos float64) {
	p := k * turns
	return math.Sincos(2 * math.Pi * ((p - math.Round(p)) + math.FMA(k, turns, -p)))
}

type fourier struct {
	domain Interval
	dim    int
}

// Fourier is the space spanned by 1, √2cos(2πu), √2sin(2πu), √2cos(4πu), …, u = (t−a)/(b−a), in this order,
// in the average inner product: functions with period b−a. The dimension is odd, so that every frequency
// has its cosine and its sine. It refuses an invalid domain and a dim that is even or outside 1…MaxDim.
func Fourier(domain Interval, dim int) (Space, error) {
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if err := checkDim("fourier", dim); err != nil {
		return nil, err
	}
	if dim%2 == 0 {
		near := fmt.Sprintf("%d or %d", dim-1, dim+1)
		if dim+1 > MaxDim {
			near = strconv.Itoa(dim - 1)
		}
		return nil, fmt.Errorf("space: fourier with %d functions: the number must be odd, a constant and pairs of cosine and sine: use %s", dim, near)
	}
	return &fourier{domain, dim}, nil
}

func (s *fourier) Dim() int         { return s.dim }
func (s *fourier) Domain() Interval { return s.domain }
func (s *fourier) String() string   { return "fourier:" + strconv.Itoa(s.dim) }

func (s *fourier) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	d := s.domain
	t = d.clamp(t)
	// Turns from the nearer end: a small angle keeps its digits when it is multiplied by k.
	turns := (t - d.A) / (d.B - d.A)
	if right := (t - d.B) / (d.B - d.A); turns > 0.5 {
		turns = right
	}
	dst[0] = 1
	sin1, cos1 := math.Sincos(2 * math.Pi * turns)
	var sin, cos float64
	for i, k := 1, 1; i < len(dst)-1; i, k = i+2, k+1 {
		switch {
		case k == 1:
			sin, cos = sin1, cos1
		case k%anchor == 1:
			sin, cos = sincosTurns(float64(k), turns)
		default:
			sin, cos = sin*cos1+cos*sin1, cos*cos1-sin*sin1
		}
		dst[i], dst[i+1] = math.Sqrt2*cos, math.Sqrt2*sin
	}
}

// Bound is √Dim everywhere, because cos²+sin² = 1.
func (s *fourier) Bound(t float64) float64 {
	if math.IsNaN(t) {
		return t
	}
	return math.Sqrt(float64(s.dim))
}

type cosine struct {
	domain Interval
	dim    int
}

// Cosine is the space spanned by 1, √2cos(πu), √2cos(2πu), …, u = (t−a)/(b−a), in the average inner product.
// It refuses an invalid domain and a dim outside 1…MaxDim.
func Cosine(domain Interval, dim int) (Space, error) {
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if err := checkDim("cosine", dim); err != nil {
		return nil, err
	}
	return &cosine{domain, dim}, nil
}

func (s *cosine) Dim() int         { return s.dim }
func (s *cosine) Domain() Interval { return s.domain }
func (s *cosine) String() string   { return "cosine:" + strconv.Itoa(s.dim) }

func (s *cosine) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	d := s.domain
	t = d.clamp(t)
	// Half turns from the nearer end; from the right end cos πk(1−v) = (−1)^k cos πkv.
	half, sign := (t-d.A)/(d.B-d.A), 1.0
	if right := (d.B - t) / (d.B - d.A); half > 0.5 {
		half, sign = right, -1
	}
	dst[0] = 1
	sin1, cos1 := math.Sincos(math.Pi * half)
	sin1, cos1 = sign*sin1, sign*cos1
	var sin, cos float64
	for k := 1; k < len(dst); k++ {
		switch {
		case k == 1:
			sin, cos = sin1, cos1
		case k%anchor == 1:
			sin, cos = sincosTurns(float64(k), half/2)
			if k%2 == 1 {
				sin, cos = sign*sin, sign*cos
			}
		default:
			sin, cos = sin*cos1+cos*sin1, cos*cos1-sin*sin1
		}
		dst[k] = math.Sqrt2 * cos
	}
}

func (s *cosine) Bound(t float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, t) })
}
