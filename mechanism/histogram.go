package mechanism

import (
	"fmt"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Histogram is the Gaussian mechanism on the counts of people in bins.
//
// Who changes: one person, who is in exactly one bin, moves to another; n is
// public. By how much: one count falls by one and another rises by one, √2 in ℓ₂
// over all bins. Noise: round(s·ξ) on each integer count, s ≥ √2/μ, which is a
// post-processing of the ideal Gaussian mechanism as for sums, hence μ-GDP
// (Dong, Roth, Su 2022, Theorem 2.7). Proof note: docs/privacy.md#histogram.
type Histogram struct {
	claim privacy.Guarantee
	scale float64
}

// NewHistogram returns the mechanism for μ-GDP, ρ-zCDP or (ε,δ).
func NewHistogram(g privacy.Guarantee) (*Histogram, error) {
	if g == nil {
		return nil, fmt.Errorf("mechanism: no guarantee given: state one, such as privacy.GDP(1)")
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	mu, err := privacy.GaussianMu(g)
	if err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	s := mu.Sigma(privacy.SqrtUp(2))
	if err := checkScale(s, g); err != nil {
		return nil, err
	}
	return &Histogram{claim: g, scale: s}, nil
}

// Guarantee is what replacing any one person is protected by.
func (h *Histogram) Guarantee() privacy.Guarantee { return h.claim }

// Scale is the standard deviation of the noise on one count.
func (h *Histogram) Scale() float64 { return h.scale }

// Release returns the noisy counts, which may be negative. The counts must add
// up to the public number of people, each in one bin.
func (h *Histogram) Release(counts []int64, src *noise.Source) []int64 {
	out := make([]int64, len(counts))
	for i, k := range counts {
		out[i] = plus(k, src.RoundedNormal(h.scale))
	}
	return out
}
