package regression

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Ledger is the person's own record of what was spent on the person's data, on the person's device; package ledger has
// one (ledger.Person).
type Ledger interface {
	// Spend returns after the expense is on stable storage, or refuses it. complete records the SHA-256 of what was
	// released; without it the ledger shows the expense as spent and not released.
	Spend(ctx context.Context, verb string, parameters any, s privacy.Statement) (complete func(ctx context.Context, release [sha256.Size]byte) error, err error)
}

// Verb is what a client's expense is booked as.
const Verb = "regression"

// ErrOneReport refuses a second report of a client without a ledger.
var ErrOneReport = errors.New("regression: this client has made its report, and a second one about the same person adds to what the first gave away: give it a ledger with budget for two")

// ClientConfig is the person's side of the agreement.
type ClientConfig struct {
	// Ledger; nil for a client that makes one report and refuses a second.
	Ledger Ledger
	// Budget of the person's reports, in a stream that accepts mixed ones; zero for the stream's.
	Budget privacy.Approx
	// Ceiling is the largest budget the person agrees to, whatever the stream asks; zero for no ceiling.
	Ceiling privacy.Approx
	// Source of the noise; nil for noise.Crypto().
	Source *noise.Source
}

// Client is a person's side of a stream: it takes the gradient at the published model and makes it private on the
// device. Not for concurrent use.
//
// Who changes: the person's (x, y) becomes any other (x′, y′). By how much: g = ℓ_τ(y − a·φ(x))·φ(x) has
// ‖g‖ ≤ τB, whatever the published a, because |ℓ_τ| ≤ τ and φ is shortened to ‖φ(x)‖ ≤ B; so ‖g − g′‖ ≤ 2τB ([REG] §3.2), and a
// basis cut to r functions only shortens vectors. What counts is not this arithmetic but its result: g is rounded
// into the integer ball of radius τB, where the bound is checked exactly. Noise: mechanism.Device, round(s·ξ) with
// s = 2τB/μ, μ from the report's (ε,δ). The report is the noisy integers, public numbers, and an id drawn independently.
// Proof note: docs/privacy.md#regression.
type Client struct {
	model       Model
	fingerprint Fingerprint
	budget      privacy.Approx
	device      *mechanism.Device
	ledger      Ledger
	src         *noise.Source
	spent       bool
	phi, sum    []float64
}

// NewClient checks the model and the person's terms. The model comes from a server that is not trusted: the client
// computes the noise from τ, B and the budget itself, and any finite model is as private as any other.
func NewClient(m *Model, c ClientConfig) (*Client, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	budget := c.Budget
	if budget == (privacy.Approx{}) {
		budget = m.Stream.Budget
	}
	if err := m.Stream.checkBudget(budget); err != nil {
		return nil, err
	}
	if top := c.Ceiling; top != (privacy.Approx{}) && (budget.Epsilon > top.Epsilon || budget.Delta > top.Delta) {
		ceiling := top.String()
		if top.Delta >= 1 {
			ceiling = fmt.Sprintf("ε = %g", top.Epsilon)
		}
		return nil, fmt.Errorf("regression: stream %q asks for reports at %v, above the ceiling of %s that was set here: do not contribute, or raise the ceiling", m.Stream.Name, budget, ceiling)
	}
	device, err := m.Stream.device(budget)
	if err != nil {
		return nil, err
	}
	f, err := m.Stream.Fingerprint()
	if err != nil {
		return nil, err
	}
	if c.Source == nil {
		c.Source = noise.Crypto()
	}
	return &Client{model: Model{m.Stream, m.At, slices.Clone(m.Coordinates)}, fingerprint: f, budget: budget, device: device,
		ledger: c.Ledger, src: c.Source, phi: make([]float64, m.Stream.Basis.Dim()), sum: make([]float64, m.Stream.Basis.Dim())}, nil
}

