package regression_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

var _ regression.Ledger = ledger.Person{}

func newServer(t testing.TB, s regression.Stream) *regression.Server {
	v, err := regression.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newClient(t testing.TB, v *regression.Server, c regression.ClientConfig) *regression.Client {
	k, err := regression.NewClient(v.Model(), c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestPersonsOwnLedger: a report is debited before it is made and booked with its hash; one above the cap is not made.
func TestPersonsOwnLedger(t *testing.T) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, filepath.Join(t.TempDir(), "own.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	budget := privacy.Approx{Epsilon: 1, Delta: 1e-6}
	mu, err := privacy.GaussianMu(budget)
	if err != nil {
		t.Fatal(err)
	}
	// √2 would hold two reports, 1.3 holds one.
	if err := l.SetCap(ctx, ledger.CapChange{Dataset: "me", Who: "ada", Cap: privacy.GDP(1.3 * float64(mu)), Unit: "person", Adjacency: privacy.Local}); err != nil {
		t.Fatal(err)
	}
	v := newServer(t, smallStream(t, budget))
	c := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(1), Ledger: ledger.Person{Ledger: l, Dataset: "me", Who: "ada"}})
	if _, err := c.Contribute(ctx, []float64{math.NaN()}, 1); err == nil {
		t.Fatal("NaN was accepted")
	}
	r, err := c.Contribute(ctx, []float64{0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	history, err := l.History(ctx, "me")
	if err != nil {
		t.Fatal(err)
	}
	last := history[len(history)-1]
	if sum := sha256.Sum256(text); last.Kind != ledger.Released || last.Release != hexOf(sum[:]) {
		t.Errorf("the last event is %v of %s, want the release of the report", last.Kind, last.Release)
	}
	_, err = c.Contribute(ctx, []float64{0.5}, 1)
	var over *ledger.OverspendError
	if !errors.As(err, &over) {
		t.Fatalf("a second report above the cap: %v", err)
	}
	if after, err := l.History(ctx, "me"); err != nil || len(after) != len(history) {
		t.Errorf("the refused report changed the ledger from %d to %d events (%v)", len(history), len(after), err)
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// order is a ledger that records whether the source had been used when the expense came.
type order struct {
	refuse error
	booked [][32]byte
	spent  int
}

func (o *order) Spend(context.Context, string, any, privacy.Statement) (func(context.Context, [32]byte) error, error) {
	if o.refuse != nil {
		return nil, o.refuse
	}
	o.spent++
	return func(_ context.Context, release [32]byte) error {
		o.booked = append(o.booked, release)
		return nil
	}, nil
}

func TestClientSpendsFirst(t *testing.T) {
	v := newServer(t, smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6}))
	src := noise.Seeded(3)
	o := &order{refuse: errors.New("no budget")}
	c := newClient(t, v, regression.ClientConfig{Source: src, Ledger: o})
	if _, err := c.Contribute(context.Background(), []float64{0.5}, 1); !errors.Is(err, o.refuse) {
		t.Fatalf("%v", err)
	}
	if src.Uint64() != noise.Seeded(3).Uint64() {
		t.Error("random digits were drawn although the ledger refused")
	}
	// Without a ledger: one report.
	c = newClient(t, v, regression.ClientConfig{Source: noise.Seeded(3)})
	if _, err := c.Contribute(context.Background(), []float64{0.5}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Contribute(context.Background(), []float64{0.5}, 1); !errors.Is(err, regression.ErrOneReport) {
		t.Errorf("a second report without a ledger: %v", err)
	}
}

func TestClientTerms(t *testing.T) {
	fixed := smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6})
	mixed := fixed
	mixed.Mixed = true
	for _, c := range []struct {
		name   string
		stream regression.Stream
		config regression.ClientConfig
		ok     bool
	}{
		{"stream's budget", fixed, regression.ClientConfig{}, true},
		{"own budget, fixed", fixed, regression.ClientConfig{Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}}, false},
		{"own budget, mixed", mixed, regression.ClientConfig{Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}}, true},
		{"less private", mixed, regression.ClientConfig{Budget: privacy.Approx{Epsilon: 3, Delta: 1e-6}}, false},
		{"larger δ", mixed, regression.ClientConfig{Budget: privacy.Approx{Epsilon: 1, Delta: 1e-5}}, false},
		{"ceiling above", fixed, regression.ClientConfig{Ceiling: privacy.Approx{Epsilon: 2, Delta: 1e-6}}, true},
		{"ceiling ε below", fixed, regression.ClientConfig{Ceiling: privacy.Approx{Epsilon: 1.9, Delta: 1e-6}}, false},
		{"ceiling δ below", fixed, regression.ClientConfig{Ceiling: privacy.Approx{Epsilon: 2, Delta: 1e-7}}, false},
		{"no ε", mixed, regression.ClientConfig{Budget: privacy.Approx{Delta: 1e-6}}, false},
	} {
		if _, err := regression.NewClient(newServer(t, c.stream).Model(), c.config); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestClientRefusesBadModels(t *testing.T) {
	good := *newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6})).Model()
	for name, spoil := range map[string]func(*regression.Model){
		"negative version":  func(m *regression.Model) { m.At = -1 },
		"short":             func(m *regression.Model) { m.Coordinates = m.Coordinates[:2] },
		"NaN":               func(m *regression.Model) { m.Coordinates = []float64{0, math.NaN(), 0} },
		"Inf":               func(m *regression.Model) { m.Coordinates = []float64{0, math.Inf(1), 0} },
		"huge":              func(m *regression.Model) { m.Coordinates = []float64{0, 1e300, 0} },
		"τ 0":               func(m *regression.Model) { m.Stream.Tau = 0 },
		"squared loss":      func(m *regression.Model) { m.Stream.Tau = math.Inf(1) },
		"B too small":       func(m *regression.Model) { m.Stream.Bound = 0.1 },
		"B NaN":             func(m *regression.Model) { m.Stream.Bound = math.NaN() },
		"no space":          func(m *regression.Model) { m.Stream.Basis = nil },
		"no name":           func(m *regression.Model) { m.Stream.Name = "" },
		"control character": func(m *regression.Model) { m.Stream.Name = "a\x1b[2J" },
		"δ 0":               func(m *regression.Model) { m.Stream.Budget.Delta = 0 },
		"δ 1":               func(m *regression.Model) { m.Stream.Budget.Delta = 1 },
		"step too large":    func(m *regression.Model) { m.Stream.Steps.Gamma0 = 1e9 },
		"step NaN":          func(m *regression.Model) { m.Stream.Steps.Gamma0 = math.NaN() },
		"calibration":       func(m *regression.Model) { m.Stream.Calibration = "none" },
		"classical, ε 10": func(m *regression.Model) {
			m.Stream.Calibration, m.Stream.Budget = regression.Classical, privacy.Approx{Epsilon: 10, Delta: 1e-5}
		},
		"staleness": func(m *regression.Model) { m.Stream.Staleness = 0 },
		"ε tiny":    func(m *regression.Model) { m.Stream.Budget.Epsilon, m.Stream.Budget.Delta = 1e-300, 1e-300 },
	} {
		m := good
		spoil(&m)
		if _, err := regression.NewClient(&m, regression.ClientConfig{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := regression.NewClient(&good, regression.ClientConfig{}); err != nil {
		t.Error(err)
	}
}

// TestRetryIsIdentical: marshalling a report again gives the same bytes, and a decoded report is the same.
func TestRetryIsIdentical(t *testing.T) {
	v := newServer(t, smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6}))
	r, err := newClient(t, v, regression.ClientConfig{}).Contribute(context.Background(), []float64{0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Private {
		t.Error("a report with cryptographic noise says that it is a demonstration")
	}
	one, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back regression.Report
	if err := json.Unmarshal(one, &back); err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(back)
	if err != nil || string(one) != string(two) {
		t.Errorf("%v\n%s\n%s", err, one, two)
	}
	if repeated, err := v.Apply(r); repeated || err != nil {
		t.Errorf("first: %v %v", repeated, err)
	}
	if repeated, err := v.Apply(&back); !repeated || err != nil {
		t.Errorf("again: %v %v", repeated, err)
	}
}

func TestWarnings(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 3, Delta: 0.1})
	if w := s.Warnings(1000); len(w) != 1 || !strings.Contains(w[0], "δ = 0.1") {
		t.Errorf("δ = 0.1 with 1000 people: %q", w)
	}
	s.Budget.Delta = 1e-6
	if w := s.Warnings(1000); len(w) != 0 {
		t.Errorf("δ = 1e-6 with 1000 people: %q", w)
	}
	s.Budget.Epsilon = 8
	if w := s.Warnings(0); len(w) != 0 {
		t.Errorf("ε = 8: %q", w)
	}
	s.Budget.Epsilon = 50
	if w := s.Warnings(0); len(w) != 1 || !strings.Contains(w[0], "ε = 50") {
		t.Errorf("ε = 50: %q", w)
	}
	s.Budget.Epsilon = 1000 // e^1000 = 1.97e434
	if w := s.Warnings(0); len(w) != 1 || !strings.Contains(w[0], "e^1000 = about 10^434 times") {
		t.Errorf("ε = 1000: %q", w)
	}
}
