package density

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// PlanConfig is what a plan is made from: public numbers and guesses, no data.
type PlanConfig struct {
	Config
	// Smoothness β is the guessed number of square-integrable derivatives; 0 means 2.
	Smoothness float64
	// Peaks is the guessed width (standard deviation) of the narrowest peaks, as a share of the box's side, instead of Smoothness
	// and Energy: all of the density is then taken to lie in a peak of that width, Gaussian along each side; 0 means not given.
	Peaks float64
	// Energy L is the guessed norm of the β-th derivatives of the density relative to the uniform one, with the box
	// scaled to the unit cube; 0 means (2π)^β, that of the wave 1 + √2cos 2πu.
	Energy float64
}

// Prediction is the predicted error of one rank. Errors are mean integrated squared errors on the unit cube, the
// square of the uniform density being 1; their root is relative to it.
type Prediction struct {
	Rank         int     `json:"rank"`
	Coefficients int     `json:"coefficients"`
	NoiseSD      float64 `json:"noise_sd"` // of one coefficient
	Bias         float64 `json:"bias"`     // bound for the smoothness guessed, or that of the peak
	Sampling     float64 `json:"sampling"`
	Privacy      float64 `json:"privacy"`
	Error        float64 `json:"error"` // their sum
}

// Plan is the predicted error of a release, from public numbers only.
type Plan struct {
	N     int64        `json:"n"`
	Fixed []Prediction `json:"fixed"` // projections of rank 1, 2, 4, …, each with all of the budget
	Best  int          `json:"best"`  // the best of these ranks
	// Layered is what the layered release pays for privacy at the best rank for not knowing it beforehand; its
	// largest rank is Rank.
	Layered Prediction `json:"layered"`
	Rank    int        `json:"rank"`
	// What the bias was computed from.
	Smoothness float64  `json:"smoothness,omitempty"`
	Energy     float64  `json:"energy,omitempty"`
	Peaks      float64  `json:"peaks,omitempty"`
	Square     float64  `json:"square,omitempty"` // of the density that Peaks stands for: that of the uniform one is 1
	Remarks    []string `json:"remarks,omitempty"`
}

// NewPlan predicts the error at each rank: squared bias + (D−1)/n + (D−1)σ², with squared bias at most
// L²(2π(M+1))^{−2β} over functions with Σᵢ‖∂ᵢ^β f‖² ≤ L² (π for cosines, whose frequency k has half as many waves).
// Sampling and privacy variances are exact for the uniform density and bounds for others ([DEN] Lemma 3.1 with the
// sensitivity of account). With Peaks, the squared bias is that of a peak of the width, on average over its places. Config.N must be set.
func NewPlan(c PlanConfig) (*Plan, error) {
	if c.N < 1 {
		return nil, fmt.Errorf("density: a plan needs the public number of people")
	}
	if c.Peaks != 0 {
		switch {
		case !(c.Peaks > 0 && c.Peaks <= 1):
			return nil, fmt.Errorf("density: peaks of width %g must be a share of the box's side, more than 0 and at most 1", c.Peaks)
		case c.Smoothness != 0 || c.Energy != 0:
			return nil, fmt.Errorf("density: a guess of the peaks' width stands in for smoothness and energy: leave one of them out")
		}
	}
	if c.Smoothness == 0 {
		c.Smoothness = 2
	}
	if c.Energy == 0 {
		c.Energy = math.Pow(2*math.Pi, c.Smoothness)
	}
	if !(c.Smoothness > 0 && c.Smoothness <= 20) {
		return nil, fmt.Errorf("density: smoothness %g must lie between 0 and 20", c.Smoothness)
	}
	if !(c.Energy > 0) || math.IsInf(c.Energy, 0) {
		return nil, fmt.Errorf("density: energy %g must be positive and finite", c.Energy)
	}
	cfg := c.Config
	cfg.Method, cfg.Rule, cfg.Kappa = Layered, "", nil
	cfg, layered, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	mu, err := privacy.GaussianMu(cfg.Guarantee)
	if err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}
	p := &Plan{N: c.N, Rank: layered.space.Rank(), Smoothness: c.Smoothness, Energy: c.Energy}
	n := float64(c.N)
	bias := func(m float64) float64 {
		w := 2 * math.Pi
		if cfg.Basis == Cosine {
			w = math.Pi
		}
		return c.Energy * c.Energy * math.Pow(w*(m+1), -2*c.Smoothness)
	}
	if c.Peaks > 0 {
		p.Peaks, p.Smoothness, p.Energy = c.Peaks, 0, 0
		bias = func(m float64) float64 { return peakBias(layered.space, c.Peaks, m) }
	}
	best := 0
	for i, m := range layered.ranks {
		a := newShells(layered.space, []float64{m})
		a.mu = mu
		a.calibrate()
		q := Prediction{Rank: int(m), Coefficients: a.counts[0] + 1, NoiseSD: a.sigma(0, c.N), Bias: bias(m)}
		q.Sampling = float64(a.counts[0]) / n
		q.Privacy = float64(a.counts[0]) * q.NoiseSD * q.NoiseSD
		q.Error = q.Bias + q.Sampling + q.Privacy
		p.Fixed = append(p.Fixed, q)
		if q.Error < p.Fixed[best].Error {
			best = i
		}
	}
	p.Best = p.Fixed[best].Rank
	q := p.Fixed[best]
	q.Privacy = 0
	for i := range best + 1 {
		s := layered.sigma(i, c.N)
		q.Privacy += float64(layered.counts[i]) * s * s
		q.NoiseSD = s
	}
	q.Error = q.Bias + q.Sampling + q.Privacy
	p.Layered = q
	size, of := 1.0, "the square of the uniform density"
	if c.Peaks > 0 {
		size = peakBias(layered.space, c.Peaks, 0)
		p.Square = size + 1
		of = fmt.Sprintf("what tells the guessed density from the uniform one, %.3g", size)
	}
	if q.Error > size {
		p.Remarks = append(p.Remarks, fmt.Sprintf("the predicted error %.3g exceeds %s: the release would say little; more people, a larger budget or a lower rank are needed", q.Error, of))
	}
	if q.Privacy > 4*q.Sampling {
		p.Remarks = append(p.Remarks, fmt.Sprintf("privacy costs %.3g times as much as sampling at rank %d: the error falls with n√ρ, not with n", q.Privacy/q.Sampling, q.Rank))
	}
	return p, nil
}

// peakBias is what the functions of a space up to the level m leave of a density that is one Gaussian peak, of standard deviation
// w times the side of the box, in mean square on average over its places. Its coefficient of frequency k on an axis
// is e^{−(ωk·w)²/2} times a wave, whose square is one on average, ω = 2π, or π for cosines.
func peakBias(s *space.Tensor, w, m float64) float64 {
	omega, functions := 2*math.Pi, 2.0
	if s.Kind() == "cosine" {
		omega, functions = math.Pi, 1
	}
	square := func(k int) float64 { a := omega * float64(k) * w; return math.Exp(-a * a) }
	axis := 1.0
	for k := 1; ; k++ {
		v := square(k)
		axis += functions * v
		if v < 1e-18 {
			break
		}
	}
	left := math.Pow(axis, float64(len(s.Box())))
	for j, l := range s.Levels() {
		if l > m {
			continue
		}
		v := 1.0
		for i := range s.Box() {
			v *= square(s.Frequency(j, i))
		}
		left -= v
	}
	return math.Max(0, left)
}