// Update moves the client to a newer position of its stream.
func (c *Client) Update(p *Position) error {
	if p.Stream != c.fingerprint {
		return fmt.Errorf("regression: the position belongs to stream %v, the client to %v: fetch the whole model", p.Stream, c.fingerprint)
	}
	if err := checkPosition(p.At, p.Coordinates, len(c.model.Coordinates)); err != nil {
		return err
	}
	c.model.At = p.At
	copy(c.model.Coordinates, p.Coordinates)
	return nil
}

// Contribute makes one report about (x, y): it spends, draws the noise, and books the report. x outside the box counts
// as the nearest point of it, so that whether there is a report says nothing about x; [Stream.Inside] is for asking the person.
//
// Send the report until the server answers, always the same one: a server applies an id once, and two different reports
// about the same (x, y), with fresh noise each, tell more than one (averaging halves the noise's variance). When the server
// finds the report stale, a new one at the new version is a second release: calling Contribute again spends again, and the ledger
// refuses when the person's budget does not hold it. Then the person stays out, which costs the stream one report and
// the person nothing.
//
// An error about x or y comes before anything is spent. When only the booking of the finished report fails, the report comes
// along with the error: the expense is on record, and the report may be sent.
func (c *Client) Contribute(ctx context.Context, x []float64, y float64) (*Report, error) {
	return c.ContributeAll(ctx, []Point{{X: x, Y: y}})
}

// ContributeAll makes one report about all points of the person: the average of their gradients, which is no longer than τB
// either, at the price of one. A person counts as much as any other, however many points there are.
func (c *Client) ContributeAll(ctx context.Context, points []Point) (*Report, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("regression: a person without points: give at least one")
	}
	for _, p := range points {
		if err := checkPoint(c.model.Stream.Basis, p.X, p.Y); err != nil {
			return nil, err
		}
	}
	var complete func(context.Context, [sha256.Size]byte) error
	if c.ledger == nil {
		if c.spent {
			return nil, ErrOneReport
		}
		c.spent = true
	} else {
		var err error
		parameters := map[string]any{"stream": c.model.Stream.Name, "fingerprint": c.fingerprint.String(), "at": c.model.At}
		if complete, err = c.ledger.Spend(ctx, Verb, parameters, c.model.Stream.Statement(c.budget)); err != nil {
			return nil, err
		}
	}
	r := &Report{Coordinates: make([]int64, len(c.phi))}
	if err := c.privatize(r, points); err != nil {
		return nil, err
	}
	if complete == nil {
		return r, nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("regression: %w", err)
	}
	if err := complete(ctx, sha256.Sum256(text)); err != nil {
		return r, fmt.Errorf("regression: the report was made, but the ledger could not book it: %w", err)
	}
	return r, nil
}

// privatize fills the report; its coordinates have the right length, and there are points.
func (c *Client) privatize(r *Report, points []Point) error {
	g := c.gradient(points[0])
	if len(points) > 1 {
		copy(c.sum, g)
		for _, p := range points[1:] {
			floats.Add(c.sum, c.gradient(p))
		}
		floats.Scale(1/float64(len(points)), c.sum)
		g = c.sum
	}
	r.ID, r.Stream, r.At, r.Budget, r.Private = newID(c.src), c.fingerprint, c.model.At, c.budget, c.src.Private()
	if err := c.device.Release(r.Coordinates, g, c.src); err != nil {
		return fmt.Errorf("regression: %w", err)
	}
	return nil
}

// gradient is that of the loss at a point, good until the next call.
func (c *Client) gradient(p Point) []float64 {
	s := &c.model.Stream
	features(c.phi, s.Basis, s.Bound, p.X)
	// |a·φ| ≤ dim·1e50·1e50, so the residual is a number or, for absurd y, infinite, never NaN.
	residual := huber(p.Y-s.Center-dot(c.model.Coordinates, c.phi), s.Tau)
	for j, v := range c.phi {
		c.phi[j] = residual * v
	}
	return c.phi
}
