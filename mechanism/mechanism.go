// Package mechanism turns an exact integer sum into a private one: the sum
// plus calibrated, exactly sampled integer noise. Everything that carries a
// guarantee for central releases goes through here.
package mechanism

import (
	"fmt"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Mechanism adds noise to the sum of vectors of one ball.
type Mechanism interface {
	// Release returns the noisy mean of the n vectors, in the units of the
	// ball's radius, one coordinate per dimension.
	Release(sum *lattice.Sum, src *noise.Source) ([]float64, error)
	// Scale is the scale of the noise in one coordinate of the mean of n
	// vectors, in the units of the radius: the standard deviation for
	// Gaussian noise, b of b·Z for spherical Laplace noise.
	Scale(n int64) float64
	// Law names the noise law as package release spells it.
	Law() string
	// Guarantee is what replacing any one of the n vectors is protected by.
	Guarantee() privacy.Guarantee
}

// New returns the mechanism for the guarantee: Gaussian noise for μ-GDP, ρ-zCDP
// and (ε,δ), spherical Laplace noise for pure ε.
func New(ball lattice.Ball, g privacy.Guarantee) (Mechanism, error) {
	if g == nil {
		return nil, fmt.Errorf("mechanism: no guarantee given: state one, such as privacy.GDP(1)")
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	if e, ok := g.(privacy.Pure); ok {
		return newSphericalLaplace(ball, e)
	}
	mu, err := privacy.GaussianMu(g)
	if err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	return newGaussian(ball, mu, g)
}

// mean converts a noisy integer sum; it only sees what is already private.
func mean(noisy []int64, step float64, n int64) []float64 {
	out := make([]float64, len(noisy))
	for i, k := range noisy {
		out[i] = float64(k) / float64(n) * step
	}
	return out
}

// checkSum refuses a sum that the mechanism was not calibrated for.
func checkSum(ball lattice.Ball, sum *lattice.Sum) error {
	if sum.Ball() != ball {
		return fmt.Errorf("mechanism: the sum is over another ball than the noise was calibrated for")
	}
	if sum.N() < 1 {
		return fmt.Errorf("mechanism: nothing to release: no person was added")
	}
	return nil
}

// checkScale refuses a noise scale that the sampler cannot draw.
func checkScale(s float64, g privacy.Guarantee) error {
	if !(s > 0 && s <= noise.MaxScale) {
		return fmt.Errorf("mechanism: %v needs noise of %g lattice steps, more than the sampler's %g: state a larger μ, ρ or ε", g, s, float64(noise.MaxScale))
	}
	return nil
}

// plus adds with saturation: the clamp is post-processing, a wrap would not be.
func plus(a, b int64) int64 {
	c := a + b
	switch {
	case b > 0 && c < a:
		return 1<<63 - 1
	case b < 0 && c > a:
		return -1 << 63
	}
	return c
}
