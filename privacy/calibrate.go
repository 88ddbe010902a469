package privacy

// Calibration: how much a guarantee allows Gaussian noise to reveal. The answer is a μ; the noise follows from
// GDP.Sigma.

import (
	"fmt"
	"math"
)

// GaussianMu returns the largest μ, rounded down, at which Gaussian noise satisfies g:
//
//	GDP     μ itself
//	ZCDP    √(2ρ): Gaussian noise of sd Δ/μ is exactly μ²/2-zCDP
//	Approx  the root of δ(ε) in μ, the analytic Gaussian mechanism (Balle, Wang 2018)
//
// The result satisfies GaussianMu(g).Delta(g.Epsilon) ≤ g.Delta in this package's upward rounding. Pure DP is refused,
// since no Gaussian noise gives it, and the two geo definitions, since they speak of a distance, not of people.
func GaussianMu(g Guarantee) (GDP, error) {
	if g == nil {
		return 0, fmt.Errorf("privacy: no guarantee given: give one of μ, ρ or (ε, δ)")
	}
	if err := g.Validate(); err != nil {
		return 0, err
	}
	var mu GDP
	switch g := g.(type) {
	case GDP:
		return g, nil
	case ZCDP:
		mu = GDP(SqrtDown(MulDown(2, float64(g))))
	case Approx:
		mu = analyticMu(g)
	case Pure:
		return 0, fmt.Errorf("privacy: %v cannot be had from Gaussian noise: use Laplace noise in a finite-dimensional space (--epsilon with for instance --space legendre:6), or ask for μ, ρ or (ε, δ)", g)
	default:
		return 0, fmt.Errorf("privacy: %v is per unit of distance between two curves of one person and sets no noise for a release about many: ask for μ, ρ or (ε, δ)", g)
	}
	if mu <= 0 {
		return 0, fmt.Errorf("privacy: %v allows no μ that a float64 can hold: ask for less privacy", g)
	}
	return mu, nil
}

// analyticMu returns the largest μ for which the bound on δ(ε) holds; zero when none does.
func analyticMu(a Approx) GDP {
	target := logDown(a.Delta)
	broken := func(mu float64) bool { return mu > 0 && logDeltaBound(mu, a.Epsilon) > target }
	// δ(ε) exceeds the target next to the returned point; the float before it is the last that keeps it.
	return GDP(math.Max(0, math.Nextafter(firstTrue(broken, 1), 0)))
}

// Constants of the classical calibration σ = Δ√(2 ln(c/δ))/ε.
const (
	ClassicalDworkRoth  = 1.25 // Dwork, Roth 2014, Theorem A.1: proved for ε ≤ 1 only
	ClassicalRegression = 2.0  // [REG]
)

// Classical is what the classical calibration gives: a μ, and the δ it really has at the claimed ε.
type Classical struct {
	Mu    GDP
	Delta float64 // exact δ(ε) of Mu, rounded up
	Holds bool    // whether Delta is at most the δ claimed
}

// ClassicalMu returns the classical calibration μ = ε/√(2 ln(c/δ)), with the exact δ it has, for reproducing published
// figures. It is no calibration to g: for large ε it breaks its promise (Holds is false; with c = 2 from ε ≈ 7 at
// δ = 0.1), elsewhere it wastes noise. Use GaussianMu for releases.
func ClassicalMu(g Approx, c float64) (Classical, error) {
	if err := g.Validate(); err != nil {
		return Classical{}, err
	}
	if !(g.Epsilon > 0) {
		return Classical{}, fmt.Errorf("privacy: ε = %s: the classical calibration needs ε above zero", text(g.Epsilon))
	}
	if !(c > g.Delta) || math.IsInf(c, 1) {
		return Classical{}, fmt.Errorf("privacy: constant c = %s of the classical calibration must be finite and above δ = %s", text(c), text(g.Delta))
	}
	mu := GDP(g.Epsilon / math.Sqrt(2*math.Log(c/g.Delta)))
	delta := mu.Delta(g.Epsilon)
	return Classical{Mu: mu, Delta: delta, Holds: delta <= g.Delta}, nil
}
