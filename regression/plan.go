package regression

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/space"
)

// PlanConfig is what a plan is made from: a stream, and public guesses. It reads no data.
type PlanConfig struct {
	// Stream; its steps may be left at zero, to be chosen for each number of people.
	Stream Stream
	// People are the numbers of people to predict for.
	People []int64
	// Errors is the guessed standard deviation of y around the curve; 0 for τ/1.345.
	Errors float64
	// Truth is a guessed curve, nil for a typical function of the space (a draw of the Gaussian process with its
	// kernel) with root mean square Signal.
	Truth func(x []float64) float64
	// Signal is the guessed root mean square of the curve around the center; 0 for 1.5τ. Ignored with a Truth.
	Signal float64
	// X is a public sample of x, Density its guessed density, up to a factor; without either x is uniform on the box.
	X       [][]float64
	Density func(x []float64) float64
	// Smoothness is r of the exponent that chosen steps are written with; 0 for DefaultSmoothness.
	Smoothness float64
}

// Prediction is the predicted error after N reports. Errors are root mean squares over the box, in units of y.
type Prediction struct {
	N        int64   `json:"n"`
	Steps    Steps   `json:"steps"`
	Error    float64 `json:"error"`
	Bias     float64 `json:"bias"`     // not yet learned, or outside the space
	Privacy  float64 `json:"privacy"`  // from the noise of the reports
	Sampling float64 `json:"sampling"` // from the errors and the choice of x
	// NonPrivate is the error without any privacy noise, at the best constant step.
	NonPrivate float64 `json:"non_private"`
	// Default is the error at SmoothSteps for N reports, which know nothing of the guesses.
	Default float64 `json:"default"`
	// Far is Default for a curve [FarTimes] times as far from the center as was guessed.
	Far float64 `json:"far"`
}

// Plan is the predicted error against the number of people.
type Plan struct {
	NoiseScale  float64      `json:"noise_scale"` // s, per coordinate of a report
	Errors      float64      `json:"errors"`      // guessed, with the default filled in
	Signal      float64      `json:"signal"`      // likewise; with a guessed curve its root mean square around the center
	Mu          float64      `json:"mu"`
	Dim         int          `json:"dim"`
	Influence   float64      `json:"influence"` // see Stream.Influence, at the steps of the last prediction
	Predictions []Prediction `json:"predictions"`
	Warnings    []string     `json:"warnings,omitempty"`
}

// FarTimes is for how much larger a curve a plan states the error, too: a guess of the signal is wrong more often than not, and
// more so than any other.
const FarTimes = 3

// NewPlan predicts the error under the guesses, by the drift of the recursion and the noise around it (predict.go). Steps that are left at
// zero are chosen as the constant step that minimises the predicted error, written with the exponent [PrivateExponent]. A radius is
// not looked at.
func NewPlan(c PlanConfig) (*Plan, error) {
	if len(c.People) == 0 {
		return nil, fmt.Errorf("regression: a plan needs the numbers of people to predict for")
	}
	for _, n := range c.People {
		if n < 1 {
			return nil, fmt.Errorf("regression: number of people %d must be at least 1", n)
		}
	}
	g, err := newGuesser(c)
	if err != nil {
		return nil, err
	}
	o, s := g.o, g.stream
	mu, err := s.Mu(s.Budget)
	if err != nil {
		return nil, err
	}
	p := &Plan{NoiseScale: o.privacy, Mu: float64(mu), Dim: len(o.nu), Errors: g.c.Errors, Signal: g.signal()}
	for _, n := range c.People {
		steps := c.Stream.Steps
		if steps.Gamma0 == 0 {
			steps = g.suggest(n)
		}
		usual, err := SmoothSteps(c.Stream, n, o.smoothness)
		if err != nil {
			return nil, err
		}
		far := usual
		if c.Stream.Steps.Gamma0 != 0 {
			far = c.Stream.Steps
		}
		out, atUsual := g.run(g.near, steps, n), g.run(g.near, usual, n)
		if c.Stream.Steps.Gamma0 == 0 && atUsual.total() < out.total() {
			steps, out = usual, atUsual
		}
		p.Predictions = append(p.Predictions, Prediction{N: n, Steps: steps, Error: math.Sqrt(out.total()), Bias: math.Sqrt(out.bias),
			Privacy: math.Sqrt(out.privacy), Sampling: math.Sqrt(out.sampling), Default: math.Sqrt(atUsual.total()),
			Far: math.Sqrt(g.run(g.far, far, n).total()), NonPrivate: math.Sqrt(g.nonPrivate(n))})
	}
	last := p.Predictions[len(p.Predictions)-1]
	s.Steps = last.Steps
	if p.Influence, err = s.Influence(); err != nil {
		return nil, err
	}
	p.Warnings = s.Warnings(last.N)
	if last.Error > 0.7*p.Signal {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the predicted error %.3g is no smaller than most of the guessed curve, %.3g: more people, a larger budget, a smoother space or a smaller τ are needed", last.Error, p.Signal))
	}
	return p, nil
}

