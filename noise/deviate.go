// Ideal Laplace deviates that are only compared, never written down: what the
// sparse vector technique needs.

package noise

import (
	"math"
	"math/big"
)

// Laplace is an ideal deviate L of density e^(−|x|)/2, of which only the digits
// are drawn that the comparisons it takes part in need. It belongs to the
// Source that drew it and must not be copied.
type Laplace struct {
	negative bool
	k        uint64
	x        uniform
}

// Laplace draws a deviate.
func (s *Source) Laplace() *Laplace {
	l := &Laplace{negative: int64(s.Uint64()) < 0}
	l.k = s.exponential(&l.x)
	return l
}

// Reaches reports whether a + scaleV·v ≥ b + scaleW·w for real numbers, exactly:
// rounding both sides first would not be the same, for the order of two real
// numbers is not a function of their rounded values. a, b are finite and the
// scales positive and finite; it panics otherwise.
func (s *Source) Reaches(a, scaleV float64, v *Laplace, b, scaleW float64, w *Laplace) bool {
	for _, x := range [...]float64{a, b, scaleV, scaleW} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			panic("noise: Reaches of a number that is not finite")
		}
	}
	if scaleV <= 0 || scaleW <= 0 {
		panic("noise: Reaches with a scale that is not positive")
	}
	// In floating point first. There are fewer than eight operations, each off by
	// at most 2^-53 of a partial result that size bounds; digits beyond the first
	// are below 2^-64 (narrower digits, for tests, go on to the exact form).
	if s.width == 64 {
		x, y := v.approx(), w.approx()
		d := (a - b) + (scaleV*x - scaleW*y)
		size := math.Abs(a) + math.Abs(b) + scaleV*(math.Abs(x)+1) + scaleW*(math.Abs(y)+1)
		if slack := size * 0x1p-48; size < math.MaxFloat64/2 && slack > 0x1p-1000 && math.Abs(d) > slack {
			return d > 0
		}
	}
	return s.reachesTail(a, scaleV, v, b, scaleW, w)
}

func (s *Source) reachesTail(a, scaleV float64, v *Laplace, b, scaleW float64, w *Laplace) bool {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	gap := new(big.Rat).Sub(rat(a), rat(b))
	sv, sw := rat(scaleV), rat(scaleW)
	for digits := 1; ; digits++ {
		vLow, vHigh := s.ends(v, digits)
		wLow, wHigh := s.ends(w, digits)
		low := new(big.Rat).Add(gap, vLow.Mul(vLow, sv))
		low.Sub(low, wHigh.Mul(wHigh, sw))
		if low.Sign() >= 0 {
			return true
		}
		high := new(big.Rat).Add(gap, vHigh.Mul(vHigh, sv))
		high.Sub(high, wLow.Mul(wLow, sw))
		if high.Sign() <= 0 {
			return false
		}
	}
}

// approx is the deviate from its first digit, off by less than 2^-64 before
// two roundings.
func (l *Laplace) approx() float64 {
	x := float64(l.k) + float64(l.x.head)*0x1p-64
	if l.negative {
		return -x
	}
	return x
}

// ends returns the ends of the interval that the digits say the deviate is in.
func (s *Source) ends(l *Laplace, digits int) (low, high *big.Rat) {
	p := uint(digits) * s.width
	z := new(big.Int).SetUint64(l.k)
	z.Lsh(z, p)
	z.Add(z, s.prefix(&l.x, digits))
	unit := new(big.Int).Lsh(big.NewInt(1), p)
	low = new(big.Rat).SetFrac(z, unit)
	high = new(big.Rat).SetFrac(new(big.Int).Add(z, big.NewInt(1)), unit)
	if l.negative {
		low, high = high.Neg(high), low.Neg(low)
	}
	return low, high
}
