package privacy

// Tails of the normal law through Mills' ratio R(x) = Q(x)/φ(x), Q = 1−Φ, which neither under- nor
// overflows for x ≥ -1, and through log Q, so that e^ε·Q(·) never meets an overflowing factor.

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

const (
	sqrt2Pi    = 2.5066282746310005024157652848110452530
	logSqrt2Pi = 0.91893853320467274178032973640561763986
	sqrtHalfPi = 1.2533141373155002512078826424055226265
)

// cfFrom is where the continued fraction takes over from erfc; below it R = √(π/2)·e^{x²/2}·erfc(x/√2) loses
// only x² roundings.
const cfFrom = 2

// millsTail returns c with 1/R(x) = x + c, c = 1/(x+2/(x+3/(x+…))), x ≥ cfFrom (Laplace; DLMF 7.9.3). Both
// R = 1/(x+c) and 1−xR = c/(x+c) then come out without cancellation. The truncation error behaves like
// exp(−2x√(2n)) in the number n of terms, whose tail is started from its own fixed point t = x+n/t.
func millsTail(x float64) float64 {
	n := 16 + int(280/(x*x))
	t := (x + math.Sqrt(x*x+float64(4*n))) / 2
	for k := n; k >= 2; k-- {
		t = x + float64(k)/t
	}
	return 1 / t
}

// mills returns R(x) for x ≥ -1, relative error a few ulp.
func mills(x float64) float64 {
	if x >= cfFrom {
		return 1 / (x + millsTail(x))
	}
	return sqrtHalfPi * math.Exp(x*x/2) * math.Erfc(x/math.Sqrt2)
}

// millsSlope returns −R′(x) = 1 − xR(x) = ∫₀^∞ t e^{−xt−t²/2} dt > 0 for x ≥ -1.
func millsSlope(x float64) float64 {
	if x >= cfFrom {
		if x > 1e8 {
			return 1 / x / x
		}
		c := millsTail(x)
		return c / (x + c)
	}
	return 1 - x*mills(x)
}

// logQ returns log Q(x) = log(1−Φ(x)) for every x.
func logQ(x float64) float64 {
	switch {
	case x < -1:
		return math.Log1p(-math.Erfc(-x/math.Sqrt2) / 2)
	case x < cfFrom:
		return math.Log(math.Erfc(x/math.Sqrt2) / 2)
	default:
		return -x*x/2 - logSqrt2Pi - math.Log(x+millsTail(x))
	}
}

// upperQuantile returns z with log Q(z) = logp, for logp ≤ log ½. Newton's method on the concave decreasing
// log Q, so from its first step on it comes down to the root from the right and cannot diverge.
func upperQuantile(logp float64) float64 {
	var z float64
	if logp > -600 {
		z = -mathext.NormalQuantile(math.Exp(logp))
	} else {
		z = math.Sqrt(-2 * logp)
	}
	for range 60 {
		// d log Q/dz = −1/R
		step := (logQ(z) - logp) * mills(z)
		z += step
		if math.Abs(step) <= ulp*math.Abs(z) {
			break
		}
	}
	return z
}
