package curve

import (
	"errors"
	"fmt"
	"math"

	"github.com/curveil/curveil/privacy"
	"gonum.org/v1/gonum/stat/distuv"
)

// PlanConfig is what a plan is made from: public numbers and guesses, no data.
type PlanConfig struct {
	Config
	// Size is the guessed root mean square, over the window and all components
	// together, of the curve about a public place: what is left when no shape
	// survives. 0 means unknown.
	Size float64
	// Stay is the duration, in units of t, of a stay in one place, whose location
	// an attacker reads off the release; 0 means a twelfth of the window.
	Stay float64
}

// PlanRow predicts the release of one number of equal pieces, each with m
// polynomials per component, at the full budget and before any denoising.
// Errors are root mean squares over the window, all components together.
type PlanRow struct {
	Pieces      int     `json:"pieces"`
	Coordinates int     `json:"coordinates"`
	Noise       float64 `json:"noise"` // exact
	// Shape is the part of the curve that the pieces cannot follow, if it moves
	// like a Brownian motion of the guessed roughness; 0 without a guess.
	Shape float64 `json:"shape"`
	Error float64 `json:"error"` // of both
	// Stay is how precisely a stay of the given duration can be located from the
	// release, all components together; 0 where the pieces are longer than the stay,
	// which they blur.
	Stay float64 `json:"stay,omitempty"`
}

// Plan is the predicted error of a private curve, from public numbers only.
type Plan struct {
	Rows   []PlanRow `json:"rows"`
	Best   int       `json:"best,omitempty"` // pieces of the best row; 0 without a guess of the roughness
	Method Method    `json:"method"`
	// Denoised estimates the error that Denoise leaves of a random walk of the guessed roughness, 0 without a guess. It is no bound:
	// curves that stop and go have less, rougher ones more, as the root of the roughness.
	Denoised float64  `json:"denoised,omitempty"`
	Remarks  []string `json:"remarks,omitempty"`
	// Warnings are remarks that the release would hardly be worth its budget.
	Warnings []string `json:"warnings,omitempty"`
}

// NewPlan predicts the noise for each number of pieces. With M = n·m·2^k
// orthonormal coordinates it is √(M(M+1))/ε under geo-privacy ([GEO] §3) and
// √(M/(2ρ)) under the concentrated form. Two polynomials a piece leave 1/15, and
// one leaves 1/6, of the variance that a Brownian motion gains over a piece.
func NewPlan(p PlanConfig) (*Plan, error) {
	pr, err := New(p.Config)
	if err != nil {
		return nil, err
	}
	c := pr.Config()
	length := c.Window.Length()
	if p.Stay == 0 {
		p.Stay = length / 12
	}
	switch {
	case !(p.Stay > 0 && p.Stay <= length):
		return nil, fmt.Errorf("curve: a stay of %g must be shorter than the window of %g", p.Stay, length)
	case !(p.Size >= 0) || math.IsInf(p.Size, 0):
		return nil, fmt.Errorf("curve: size %g must be 0 (unknown) or a positive number", p.Size)
	}
	scale := 1.0 // one unit of the metric as a root mean square
	if c.Metric == privacy.L2 {
		scale = 1 / math.Sqrt(length)
	}
	n, m := float64(len(c.Components)), float64(c.Polynomials)
	left := 1.0 / 15
	if m == 1 {
		left = 1.0 / 6
	}
	plan := &Plan{Method: c.Method}
	best := math.Inf(1)
	for k := range c.MaxLevel + 1 {
		pieces := math.Ldexp(1, k)
		coordinates := n * m * pieces
		var sd float64 // of one coordinate
		switch g := c.Guarantee.(type) {
		case privacy.Geo:
			sd = math.Sqrt(coordinates+1) / float64(g) * scale
		case privacy.ConcentratedGeo:
			sd = scale / math.Sqrt(2*float64(g))
		}
		r := PlanRow{Pieces: int(pieces), Coordinates: int(coordinates), Noise: sd * math.Sqrt(coordinates)}
		r.Shape = math.Sqrt(n*64*left/pieces) * c.Roughness
		r.Error = math.Hypot(r.Noise, r.Shape)
		if length/pieces <= p.Stay {
			// The mean over the stay is one coordinate of norm √(length/stay).
			r.Stay = sd * math.Sqrt(n*length/p.Stay)
		}
		if c.Roughness > 0 && r.Error < best {
			best, plan.Best = r.Error, r.Pieces
		}
		plan.Rows = append(plan.Rows, r)
	}
	least := best
	if plan.Best == 0 {
		least = plan.Rows[0].Noise
	}
	if plan.Best > 0 && c.Method == Denoise {
		plan.Denoised = c.denoised(plan, best, scale)
		least = plan.Denoised
	}
	if p.Size > 0 && least > p.Size {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("the budget is too small for any shape to survive: the smallest error, %.3g, exceeds the guessed size %.3g of the curve; a shorter window, a larger budget or fewer components are needed", least, p.Size))
	}
	if plan.Best == 1 {
		plan.Warnings = append(plan.Warnings, "one piece is best: no more than the mean position and drift survives")
	}
	return plan, nil
}

// denoised is the error of the posterior mean of a random walk in white noise. Of a walk of q per unit of time and noise of
// spectral density s² the variance is √q·s/2 (steady state of the smoother, Wiener 1949): 4·sd·Roughness with q = 64·Roughness²
// and s = sd for a window of length one. The cells of the release are no finer than its finest level. Under pure
// privacy the noise grows with their number, so that there is less to smooth: the best number of pieces is what counts.
func (c Config) denoised(plan *Plan, best, scale float64) float64 {
	rho, concentrated := c.Guarantee.(privacy.ConcentratedGeo)
	if !concentrated {
		return best
	}
	n, sd := float64(len(c.Components)), scale/math.Sqrt(2*float64(rho))
	return min(best, max(math.Sqrt(4*n*sd*c.Roughness), plan.Rows[len(plan.Rows)-1].Shape))
}

// Reading is what a budget means for two curves that differ in one way.
type Reading struct {
	What     string  `json:"what"`
	Distance float64 `json:"distance"` // root mean square over the window
	// Geo and Concentrated bound, for budgets ε and ρ, the probability that
	// whoever must guess which of the two curves was released, both equally likely
	// beforehand, guesses right.
	Geo          float64 `json:"geo"`
	Concentrated float64 `json:"concentrated"`
}

// Readings explains a budget, ε and ρ per unit of root mean square distance on a
// window of the length: a sustained shift by the distance, and a detour of the
// distance for the duration. Under ε a guess is right with probability at most
// e^x/(1+e^x), x = ε·dist; under ρ, for Gaussian noise, Φ(μ/2) with
// μ = dist·√(2ρ).
func Readings(epsilon privacy.Geo, rho privacy.ConcentratedGeo, length, shift, detour, duration float64) ([]Reading, error) {
	if !(shift > 0 && detour > 0 && duration > 0 && duration <= length) {
		return nil, errors.New("curve: the shift, the detour and its duration must be positive, the duration within the window")
	}
	out := []Reading{
		{What: "shift", Distance: shift},
		{What: "detour", Distance: detour * math.Sqrt(duration/length)},
	}
	for i := range out {
		r := &out[i]
		r.Geo = 1 / (1 + math.Exp(-float64(epsilon)*r.Distance))
		r.Concentrated = distuv.UnitNormal.CDF(r.Distance * math.Sqrt(2*float64(rho)) / 2)
	}
	return out, nil
}
