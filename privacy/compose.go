package privacy

// Composition: what several releases of the same people cost together, also when each is chosen after seeing the ones
// before it. All sums are rounded up at every step.

import "math"

// ComposeGDP returns √Σμᵢ², rounded up (Dong, Roth, Su 2022, Corollary 3.3). No releases cost 0. A value that is
// negative or NaN gives +Inf.
func ComposeGDP(mus ...GDP) GDP {
	top := 0.0
	for _, m := range mus {
		if !(m >= 0) {
			return GDP(math.Inf(1))
		}
		top = math.Max(top, float64(m))
	}
	if top == 0 || math.IsInf(top, 1) {
		return GDP(top)
	}
	// Scaled by a power of two, so that squares neither overflow nor vanish and a single release costs itself.
	_, exp := math.Frexp(top)
	sum := 0.0
	for _, m := range mus {
		x := scaleUp(float64(m), -exp)
		sum = AddUp(sum, MulUp(x, x))
	}
	if len(mus) == 1 {
		return mus[0]
	}
	return GDP(scaleUp(SqrtUp(sum), exp))
}

// scaleUp returns x·2^exp, rounded up where the result is subnormal.
func scaleUp(x float64, exp int) float64 {
	y := math.Ldexp(x, exp)
	if math.Ldexp(y, -exp) < x {
		return up(y)
	}
	return y
}

// ComposeZCDP returns Σρᵢ, rounded up (Bun, Steinke 2016, Lemma 2.3).
func ComposeZCDP(rhos ...ZCDP) ZCDP { return sumUp(rhos) }

// ComposePure returns Σεᵢ, rounded up.
func ComposePure(epsilons ...Pure) Pure { return sumUp(epsilons) }

// ComposeGeo returns Σεᵢ, rounded up, for releases under the same metric.
func ComposeGeo(epsilons ...Geo) Geo { return sumUp(epsilons) }

// ComposeConcentratedGeo returns Σρᵢ, rounded up, for releases under the same metric.
func ComposeConcentratedGeo(rhos ...ConcentratedGeo) ConcentratedGeo { return sumUp(rhos) }

func sumUp[T ~float64](xs []T) T {
	sum := 0.0
	for _, x := range xs {
		if !(x >= 0) {
			return T(math.Inf(1))
		}
		if math.IsInf(float64(x), 1) {
			return x
		}
		sum = AddUp(sum, float64(x))
	}
	return T(sum)
}
