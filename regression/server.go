package regression

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/privacy"
)

// Server is the collecting side of a stream. It sees reports only, so everything it computes is post-processing. Not for
// concurrent use: reports are applied one after the other, and the state is a function of the stream and the
// sequence of reports, to the bit.
type Server struct {
	stream      Stream
	text        []byte // the stream's JSON
	fingerprint Fingerprint
	step        float64 // of the lattice
	it          iterate
	n           int64
	private     bool // no report from a seeded source yet
	noise       noiseBound
	seen        seen
	terms       map[privacy.Approx]terms
	gamma       float64 // constant step, 0 for decaying ones
}

// terms are what a budget means for a report of a stream.
type terms struct {
	sigma  float64 // sd of the noise
	limit  float64 // largest plausible squared norm, in squared lattice steps
	weight float64
}

const maxTerms = 4096 // budgets whose terms are kept

// Reason says why a report was refused.
type Reason string

// The reasons, and what a service should answer.
const (
	OtherStream Reason = "other-stream" // the report was made for another stream: fetch the model (HTTP 409)
	Stale       Reason = "stale"        // made at too old a version: see Client.Contribute (409, with the current model)
	Future      Reason = "future"       // made at a version that does not exist yet (422)
	BadBudget   Reason = "budget"       // the stream does not take reports of this (ε,δ) (422)
	Malformed   Reason = "malformed"    // wrong number of coordinates (422)
	Implausible Reason = "implausible"  // longer than an honest report ever is (422)
)

// Refusal says why a report was not applied; nothing has changed.
type Refusal struct {
	Reason Reason
	Detail string
}

func (r *Refusal) Error() string { return "regression: report refused: " + r.Detail }

func refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// NewServer opens a stream at version 0, where the curve is zero (the center).
func NewServer(s Stream) (*Server, error) {
	s = s.WithDefaults()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	ball, err := s.ball()
	if err != nil {
		return nil, fmt.Errorf("regression: %w", err)
	}
	v := &Server{stream: s, text: text, fingerprint: fingerprint(text), step: ball.Step(), it: newIterate(s.Basis.Dim(), s.Radius),
		private: true, seen: newSeen(s.Staleness), terms: map[privacy.Approx]terms{}}
	if s.Steps.Horizon > 0 {
		v.gamma = s.Steps.At(1)
	}
	return v, nil
}

// Stream is the public description, with its defaults filled in.
func (v *Server) Stream() Stream { return v.stream }

// Fingerprint is that of the stream.
func (v *Server) Fingerprint() Fingerprint { return v.fingerprint }

// At is the version: the number of reports applied.
func (v *Server) At() int64 { return v.n }

// Model is what clients need, a copy.
func (v *Server) Model() *Model { return &Model{v.stream, v.n, slices.Clone(v.it.a)} }

// ModelJSON is the model's JSON, without validating the stream anew.
func (v *Server) ModelJSON() ([]byte, error) { return marshalModel(v.text, v.n, v.it.a) }

// Position is the part of the model that changes, a copy.
func (v *Server) Position() *Position {
	return &Position{v.fingerprint, v.n, slices.Clone(v.it.a)}
}

// Check says whether Apply would refuse the report, and changes nothing. A repeat of an applied report passes.
func (v *Server) Check(r *Report) error {
	if v.seen.has(r.ID) {
		return nil
	}
	_, err := v.check(r)
	return err
}

// Apply applies the report, unless one with its id has been applied: then repeated is true and nothing changes. A
// *[Refusal] says why it cannot be applied; nothing changes. Whether it is applied depends on the stream and the
// reports applied before, so that replaying a log of reports, refused ones and repeats included, gives the same state.
func (v *Server) Apply(r *Report) (repeated bool, err error) {
	if v.seen.has(r.ID) {
		return true, nil
	}
	t, err := v.check(r)
	if err != nil {
		return false, err
	}
	gamma := v.gamma
	if gamma == 0 {
		gamma = v.stream.Steps.At(v.it.weight + 1)
	}
	gamma = float64(gamma * t.weight)
	step(&v.it, gamma, v.step, t.weight, r.Coordinates)
	v.noise.add(gamma, t.sigma, t.weight)
	v.n++
	v.private = v.private && r.Private
	v.seen.add(r.ID)
	return false, nil
}

