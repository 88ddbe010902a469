package regression

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Calibration turns (ε,δ) into a noise scale.
type Calibration string

const (
	// Analytic is the smallest Gaussian noise that is (ε,δ) (Balle, Wang 2018).
	Analytic Calibration = "analytic"
	// Classical is the paper's s² = 8τ²B²·ln(2/δ)/ε², for reproducing it: 2–3 times the variance at the paper's levels, and
	// refused where it does not give the (ε,δ) it claims.
	Classical Calibration = "classical"
)

// Stream is what is public about a regression stream before anybody contributes. Client and server both compute
// from it what they need; in particular the client takes no noise scale from the server.
type Stream struct {
	Name  string // public
	Basis Basis
	// Tau is τ of the Huber loss, in units of y: public, see [PilotTau].
	Tau float64
	// Bound is B ≥ ‖φ(x)‖; 0 for [LargestFeature]. A smaller one is refused: it would bend functions of the space.
	Bound float64
	// Center is a public guess of y's level; the deviation from it is what is learned.
	Center float64
	Steps  Steps
	// Budget is (ε,δ) of one report, and what the release claims.
	Budget      privacy.Approx
	Calibration Calibration // "" for Analytic
	// Mixed accepts reports with a smaller ε or δ than Budget, made by people who want more privacy: they are
	// noisier and count for less, in proportion to the variance of their noise.
	Mixed bool
	// Staleness is how many reports may have been applied since the model that a report refers to; 0 for
	// 1/(γ₁B²), at which the delay is harmless (methods §5), and at least 1.
	Staleness int64
	// Radius, if not 0, is that of the ball the iterates are projected onto, in the norm of the space: a public
	// bound on the curve.
	Radius float64
	// Unit names who is protected; "" for "person".
	Unit           string
	XLabel, YLabel string
}

const (
	smallest     = 1e-50 // of τ, B, |a|: their products stay normal numbers
	largest      = 1e50
	maxDim       = 1 << 14
	maxStaleness = 1 << 24
	maxText      = 1000
)

// WithDefaults fills in what was left at zero.
func (s Stream) WithDefaults() Stream {
	if s.Bound == 0 && s.Basis != nil {
		s.Bound = LargestFeature(s.Basis)
	}
	if s.Calibration == "" {
		s.Calibration = Analytic
	}
	if s.Unit == "" {
		s.Unit = "person"
	}
	if s.Staleness == 0 && s.Bound > 0 && s.Steps.Gamma0 > 0 {
		s.Staleness = int64(min(max(1, 1/(s.Steps.At(1)*largestEigenvalue(s.Basis, s.Bound))), maxStaleness))
	}
	return s
}

// Validate reports the first thing that makes no sense. Defaults must have been filled in.
func (s Stream) Validate() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("regression: a stream needs a name")
	case s.Basis == nil:
		return fmt.Errorf("regression: stream %q has no space: take one, such as a kernel space on public centres", s.Name)
	case s.Basis.Dim() > maxDim:
		return fmt.Errorf("regression: the space has dimension %d, at most %d are accepted: raise the eigenvalue floor", s.Basis.Dim(), maxDim)
	case math.IsInf(s.Tau, 1):
		return fmt.Errorf("regression: the squared loss (τ = +Inf) bounds no gradient, so no noise makes it private: give a finite τ")
	case !(s.Tau >= smallest && s.Tau <= largest):
		return fmt.Errorf("regression: τ = %v must lie in [%g, %g], in units of y: set it from a public pilot", s.Tau, smallest, largest)
	case !(s.Bound >= smallest && s.Bound <= largest):
		return fmt.Errorf("regression: bound B = %v must lie in [%g, %g]", s.Bound, smallest, largest)
	case !(math.Abs(s.Center) <= largest):
		return fmt.Errorf("regression: center %v must be a number below %g", s.Center, largest)
	case s.Staleness < 1 || s.Staleness > maxStaleness:
		return fmt.Errorf("regression: staleness %d must lie between 1 and %d reports", s.Staleness, maxStaleness)
	case !(s.Radius >= 0 && s.Radius <= largest):
		return fmt.Errorf("regression: radius %v must be a positive number, or 0 for none", s.Radius)
	case s.Unit == "":
		return fmt.Errorf("regression: no unit of privacy given: name who is protected, such as \"person\"")
	}
	for _, text := range []string{s.Name, s.Unit, s.XLabel, s.YLabel} {
		if err := checkText(text); err != nil {
			return err
		}
	}
	if top := LargestFeature(s.Basis); s.Bound < top*(1-1e-6) {
		return fmt.Errorf("regression: bound B = %v is below the largest ‖e(x)‖ = %v of the space: take that, or a smaller space", s.Bound, top)
	}
	if err := s.Steps.Validate(s.Bound); err != nil {
		return err
	}
	d, err := s.device(s.Budget)
	if err != nil {
		return err
	}
	// So that no number of reports takes the coordinates to where a client refuses them.
	if move := s.Steps.At(1) * s.largestReport(d.Scale()); !(move <= largest*0x1p-63) {
		return fmt.Errorf("regression: a single report may move the curve by %.3g: use other units of y, or more moderate τ, B and budget", move)
	}
	return nil
}

