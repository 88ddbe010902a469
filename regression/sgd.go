package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Point is one observation: an x for each variable of the space, and y.
type Point struct {
	X []float64
	Y float64
}

// SGD is robust functional stochastic gradient descent without privacy ([REG] Algorithm 3, H-FSGD): one pass, O(r) per
// observation. It is for public data, and for comparison. Not for concurrent use.
type SGD struct {
	basis Basis
	tau   float64
	bound float64
	steps Steps
	phi   []float64
	it    iterate
	n     int64
}

// SGDConfig says how an SGD learns.
type SGDConfig struct {
	Basis  Basis
	Tau    float64 // of the Huber loss, in units of y; +Inf for the squared loss
	Steps  Steps
	Bound  float64 // B; 0 for no bound on ‖φ(x)‖
	Radius float64 // of the ball that the iterates are projected onto; 0 for none
}

// NewSGD refuses a τ or a step that is not positive.
func NewSGD(c SGDConfig) (*SGD, error) {
	switch {
	case c.Basis == nil:
		return nil, fmt.Errorf("regression: no space given: take one, such as a kernel space on public centres")
	case !(c.Tau > 0):
		return nil, fmt.Errorf("regression: τ = %v must be positive, +Inf for the squared loss", c.Tau)
	case !(c.Radius >= 0) || math.IsInf(c.Radius, 0):
		return nil, fmt.Errorf("regression: radius %v must be positive and finite, or 0 for none", c.Radius)
	case !(c.Bound >= 0) || math.IsInf(c.Bound, 0):
		return nil, fmt.Errorf("regression: bound %v must be positive and finite, or 0 for none", c.Bound)
	}
	if err := c.Steps.Validate(0); err != nil {
		return nil, err
	}
	s := &SGD{basis: c.Basis, tau: c.Tau, steps: c.Steps, bound: c.Bound, phi: make([]float64, c.Basis.Dim()), it: newIterate(c.Basis.Dim(), c.Radius)}
	if c.Bound == 0 {
		s.bound = math.MaxFloat64
	}
	return s, nil
}

// Add takes one observation.
func (s *SGD) Add(x []float64, y float64) error {
	if err := checkPoint(s.basis, x, y); err != nil {
		return err
	}
	s.n++
	features(s.phi, s.basis, s.bound, x)
	gradient := huber(y-dot(s.it.a, s.phi), s.tau)
	step(&s.it, s.steps.At(float64(s.n)), gradient, 1, s.phi)
	return nil
}

// N is the number of observations.
func (s *SGD) N() int64 { return s.n }

// At is the estimate, the average of the iterates, at x.
func (s *SGD) At(x []float64) float64 { return evaluate(s.basis, s.bound, s.it.mean, x) }

// Coordinates is a copy of the estimate's coordinates, Last of the last iterate's.
func (s *SGD) Coordinates() []float64 { return slices.Clone(s.it.mean) }

// Last is a copy of the coordinates of the last iterate.
func (s *SGD) Last() []float64 { return slices.Clone(s.it.a) }

func evaluate(b Basis, bound float64, coordinates, x []float64) float64 {
	phi := make([]float64, b.Dim())
	features(phi, b, bound, x)
	return dot(coordinates, phi)
}

// pilotPasses over a small pilot make up for its size; the steps of 1/(2B²) keep it from interpolating.
const pilotPasses = 4

// PilotTau returns τ = 1.345·MAD/0.6745 of the residuals of a least-squares fit to pilot data ([REG] Algorithm 2; 1.345 is
// 95% efficiency at normal errors). The pilot must be PUBLIC, or people whose privacy was paid for by other means: a τ
// read off the private stream is a release that nobody accounted for. Under noise a smaller τ, about 0.4 standard
// deviations of the errors, is better still, and can be set without any pilot.
func PilotTau(basis Basis, pilot []Point) (float64, error) {
	if len(pilot) < 10 {
		return 0, fmt.Errorf("regression: a pilot of %d observations says nothing about the errors: give 10 or more, or set τ", len(pilot))
	}
	bound := LargestFeature(basis)
	s, err := NewSGD(SGDConfig{Basis: basis, Tau: math.Inf(1), Steps: Steps{Gamma0: 0.5 / (bound * bound)}, Bound: bound})
	if err != nil {
		return 0, err
	}
	s.steps.Horizon = 1 // constant
	for range pilotPasses {
		for _, p := range pilot {
			if err := s.Add(p.X, p.Y); err != nil {
				return 0, fmt.Errorf("regression: pilot: %w", err)
			}
		}
	}
	residuals := make([]float64, len(pilot))
	for i, p := range pilot {
		residuals[i] = p.Y - s.At(p.X)
	}
	centre := median(residuals)
	for i, r := range residuals {
		residuals[i] = math.Abs(r - centre)
	}
	tau := 1.345 * median(residuals) / 0.6745
	if !(tau > 0) {
		return 0, fmt.Errorf("regression: the pilot's residuals are all alike, which gives τ = 0: set τ")
	}
	return tau, nil
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return stat.Quantile(0.5, stat.LinInterp, v, nil)
}
