// Noise around a centre that is no integer: round(c + scale·Y) for a float64 c.

package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// NormalAround returns round(centre + scale·ξ), ξ standard normal, exactly
// distributed: n is returned with probability Φ((n+½−c)/scale) − Φ((n−½−c)/scale).
// centre and scale are in steps of the lattice; the float64 centre is read as
// the dyadic rational that it is, so the result is a post-processing of the
// ideal mechanism centre + scale·ξ. It panics unless [ValidScale](scale) and the
// centre is finite; results saturate at ±(2^63−1).
func (s *Source) NormalAround(centre, scale float64) int64 {
	f := s.multiplier(scale)
	return s.normalAround(&f, centre)
}

// NormalsAround fills dst with independent draws of NormalAround(centre[i],
// scale). It panics if the lengths differ.
func (s *Source) NormalsAround(dst []int64, centre []float64, scale float64) {
	checkCentres(dst, centre)
	f := s.multiplier(scale)
	for i, c := range centre {
		dst[i] = s.normalAround(&f, c)
	}
}

// LaplaceAround returns round(centre + scale·L), L with density e^(−|x|)/2,
// exactly distributed, on the conditions of NormalAround.
func (s *Source) LaplaceAround(centre, scale float64) int64 {
	f := s.multiplier(scale)
	whole, part := split(centre)
	var x uniform
	k := s.exponential(&x)
	return s.around(&f, whole, part, k, &x)
}

func (s *Source) normalAround(f *multiplier, centre float64) int64 {
	whole, part := split(centre)
	var x uniform
	k := s.halfNormal(&x)
	return s.around(f, whole, part, k, &x)
}

// around returns round(whole + part ± scale·(k+x)) with a random sign. With the
// sign taken out, round(part − y) = −round(−part + y) except at ties, which
// have probability zero.
func (s *Source) around(f *multiplier, whole int64, part float64, k uint64, x *uniform) int64 {
	if int64(s.Uint64()) < 0 {
		return plus(whole, -s.roundShifted(f, -part, k, x))
	}
	return plus(whole, s.roundShifted(f, part, k, x))
}

// split returns centre = whole + part with |part| ≤ ½, exactly: where the
// centre has a fraction, both are multiples of its last bit and the part fits
// in fewer bits.
func split(centre float64) (whole int64, part float64) {
	if math.IsNaN(centre) || math.IsInf(centre, 0) {
		panic("noise: centre is not finite: check it before asking for noise")
	}
	n := math.Round(centre)
	switch {
	case n >= 1<<63:
		return math.MaxInt64, 0
	case n <= -1<<63:
		return -math.MaxInt64, 0
	}
	return int64(n), centre - n
}

// roundShifted returns round(part + scale·(k+x)) ≥ 0, |part| ≤ ½: the
// argument of [Source.round] with the half of its ⌊·+½⌋ moved by part. With o the
// real number (½+part)·2^t and O its floor, z+o is known to lie in
// [P+O, P+O+m·ulp), or below P+O+m·ulp+1 if o is no integer.
func (s *Source) roundShifted(f *multiplier, part float64, k uint64, x *uniform) int64 {
	if k >= 64 || f.t >= certainZero {
		return s.roundShiftedTail(f, part, k, x)
	}
	offHi, offLo, inexact := shifted(part, f.t)
	hi, lo := bits.Mul64(f.m, x.head)
	hi += f.m * k
	lo, carry := bits.Add64(lo, offLo, 0)
	hi += offHi + carry
	endLo, carry := bits.Add64(lo, f.lastLo, inexact)
	endHi := hi + f.lastHi + carry
	q, end := shiftRight(hi, lo, f.t), shiftRight(endHi, endLo, f.t)
	if q != end {
		return s.roundShiftedTail(f, part, k, x)
	}
	return int64(q)
}

