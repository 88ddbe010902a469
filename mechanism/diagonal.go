package mechanism

import (
	"fmt"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Diagonal is the Gaussian mechanism with noise of a different scale in each coordinate of an integer sum.
//
// Who changes: one person's integer vector is replaced by another; n is public. By how much: by a Δ with
// √Σ(Δ_j/τ_j)² ≤ distance, which the method that makes the vectors has to prove. Noise: round(s_j·ξ_j),
// independent, s_j = τ_j·distance/μ or more. Divide coordinate j of the ideal output sum_j + s_jξ_j by s_j, a
// public bijection: it becomes a standard Gaussian vector around a centre that moves by √Σ(Δ_j/s_j)² ≤ μ in
// ℓ₂. Between two Gaussians with the same covariance everything depends on that distance only (rotate the shift
// onto one axis: the other coordinates have the same law on both sides), so the trade-off function is
// G_{distance of the centres} ≥ G_μ: ONE Gaussian mechanism with a diagonal covariance, μ-GDP, hence
// μ²/2-zCDP, and ρ-zCDP is met with μ = √(2ρ), although no coordinate, nor group of coordinates, was given a budget
// of its own. The code returns round(sum_j + s_jξ_j), since the sum is an integer: post-processing. Proof note:
// docs/privacy.md#density.
type Diagonal struct {
	claim privacy.Guarantee
	scale []float64 // lattice units; 0 for a coordinate that is the same for everybody
}

// NewDiagonal returns the mechanism for shape τ (lattice units; 0 where no person can change the
// coordinate) and the distance, an upper bound of √Σ(Δ_j/τ_j)² over τ_j > 0.
func NewDiagonal(shape []float64, distance float64, g privacy.Guarantee) (*Diagonal, error) {
	if g == nil {
		return nil, fmt.Errorf("mechanism: no guarantee given: state one, such as privacy.ZCDP(0.5)")
	}
	mu, err := privacy.GaussianMu(g)
	if err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	d := &Diagonal{claim: g, scale: make([]float64, len(shape))}
	factor := mu.Sigma(distance)
	for j, t := range shape {
		if t == 0 {
			continue
		}
		d.scale[j] = privacy.MulUp(t, factor)
		if err := checkScale(d.scale[j], g); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Guarantee is what replacing any one of the vectors is protected by.
func (d *Diagonal) Guarantee() privacy.Guarantee { return d.claim }

// Scale is the standard deviation of the noise in coordinate j of the sum, in lattice units.
func (d *Diagonal) Scale(j int) float64 { return d.scale[j] }

// Release returns the noisy mean of the vectors, times the step of the lattice. Coordinates of shape 0 are
// returned without noise.
func (d *Diagonal) Release(sum *lattice.Tally, step float64, src *noise.Source) ([]float64, error) {
	if sum.Dim() != len(d.scale) {
		return nil, fmt.Errorf("mechanism: the sum has %d coordinates, the noise was calibrated for %d", sum.Dim(), len(d.scale))
	}
	if sum.N() < 1 {
		return nil, fmt.Errorf("mechanism: nothing to release: no person was added")
	}
	out := sum.Vector()
	for j, s := range d.scale {
		if s > 0 {
			out[j] = plus(out[j], src.RoundedNormal(s))
		}
	}
	return mean(out, step, sum.N()), nil
}
