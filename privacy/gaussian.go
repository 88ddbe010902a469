package privacy

// What a μ-GDP release means in other words: δ(ε), ε(δ), the trade-off curve, the scale of the noise.
// With a = ε/μ−μ/2, b = a+μ and φ(a) = e^ε φ(b), δ(ε) = Q(a) − e^ε Q(b) = φ(a)·(R(a) − R(b)): nothing
// overflows, and where R(a) and R(b) are close their difference is the integral of −R′ > 0 between them.

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

var gaussX, gaussW = legendre16()

func legendre16() (x, w [16]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	return x, w
}

// logDeltaBound returns log δ(ε) of μ-GDP, not below the exact value, for μ > 0 and ε ≥ 0.
func logDeltaBound(mu, epsilon float64) float64 {
	half := float64(mu * (mu / 2))
	if math.IsInf(half, 1) {
		return 0
	}
	// a is the small difference of ε and μ²/2 over μ: both roundings of the difference are carried along.
	d, e := twoSum(epsilon, -half)
	a := (d + (e - math.FMA(mu, mu/2, -half))) / mu
	switch {
	case math.IsInf(a, 1):
		return math.Inf(-1)
	case a <= -1:
		// Here R(b) < R(1) < R(−1)/5: no cancellation, and δ is of order one.
		delta := math.Erfc(a/math.Sqrt2)/2 - math.Exp(-a*a/2)/sqrt2Pi*mills(a+mu)
		return math.Min(0, math.Log(inflate(delta, 16))+2*ulp)
	}
	gap := millsGap(a, mu)
	square := a * a / 2
	// Relative error of δ: 2^-52·2a² from a and its square, the rest from gap and the logarithms.
	return math.Min(0, -square-logSqrt2Pi+math.Log(gap)+(32+4*square+2*math.Abs(math.Log(gap)))*ulp)
}

// millsGap returns R(a) − R(a+μ) for a > -1.
func millsGap(a, mu float64) float64 {
	ra, rb := mills(a), mills(a+mu)
	if rb < ra/2 {
		return ra - rb
	}
	// −R′ is analytic with its nearest singular behaviour at the origin, at least three half-widths off when
	// R(b) ≥ R(a)/2: 16 Gauss points leave 6^-32.
	var sum float64
	for i, x := range gaussX {
		sum += gaussW[i] * millsSlope(a+mu*x)
	}
	return mu * sum
}

// Delta returns δ(ε) = Φ(−ε/μ+μ/2) − e^ε Φ(−ε/μ−μ/2): the release is (ε, δ)-DP (Dong, Roth, Su, Corollary 2.13;
// Balle, Wang 2018, Theorem 8). Rounded up: an exact value below the smallest positive float64 is reported as that.
// An invalid μ or ε gives 1; μ = 0 gives 0.
func (m GDP) Delta(epsilon float64) float64 {
	mu := float64(m)
	if mu == 0 && epsilon >= 0 {
		return 0
	}
	if !(mu > 0 && epsilon >= 0) {
		return 1
	}
	l := logDeltaBound(mu, epsilon)
	return math.Min(1, math.Max(math.SmallestNonzeroFloat64, inflate(math.Exp(l), 4)))
}

// LogDelta returns log δ(ε), rounded up, also where δ(ε) itself underflows.
func (m GDP) LogDelta(epsilon float64) float64 {
	mu := float64(m)
	if mu == 0 && epsilon >= 0 {
		return math.Inf(-1)
	}
	if !(mu > 0 && epsilon >= 0) {
		return 0
	}
	return logDeltaBound(mu, epsilon)
}

// Epsilon returns the smallest ε, rounded up, at which the release is (ε, δ)-DP: the returned ε satisfies
// m.Delta(ε) ≤ δ in this package's own upward rounding. A δ outside (0,1) from below gives +Inf, δ ≥ 1 gives 0.
func (m GDP) Epsilon(delta float64) float64 {
	mu := float64(m)
	switch {
	case !(mu >= 0) || !(delta > 0) || math.IsInf(mu, 1):
		return math.Inf(1)
	case delta >= 1 || mu == 0:
		return 0
	}
	target := logDown(delta)
	holds := func(epsilon float64) bool { return logDeltaBound(mu, epsilon) <= target }
	// δ(ε) ≤ Q(a) ≤ e^{−a²/2}: the bracket's upper end.
	high := mu * (mu/2 + math.Sqrt(-2*target) + 1)
	return firstTrue(holds, high)
}

// logDown returns a number not above log x, for 0 < x < 1.
func logDown(x float64) float64 {
	l := math.Log(x)
	return l * (1 + 4*ulp)
}

// firstTrue returns an x at which the predicate, false below some point and true above, holds, next to an x at which
// it does not; zero when it holds there. Bisection on the bit patterns of the positive floats, at most 64 steps
// whatever the magnitude. +Inf when it holds nowhere.
func firstTrue(holds func(float64) bool, high float64) float64 {
	if holds(0) {
		return 0
	}
	low := 0.0
	for !holds(high) {
		if math.IsInf(high, 1) {
			return high
		}
		low, high = high, 2*high
	}
	lo, hi := math.Float64bits(low), math.Float64bits(high)
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if holds(math.Float64frombits(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Float64frombits(hi)
}

// Tradeoff returns G_μ(α) = Φ(Φ⁻¹(1−α) − μ), the smallest type II error of any test of level α between two
// neighbouring data sets, rounded down. G_μ is its own inverse: G_μ(G_μ(α)) = α. α outside [0,1] gives 0.
func (m GDP) Tradeoff(alpha float64) float64 {
	mu := float64(m)
	if !(alpha >= 0 && alpha < 1 && mu >= 0) {
		return 0
	}
	if alpha == 0 {
		return 1
	}
	z := mathext.NormalQuantile(alpha)
	t := z + mu
	// Relative error of Q(t): the hazard φ/Q times the error of t.
	hazard := math.Exp(-t * t / 2)
	if t > -1 {
		hazard = 1 / mills(t)
	}
	return deflate(math.Min(math.Erfc(t/math.Sqrt2)/2, 1-alpha), 16+4*hazard*(math.Abs(z)+mu))
}

// MuThrough returns the μ whose trade-off curve passes through (α, β): Φ⁻¹(1−α) − Φ⁻¹(β), rounded down; zero when
// α+β ≥ 1. An attack with these two errors proves that the release is not μ′-GDP for any μ′ below it.
func MuThrough(alpha, beta float64) GDP {
	if !(alpha >= 0 && beta >= 0 && alpha+beta < 1) {
		return 0
	}
	if alpha == 0 || beta == 0 {
		return GDP(math.Inf(1))
	}
	x, y := mathext.NormalQuantile(alpha), mathext.NormalQuantile(beta)
	return GDP(math.Max(0, -x-y-16*ulp*(math.Abs(x)+math.Abs(y))))
}

// Sigma returns the standard deviation, rounded up, at which Gaussian noise on a value of the given ℓ₂ sensitivity
// is μ-GDP: sensitivity/μ. It is raised by two units in the last place so that it also covers the decimal number
// that μ is written as, which differs from the float64 by half a unit: the ledger adds up the decimals.
func (m GDP) Sigma(sensitivity float64) float64 {
	return inflate(DivUp(sensitivity, float64(m)), 2)
}
