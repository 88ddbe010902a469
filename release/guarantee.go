// What a release guarantees, in the other currencies. A mechanism can satisfy
// more than its statement says (a Gaussian one has GDP, zCDP and every (ε,δ) on
// its curve), so the conversions use the law of the noise too.

package release

import (
	"fmt"

	"github.com/curveil/curveil/privacy"
)

// GDP returns the μ of the release: that of its Gaussian noise, or the exact
// one that a pure guarantee implies.
func (r *Release) GDP() (privacy.GDP, error) {
	if pure, ok := r.Privacy.Guarantee.(privacy.Pure); ok {
		return pure.GDP(), nil
	}
	mu, err := privacy.GaussianMu(r.Privacy.Guarantee)
	if err != nil {
		return 0, fmt.Errorf("release: %w", err)
	}
	return mu, nil
}

// ZCDP returns the ρ of the release.
func (r *Release) ZCDP() (privacy.ZCDP, error) {
	switch g := r.Privacy.Guarantee.(type) {
	case privacy.ZCDP:
		return g, nil
	case privacy.Pure:
		return g.ZCDP(), nil
	}
	mu, err := r.GDP()
	return mu.ZCDP(), err
}

// Guarantee returns the (ε,δ) of the release at the given δ, 0 < δ < 1.
func (r *Release) Guarantee(delta float64) (privacy.Approx, error) {
	if !(delta > 0 && delta < 1) {
		return privacy.Approx{}, fmt.Errorf("release: delta %v must lie strictly between 0 and 1; a common choice is below one over the number of persons", delta)
	}
	if pure, ok := r.Privacy.Guarantee.(privacy.Pure); ok {
		return privacy.Approx{Epsilon: pure.Epsilon(delta), Delta: delta}, nil
	}
	mu, err := r.GDP()
	if err != nil {
		return privacy.Approx{}, err
	}
	return privacy.Approx{Epsilon: mu.Epsilon(delta), Delta: delta}, nil
}
