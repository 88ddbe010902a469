package mechanism

import (
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// gaussian is the Gaussian mechanism on an integer sum.
//
// Who changes: one person's vector is replaced by another of the same ball; n
// is public. By how much: the integer sum moves by at most Δ = ball.Sensitivity()
// in ℓ₂ (both vectors lie in a ball of radius Δ/2, checked in integers). Noise:
// round(s·ξ) per coordinate, ξ ideal standard normal, s ≥ Δ/μ. Since the sum
// is an integer, sum + round(sξ) = round(sum + sξ): the output is a
// post-processing of the ideal real-valued Gaussian mechanism, which is μ-GDP
// (Dong, Roth, Su 2022, Theorem 2.7; [FTP] Theorem 6 and Corollaries 7 and 8
// for function spaces), hence also μ²/2-zCDP and (ε,δ(ε)). Proof note:
// docs/privacy.md#gaussian.
type gaussian struct {
	ball  lattice.Ball
	claim privacy.Guarantee
	scale float64 // lattice units
}

func newGaussian(ball lattice.Ball, mu privacy.GDP, claim privacy.Guarantee) (Mechanism, error) {
	s := mu.Sigma(ball.Sensitivity())
	if err := checkScale(s, claim); err != nil {
		return nil, err
	}
	return &gaussian{ball: ball, claim: claim, scale: s}, nil
}

func (g *gaussian) Law() string                  { return "gaussian" }
func (g *gaussian) Guarantee() privacy.Guarantee { return g.claim }
func (g *gaussian) Scale(n int64) float64        { return g.scale * g.ball.Step() / float64(n) }

func (g *gaussian) Release(sum *lattice.Sum, src *noise.Source) ([]float64, error) {
	if err := checkSum(g.ball, sum); err != nil {
		return nil, err
	}
	out := sum.Vector()
	for i, k := range out {
		out[i] = plus(k, src.RoundedNormal(g.scale))
	}
	return mean(out, g.ball.Step(), sum.N()), nil
}
