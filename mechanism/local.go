package mechanism

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Local is a metric-privacy mechanism on one person's own coordinates, run on
// the person's device: coordinates + noise, rounded to a public lattice.
//
// Who changes: the person's curve becomes any other curve. By how much: the
// coordinates are those of a projection in an orthonormal basis, so they move
// in ℓ₂ by at most the distance of the two curves (a projection is 1-Lipschitz,
// [GEO] Lemma 3.7). Noise: for ε per unit of distance, (1/ε)·Z with Z of density
// ∝ e^{−‖z‖₂} on R^m, drawn once for all m coordinates of all pieces and
// components ([GEO] Remark 4.1): by the triangle inequality the densities differ
// by a factor of at most e^{ε·dist} ([GEO] Theorem 3.2). For ρ per squared unit,
// N(0, 1/(2ρ)) in each coordinate, whose Rényi divergence is αρ·dist² ([GEO]
// Theorem 3.3). Rounding to the lattice of step 2^-24 of the noise scale (or
// finer) is post-processing, exactly: package noise rounds the ideal real sum.
// Proof notes: docs/privacy.md#local-spherical-laplace and
// docs/privacy.md#local-gaussian.
type Local struct {
	claim privacy.Guarantee
	law   string
	scale float64 // of the noise in the units of the coordinates
	step  float64 // of the lattice, a power of two
}

// stepBits is the fineness of the lattice: at least 2^-stepBits of the scale.
const stepBits = 24

// NewLocal returns the mechanism for a budget per unit of ℓ₂ distance between
// coordinates: spherical Laplace for privacy.Geo, Gaussian for
// privacy.ConcentratedGeo. Any other guarantee is refused.
func NewLocal(g privacy.Guarantee) (*Local, error) {
	if g == nil {
		return nil, fmt.Errorf("mechanism: no guarantee given: state one, such as privacy.Geo(0.01)")
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	l := &Local{claim: g}
	switch g := g.(type) {
	case privacy.Geo:
		l.law, l.scale = "spherical-laplace", g.Scale()
	case privacy.ConcentratedGeo:
		l.law, l.scale = "gaussian", g.Sigma()
	default:
		return nil, fmt.Errorf("mechanism: %v is not per unit of distance: a local release takes privacy.Geo or privacy.ConcentratedGeo", g)
	}
	if !(l.scale >= 0x1p-900 && l.scale <= 0x1p900) {
		return nil, fmt.Errorf("mechanism: %v needs noise of scale %g, outside what 64-bit coordinates hold: use other units", g, l.scale)
	}
	_, exponent := math.Frexp(l.scale)
	l.step = math.Ldexp(1, exponent-1-stepBits)
	return l, nil
}

// Law names the noise law as package release spells it.
func (l *Local) Law() string { return l.law }

// Guarantee is the budget per unit of ℓ₂ distance.
func (l *Local) Guarantee() privacy.Guarantee { return l.claim }

// Scale is b of b·Z or σ of σ·ξ, in the units of the coordinates.
func (l *Local) Scale() float64 { return l.scale }

// Step is the step of the public lattice that releases lie on.
func (l *Local) Step() float64 { return l.step }

// Release sets dst to the noisy coordinates, on the lattice; dst and
// coordinates have the same length and may be the same slice. The noise vector
// is drawn once for all of them. Coordinates beyond 2^38 noise scales saturate,
// which is post-processing; they must be finite.
func (l *Local) Release(dst, coordinates []float64, src *noise.Source) {
	if len(dst) != len(coordinates) {
		panic("mechanism: noisy coordinates and coordinates must be equally many")
	}
	// Exact, a power of two; what underflows is far below the lattice and both
	// the scale and the centre are only ever used after it.
	centre := make([]float64, len(coordinates))
	for i, c := range coordinates {
		centre[i] = c / l.step
		if math.IsInf(centre[i], 0) {
			centre[i] = math.Copysign(math.MaxFloat64, c)
		}
	}
	noisy := make([]int64, len(centre))
	if l.law == "gaussian" {
		src.NormalsAround(noisy, centre, l.scale/l.step)
	} else {
		src.SphericalLaplaceAround(noisy, centre, l.scale/l.step)
	}
	for i, k := range noisy {
		dst[i] = float64(k) * l.step
	}
}
