// Package release holds what a private method hands out: a function, given by
// noisy coordinates in a space, together with the law of its noise and its
// guarantee. Everything here is post-processing of public numbers: it needs no
// data, spends no budget, and whoever holds the release can compute it.
//
// A [Release] is evaluated by [Release.At] and [Release.Eval], banded by
// [Release.Band] and [Release.Bands], and stored by [Release.Encode] and
// [Decode] in the format of docs/format.md.
package release

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Verbs and methods that a release can name.
const (
	Mean             = "mean"
	Curve            = "curve"
	FitThenProtect   = "fit-then-protect"
	ProtectThenFit   = "protect-then-fit"
	Denoised         = "denoise" // of verb curve: the law of the noise is that before smoothing
	maxComponents    = 1000
	maxCoefficients  = 1 << 20 // of one release, over all components
	maxFactorEntries = 1 << 20
	maxTablePoints   = 1 << 20
	maxText          = 1000 // bytes of one label or name
)

// Release is a released function with values in R^c, c = len(Components).
// Component k at t is
//
//	Reference[k].At(t) + Σ_j Coefficients[k][j]·e_j(t),
//
// e(t) the orthonormal basis of Space. A Release from a method of this module
// or from [Decode] is valid; call [Release.Validate] on one made by hand before
// anything else, for the other methods assume it.
//
// A Release is read-only for its methods, which are safe for concurrent use.
type Release struct {
	Verb, Method string // "mean": "fit-then-protect" or "protect-then-fit"; "curve": one person's own, see package curve; "density": see package density
	Space        space.Space
	Box          space.BoxSpace // for a function of several variables, in place of Space: exactly one of them is set
	Components   []string       // public names, at least one, distinct
	Coefficients [][]float64    // len(Components) × Space.Dim()
	Raw          [][]float64    // the same before the projection onto the ball; nil when equal
	Reference    []Reference    // nil, or one per component; added to the function
	Noise        Noise
	Selection    *Selection // how a density's rank was chosen from the noisy coefficients; nil for a fixed rank
	Privacy      privacy.Statement
	N            int64   // persons, public; 1 for a curve
	Radius       float64 // of the ball ‖β‖₂ ≤ Radius over all components jointly, in units of y; 0 for a curve, which no ball bounds, and for a density
	Private      bool    // false when the noise came from a seeded source: a demonstration, not a release

	XLabel, YLabel string   // public, may be empty
	UnixTime       bool     // t counts seconds since 1970-01-01T00:00:00Z: show dates
	Variables      []string // of a box: the names of its variables; nil, or one for each
}

// At returns the first component at t: the curve of a release that has one
// component. It is NaN outside the domain, and for a function on a box: see
// [Release.AtPoint]. Use [Release.Eval] for several components or for an error
// that says why.
func (r *Release) At(t float64) float64 {
	if r.Space == nil || !r.Space.Domain().Contains(t) {
		return math.NaN()
	}
	e, first := r.basis(t)
	return r.reference(0, t) + dot(r.Coefficients[0][first:first+len(e)], e)
}

// basis returns the functions of the space that may be not zero at t, and the index
// of the first.
func (r *Release) basis(t float64) (e []float64, first int) {
	if local, ok := r.Space.(space.Local); ok {
		e = make([]float64, local.LocalDim())
		return e, local.EvalLocal(e, t)
	}
	e = make([]float64, r.Space.Dim())
	r.Space.Eval(e, t)
	return e, 0
}

// Eval writes all components at t to dst, which must have length
// len(Components); it panics otherwise. A t outside the domain of the space is
// an error, for the release says nothing there.
func (r *Release) Eval(dst []float64, t float64) error {
	if len(dst) != len(r.Components) {
		panic(fmt.Sprintf("release: Eval into %d values, the release has %d components", len(dst), len(r.Components)))
	}
	if err := r.inDomain(t); err != nil {
		return err
	}
	e, first := r.basis(t)
	for k := range dst {
		dst[k] = r.reference(k, t) + dot(r.Coefficients[k][first:first+len(e)], e)
	}
	return nil
}

func (r *Release) reference(k int, t float64) float64 {
	if r.Reference == nil {
		return 0
	}
	return r.Reference[k].At(t)
}

func (r *Release) inDomain(t float64) error {
	if r.Space == nil {
		return fmt.Errorf("release: the function has %d variables; ask for it at a point", len(r.Box.Box()))
	}
	d := r.Space.Domain()
	if d.Contains(t) {
		return nil
	}
	if r.UnixTime {
		return fmt.Errorf("release: %s is outside the domain [%s, %s] of the release; ask inside it", clock.Text(t), clock.Short(d.A), clock.Short(d.B))
	}
	return fmt.Errorf("release: t=%v is outside the domain [%v, %v] of the release; ask inside it", t, d.A, d.B)
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
