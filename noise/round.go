// Rounding scale·(k+x) to the nearest integer, in integers.

package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// MaxScale is the largest scale of a sampler. A normal deviate would have to
// exceed 127 for its multiple by MaxScale to leave int64.
const MaxScale = 1 << 56

// ValidScale reports whether scale is one that the samplers take:
// 0 < scale ≤ MaxScale. Subnormal numbers are valid.
func ValidScale(scale float64) bool { return scale > 0 && scale <= MaxScale }

// multiplier is the scale m·2^e prepared for the fast path: in units of 2^-t,
// t = 64−e, a deviate with one digit is known to lie in [P, P+m·ulp) with
// P = m·(k·2^64+head).
type multiplier struct {
	m      uint64 // < 2^53
	t      int    // ≥ 60
	halfHi uint64 // 2^(t−1)
	halfLo uint64
	lastHi uint64 // m·ulp − 1
	lastLo uint64
}

// certainZero is the t from which P + m·ulp < 2^(t−1) for each k < 64: the
// left side is below 2^124.
const certainZero = 125

func (s *Source) multiplier(scale float64) multiplier {
	if !ValidScale(scale) {
		panic(fmt.Sprintf("noise: scale %g is outside (0, 2^56]: check it with ValidScale", scale))
	}
	b := math.Float64bits(scale)
	f := multiplier{m: b & (1<<52 - 1)}
	exponent := int(b >> 52)
	if exponent > 0 {
		f.m |= 1 << 52
	} else {
		exponent = 1
	}
	f.t = 64 - (exponent - 1075)
	if f.t > 64 {
		f.halfHi = 1 << (f.t - 65)
	} else {
		f.halfLo = 1 << (f.t - 1)
	}
	var borrow uint64
	f.lastHi, f.lastLo = bits.Mul64(f.m, s.ulp())
	f.lastLo, borrow = bits.Sub64(f.lastLo, 1, 0)
	f.lastHi -= borrow
	return f
}

// round returns round(scale·(k+x)) ≥ 0. With z the real number scale·(k+x)·2^t,
// known to lie in [P, P+m·ulp), the result is ⌊(z+2^(t−1))/2^t⌋. It is the same
// for the whole half-open interval if and only if it is the same for P and for
// P+m·ulp−1, because a multiple of 2^t that is below the open end is at most the
// end minus one. A tie has probability zero.
func (s *Source) round(f *multiplier, k uint64, x *uniform) int64 {
	if k >= 64 {
		return s.roundTail(f, k, x)
	}
	if f.t >= certainZero {
		return 0
	}
	hi, lo := bits.Mul64(f.m, x.head)
	hi += f.m * k
	lo, carry := bits.Add64(lo, f.halfLo, 0)
	hi += f.halfHi + carry
	endLo, carry := bits.Add64(lo, f.lastLo, 0)
	endHi := hi + f.lastHi + carry
	var q, end uint64
	if f.t >= 64 {
		q, end = hi>>(f.t-64), endHi>>(f.t-64)
	} else {
		q = hi<<(64-f.t) | lo>>f.t
		end = endHi<<(64-f.t) | endLo>>f.t
	}
	if q != end {
		return s.roundTail(f, k, x)
	}
	return int64(q)
}

// roundTail is round with as many digits as it takes, for every k.
func (s *Source) roundTail(f *multiplier, k uint64, x *uniform) int64 {
	m := new(big.Int).SetUint64(f.m)
	last := new(big.Int).SetUint64(f.m - 1)
	whole := new(big.Int).SetUint64(k)
	for digits := 1; ; digits++ {
		p := digits * int(s.width)
		t := p + f.t - 64
		if t < 1 {
			continue
		}
		z := new(big.Int).Lsh(whole, uint(p))
		z.Add(z, s.prefix(x, digits))
		z.Mul(z, m)
		end := new(big.Int).Add(z, last)
		if q := nearest(z, t); q.Cmp(nearest(end, t)) == 0 {
			return saturate(q)
		}
	}
}

// nearest returns ⌊z/2^t + 1/2⌋, t ≥ 1.
func nearest(z *big.Int, t int) *big.Int {
	half := new(big.Int).Lsh(big.NewInt(1), uint(t-1))
	return half.Rsh(half.Add(half, z), uint(t))
}

// saturate returns q ≥ 0, or the largest int64 if q exceeds it.
func saturate(q *big.Int) int64 {
	if q.IsInt64() {
		return q.Int64()
	}
	return math.MaxInt64
}