// guesser predicts under public guesses.
type guesser struct {
	o         *oracle
	stream    Stream
	c         PlanConfig   // with its defaults
	near, far []*predictor // for the guessed curve, and one FarTimes as far from the center
}

func newGuesser(c PlanConfig) (*guesser, error) {
	o, s, err := newOracle(c)
	if err != nil {
		return nil, err
	}
	g := &guesser{o: o, stream: s, c: c.withDefaults(s)}
	if g.near, err = newPredictors(s, g.c, o.privacy, 1); err != nil {
		return nil, err
	}
	g.far, err = newPredictors(s, g.c, o.privacy, FarTimes)
	return g, err
}

// signal is the root mean square of the guessed curve around the center.
func (g *guesser) signal() float64 { return math.Sqrt(meanSquare(g.near[0].gridTruth)) }

func (g *guesser) run(p []*predictor, steps Steps, n int64) (mean outcome) {
	for _, one := range p {
		out := one.run(steps, float64(n))
		k := float64(len(p))
		mean.bias += out.bias / k
		mean.privacy += out.privacy / k
		mean.sampling += out.sampling / k
	}
	return mean
}

// suggest takes the step that is best mode by mode, unless another is clearly better for the curve.
func (g *guesser) suggest(n int64) Steps {
	zeta := PrivateExponent(Decay(g.stream.Basis), g.o.smoothness)
	gamma := g.near[0].refine(g.o.best(float64(n), g.stream.Bound), float64(n), g.stream.Bound)
	return Steps{Gamma0: gamma * math.Pow(float64(n), zeta), Exponent: zeta, Horizon: n}
}

// nonPrivate is the mean square error without privacy noise, at the constant step that is best mode by mode.
func (g *guesser) nonPrivate(n int64) float64 {
	plain, p := *g.o, *g.near[0]
	plain.privacy, p.privacy = 0, 0
	return p.run(Steps{Gamma0: plain.best(float64(n), g.stream.Bound), Horizon: 1}, float64(n)).total()
}

// SuggestSteps is the steps that NewPlan would choose for n people.
func SuggestSteps(c PlanConfig, n int64) (Steps, error) {
	if n < 1 {
		return Steps{}, fmt.Errorf("regression: number of people %d must be at least 1", n)
	}
	g, err := newGuesser(c)
	if err != nil {
		return Steps{}, err
	}
	return g.suggest(n), nil
}

// defaultReference is the number of people up to which default steps are fitted for each number.
const defaultReference = 10000

// DefaultSteps is SmoothSteps for DefaultSmoothness.
func DefaultSteps(s Stream, n int64) (Steps, error) { return SmoothSteps(s, n, DefaultSmoothness) }

// SmoothSteps is the constant step γ₀n^−ζ for n people and a curve of smoothness r in (0, 1], knowing nothing else but the stream: up to
// 10,000 people it is the best one under the default guesses of [PlanConfig], and from there on it falls with the exponent ζ,
// [PrivateExponent] for the kernel's α and r. With guesses, SuggestSteps does better.
func SmoothSteps(s Stream, n int64, r float64) (Steps, error) {
	if n < 1 {
		return Steps{}, fmt.Errorf("regression: number of people %d must be at least 1", n)
	}
	s.Steps = Steps{}
	o, s, err := newOracle(PlanConfig{Stream: s, Smoothness: r})
	if err != nil {
		return Steps{}, err
	}
	steps := o.suggest(s, min(n, defaultReference))
	steps.Horizon = n
	return steps, nil
}

func (o *oracle) suggest(s Stream, n int64) Steps {
	zeta := PrivateExponent(Decay(s.Basis), o.smoothness)
	return Steps{Gamma0: o.best(float64(n), s.Bound) * math.Pow(float64(n), zeta), Exponent: zeta, Horizon: n}
}

