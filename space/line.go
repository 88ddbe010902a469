// Spaces of functions on the whole line, looked at on the domain: sinc and Hermite functions. Orthonormal in
// (1/L)∫_R f²dt, L the length of the domain. A curve on the domain is a function on the line that is zero
// outside, so its norm there is its root mean square over the domain ([GEO] §3.5).

package space

import (
	"fmt"
	"math"
	"strconv"
)

type sinc struct {
	domain         Interval
	first, spacing float64
	dim            int
}

// Sinc is the span of sinc((t−first)/spacing − j), j = 0 … dim−1, sinc(x) = sin(πx)/(πx), normalised on the
// line: band-limited functions, for signals. At first + j·spacing only function j is not zero. Outside the
// domain Eval takes t to the nearest end like every space. It refuses an invalid domain, a spacing that is not
// positive and finite, and a dim outside 1…MaxDim.
func Sinc(domain Interval, first, spacing float64, dim int) (Space, error) {
	if err := checkLine("sinc", domain, first, spacing, dim); err != nil {
		return nil, err
	}
	return &sinc{domain, first, spacing, dim}, nil
}

func checkLine(name string, domain Interval, centre, scale float64, dim int) error {
	if err := domain.Validate(); err != nil {
		return err
	}
	if !(scale > 0) || math.IsInf(scale, 0) || math.IsNaN(centre) || math.IsInf(centre, 0) {
		return fmt.Errorf("space: %s at %g with scale %g: both must be finite and the scale positive, in the units of t", name, centre, scale)
	}
	return checkDim(name, dim)
}

// sqrtRatio is √(a/b), where a/b itself could overflow.
func sqrtRatio(a, b float64) float64 { return math.Sqrt(a) / math.Sqrt(b) }

func (s *sinc) Dim() int         { return s.dim }
func (s *sinc) Domain() Interval { return s.domain }

// Nodes returns the position of the first function and the spacing.
func (s *sinc) Nodes() (first, spacing float64) { return s.first, s.spacing }

// String is "sinc:800" for nodes at the midpoints of dim equal parts of the domain.
func (s *sinc) String() string {
	if first, spacing := midpoints(s.domain, s.dim); s.first == first && s.spacing == spacing {
		return "sinc:" + strconv.Itoa(s.dim)
	}
	return fmt.Sprintf("sinc with %d functions %g apart from %g on", s.dim, s.spacing, s.first)
}

func midpoints(domain Interval, dim int) (first, spacing float64) {
	spacing = domain.Length() / float64(dim)
	return domain.A + spacing/2, spacing
}

func (s *sinc) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	u := (s.domain.clamp(t) - s.first) / s.spacing
	// sin(π(u−j)) = ±sin(π·rest), rest = u − nearest integer.
	near := math.Round(u)
	rest := u - near
	sin := math.Sin(math.Pi*rest) / math.Pi
	weight := sqrtRatio(s.domain.Length(), s.spacing)
	for j := range dst {
		steps := near - float64(j)
		x := steps + rest
		switch {
		case steps == 0 && math.Abs(rest) < 1e-8: // 1 − (πx)²/6 rounds to 1
			dst[j] = weight
		case math.Mod(steps, 2) == 0:
			dst[j] = weight * sin / x
		default:
			dst[j] = -weight * sin / x
		}
	}
}

func (s *sinc) Bound(t float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, t) })
}

type hermite struct {
	domain        Interval
	centre, scale float64
	dim           int
}

// Hermite is the span of the Hermite functions h₀ … h_{dim−1} of (t−centre)/scale, normalised on the line. The
// function h_k lives on ±√(2k+1) scales around the centre. It refuses what Sinc refuses.
func Hermite(domain Interval, centre, scale float64, dim int) (Space, error) {
	if err := checkLine("hermite", domain, centre, scale, dim); err != nil {
		return nil, err
	}
	return &hermite{domain, centre, scale, dim}, nil
}

func (s *hermite) Dim() int         { return s.dim }
func (s *hermite) Domain() Interval { return s.domain }

// String is "hermite:20" where the last function just spans the domain.
func (s *hermite) String() string {
	if centre, scale := spanning(s.domain, s.dim); s.centre == centre && s.scale == scale {
		return "hermite:" + strconv.Itoa(s.dim)
	}
	return fmt.Sprintf("hermite with %d functions of scale %g around %g", s.dim, s.scale, s.centre)
}

func spanning(domain Interval, dim int) (centre, scale float64) {
	half := domain.Length() / 2
	return domain.A + half, half / math.Sqrt(float64(2*dim-1))
}

// Eval uses h_{k+1} = √(2/(k+1))·x·h_k − √(k/(k+1))·h_{k−1} (DLMF 18.9.1, normalised), with the factor
// e^(−x²/2) kept as a logarithm until it no longer underflows.
func (s *hermite) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	x := (s.domain.clamp(t) - s.centre) / s.scale
	log := -x*x/2 - math.Log(math.Pi)/4
	before, now := 0.0, 1.0
	weight := sqrtRatio(s.domain.Length(), s.scale)
	for k := range dst {
		dst[k] = weight * now * math.Exp(log)
		n := float64(k)
		before, now = now, math.Sqrt(2/(n+1))*x*now-math.Sqrt(n/(n+1))*before
		if size := math.Abs(now); size > 1e100 {
			before, now, log = before/size, now/size, log+math.Log(size)
		}
	}
}

func (s *hermite) Bound(t float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, t) })
}

// meanSquareOf is the average of a(t)² by the midpoint rule on parts much shorter than the functions vary on.
func meanSquareOf(s Space, parts int) float64 {
	d := s.Domain()
	sum := 0.0
	for i := range parts {
		a := s.Bound(d.A + d.Length()*(float64(i)+0.5)/float64(parts))
		sum += a * a / float64(parts)
	}
	return sum
}

func (s *sinc) meanSquareBound() float64 {
	return meanSquareOf(s, 16*int(math.Min(math.Max(s.domain.Length()/s.spacing, float64(s.dim)), MaxDim)))
}

func (s *hermite) meanSquareBound() float64 { return meanSquareOf(s, 64*s.dim) }
