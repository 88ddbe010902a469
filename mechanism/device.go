package mechanism

import (
	"fmt"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Device is the Gaussian mechanism on one person's own vector of a ball, run on the person's device: the local
// model, where nobody else sees the vector.
//
// Who changes: the person's data become any other. By how much: both vectors are rounded into the same lattice
// ball (checked in integers), so they move by at most Δ = ball.Sensitivity() in ℓ₂, whatever arithmetic made
// them. Noise: round(s·ξ) per coordinate, s ≥ Δ/μ. The vector is an integer one, so vector + round(sξ) = round(vector +
// sξ), a post-processing of the ideal Gaussian mechanism, which is μ-GDP (Dong, Roth, Su 2022, Theorem 2.7) and so
// meets every guarantee that privacy.GaussianMu turned into μ. Proof note: docs/privacy.md#regression.
type Device struct {
	ball  lattice.Ball
	claim privacy.Guarantee
	scale float64 // lattice units
}

// NewDevice returns the mechanism for privacy.GDP, privacy.ZCDP or privacy.Approx.
func NewDevice(ball lattice.Ball, g privacy.Guarantee) (*Device, error) {
	if g == nil {
		return nil, fmt.Errorf("mechanism: no guarantee given: state one, such as privacy.Approx{Epsilon: 1, Delta: 1e-6}")
	}
	mu, err := privacy.GaussianMu(g)
	if err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	s := mu.Sigma(ball.Sensitivity())
	if err := checkScale(s, g); err != nil {
		return nil, err
	}
	return &Device{ball: ball, claim: g, scale: s}, nil
}

// Guarantee is what the person's vector is protected by.
func (d *Device) Guarantee() privacy.Guarantee { return d.claim }

// Scale is the standard deviation of the noise in one coordinate, in the units of the ball's radius.
func (d *Device) Scale() float64 { return d.scale * d.ball.Step() }

// Release sets dst to the vector rounded into the ball plus noise, in steps of the ball's lattice. Coordinates saturate
// at the ends of int64, which is post-processing. The only error is a coordinate that is not finite; dst is not
// to be used then. dst and v have the ball's dimension, else it panics.
func (d *Device) Release(dst []int64, v []float64, src *noise.Source) error {
	if err := d.ball.Round(dst, v); err != nil {
		return err
	}
	if !d.ball.Contains(dst) {
		panic("mechanism: a vector left its ball: the guarantee would not hold")
	}
	for i, k := range dst {
		dst[i] = plus(k, src.RoundedNormal(d.scale))
	}
	return nil
}
