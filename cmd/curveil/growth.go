package main

import (
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
)

// growth is a child's height by the Preece–Baines model 1 (M. A. Preece and
// M. J. Baines, Annals of Human Biology 5, 1978):
//
//	h(t) = h₁ − 2(h₁ − h_θ)/(e^{s₀(t−θ)} + e^{s₁(t−θ)}),
//
// adult height h₁, height h_θ at age θ near the peak of growth, rates s₀ and
// s₁ before and in puberty; heights in cm, ages in years.
type growth struct{ h1, hTheta, s0, s1, theta float64 }

// meanGrowth has parameters of the size published for British boys; it is the
// demonstration's public reference.
var meanGrowth = growth{h1: 174.6, hTheta: 162.9, s0: 0.1124, s1: 1.2397, theta: 14.60}

func (g growth) height(t float64) float64 {
	return g.h1 - 2*(g.h1-g.hTheta)/(math.Exp(g.s0*(t-g.theta))+math.Exp(g.s1*(t-g.theta)))
}

// drawGrowth draws a child of a cohort that is taller and later than the
// reference.
func drawGrowth(r *simulate.Rand) growth {
	size := 1.022 * math.Exp(0.038*r.NormFloat64())
	return growth{
		h1:     meanGrowth.h1 * size,
		hTheta: meanGrowth.hTheta*size + 0.8*r.NormFloat64(),
		s0:     meanGrowth.s0 * math.Exp(0.06*r.NormFloat64()),
		s1:     meanGrowth.s1 * math.Exp(0.15*r.NormFloat64()),
		theta:  meanGrowth.theta + 0.5 + 0.9*r.NormFloat64(),
	}
}

// measured is a child measured at the ages with an error of sd cm.
func (g growth) measured(ages []float64, sd float64, r *simulate.Rand) fit.Curve {
	x := make([]float64, len(ages))
	for j, t := range ages {
		x[j] = g.height(t) + sd*r.NormFloat64()
	}
	return fit.Curve{{T: ages, X: x}}
}
