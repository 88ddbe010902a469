// Normal deviates by Karney's algorithm N: C. F. F. Karney, Sampling exactly
// from the normal distribution, ACM Trans. Math. Softw. 42 (2016), §§2–4.

package noise

// RoundedNormal returns round(scale·ξ), ξ standard normal, exactly distributed:
// n is returned with probability Φ((n+½)/scale) − Φ((n−½)/scale). The scale is
// the standard deviation in steps of the lattice; it panics unless
// [ValidScale](scale).
//
// Algorithm N draws |ξ| = k+x: k with probability ∝ e^(−k²/2), x uniform on (0,1),
// kept with probability e^(−x(2k+x)/2), else both are drawn anew. So the density
// of k+x is ∝ e^(−k²/2 − kx − x²/2) = e^(−(k+x)²/2). (Karney draws k by coins of
// probability e^(−1/2); here it is inverted from one word, which is faster.) The
// probability of keeping x comes from the lengths of descending runs of uniform
// deviates (von Neumann), so that only comparisons are needed; the package
// comment proves that they, and the rounding of scale·(k+x), are exact on
// lazily extended digits. A random sign makes the law symmetric; round(−y) =
// −round(y) except at ties, which have probability zero.
func (s *Source) RoundedNormal(scale float64) int64 {
	f := s.multiplier(scale)
	return s.roundedNormal(&f)
}

// RoundedNormals fills dst with independent draws of RoundedNormal(scale).
func (s *Source) RoundedNormals(dst []int64, scale float64) {
	f := s.multiplier(scale)
	for i := range dst {
		dst[i] = s.roundedNormal(&f)
	}
}

func (s *Source) roundedNormal(f *multiplier) int64 {
	var x uniform
	k := s.halfNormal(&x)
	return s.signed(s.round(f, k, &x))
}

// signed returns q or −q with equal probability.
func (s *Source) signed(q int64) int64 {
	sign := int64(s.Uint64()) >> 63
	return (q ^ sign) - sign
}

// halfNormal draws |ξ| = k+x into x, a zero uniform, and returns k.
func (s *Source) halfNormal(x *uniform) (k uint64) {
	for {
		k = s.whole()
		*x = uniform{head: s.digit()}
		if s.keepFraction(k, x) {
			return k
		}
	}
}

// keepFraction is true with probability e^(−x(2k+x)/2): k+1 events of
// probability e^(−x·p) with p = (2k+x)/(2k+2) (algorithm B). Each comes from a
// run x > u₁ > u₂ > … that also stops, at each step, with probability 1−p: it
// reaches length n with probability (xp)^n/n!.
func (s *Source) keepFraction(k uint64, x *uniform) bool {
	for range k + 1 {
		var u [2]uniform
		y, n := x, 0
		for {
			z := &u[n&1]
			*z = uniform{head: s.digit()}
			if !s.less(z, y) {
				break
			}
			r := uniform{head: s.digit()}
			if !s.lessShare(&r, x, k) {
				break
			}
			y = z
			n++
		}
		if n&1 == 1 {
			return false
		}
	}
	return true
}