// checkText keeps out what would play with a terminal.
func checkText(text string) error {
	if len(text) > maxText || !utf8.ValidString(text) {
		return fmt.Errorf("regression: a text of %d bytes must be UTF-8 and at most %d long", len(text), maxText)
	}
	for _, c := range text {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return fmt.Errorf("regression: text %q holds the unprintable character %U: remove it", text, c)
		}
	}
	return nil
}

func (s Stream) ball() (lattice.Ball, error) {
	// Rounded up, so that the pull into the ball never shortens an honest gradient by more than rounding.
	return lattice.NewBall(privacy.MulUp(s.Tau, s.Bound), s.Basis.Dim())
}

// Mu is the μ of GDP of one report at the budget, by the stream's calibration.
func (s Stream) Mu(budget privacy.Approx) (privacy.GDP, error) {
	if err := budget.Validate(); err != nil {
		return 0, fmt.Errorf("regression: %w", err)
	}
	switch s.Calibration {
	case Analytic, "":
		return privacy.GaussianMu(budget)
	case Classical:
		c, err := privacy.ClassicalMu(budget, privacy.ClassicalRegression)
		if err != nil {
			return 0, fmt.Errorf("regression: %w", err)
		}
		if !c.Holds {
			return 0, fmt.Errorf("regression: the classical calibration to %v has in truth δ = %.3g at that ε: take the analytic calibration", budget, c.Delta)
		}
		return c.Mu, nil
	}
	return 0, fmt.Errorf("regression: unknown calibration %q: take %q or %q", s.Calibration, Analytic, Classical)
}

// device is the mechanism of one report.
func (s Stream) device(budget privacy.Approx) (*mechanism.Device, error) {
	mu, err := s.Mu(budget)
	if err != nil {
		return nil, err
	}
	ball, err := s.ball()
	if err != nil {
		return nil, fmt.Errorf("regression: %w", err)
	}
	d, err := mechanism.NewDevice(ball, mu)
	if err != nil {
		return nil, fmt.Errorf("regression: %w", err)
	}
	return d, nil
}

// NoiseScale is the standard deviation of the noise in each coordinate of a report with the budget: 2τB/μ.
func (s Stream) NoiseScale(budget privacy.Approx) (float64, error) {
	d, err := s.device(budget)
	if err != nil {
		return 0, err
	}
	return d.Scale(), nil
}

// checkBudget says whether a report may have the budget.
func (s Stream) checkBudget(b privacy.Approx) error {
	switch {
	case b == s.Budget:
		return nil
	case !s.Mixed:
		return fmt.Errorf("regression: a budget of %v, the stream takes reports at %v only", b, s.Budget)
	case b.Validate() != nil || b.Epsilon == 0:
		return fmt.Errorf("regression: the budget of a report needs ε > 0 and 0 < δ < 1, found ε = %v, δ = %v", b.Epsilon, b.Delta)
	case b.Epsilon > s.Budget.Epsilon || b.Delta > s.Budget.Delta:
		return fmt.Errorf("regression: %v is less private than the stream's %v, which the release claims for everybody: ask for no more", b, s.Budget)
	}
	return nil
}

// Statement is what one report guarantees to whom.
func (s Stream) Statement(budget privacy.Approx) privacy.Statement {
	return privacy.Statement{Guarantee: budget, Adjacency: privacy.Local, Unit: s.Unit}
}

// hugeEpsilon is where e^ε, the factor by which a report may change the odds of a guess about the person, is 3000.
const hugeEpsilon = 8

// Warnings says what a person, or whoever opens the stream, should know: n is the number of people expected, 0 when not
// known.
func (s Stream) Warnings(n int64) []string {
	var w []string
	if n > 0 && s.Budget.Delta > 1/float64(n) {
		w = append(w, fmt.Sprintf("δ = %g is above one over the number of people, 1/%d: publishing a random δ of the records in clear would satisfy (0,δ), so this is hardly privacy; take δ below %.1g", s.Budget.Delta, n, 1/float64(n)))
	}
	if s.Budget.Epsilon > hugeEpsilon {
		w = append(w, fmt.Sprintf("ε = %g protects hardly anybody: one report may make a guess about the person e^%g = %s times as likely as it was; ε of 1 or 2 is usual, above %d nothing is promised that matters", s.Budget.Epsilon, s.Budget.Epsilon, exponential(s.Budget.Epsilon), hugeEpsilon))
	}
	if s.Calibration == Classical {
		w = append(w, "the classical calibration wastes noise: the analytic one gives the same guarantee with less")
	}
	return w
}

