// Exponential and Laplace deviates by von Neumann's method: J. von Neumann,
// Various techniques used in connection with random digits, NBS Appl. Math.
// Ser. 12 (1951).

package noise

// RoundedExponential returns round(scale·E), to the nearest integer, E with
// density e^(−x) on x > 0, exactly distributed: 0 with probability
// 1 − e^(−1/(2·scale)), n ≥ 1 with probability e^(−(n−½)/scale) − e^(−(n+½)/scale).
// It panics unless [ValidScale](scale).
//
// E = k+x: x uniform on (0,1) is kept with probability e^(−x), as the
// probability that a run x > u₁ > u₂ > … has even length; each rejection, of
// probability e^(−1), adds one to k.
func (s *Source) RoundedExponential(scale float64) int64 {
	f := s.multiplier(scale)
	return s.roundedExponential(&f)
}

// RoundedLaplace returns round(scale·L), L with density e^(−|x|)/2, exactly
// distributed: an exponential deviate with a random sign, rounded to the nearest
// integer. The standard deviation of L is √2. It panics unless
// [ValidScale](scale).
func (s *Source) RoundedLaplace(scale float64) int64 {
	f := s.multiplier(scale)
	return s.signed(s.roundedExponential(&f))
}

func (s *Source) roundedExponential(f *multiplier) int64 {
	var x uniform
	k := s.exponential(&x)
	return s.round(f, k, &x)
}

// exponential draws E = k+x into x, a zero uniform, and returns k.
func (s *Source) exponential(x *uniform) (k uint64) {
	for {
		*x = uniform{head: s.digit()}
		if s.expFraction(x) {
			return k
		}
		k++
	}
}

// expFraction is true with probability e^(−x).
func (s *Source) expFraction(x *uniform) bool {
	var u [2]uniform
	y := x
	for n := 0; ; n++ {
		z := &u[n&1]
		*z = uniform{head: s.digit()}
		if !s.less(z, y) {
			return n&1 == 0
		}
		y = z
	}
}