// roundShiftedTail is roundShifted with as many digits as it takes, in units of 2^-t
// fine enough to hold part.
func (s *Source) roundShiftedTail(f *multiplier, part float64, k uint64, x *uniform) int64 {
	m := new(big.Int).SetUint64(f.m)
	whole := new(big.Int).SetUint64(k)
	for digits := 1; ; digits++ {
		p := digits * int(s.width)
		own := p + f.t - 64
		t := max(own, lastBit(part), 1)
		z := new(big.Int).Lsh(whole, uint(p))
		z.Add(z, s.prefix(x, digits))
		z.Mul(z, m)
		end := new(big.Int).Add(z, m)
		z.Lsh(z, uint(t-own))
		end.Lsh(end, uint(t-own))
		shift := scaledPart(part, t)
		z.Add(z, shift)
		end.Add(end, shift)
		end.Sub(end, big.NewInt(1))
		if q := nearest(z, t); q.Cmp(nearest(end, t)) == 0 {
			return saturate(q)
		}
	}
}

// shifted returns ⌊(½+part)·2^t⌋ in 128 bits, 1 ≤ t ≤ 126, |part| ≤ ½, and 1 if that
// is not exact.
func shifted(part float64, t int) (hi, lo, inexact uint64) {
	mantissa, exponent := dyadic(part)
	shift := exponent + t
	var aHi, aLo uint64 // ⌊|part|·2^t⌋
	switch {
	case shift >= 64:
		aHi = mantissa << (shift - 64)
	case shift > 0:
		aHi, aLo = mantissa>>(64-shift), mantissa<<shift
	case shift > -64:
		aLo = mantissa >> -shift
		if aLo<<-shift != mantissa {
			inexact = 1
		}
	case mantissa != 0:
		inexact = 1
	}
	if t > 64 {
		hi = 1 << (t - 65)
	} else {
		lo = 1 << (t - 1)
	}
	var carry uint64
	if part >= 0 {
		lo, carry = bits.Add64(lo, aLo, 0)
		return hi + aHi + carry, lo, inexact
	}
	// ⌊−a⌋ = −⌊a⌋ − 1 where a is no integer.
	lo, carry = bits.Sub64(lo, aLo, inexact)
	return hi - aHi - carry, lo, inexact
}

// dyadic returns |x| = mantissa·2^exponent.
func dyadic(x float64) (mantissa uint64, exponent int) {
	b := math.Float64bits(x) &^ (1 << 63)
	mantissa = b & (1<<52 - 1)
	exponent = int(b >> 52)
	if exponent > 0 {
		mantissa |= 1 << 52
	} else {
		exponent = 1
	}
	return mantissa, exponent - 1075
}

// lastBit returns the least t with x·2^t an integer, or a lower bound of 0.
func lastBit(x float64) int {
	mantissa, exponent := dyadic(x)
	if mantissa == 0 {
		return 0
	}
	return max(0, -exponent-bits.TrailingZeros64(mantissa))
}

// scaledPart returns x·2^t for t ≥ lastBit(x).
func scaledPart(x float64, t int) *big.Int {
	mantissa, exponent := dyadic(x)
	z := new(big.Int).SetUint64(mantissa)
	if shift := exponent + t; shift >= 0 {
		z.Lsh(z, uint(shift))
	} else {
		z.Rsh(z, uint(-shift))
	}
	if x < 0 {
		z.Neg(z)
	}
	return z
}

// shiftRight returns the low word of (hi, lo) shifted right by 1 ≤ t ≤ 127.
func shiftRight(hi, lo uint64, t int) uint64 {
	if t >= 64 {
		return hi >> (t - 64)
	}
	return hi<<(64-t) | lo>>t
}

// plus adds with saturation: the clamp is post-processing, a wrap would not be.
func plus(a, b int64) int64 {
	c := a + b
	switch {
	case b > 0 && c < a:
		return math.MaxInt64
	case b < 0 && c > a:
		return -math.MaxInt64
	}
	return c
}

func checkCentres(dst []int64, centre []float64) {
	if len(dst) != len(centre) {
		panic("noise: centres and results must be equally many")
	}
}
