// What is particular to a regression: every person's own report is private before anybody else sees it, so the
// guarantee is local, and noise enters through a recursion.

package release

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/privacy"
)

// Verb and method of regressions. Noise.Scale of a regression bounds the standard deviation of the noise
// in each coordinate: what the noise of the reports would add up to if the recursion damped none of it.
const (
	Regression = "regression"
	HuberSGD   = "huber-sgd"
)

// checkLocalGuarantee is checkGuarantee where each of N persons adds the noise to the own report: the scale in the release
// depends on steps and budgets, and says nothing that could be checked against the guarantee.
func (r *Release) checkLocalGuarantee() error {
	if r.Privacy.Adjacency != privacy.Local {
		return faultf(".privacy.adjacency", "%q does not belong to a %s; it is %q (each person's report is private by itself)", r.Privacy.Adjacency, r.Verb, privacy.Local)
	}
	if r.Noise.Law != Gaussian {
		return faultf(".noise.law", "law %q does not belong to a %s, whose reports carry %q noise", r.Noise.Law, r.Verb, Gaussian)
	}
	if len(r.Components) != 1 {
		return faultf(".components", "%d components; a %s has one", len(r.Components), r.Verb)
	}
	if _, err := privacy.GaussianMu(r.Privacy.Guarantee); err != nil {
		return &fault{".privacy", err}
	}
	if r.Box == nil {
		return nil
	}
	for k, ref := range r.Reference {
		if _, constant := ref.IsConstant(); !constant {
			return faultf(fmt.Sprintf(".reference[%d]", k), "a table is a function of one variable; on a box take a constant")
		}
	}
	return nil
}

// regressionBand is bandAt at a point of a box.
func (r *Release) regressionBand(e, x []float64, level float64) (lo, hi float64) {
	ref, c := r.reference(0, x[0]), dot(r.Coefficients[0], e)
	half, edge := r.Noise.Scale*norm(e)*r.Noise.unitQuantile(r.coordinates(), level), math.Inf(1)
	if r.Radius != 0 {
		edge = r.Radius * norm(e)
	}
	return ref + min(min(max(c-half, -edge), edge), c), ref + max(max(min(c+half, edge), -edge), c)
}