// exponential is e^x in words, also where it is no float64.
func exponential(x float64) string {
	if y := math.Exp(x); !math.IsInf(y, 1) {
		return fmt.Sprintf("%.2g", y)
	}
	return fmt.Sprintf("about 10^%.0f", math.Floor(x/math.Ln10))
}

// Fingerprint identifies a stream: the start of the SHA-256 of its JSON.
type Fingerprint [16]byte

func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Fingerprint is what reports refer to: any difference between what client and server take for public makes another.
func (s Stream) Fingerprint() (f Fingerprint, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return f, err
	}
	return fingerprint(text), nil
}

func fingerprint(stream []byte) (f Fingerprint) {
	sum := sha256.Sum256(stream)
	copy(f[:], sum[:])
	return f
}

type streamForm struct {
	Name        string      `json:"name"`
	Space       any         `json:"space"`
	Tau         float64     `json:"tau"`
	Bound       float64     `json:"bound"`
	Center      float64     `json:"center"`
	Steps       Steps       `json:"steps"`
	Epsilon     float64     `json:"epsilon"`
	Delta       float64     `json:"delta"`
	Calibration Calibration `json:"calibration"`
	Mixed       bool        `json:"mixed"`
	Staleness   int64       `json:"staleness"`
	Radius      float64     `json:"radius"`
	Unit        string      `json:"unit"`
	XLabel      string      `json:"x_label"`
	YLabel      string      `json:"y_label"`
}

// MarshalJSON writes the stream with its defaults filled in. An invalid one is refused.
func (s Stream) MarshalJSON() ([]byte, error) {
	s = s.WithDefaults()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(streamForm{Name: s.Name, Space: s.Basis, Tau: s.Tau, Bound: s.Bound, Center: s.Center, Steps: s.Steps,
		Epsilon: s.Budget.Epsilon, Delta: s.Budget.Delta, Calibration: s.Calibration, Mixed: s.Mixed, Staleness: s.Staleness,
		Radius: s.Radius, Unit: s.Unit, XLabel: s.XLabel, YLabel: s.YLabel})
}

// UnmarshalJSON reads what MarshalJSON writes: no field unknown, missing, repeated or null, and nothing that Validate refuses.
func (s *Stream) UnmarshalJSON(data []byte) error {
	o, err := strictjson.Read("regression: stream", data)
	if err != nil {
		return err
	}
	var out Stream
	basis, err := o.Raw("space")
	if err != nil {
		return err
	}
	steps, err := o.Raw("steps")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"name", &out.Name}, {"tau", &out.Tau}, {"bound", &out.Bound}, {"center", &out.Center}, {"epsilon", &out.Budget.Epsilon},
		{"delta", &out.Budget.Delta}, {"calibration", &out.Calibration}, {"mixed", &out.Mixed}, {"staleness", &out.Staleness},
		{"radius", &out.Radius}, {"unit", &out.Unit}, {"x_label", &out.XLabel}, {"y_label", &out.YLabel},
	} {
		if err := o.Take(f.name, f.to); err != nil {
			return err
		}
	}
	if err := o.Done(); err != nil {
		return err
	}
	if out.Steps, err = readSteps(steps); err != nil {
		return err
	}
	if out.Basis, err = unmarshalBasis(basis); err != nil {
		return fmt.Errorf("regression: stream: %w", err)
	}
	if out.Calibration == "" {
		return fmt.Errorf("regression: stream: calibration is empty: it is %q or %q", Analytic, Classical)
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*s = out
	return nil
}

// Domains is the box of x.
func (s Stream) Domains() []space.Interval { return s.Basis.Box() }

// Inside says whether x lies in the box, with an error that names the range. Clients take x outside to the nearest point; whoever
// asks a person for x can ask again.
func (s Stream) Inside(x []float64) error {
	if err := checkPoint(s.Basis, x, 0); err != nil {
		return err
	}
	for i, d := range s.Basis.Box() {
		if !d.Contains(x[i]) {
			return fmt.Errorf("regression: x[%d] = %v is outside the published range [%v, %v] of stream %q: check its unit; a curve is learned on that range only", i, x[i], d.A, d.B, s.Name)
		}
	}
	return nil
}
