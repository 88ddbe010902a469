// Uniform deviates of which only as many digits are drawn as the questions
// asked of them need, and those questions. The package comment has the proof
// that answering from a prefix is exact.

package noise

import (
	"math/big"
	"math/bits"
)

// uniform is a deviate on (0,1) in base 2^width: the digits drawn so far. It
// must not be copied once used, because the copy and the original would go on
// with different digits.
type uniform struct {
	head uint64   // first digit, in the top bits
	tail []uint64 // further digits, likewise; nil almost always
}

// digit draws one digit of width bits into the top bits of a word.
func (s *Source) digit() uint64 {
	return s.Uint64() &^ (1<<(64-s.width) - 1)
}

// ulp is the place value of the last bit of a first digit, in units of 2^-64.
func (s *Source) ulp() uint64 { return 1 << (64 - s.width) }

// at returns digit i ≥ 1 after the head, drawing what is missing.
func (s *Source) at(u *uniform, i int) uint64 {
	for len(u.tail) < i {
		u.tail = append(u.tail, s.digit())
	}
	return u.tail[i-1]
}

// prefix returns the integer ⌊u·2^p⌋ with p = digits·width, drawing what is missing.
func (s *Source) prefix(u *uniform, digits int) *big.Int {
	drop := 64 - s.width
	p := new(big.Int).SetUint64(u.head >> drop)
	d := new(big.Int)
	for i := 1; i < digits; i++ {
		p.Lsh(p, s.width)
		p.Or(p, d.SetUint64(s.at(u, i)>>drop))
	}
	return p
}

// less reports u < v for two different deviates. Equal prefixes are the only
// ones whose intervals meet in more than an endpoint.
func (s *Source) less(u, v *uniform) bool {
	if u.head != v.head {
		return u.head < v.head
	}
	return s.lessTail(u, v)
}

func (s *Source) lessTail(u, v *uniform) bool {
	for i := 1; ; i++ {
		if a, b := s.at(u, i), s.at(v, i); a != b {
			return a < b
		}
	}
}

// lessShare reports r < (2k+x)/(2k+2) for two different deviates, as
// r·(2k+2) < 2k+x. In units of 2^-64 the left side is known to lie in
// [rm, rm+m·ulp) with m = 2k+2, the right side in [2k·2^64+x, 2k·2^64+x+ulp).
func (s *Source) lessShare(r, x *uniform, k uint64) bool {
	m, ulp := 2*k+2, s.ulp()
	hi, lo := bits.Mul64(r.head, m)
	widthHi, widthLo := bits.Mul64(m, ulp)

	endLo, carry := bits.Add64(lo, widthLo, 0)
	endHi, _ := bits.Add64(hi, widthHi, carry)
	if endHi < 2*k || endHi == 2*k && endLo <= x.head {
		return true
	}
	endLo, carry = bits.Add64(x.head, ulp, 0)
	endHi = 2*k + carry
	if hi > endHi || hi == endHi && lo >= endLo {
		return false
	}
	return s.lessShareTail(r, x, k)
}

func (s *Source) lessShareTail(r, x *uniform, k uint64) bool {
	m := new(big.Int).SetUint64(2*k + 2)
	twoK := new(big.Int).SetUint64(2 * k)
	for digits := 1; ; digits++ {
		left := s.prefix(r, digits)
		left.Mul(left, m)
		right := new(big.Int).Lsh(twoK, uint(digits)*s.width)
		right.Add(right, s.prefix(x, digits))
		gap := new(big.Int).Sub(right, left) // right−left in (gap−m, gap+1)
		if gap.Cmp(m) >= 0 {
			return true
		}
		if gap.Sign() < 0 {
			return false
		}
	}
}
