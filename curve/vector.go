package curve

import (
	"fmt"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// VectorResult is a projection on a space of vector-valued functions with
// noise: real coordinates, for shapes such as circles, where one number moves
// all components ([GEO] §3.3). Release files hold real bases only, so it stays in
// the program.
type VectorResult struct {
	Basis       space.Vector
	Coordinates []float64
	Noise       release.Noise
	Privacy     privacy.Statement
	Trace       []mechanism.Spending
	Private     bool
}

// Eval writes the value at t to dst, one number per component.
func (r *VectorResult) Eval(dst []float64, t float64) {
	n := r.Basis.Components()
	if len(dst) != n {
		panic("curve: Eval needs one value per component")
	}
	e := make([]float64, r.Basis.Dim()*n)
	r.Basis.EvalVector(e, t)
	clear(dst)
	for k, a := range r.Coordinates {
		for c := range dst {
			dst[c] += a * e[k*n+c]
		}
	}
}

// ProjectVector is project-and-privatize on a space of vector-valued functions
// on the configured window. Proof notes: docs/privacy.md#local-spherical-laplace and
// docs/privacy.md#local-gaussian.
func ProjectVector(config Config, basis space.Vector, c fit.Curve, src *noise.Source) (*VectorResult, error) {
	config.Method, config.Space = Project, nil
	p, err := New(config)
	if err != nil {
		return nil, err
	}
	if basis.Domain() != p.config.Window || basis.Components() != len(p.config.Components) {
		return nil, fmt.Errorf("curve: the basis is on %v with %d components, the window is %v with %d: they must agree", basis.Domain(), basis.Components(), p.config.Window, len(p.config.Components))
	}
	if err := p.check(c); err != nil {
		return nil, err
	}
	q, err := fit.ProjectVector(c, basis)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	b, err := p.fresh()
	if err != nil {
		return nil, err
	}
	given, err := b.rest("release")
	if err != nil {
		return nil, err
	}
	d := exact{src}
	noisy := make([]float64, len(q.Coordinates))
	if err := d.vector(given, noisy, q.Coordinates); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	law, err := noiseOf(given)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return &VectorResult{basis, noisy, law, p.config.statement(), b.Trace(), src.Private()}, nil
}
