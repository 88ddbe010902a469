// Spherical Laplace vectors around a centre, faster than one coordinate at a
// time in big integers: 128-bit intervals first.

package noise

import (
	"math/big"
	"math/bits"
)

// SphericalLaplaceAround fills dst with the coordinates of centre + scale·Z,
// each rounded to the nearest integer, Z with density ∝ e^(−‖z‖) on R^m, m =
// len(dst) = len(centre), drawn once for all of them. The law is exact: the
// result is a post-processing of the ideal mechanism on the float64 centre. It
// panics unless [ValidScale](scale), the lengths agree and the centre is finite;
// coordinates saturate at ±(2^63−1).
//
// As for [Source.RoundedSphericalLaplace], Z = √V·ξ with V of law χ²_{m+1}; here V
// is twice the sum of ⌊(m+1)/2⌋ exponential deviates, χ² of two degrees each,
// plus the square of a normal one if m+1 is odd.
func (s *Source) SphericalLaplaceAround(dst []int64, centre []float64, scale float64) {
	checkCentres(dst, centre)
	m := len(dst)
	if m == 0 {
		return
	}
	z := &mixture{f: s.multiplier(scale), centre: centre, whole: make([]uint64, m), fraction: make([]uniform, m),
		sumWhole: make([]uint64, (m+1)/2), sumFraction: make([]uniform, (m+1)/2), negative: make([]bool, m)}
	for i := range z.sumWhole {
		z.sumWhole[i] = s.exponential(&z.sumFraction[i])
	}
	if m%2 == 0 {
		z.lastWhole = s.halfNormal(&z.lastFraction)
	}
	for i := range dst {
		z.whole[i] = s.halfNormal(&z.fraction[i])
		z.negative[i] = int64(s.Uint64()) < 0
	}
	for digits := 1; !z.round(s, dst, digits); digits++ {
	}
}

// mixture is a drawn vector √V·ξ, to any precision.
type mixture struct {
	f            multiplier
	centre       []float64
	whole        []uint64 // |ξ_i| = whole + fraction
	fraction     []uniform
	negative     []bool
	sumWhole     []uint64 // V = 2·Σ(whole+fraction) + last²
	sumFraction  []uniform
	lastWhole    uint64
	lastFraction uniform
}

// root returns integers low ≤ 2^(p+guard)·√V < high, p bits of fraction known.
func (z *mixture) root(s *Source, digits int) (low, high *big.Int) {
	p := uint(digits) * s.width
	low, high = new(big.Int), new(big.Int)
	y := new(big.Int)
	for i := range z.sumWhole {
		y.SetUint64(z.sumWhole[i])
		low.Add(low, y.Lsh(y, p))
		low.Add(low, s.prefix(&z.sumFraction[i], digits))
	}
	high.Add(low, big.NewInt(int64(len(z.sumWhole))))
	low.Lsh(low, p+1)
	high.Lsh(high, p+1)
	if len(z.whole)%2 == 0 {
		y.SetUint64(z.lastWhole)
		y.Lsh(y, p)
		y.Add(y, s.prefix(&z.lastFraction, digits))
		low.Add(low, new(big.Int).Mul(y, y))
		y.Add(y, big.NewInt(1))
		high.Add(high, y.Mul(y, y))
	}
	low.Sqrt(low.Lsh(low, 2*guard))
	high.Sqrt(high.Lsh(high, 2*guard))
	high.Add(high, big.NewInt(1))
	return low, high
}

// round sets dst to the rounded coordinates, or returns false if the digits
// leave one of them open.
func (z *mixture) round(s *Source, dst []int64, digits int) bool {
	low, high := z.root(s, digits)
	m := new(big.Int).SetUint64(z.f.m)
	low.Mul(low, m)
	high.Mul(high, m)
	if digits == 1 && s.width == 64 && z.roundWords(s, dst, low, high) {
		return true
	}
	p := digits * int(s.width)
	own := 2*p + guard + z.f.t - 64
	y, end, one := new(big.Int), new(big.Int), big.NewInt(1)
	for i, c := range z.centre {
		whole, part := split(c)
		if z.negative[i] {
			part = -part
		}
		t := max(own, lastBit(part), 1)
		shift := scaledPart(part, t)
		y.SetUint64(z.whole[i])
		y.Lsh(y, uint(p))
		y.Add(y, s.prefix(&z.fraction[i], digits))
		end.Mul(high, end.Add(y, one))
		y.Mul(y, low)
		y.Add(y.Lsh(y, uint(t-own)), shift)
		end.Add(end.Lsh(end, uint(t-own)), shift)
		q := nearest(y, t)
		if q.Cmp(nearest(end, t)) != 0 {
			return false
		}
		dst[i] = signedPlus(whole, saturate(q), z.negative[i])
	}
	return true
}

// roundWords is round on 64-bit digits in machine words. scale·√V is known to lie
// in [A, B]·2^(drop−guard−t) with 64-bit A, B (cut at drop bits); |ξ_i| in
// [Y, Y+1]·2^-57. It returns false also where the numbers do not fit.
func (z *mixture) roundWords(s *Source, dst []int64, low, high *big.Int) bool {
	drop := max(high.BitLen()-63, 0)
	a := new(big.Int).Rsh(low, uint(drop)).Uint64()
	b := new(big.Int).Rsh(high, uint(drop)).Uint64() + 1
	t := guard + z.f.t + 57 - drop
	if t < 1 || t > 125 {
		return false
	}
	for i, c := range z.centre {
		k := z.whole[i]
		if k >= 32 {
			return false
		}
		whole, part := split(c)
		if z.negative[i] {
			part = -part
		}
		offHi, offLo, inexact := shifted(part, t)
		y := k<<57 | z.fraction[i].head>>7
		hi, lo := bits.Mul64(a, y)
		lo, carry := bits.Add64(lo, offLo, 0)
		hi, over := bits.Add64(hi, offHi, carry)
		endHi, endLo := bits.Mul64(b, y+1)
		endLo, carry = bits.Add64(endLo, offLo, inexact)
		endHi, endOver := bits.Add64(endHi, offHi, carry)
		if over|endOver != 0 || t < 64 && (hi>>(t-1) != 0 || endHi>>(t-1) != 0) {
			return false
		}
		q := shiftRight(hi, lo, t)
		if q != shiftRight(endHi, endLo, t) || int64(q) < 0 {
			return false
		}
		dst[i] = signedPlus(whole, int64(q), z.negative[i])
	}
	return true
}

func signedPlus(whole, q int64, negative bool) int64 {
	if negative {
		q = -q
	}
	return plus(whole, q)
}
