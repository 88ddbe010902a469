package regression

import (
	"fmt"

	"github.com/curveil/curveil/release"
)

// Release is the estimate as a release: a function, its guarantee (local: each person's report, at the stream's budget; reports
// of smaller budgets are more private), and N, the number of reports. It costs nothing: it is computed from reports.
//
// Noise is an upper bound of the privacy noise, the sum of what the reports' noise would do if the recursion damped none of
// it; the pointwise band of the release holds the estimate of a run without privacy noise with at least its probability,
// exactly where the residuals stay within ±τ (the recursion is linear in the noise there), approximately elsewhere. The true
// error of the estimate also has sampling noise and bias: see [NewPlan].
func (v *Server) Release() (*release.Release, error) {
	if v.n == 0 {
		return nil, fmt.Errorf("regression: stream %q has no report yet: there is nothing to release", v.stream.Name)
	}
	s := v.stream
	r := &release.Release{Verb: release.Regression, Method: release.HuberSGD, Components: []string{"value"}, Coefficients: [][]float64{v.Coordinates()},
		Noise: release.Noise{Law: release.Gaussian, Scale: v.noise.scale(v.it.weight)}, Privacy: s.Statement(s.Budget), N: v.n,
		Radius: s.Radius, Private: v.private, XLabel: s.XLabel, YLabel: s.YLabel}
	if one, ok := s.Basis.(oneVariable); ok {
		r.Space = one.Space
	} else {
		r.Box = s.Basis
	}
	if s.Center != 0 {
		r.Reference = []release.Reference{release.Constant(s.Center)}
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("regression: %w", err)
	}
	return r, nil
}