func (v *Server) check(r *Report) (terms, error) {
	switch {
	case r.Stream != v.fingerprint:
		return terms{}, refuse(OtherStream, "it belongs to stream %v, this is stream %q (%v): fetch the model", r.Stream, v.stream.Name, v.fingerprint)
	case r.At > v.n:
		return terms{}, refuse(Future, "it refers to version %d of the model, the newest is %d", r.At, v.n)
	case v.n-r.At > v.stream.Staleness:
		return terms{}, refuse(Stale, "it refers to version %d of the model, the newest is %d and only %d older ones are accepted: fetch the model again", r.At, v.n, v.stream.Staleness)
	case len(r.Coordinates) != len(v.it.a):
		return terms{}, refuse(Malformed, "it has %d coordinates, the space of the stream has dimension %d", len(r.Coordinates), len(v.it.a))
	}
	t, known := v.terms[r.Budget]
	if !known {
		var err error
		if t, err = v.termsOf(r.Budget); err != nil {
			return terms{}, err
		}
		if len(v.terms) < maxTerms {
			v.terms[r.Budget] = t
		}
	}
	norm := 0.0
	for _, k := range r.Coordinates {
		norm += float64(float64(k) * float64(k))
	}
	if norm > t.limit {
		return terms{}, refuse(Implausible, "its length is %.4g, an honest report's is below %.4g", math.Sqrt(norm)*v.step, math.Sqrt(t.limit)*v.step)
	}
	return t, nil
}

// plausibleDeviations above √r a standard normal vector in R^r is longer with probability below e^−18.
const plausibleDeviations = 6

// termsOf: an honest report has length below τB + s(√r+6), but for a chance of 1.5e-8. Reports of a larger s than the stream's count
// with weight (s_stream/s)², as in the best linear combination of estimates with these variances; then none moves
// the curve further than a report at the stream's budget can.
func (v *Server) termsOf(b privacy.Approx) (terms, error) {
	if err := v.stream.checkBudget(b); err != nil {
		return terms{}, &Refusal{BadBudget, err.Error()}
	}
	sigma, err := v.stream.NoiseScale(b)
	if err != nil {
		return terms{}, &Refusal{BadBudget, err.Error()}
	}
	usual, err := v.stream.NoiseScale(v.stream.Budget)
	if err != nil {
		return terms{}, err
	}
	limit := v.stream.largestReport(sigma) / v.step
	weight := math.Min(1, usual/sigma)
	return terms{sigma: sigma, limit: limit * limit, weight: weight * weight}, nil
}

// largestReport is the length up to which a report with noise of the scale is plausible.
func (s Stream) largestReport(sigma float64) float64 {
	return s.Tau*s.Bound + sigma*(math.Sqrt(float64(s.Basis.Dim()))+plausibleDeviations)
}

// Influence bounds what a single report, honest or forged, can do to the curve, as a distance in the norm of the space;
// times B it bounds the change at every x. A run in which the report had been zero, with the same later people and the same
// noise, ends within γ₁·(τB+s(√r+6)) of this one, and m such reports move it by at most m times that. The reason: the loss is
// convex with B²-Lipschitz gradient, so for two runs that apply the same person each step γ ≤ 2/B² is a contraction, as is the
// projection, and averages are no further apart than iterates. It is proved for people who answer at the newest version; the
// delays that the default staleness allows were only tried.
func (s Stream) Influence() (float64, error) {
	s = s.WithDefaults()
	sigma, err := s.NoiseScale(s.Budget)
	if err != nil {
		return 0, err
	}
	return s.Steps.At(1) * s.largestReport(sigma), nil
}

// Reach bounds how far from the center the estimate can be after n reports but for their noise, at any x and wherever the people's y
// are: a report moves the iterate by γτB at most, and the average of the iterates by what is left of it. An estimate that has not had the reports to
// reach the people's curve lies near the center, and no band around it shows that.
func (s Stream) Reach(n int64) float64 {
	s = s.WithDefaults()
	sum := s.Steps.At(1) * (float64(n) + 1) / 2 // Σ (n−i+1)γᵢ/n; decaying steps are no larger than the first
	if s.Steps.Horizon == 0 && n <= 1_000_000 {
		sum = 0
		for i := range n {
			sum += s.Steps.At(float64(i+1)) * float64(n-i) / float64(n)
		}
	}
	reach := s.Tau * s.Bound * s.Bound * sum
	if s.Radius > 0 {
		reach = min(reach, s.Radius*s.Bound)
	}
	return reach
}

// Estimate is the estimate at x: the average of the iterates, plus the center. Before any report it is the center.
func (v *Server) Estimate(x []float64) float64 {
	return v.stream.Center + evaluate(v.stream.Basis, v.stream.Bound, v.it.mean, x)
}

// Coordinates is a copy of the estimate's coordinates.
func (v *Server) Coordinates() []float64 { return slices.Clone(v.it.mean) }