// Decay is α for the eigenvalues ν_k ~ k^−α of the covariance operator of x with a density on an interval: 2 for the kernels
// laplace, brownian and sobolev1, 4 for matern32 and sobolev2, 6 for matern52, +Inf for analytic kernels and all other spaces.
func Decay(b Basis) float64 {
	one, ok := b.(oneVariable)
	if !ok {
		return math.Inf(1)
	}
	k, ok := one.Space.(*space.KernelSpace)
	if !ok {
		return math.Inf(1)
	}
	name, _, _ := strings.Cut(k.Kern().String(), ":")
	if alpha, known := map[string]float64{"laplace": 2, "brownian": 2, "sobolev1": 2, "matern32": 4, "sobolev2": 4, "matern52": 6}[name]; known {
		return alpha
	}
	return math.Inf(1)
}

// withDefaults fills in the guesses that were left at zero.
func (c PlanConfig) withDefaults(s Stream) PlanConfig {
	if c.Errors == 0 {
		c.Errors = s.Tau / 1.345
	}
	if c.Signal == 0 {
		c.Signal = 1.5 * s.Tau
	}
	if c.Smoothness == 0 {
		c.Smoothness = DefaultSmoothness
	}
	return c
}

// newOracle also returns the stream with what it needs filled in.
func newOracle(c PlanConfig) (*oracle, Stream, error) {
	s := c.Stream
	if s.Steps.Gamma0 == 0 && s.Basis != nil {
		b := LargestFeature(s.Basis)
		s.Steps = Steps{Gamma0: 1 / (b * b), Horizon: 1}
	}
	s = s.WithDefaults()
	if s.Name == "" {
		s.Name = "plan"
	}
	if err := s.Validate(); err != nil {
		return nil, s, err
	}
	c = c.withDefaults(s)
	if !(c.Errors > 0 && c.Errors <= largest) || !(c.Signal > 0 && c.Signal <= largest) {
		return nil, s, fmt.Errorf("regression: guessed errors %v and signal %v must be positive, in units of y", c.Errors, c.Signal)
	}
	if !(c.Smoothness > 0 && c.Smoothness <= 1) {
		return nil, s, fmt.Errorf("regression: smoothness r = %v must lie in (0, 1]: averaging makes no use of more than 1", c.Smoothness)
	}
	sigma, err := s.NoiseScale(s.Budget)
	if err != nil {
		return nil, s, err
	}
	if c.X == nil {
		perAxis := map[int]int{1: 2048, 2: 48, 3: 14}[len(s.Basis.Box())]
		if perAxis == 0 {
			perAxis = 8
		}
		n := make([]int, len(s.Basis.Box()))
		for i := range n {
			n[i] = perAxis
		}
		if c.X, err = space.Centres(s.Basis.Box(), n...); err != nil {
			return nil, s, err
		}
	}
	o := &oracle{tau: s.Tau, errors: c.Errors, privacy: sigma, smoothness: c.Smoothness}
	return o, s, o.diagonalise(s, c)
}

// diagonalise finds the eigenvalues of Σ and the truth's coordinates.
func (o *oracle) diagonalise(s Stream, c PlanConfig) error {
	r := s.Basis.Dim()
	values := mat.NewDense(len(c.X), r, nil)
	for i, x := range c.X {
		if err := checkPoint(s.Basis, x, 0); err != nil {
			return fmt.Errorf("%w (of the sample of x)", err)
		}
		features(values.RawRowView(i), s.Basis, s.Bound, x)
	}
	values.Scale(1/math.Sqrt(float64(len(c.X))), values)
	var svd mat.SVD
	if !svd.Factorize(values, mat.SVDThin) {
		return fmt.Errorf("regression: the covariance of the features did not converge: use a smaller space")
	}
	singular := svd.Values(nil)
	trace := 0.0
	for _, v := range singular {
		o.nu = append(o.nu, v*v)
		trace += v * v
	}
	o.theta = make([]float64, len(o.nu))
	if c.Truth == nil {
		for k := range o.theta {
			o.theta[k] = c.Signal / math.Sqrt(trace)
		}
		return nil
	}
	// The k-th left singular vector is eigenfunction k of Σ at the sample, of unit mean square.
	truth := mat.NewVecDense(len(c.X), nil)
	for i, x := range c.X {
		y := c.Truth(x) - s.Center
		if !finite(y) {
			return fmt.Errorf("regression: the guessed curve is %v at %v: give finite values", y, x)
		}
		truth.SetVec(i, y/math.Sqrt(float64(len(c.X))))
	}
	var u mat.Dense
	svd.UTo(&u)
	o.rest = mat.Dot(truth, truth)
	for k := range o.theta {
		if singular[k] <= 1e-10*singular[0] {
			continue
		}
		inner := mat.Dot(u.ColView(k), truth)
		o.theta[k] = inner / singular[k]
		o.rest -= inner * inner
	}
	o.rest = math.Max(0, o.rest)
	return nil
}
