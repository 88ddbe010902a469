// The whole part of a half-normal deviate: a discrete law on 0, 1, 2, … with
// irrational probabilities, by inversion of a lazily extended uniform deviate.

package noise

import (
	"math/big"
	"math/bits"
)

// wholeBelow[k] is ⌊2^64·P(K ≤ k)⌋ for P(K = k) ∝ e^(−k²/2); a test computes it
// again. From k = 9 on the entries would be 2^64 − 1.
var wholeBelow = [...]uint64{
	0x92025b19482ce72b,
	0xea91798547a0ef93,
	0xfe5415c6e9da4bae,
	0xfff3523319908c11,
	0xffffdc31b8ef5942,
	0xffffffdaa2d72344,
	0xfffffffff1a20da4,
	0xfffffffffffdf76c,
	0xffffffffffffffe4,
}

// whole returns k with probability ∝ e^(−k²/2): the k with
// P(K ≤ k−1) ≤ u < P(K ≤ k).
func (s *Source) whole() uint64 {
	u := s.digit()
	for k, below := range wholeBelow {
		if u <= below {
			if below-u >= s.ulp() {
				return uint64(k)
			}
			break
		}
	}
	return s.wholeTail(&uniform{head: u})
}

// wholeTail is whole with as many digits of u and of the probabilities as it
// takes. With S_k = Σ_{i≤k} e^(−i²/2) it looks for the k with S_(k−1) ≤ u·S_∞ < S_k.
func (s *Source) wholeTail(u *uniform) uint64 {
	one := big.NewInt(1)
	for digits := 1; ; digits++ {
		p := uint(digits) * s.width
		low, high := gaussianSums(p + 32)
		last := len(low) - 1

		// u·S_∞ in [least, most), in units of 2^-(p+p+32).
		prefix := s.prefix(u, digits)
		least := new(big.Int).Mul(prefix, low[last])
		most := new(big.Int).Mul(prefix.Add(prefix, one), new(big.Int).Add(high[last], one))
		for k := range last {
			if most.Cmp(new(big.Int).Lsh(low[k], p)) > 0 {
				continue
			}
			if k == 0 || least.Cmp(new(big.Int).Lsh(high[k-1], p)) >= 0 {
				return uint64(k)
			}
			break
		}
	}
}

// gaussianSums returns integers low[k] ≤ 2^q·S_k ≤ high[k] for k up to an l with
// S_∞ − S_l < 2^−q, q ≥ 33. There high[k]−low[k] = 3.
//
// l: (l+1)² ≥ 1.4(q+2) makes e^(−(l+1)²/2) < 2^−(q+1), and the terms from l+1 on add
// up to less than twice the first.
//
// Error, in units of 2^−Q with Q = q+guard ≤ 2q+1: the alternating series of
// e^(−1/2) is cut after at most Q+1 terms, each less than 2 off, hence e^(−1/2) is
// less than 5q off. A truncated product of two numbers below 1 is off by at most
// the sum of their errors plus 1, so e^(−i²/2) is at most i²·(5q+1) off and S_k at
// most l³·(5q+1) < 10·q^2.5 < 2^guard, which is one unit of 2^−q.
func gaussianSums(q uint) (low, high []*big.Int) {
	guard := uint(4*bits.Len(q) + 8)
	Q := q + guard
	root := new(big.Int)
	term := new(big.Int).Lsh(big.NewInt(1), Q)
	for n := int64(1); term.Sign() != 0; n++ {
		if n&1 == 1 {
			root.Add(root, term)
		} else {
			root.Sub(root, term)
		}
		term.Quo(term, big.NewInt(2*n))
	}

	times := func(a, b *big.Int) *big.Int {
		c := new(big.Int).Mul(a, b)
		return c.Rsh(c, Q)
	}
	weight := new(big.Int).Lsh(big.NewInt(1), Q) // e^(−i²/2)
	step := root                                 // e^(−(2i+1)/2)
	square := times(root, root)
	sum := new(big.Int)
	for i := uint(0); 5*i*i < 7*(q+2); i++ {
		sum.Add(sum, weight)
		s := new(big.Int).Rsh(sum, guard)
		low = append(low, new(big.Int).Sub(s, big.NewInt(1)))
		high = append(high, s.Add(s, big.NewInt(2)))
		weight = times(weight, step)
		step = times(step, square)
	}
	return low, high
}
