package mechanism

import (
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// sphericalLaplace is the ℓ₂ Laplace mechanism on an integer sum.
//
// Who changes and by how much: as for the Gaussian mechanism, one replaced
// person moves the sum by at most Δ in ℓ₂. Noise: the vector s·Z, Z of density
// ∝ e^{−‖z‖₂} on R^m, drawn once for all coordinates, s ≥ Δ/ε. The density at
// two centres differs by a factor of at most e^{‖shift‖/s} ≤ e^ε (triangle
// inequality), so the ideal mechanism is ε-DP; rounding each coordinate of
// sum + sZ to an integer is post-processing, and equals adding the rounded
// noise because the sum is an integer. Its total variance m(m+1)s² beats
// independent Laplace noise on the ℓ₁ sensitivity √m·Δ, 2m²s², for every
// m > 1. Proof note: docs/privacy.md#spherical-laplace.
type sphericalLaplace struct {
	ball    lattice.Ball
	epsilon privacy.Pure
	scale   float64 // lattice units
}

func newSphericalLaplace(ball lattice.Ball, e privacy.Pure) (Mechanism, error) {
	s := privacy.DivUp(ball.Sensitivity(), float64(e))
	if err := checkScale(s, e); err != nil {
		return nil, err
	}
	return &sphericalLaplace{ball: ball, epsilon: e, scale: s}, nil
}

func (l *sphericalLaplace) Law() string                  { return "spherical-laplace" }
func (l *sphericalLaplace) Guarantee() privacy.Guarantee { return l.epsilon }
func (l *sphericalLaplace) Scale(n int64) float64        { return l.scale * l.ball.Step() / float64(n) }

func (l *sphericalLaplace) Release(sum *lattice.Sum, src *noise.Source) ([]float64, error) {
	if err := checkSum(l.ball, sum); err != nil {
		return nil, err
	}
	z := make([]int64, l.ball.Dim())
	src.RoundedSphericalLaplace(z, l.scale)
	out := sum.Vector()
	for i := range out {
		out[i] = plus(out[i], z[i])
	}
	return mean(out, l.ball.Step(), sum.N()), nil
}
