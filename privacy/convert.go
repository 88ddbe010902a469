package privacy

// Conversions between guarantees that hold for every mechanism. What holds for Gaussian noise only is calibration
// (GaussianMu).

import "math"

// ZCDP returns ρ = μ²/2, rounded up: a μ-GDP release has the Rényi divergences of N(0,1) and N(μ,1) at most.
func (m GDP) ZCDP() ZCDP { return ZCDP(MulUp(float64(m), float64(m)) / 2) }

// GDP returns μ = 2Φ⁻¹(e^ε/(1+e^ε)), rounded up: the exact conversion, attained by randomised response
// (methods §0; Dong, Roth, Su 2022).
func (e Pure) GDP() GDP {
	eps := float64(e)
	switch {
	case eps == 0:
		return 0
	case !(eps > 0):
		return GDP(math.Inf(1))
	case eps <= 1:
		// Φ⁻¹(½ + y/2) = √2·erf⁻¹(y), free of the cancellation in 1−p.
		return GDP(inflate(2*math.Sqrt2*math.Erfinv(math.Tanh(eps/2)), 16))
	case math.IsInf(eps, 1):
		return GDP(eps)
	}
	return GDP(inflate(2*upperQuantile(-eps-math.Log1p(math.Exp(-eps))), 16))
}

// ZCDP returns ρ = ε²/2, rounded up (Bun, Steinke 2016, Proposition 1.4).
func (e Pure) ZCDP() ZCDP { return ZCDP(MulUp(float64(e), float64(e)) / 2) }

// Delta returns the δ, rounded up, at which every ε₀-DP release is (ε, δ)-DP: (e^ε₀ − e^ε)/(1 + e^ε₀) below ε₀, zero
// from there on; attained by randomised response (Kairouz, Oh, Viswanath 2017).
func (e Pure) Delta(epsilon float64) float64 {
	e0 := float64(e)
	if !(e0 >= 0 && epsilon >= 0) {
		return 1
	}
	if epsilon >= e0 {
		return 0
	}
	return math.Min(1, inflate(-math.Expm1(epsilon-e0)/(1+math.Exp(-e0)), 16))
}

// Epsilon returns the smallest ε, rounded up, at which every ε₀-DP release is (ε, δ)-DP. δ = 0 gives ε₀ itself.
func (e Pure) Epsilon(delta float64) float64 {
	e0 := float64(e)
	if !(e0 >= 0 && delta >= 0) {
		return math.Inf(1)
	}
	gain := delta * (1 + math.Exp(-e0))
	if gain >= 1 {
		return 0
	}
	epsilon := e0 + math.Log1p(-gain)
	return math.Max(0, math.Min(e0, epsilon+16*ulp*(e0+math.Abs(epsilon)+gain/(1-gain))))
}

// Epsilon returns the ε, rounded up, at which every ρ-zCDP release is (ε, δ)-DP:
//
//	ε = min over α > 1 of  ρα + ln(1/(αδ))/(α−1) + ln(1−1/α)
//
// (Canonne, Kamath, Steinke 2020, Proposition 12 solved for ε). The expression decreases, then increases in α, and
// every α is valid. δ ≤ 0 gives +Inf, δ ≥ 1 gives 0.
func (r ZCDP) Epsilon(delta float64) float64 {
	rho := float64(r)
	switch {
	case !(rho >= 0) || !(delta > 0) || math.IsInf(rho, 1):
		return math.Inf(1)
	case delta >= 1 || rho == 0:
		return 0
	}
	l := -logDown(delta)
	// The derivative is ρ − ln(1/(αδ))/(α−1)²: the root of ρx² + ln(1+x) = ln(1/δ) in x = α−1.
	x := firstTrue(func(x float64) bool { return rho*x*x+math.Log1p(x) >= l }, math.Sqrt(l/rho))
	return math.Max(0, renyiEpsilon(rho, l, x))
}

// renyiEpsilon is the expression of ZCDP.Epsilon at α = 1+x, rounded up, l ≥ ln(1/δ).
func renyiEpsilon(rho, l, x float64) float64 {
	linear := rho * (1 + x)
	lead := (l - math.Log1p(x)) / x
	log := -math.Log1p(1 / x)
	return linear + lead + log + 8*ulp*(linear+(l+math.Log1p(x))/x-log)
}

// Delta returns the δ, rounded up, at which every ρ-zCDP release is (ε, δ)-DP:
//
//	δ = min over α > 1 of  e^{(α−1)(αρ−ε)}/(α−1)·(1−1/α)^α
//
// (Canonne, Kamath, Steinke 2020, Proposition 12). The logarithm is convex in α. An invalid ρ or ε gives 1.
func (r ZCDP) Delta(epsilon float64) float64 {
	rho := float64(r)
	if rho == 0 && epsilon >= 0 {
		return 0
	}
	if !(rho > 0 && epsilon >= 0) || math.IsInf(rho, 1) {
		return 1
	}
	// The derivative of the logarithm in x = α−1 is (2x+1)ρ − ε − ln(1+1/x), increasing.
	x := firstTrue(func(x float64) bool { return (2*x+1)*rho-epsilon >= math.Log1p(1/x) }, 1)
	alpha := 1 + x
	gain := x * (alpha*rho - epsilon)
	log := gain - math.Log(x) - alpha*math.Log1p(1/x)
	log += 8 * ulp * (x*(alpha*rho+epsilon) + math.Abs(math.Log(x)) + alpha*math.Log1p(1/x) + 1)
	return math.Min(1, math.Max(math.SmallestNonzeroFloat64, inflate(math.Exp(log), 4)))
}

// Concentrated returns ρ = ε²/2, rounded up: an ε-geo-private release is ε²/2-concentrated geo-private ([GEO]).
func (e Geo) Concentrated() ConcentratedGeo {
	return ConcentratedGeo(MulUp(float64(e), float64(e)) / 2)
}

// At returns the pure DP, rounded up, between two inputs at most the given distance apart: ε·distance.
func (e Geo) At(distance float64) Pure { return Pure(MulUp(float64(e), distance)) }

// At returns the zCDP, rounded up, between two inputs at most the given distance apart: ρ·distance².
func (r ConcentratedGeo) At(distance float64) ZCDP {
	return ZCDP(MulUp(float64(r), MulUp(distance, distance)))
}

// Sigma returns the standard deviation per coordinate, rounded up, at which Gaussian noise on a 1-Lipschitz map is
// ρ-concentrated geo-private: 1/√(2ρ).
func (r ConcentratedGeo) Sigma() float64 {
	return inflate(DivUp(1, SqrtDown(2*float64(r))), 2)
}

// Scale returns the scale b, rounded up, at which Laplace noise of density ∝ e^{−‖z‖/b} on a value of the given
// sensitivity, in the same norm, is ε-DP: sensitivity/ε. Like GDP.Sigma it also covers the decimal that ε is written as.
func (e Pure) Scale(sensitivity float64) float64 { return inflate(DivUp(sensitivity, float64(e)), 2) }

// Scale returns the scale, rounded up, at which such noise on a 1-Lipschitz map is ε-geo-private: 1/ε.
func (e Geo) Scale() float64 { return Pure(e).Scale(1) }
