package density

import (
	"fmt"
	"math"
	"sort"

	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// account is the noise of one release of coefficients, in shells of levels.
//
// The claim. Let x be one person's only point and x′ another. The integer vectors k(x), k(x′) of encode.go
// satisfy √Σ_j (k_j(x) − k_j(x′))²/τ_j² ≤ distance/unit, where τ_j is the shape of j's shell:
//
//   - for the ideal vectors e(x), e(x′) the square is at most Spread (package space: exact for Fourier cubes,
//     else a certified supremum over both points, taken over all shells JOINTLY);
//   - each coordinate of unit·k(x) differs from that of e(u) at some point u of the box by at most the coder's
//     slack (of an average of several points: slack + mean), so that the distance grows by at most
//     2·(slack + mean)·√Σ1/τ_j²; of one variable the sum is rounded once for all, which is counted in slack for
//     each of the two data sets;
//   - a person with several points contributes an average of such vectors, and one with points outside the
//     box averages in the zero vector. Distances between points of a convex hull are at most those between
//     its corners; and ‖e(x) − 0‖² (weighted, without the constant) is at most K(0) in the notation of package
//     space, less than Spread, the supremum of a polynomial whose average is 2K(0) (Fourier) or (3/2)K(0).
//
// Noise of sd τ_j·distance/μ in the sum's coordinate j is therefore one Gaussian mechanism with a diagonal
// covariance, μ-GDP, and ρ-zCDP at μ = √(2ρ) (mechanism.Diagonal): replacing one person moves the centre by at
// most μ in units of the noise. The shells have no budgets of their own: adding up the shells' worst cases
// would count pairs of points that are not the same pair. Proof note: docs/privacy.md#density.
type account struct {
	space    *space.Tensor
	ranks    []float64 // largest level of each shell
	counts   []int     // coefficients of each shell
	shape    []float64 // τ of each shell
	distance float64
	mu       privacy.GDP
}

func newAccount(c Config) (*account, error) {
	s, err := c.space(c.Rank)
	if err != nil {
		return nil, err
	}
	mu, err := privacy.GaussianMu(c.Guarantee)
	if err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}
	ranks := []float64{float64(s.Rank())}
	if c.Method == Layered {
		ranks = ranksUpTo(s.Rank())
	}
	a := newShells(s, ranks)
	a.mu = mu
	a.calibrate()
	return a, nil
}

// newShells gives shell s the shape of budgets ∝ N_s^¼: σ_s² ∝ S_s²/N_s^¼, S_s² ∝ the sum of squares at a corner. A
// larger power is kinder to a density that needs the highest shells and dearer to smooth ones; in the settings of
// TestExperiment ¼ loses least against the best fixed rank (docs/results.md).
func newShells(s *space.Tensor, ranks []float64) *account {
	a := &account{space: s, ranks: ranks, counts: make([]int, len(ranks)), shape: make([]float64, len(ranks))}
	size := make([]float64, len(ranks))
	for j, l := range s.Levels() {
		if i := sort.SearchFloat64s(ranks, l); l > 0 && i < len(ranks) {
			a.counts[i]++
			w := 1.0
			for axis := range s.Box() {
				if s.Frequency(j, axis) > 0 && s.Kind() == "cosine" {
					w *= 2
				}
			}
			size[i] += w
		}
	}
	for i := range ranks {
		if a.counts[i] > 0 {
			a.shape[i] = math.Sqrt(size[i] / math.Sqrt(math.Sqrt(float64(a.counts[i]))))
		} else {
			a.shape[i] = 1 // a shell without coefficients, between the levels of unequal ranks
		}
	}
	return a
}

// calibrate finds the distance between neighbours for the shape.
func (a *account) calibrate() {
	weights := make([]float64, len(a.shape))
	for i, t := range a.shape {
		weights[i] = 1 / (t * t)
	}
	bound, _ := a.space.Spread(a.ranks, weights)
	code := newCoder(a.space)
	slack := privacy.MulUp(2*(code.slack+code.mean), privacy.SqrtUp(a.space.SumWeights(a.ranks, weights)*(1+1e-9)))
	a.distance = privacy.AddUp(privacy.SqrtUp(bound), slack)
}

// sigma is the standard deviation of the noise in the coefficients of shell i of a mean over n people, the
// uniform density being 1.
func (a *account) sigma(i int, n int64) float64 {
	return privacy.DivUp(privacy.MulUp(a.shape[i], a.mu.Sigma(a.distance)), float64(n))
}

// mechanism is the noise on the sum of the integer vectors, whose step is unit, at the account's own μ: that of a member
// of a family is a part of the configured one.
func (a *account) mechanism(unit float64) (*mechanism.Diagonal, error) {
	shape := make([]float64, a.space.Dim())
	for j, l := range a.space.Levels() {
		if i := sort.SearchFloat64s(a.ranks, l); l > 0 && i < len(a.ranks) {
			shape[j] = a.shape[i]
		}
	}
	return mechanism.NewDiagonal(shape, privacy.DivUp(a.distance, unit), a.mu)
}

// variance is V(M) at each of the ranks 0 and a.ranks: sampling and privacy noise of the coefficients up to it.
func (a *account) variance(n int64) []float64 {
	v := make([]float64, len(a.ranks)+1)
	for i, count := range a.counts {
		s := a.sigma(i, n)
		v[i+1] = v[i] + float64(count)*(1/float64(n)+s*s)
	}
	return v
}
