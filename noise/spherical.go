// Spherical Laplace vectors as a Gaussian scale mixture.

package noise

import "math/big"

// RoundedSphericalLaplace fills dst with the coordinates of scale·Z, each
// rounded to the nearest integer, where Z has the density ∝ e^(−‖z‖) on R^m,
// m = len(dst). The vector has exactly that law: ‖Z‖ is Gamma(m, 1), the
// direction uniform, E‖Z‖ = m, E‖Z‖² = m(m+1), and for m = 1 it is Laplace. It
// panics unless [ValidScale](scale); coordinates saturate at ±(2^63−1), with
// probability below 2^-2000 while scale·√m is at most 2^52.
//
// Z = √V·ξ with ξ standard normal on R^m and V independent with the law
// χ²_{m+1}: with r = ‖z‖ the density of √V·ξ is
//
//	∫₀^∞ (2πv)^(−m/2) e^(−r²/(2v)) · v^((m+1)/2−1) e^(−v/2) dv / const
//	= const · ∫₀^∞ v^(−1/2) e^(−(r²/v + v)/2) dv = const · √(2π) e^(−r),
//
// since the powers −m/2 and (m−1)/2 of v add up to −1/2, and the last integral
// is 2√r·K_{1/2}(r) with the Bessel function K_{1/2}(r) = √(π/(2r)) e^(−r). V is the
// sum of the squares of m+1 more normal deviates.
//
// All 2m+1 normal deviates have lazily extended digits. From their prefixes
// follow an interval for √V and one for each coordinate, in integers; all
// prefixes are extended until both ends of each interval round to the same
// integer.
func (s *Source) RoundedSphericalLaplace(dst []int64, scale float64) {
	f := s.multiplier(scale)
	m := len(dst)
	if m == 0 {
		return
	}
	whole := make([]uint64, 2*m+1)
	fraction := make([]uniform, 2*m+1)
	for i := range whole {
		whole[i] = s.halfNormal(&fraction[i])
	}
	for digits := 1; !s.roundMixture(dst, &f, whole, fraction, digits); digits++ {
	}
	for i, q := range dst {
		dst[i] = s.signed(q)
	}
}

// guard is the number of bits of √V beyond those of the deviates.
const guard = 8

// roundMixture sets dst[i] to round(scale·√V·y_i), y_i = whole[i]+fraction[i],
// V the sum of y_j² over j ≥ len(dst), or returns false if the given number of
// digits leaves one of them open. With p bits of fraction, Y = ⌊y·2^p⌋ and
// Y ≤ y·2^p < Y+1, so that 2^(p+guard)·√V lies in [⌊√(4^guard·ΣY²)⌋,
// ⌊√(4^guard·Σ(Y+1)²)⌋+1].
func (s *Source) roundMixture(dst []int64, f *multiplier, whole []uint64, fraction []uniform, digits int) bool {
	p := digits * int(s.width)
	t := 2*p + guard + f.t - 64
	if t < 1 {
		return false
	}
	one := big.NewInt(1)
	scaled := func(i int) *big.Int {
		y := new(big.Int).SetUint64(whole[i])
		y.Lsh(y, uint(p))
		return y.Add(y, s.prefix(&fraction[i], digits))
	}
	low, high, square := new(big.Int), new(big.Int), new(big.Int)
	for j := len(dst); j < len(whole); j++ {
		y := scaled(j)
		low.Add(low, square.Mul(y, y))
		y.Add(y, one)
		high.Add(high, square.Mul(y, y))
	}
	low.Sqrt(low.Lsh(low, 2*guard))
	high.Sqrt(high.Lsh(high, 2*guard))
	high.Add(high, one)

	m := new(big.Int).SetUint64(f.m)
	low.Mul(low, m)
	high.Mul(high, m)
	z, end := new(big.Int), new(big.Int)
	for i := range dst {
		y := scaled(i)
		z.Mul(low, y)
		end.Mul(high, y.Add(y, one))
		q := nearest(z, t)
		if q.Cmp(nearest(end, t)) != 0 {
			return false
		}
		dst[i] = saturate(q)
	}
	return true
}
