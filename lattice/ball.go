// Package lattice holds people's vectors as integers, so that their sum is
// exact: independent of the order of addition, mergeable, and of a
// sensitivity that no rounding error can exceed (methods §1).
//
// A vector v of a ball of radius R becomes k = v/η rounded toward zero per
// coordinate, with η the power of two that puts R/η into [2³⁰, 2³¹). Rounding
// toward zero cannot leave the ball; that it did not is checked in integers.
package lattice

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/curveil/curveil/privacy"
)

// MinRadius and MaxRadius bound the radius of a ball, so that no step,
// square or quotient leaves the normal float64 range.
const (
	MinRadius = 1e-100
	MaxRadius = 1e100
)

// MaxN is the largest number of vectors in one sum: with coordinates below
// 2³¹ in magnitude the sum stays below 2⁶², and below 2⁶³ with any noise.
const MaxN = 1 << 31

// Ball is the set of integer vectors k of length Dim with η‖k‖₂ ≤ R.
type Ball struct {
	dim    int
	radius float64
	exp    int    // step = 2^exp
	k2     uint64 // ⌊(R/η)²⌋, exactly
}

// NewBall returns the lattice ball of the radius, in the units of the vectors.
func NewBall(radius float64, dim int) (Ball, error) {
	if !(radius >= MinRadius && radius <= MaxRadius) {
		return Ball{}, fmt.Errorf("lattice: radius %g must lie in [%g, %g]", radius, MinRadius, MaxRadius)
	}
	if dim < 1 {
		return Ball{}, fmt.Errorf("lattice: dimension %d must be at least 1", dim)
	}
	frac, e := math.Frexp(radius)
	m := uint64(math.Ldexp(frac, 53)) // R/η = m·2⁻²², an integer below 2⁵³ times a power of two
	hi, lo := bits.Mul64(m, m)
	return Ball{dim: dim, radius: radius, exp: e - 31, k2: hi<<20 | lo>>44}, nil
}

// Dim is the length of the vectors.
func (b Ball) Dim() int { return b.dim }

// Radius is R, as given.
func (b Ball) Radius() float64 { return b.radius }

// Step is η, a power of two.
func (b Ball) Step() float64 { return math.Ldexp(1, b.exp) }

// Sensitivity bounds ‖k−k′‖₂ over any two vectors k, k′ of the ball, in
// lattice units: twice the radius, rounded up. Replacing one person changes
// the integer sum by no more.
func (b Ball) Sensitivity() float64 {
	return privacy.MulUp(2, privacy.SqrtUp(float64Up(b.k2)))
}

func float64Up(k uint64) float64 {
	f := float64(k)
	if f < math.MaxUint64 && uint64(f) < k {
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

// Contains reports whether k lies in the ball, in exact integer arithmetic.
func (b Ball) Contains(k []int64) bool {
	var sum uint64
	for _, x := range k {
		if x < 0 {
			x = -x
		}
		if x < 0 || x >= 1<<31 {
			return false
		}
		if sum += uint64(x) * uint64(x); sum > b.k2 { // ≤ k2 + 2⁶² < 2⁶³: no wrap
			return false
		}
	}
	return len(k) == b.dim
}

// Round sets dst to v on the lattice, rounded toward zero. A v outside the
// ball, by an ulp or by far, is first pulled back to it; the result is in the
// ball by an integer check, whatever v was. The only error is a coordinate
// that is not finite.
func (b Ball) Round(dst []int64, v []float64) error {
	if len(dst) != b.dim || len(v) != b.dim {
		panic("lattice: Round with slices of the wrong length")
	}
	scale, limit := math.Ldexp(1, -b.exp), math.Ldexp(1, b.exp+31)
	inside := true
	for i, x := range v {
		if !(math.Abs(x) < limit) {
			inside = false
			break
		}
		dst[i] = int64(x * scale)
	}
	if inside && b.Contains(dst) {
		return nil
	}
	return b.pull(dst, v)
}

func (b Ball) pull(dst []int64, v []float64) error {
	var top float64
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("lattice: coordinate %d is %g, not a finite number", i+1, x)
		}
		top = max(top, math.Abs(x))
	}
	var norm float64
	for _, x := range v {
		norm += (x / top) * (x / top)
	}
	norm = math.Sqrt(norm)
	for i, x := range v {
		dst[i] = int64(math.Ldexp(x/top/norm*b.radius, -b.exp))
	}
	for !b.Contains(dst) {
		for i, k := range dst {
			switch {
			case k > 0:
				dst[i] = k - 1
			case k < 0:
				dst[i] = k + 1
			}
		}
	}
	return nil
}
