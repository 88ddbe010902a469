// Step sizes, and the exponents that theory gives for them.

package regression

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/strictjson"
)

// Steps are the step sizes γ: constant, γ₀·Horizon^−ζ, when the horizon is given, and γ₀·i^−ζ at the i-th
// report when it is 0.
type Steps struct {
	Gamma0   float64 `json:"gamma0"`   // γ₀ > 0
	Exponent float64 `json:"exponent"` // ζ in [0, 1]
	Horizon  int64   `json:"horizon"`  // number of reports planned for, 0 for decaying steps
}

// At is the step of report i = 1, 2, …; between the integers for reports that count for less than one.
func (s Steps) At(i float64) float64 {
	if s.Horizon > 0 {
		i = float64(s.Horizon)
	}
	return float64(s.Gamma0 * math.Pow(i, -s.Exponent))
}

// Validate wants a positive γ₀, ζ in [0,1], and no step above 2/B²: up to it a step is a contraction, so that two
// runs never drift apart; beyond it the recursion can diverge.
func (s Steps) Validate(bound float64) error {
	switch {
	case !(s.Gamma0 > 0) || math.IsInf(s.Gamma0, 0):
		return fmt.Errorf("regression: γ₀ = %v must be positive and finite", s.Gamma0)
	case !(s.Exponent >= 0 && s.Exponent <= 1):
		return fmt.Errorf("regression: step exponent %v must lie between 0 and 1", s.Exponent)
	case s.Horizon < 0:
		return fmt.Errorf("regression: horizon %d must be the number of reports planned for, or 0 for decaying steps", s.Horizon)
	}
	if first := s.At(1); !(first <= 2/(bound*bound)) {
		return fmt.Errorf("regression: first step %.4g is above 2/B² = %.4g, where the recursion can diverge: lower γ₀", first, 2/(bound*bound))
	}
	return nil
}

func readSteps(data []byte) (s Steps, err error) {
	o, err := strictjson.Read("regression: steps", data)
	if err != nil {
		return s, err
	}
	for name, to := range map[string]any{"gamma0": &s.Gamma0, "exponent": &s.Exponent, "horizon": &s.Horizon} {
		if err := o.Take(name, to); err != nil {
			return s, err
		}
	}
	return s, o.Done()
}

// PaperExponent is ζ of a constant step in [REG] Corollary 1, for eigenvalues ν_k ~ k^−α of the covariance
// operator (α > 1, +Inf for smooth kernels) and a truth of smoothness r > 0, r = 1/2 for one that lies in the space:
// (2αr+1−α)/(2αr+1), 0 where that is negative, (α+1)/(2rα+1) for r > 1. It is right without privacy.
//
// With privacy it is not, although [REG] Theorem 2 states the same: the proof bounds the covariance of the noise by a
// multiple of the covariance operator, and noise that is white in the space is not so bounded. Then [PrivateExponent]
// holds.
func PaperExponent(alpha, r float64) float64 {
	inverse := 1 / alpha
	if r > 1 {
		return (1 + inverse) / (2*r + inverse)
	}
	return math.Max(0, (2*r+inverse-1)/(2*r+inverse))
}

// DefaultSmoothness is the r that default steps are for: the smoothest curves of which averaging still makes use. The squared
// bias of the average falls like (γn)^{−2r} up to r = 1, and no faster for smoother curves, such as sums of a few eigenfunctions of
// the kernel. r = 1/2 is for a curve that just lies in the space. The choice matters to large streams: by the oracle, over kernels
// and ε = 1 and 3, the root mean square error of sin 2πx at a million people is 1.00–1.05 times that of the best step for it with r = 1
// and 1.05–1.37 with r = 1/2; of a curve with a bump as narrow as the kernel, 1.3–1.75 and 1.01–1.31. Take 1/2, or a step from
// SuggestSteps, for such curves.
const DefaultSmoothness = 1.0

// PrivateExponent is ζ of a constant step with noise that is white in the space: the noise of the average has variance
// ≍ s²(γn)^{1+1/α}/n, the squared bias is (γn)^{−2r} for r ≤ 1, and both are balanced at γ = γ₀n^−ζ,
// ζ = (2rα+1)/(2rα+α+1), with the rate n^{−2rα/(2rα+α+1)} (methods §5).
func PrivateExponent(alpha, r float64) float64 {
	inverse := 1 / alpha
	return (2*r + inverse) / (2*r + 1 + inverse)
}

// PrivateRate is the exponent of that rate, 2rα/(2rα+α+1).
func PrivateRate(alpha, r float64) float64 { return 2 * r / (2*r + 1 + 1/alpha) }
