package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/curveil/curveil/privacy"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("CURVEIL_LEDGER_HELPER"); mode != "" {
		os.Exit(helper(mode))
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// onBoth runs a test against both back ends, each with an empty ledger. Raw is a second connection, past the package.
func onBoth(t *testing.T, test func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "a ledger?#%.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, postgresURL(t)) })
}

// onBothAtOnce is onBoth for tests that mostly wait.
func onBothAtOnce(t *testing.T, test func(t *testing.T, where string)) {
	onBoth(t, func(t *testing.T, where string) {
		t.Parallel()
		test(t, where)
	})
}

func open(t testing.TB, where string) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// raw returns a connection that bypasses the package.
func raw(t testing.TB, l *Ledger) *sql.DB { return l.b.db }

func patients(g privacy.Guarantee) privacy.Statement {
	return privacy.Statement{Guarantee: g, Adjacency: privacy.ReplaceOne, Unit: "patient"}
}

func entry(dataset string, g privacy.Guarantee) Entry {
	return Entry{Dataset: dataset, Who: "ada", Verb: "mean", Parameters: map[string]any{"space": "legendre:6", "bound": 2.5}, Statement: patients(g)}
}

func mustDebit(t testing.TB, l *Ledger, e Entry) *Receipt {
	t.Helper()
	r, err := l.Debit(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustCap(t testing.TB, l *Ledger, dataset string, g privacy.Guarantee) {
	t.Helper()
	if err := l.SetCap(t.Context(), CapChange{Dataset: dataset, Who: "eve", Cap: g, Unit: "patient"}); err != nil {
		t.Fatal(err)
	}
}

func mustVerify(t testing.TB, l *Ledger, anchors ...Anchor) {
	t.Helper()
	v, err := l.Verify(t.Context(), anchors...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		t.Errorf("verify: %v", p)
	}
}

func TestRelease(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		ctx := t.Context()
		l := open(t, where)
		when := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("CET", 3600))
		e := entry("growth", privacy.GDP(0.5))
		e.At = when
		receipt := mustDebit(t, l, e)
		if receipt.Seq != 2 || receipt.Spent != privacy.Guarantee(privacy.GDP(0.5)) || receipt.Cap != nil || receipt.Fits != nil {
			t.Errorf("receipt %+v", receipt)
		}
		s, err := l.Show(ctx, "growth")
		if err != nil {
			t.Fatal(err)
		}
		if s.Debits != 1 || s.Unreleased != 1 || s.Events != 2 || s.Head != receipt.Hash {
			t.Errorf("summary %+v", s)
		}
		events, err := l.History(ctx, "growth")
		if err != nil {
			t.Fatal(err)
		}
		if got := events[1].State(); got != "spent, not released" {
			t.Errorf("state %q before completion", got)
		}
		release := sha256.Sum256([]byte("the release"))
		if err := receipt.Complete(ctx, release); err != nil {
			t.Fatal(err)
		}
		if err := receipt.Complete(ctx, release); err != nil {
			t.Errorf("completing twice: %v", err)
		}
		if err := receipt.Complete(ctx, sha256.Sum256([]byte("another"))); err == nil || !strings.Contains(err.Error(), "second debit") {
			t.Errorf("a second release of one debit: %v", err)
		}
		if err := l.Complete(ctx, "growth", 1, "ada", release); err == nil || !strings.Contains(err.Error(), "no debit") {
			t.Errorf("completing the creation: %v", err)
		}
		events, err = l.History(ctx, "growth")
		if err != nil {
			t.Fatal(err)
		}
		sum := fmt.Sprintf("%x", release)
		want := []Event{
			{Dataset: "growth", Seq: 1, Kind: Created, At: when.UTC(), Who: "ada", Spent: privacy.GDP(0)},
			{Dataset: "growth", Seq: 2, Kind: Debited, At: when.UTC(), Who: "ada", Verb: "mean", Parameters: []byte(`{"bound":2.5,"space":"legendre:6"}`),
				Statement: patients(privacy.GDP(0.5)), ReleasedBy: 3, Release: sum, Spent: privacy.GDP(0.5)},
			{Dataset: "growth", Seq: 3, Kind: Released, Who: "ada", Debit: 2, Release: sum, Spent: privacy.GDP(0.5)},
		}
		for i := range events {
			events[i].Hash = ""
		}
		if len(events) != 3 || time.Since(events[2].At) > time.Minute {
			t.Fatalf("events %+v", events)
		}
		events[2].At = time.Time{}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		if events[1].State() != "released" {
			t.Errorf("state %q after completion", events[1].State())
		}
		mustVerify(t, l, receipt.Anchor())

		// Another process sees the same.
		again := open(t, where)
		s2, err := again.Show(ctx, "growth")
		if err != nil {
			t.Fatal(err)
		}
		if s2.Unreleased != 0 || s2.Events != 3 {
			t.Errorf("reopened: %+v", s2)
		}
		mustVerify(t, again, receipt.Anchor(), s2.Anchor())
	})
}

func TestOverspend(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		ctx := t.Context()
		l := open(t, where)
		mustCap(t, l, "growth", privacy.GDP(1))
		mustDebit(t, l, entry("growth", privacy.GDP(0.6)))
		r := mustDebit(t, l, entry("growth", privacy.ZCDP(0.125)))
		if r.Cap != privacy.Guarantee(privacy.GDP(1)) {
			t.Errorf("cap of the receipt %v", r.Cap)
		}
		_, err := l.Debit(ctx, entry("growth", privacy.Pure(0.8)))
		var over *OverspendError
		if !errors.As(err, &over) {
			t.Fatalf("overspending gave %v", err)
		}
		if over.Dataset != "growth" || over.Asked != privacy.Guarantee(privacy.Pure(0.8)) || over.Cap != privacy.Guarantee(privacy.GDP(1)) {
			t.Errorf("%+v", over)
		}
		if len(over.Entries) != 2 || over.Entries[0].Statement.Guarantee != privacy.Guarantee(privacy.GDP(0.6)) || over.Entries[1].Who != "ada" {
			t.Errorf("entries %+v", over.Entries)
		}
		for _, want := range []string{`data set "growth"`, "asked ε = 0.8 (pure DP), which costs μ = 0.99", "spent μ = 0.78102", "cap of μ = 1 (GDP)", "at most μ = 0.6244", "in 2 releases"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
		// What fits, fits; a float more does not.
		if _, err := l.Debit(ctx, entry("growth", over.Fits.(privacy.GDP)*(1+1e-15))); !errors.As(err, &over) {
			t.Errorf("more than what fits gave %v", err)
		}
		mustDebit(t, l, entry("growth", over.Fits))
		if _, err := l.Debit(ctx, entry("growth", privacy.GDP(1e-3))); !errors.As(err, &over) || !strings.Contains(err.Error(), "nothing more fits") && over.Fits.(privacy.GDP) > 1e-7 {
			t.Errorf("an exhausted budget gave %v", err)
		}
		s, err := l.Show(ctx, "growth")
		if err != nil {
			t.Fatal(err)
		}
		if s.Spent.(privacy.GDP) > 1 || s.Debits != 3 {
			t.Errorf("summary %+v", s)
		}
		mustVerify(t, l)
	})
}

// Twenty-five releases of μ = 0.2 are worth a cap of 1, and ten of ε = 0.1 a cap of 1, although 0.2 and 0.1 are no float64.
func TestDecimalsAddUp(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "l.db"))
	for _, c := range []struct {
		name  string
		cap   privacy.Guarantee
		each  privacy.Guarantee
		count int
	}{
		{"gdp", privacy.GDP(1), privacy.GDP(0.2), 25},
		{"zcdp", privacy.ZCDP(0.3), privacy.ZCDP(0.1), 3},
		{"zcdp under gdp", privacy.GDP(0.6), privacy.ZCDP(0.06), 3},
	} {
		mustCap(t, l, c.name, c.cap)
		for range c.count {
			mustDebit(t, l, entry(c.name, c.each))
		}
		var over *OverspendError
		if _, err := l.Debit(t.Context(), entry(c.name, privacy.GDP(1e-9))); !errors.As(err, &over) {
			t.Errorf("%s: the cap is not spent exactly: %v", c.name, err)
		} else if over.Fits != privacy.Guarantee(privacy.GDP(0)) {
			t.Errorf("%s: %v fits", c.name, over.Fits)
		}
	}
	track := Entry{Dataset: "track", Who: "ada", Verb: "curve", Statement: privacy.Statement{Guarantee: privacy.Geo(0.1), Metric: privacy.RMS, Distance: "m", Unit: "track"}}
	if err := l.SetCap(t.Context(), CapChange{Dataset: "track", Who: "ada", Cap: privacy.Geo(1), Unit: "track", Metric: privacy.RMS, Distance: "m"}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		mustDebit(t, l, track)
	}
	var over *OverspendError
	if _, err := l.Debit(t.Context(), track); !errors.As(err, &over) || over.Spent != privacy.Guarantee(privacy.Geo(1)) || over.Fits != privacy.Guarantee(privacy.Geo(0)) {
		t.Errorf("an eleventh tenth: %v", err)
	}
	mustVerify(t, l)
}

func TestTermsAreFixed(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		ctx := t.Context()
		l := open(t, where)
		mustDebit(t, l, entry("growth", privacy.GDP(0.5)))
		change := func(f func(*privacy.Statement)) Entry {
			e := entry("growth", privacy.GDP(0.5))
			f(&e.Statement)
			return e
		}
		for field, e := range map[string]Entry{
			"unit of privacy": change(func(s *privacy.Statement) { s.Unit = "visit" }),
			"adjacency":       change(func(s *privacy.Statement) { s.Adjacency = privacy.AddRemove }),
			"currency": change(func(s *privacy.Statement) {
				*s = privacy.Statement{Guarantee: privacy.Geo(1), Metric: privacy.RMS, Unit: "patient"}
			}),
		} {
			var m *MismatchError
			if _, err := l.Debit(ctx, e); !errors.As(err, &m) || m.Field != field {
				t.Errorf("another %s: %v", field, err)
			}
		}
		var m *MismatchError
		if err := l.SetCap(ctx, CapChange{Dataset: "growth", Who: "eve", Cap: privacy.GDP(1), Unit: "visit"}); !errors.As(err, &m) || m.Have != "patient" || m.Want != "visit" {
			t.Errorf("a cap for another unit: %v", err)
		}
		if err := l.SetCap(ctx, CapChange{Dataset: "growth", Who: "eve", Cap: privacy.ConcentratedGeo(1)}); !errors.As(err, &m) {
			t.Errorf("a cap in another currency: %v", err)
		}
		if err := l.SetCap(ctx, CapChange{Dataset: "growth", Who: "eve", Cap: privacy.Pure(1)}); err == nil || !strings.Contains(err.Error(), "μ, ρ or (ε, δ)") {
			t.Errorf("a cap in pure ε: %v", err)
		}
		if err := l.SetCap(ctx, CapChange{Dataset: "new", Who: "eve", Cap: privacy.GDP(1)}); err == nil || !strings.Contains(err.Error(), "unit") {
			t.Errorf("a cap for a new data set without a unit: %v", err)
		}
		track := Entry{Dataset: "track", Who: "ada", Verb: "curve", Statement: privacy.Statement{Guarantee: privacy.ConcentratedGeo(0.1), Metric: privacy.RMS, Distance: "m", Unit: "track"}}
		mustDebit(t, l, track)
		for field, g := range map[string]privacy.Statement{
			"currency":         {Guarantee: privacy.Geo(0.1), Metric: privacy.RMS, Distance: "m", Unit: "track"},
			"metric":           {Guarantee: privacy.ConcentratedGeo(0.1), Metric: privacy.L2, Distance: "m", Unit: "track"},
			"unit of distance": {Guarantee: privacy.ConcentratedGeo(0.1), Metric: privacy.RMS, Distance: "km", Unit: "track"},
		} {
			track.Statement = g
			if _, err := l.Debit(ctx, track); !errors.As(err, &m) || m.Field != field {
				t.Errorf("another %s: %v", field, err)
			}
		}
		names, err := l.Datasets(ctx)
		if err != nil || !cmp.Equal(names, []string{"growth", "track"}) {
			t.Errorf("data sets %q, %v: a refused use left one", names, err)
		}
		mustVerify(t, l)
	})
}

func TestCap(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		ctx := t.Context()
		l := open(t, where)
		mustDebit(t, l, entry("d", privacy.GDP(3)))
		mustCap(t, l, "d", privacy.GDP(5))
		mustDebit(t, l, entry("d", privacy.GDP(4)))
		s, err := l.Show(ctx, "d")
		if err != nil {
			t.Fatal(err)
		}
		if s.Spent != privacy.Guarantee(privacy.GDP(5)) || s.Fits != privacy.Guarantee(privacy.GDP(0)) {
			t.Errorf("3 and 4 under 5: %+v", s)
		}
		mustCap(t, l, "d", privacy.ZCDP(20)) // μ² = 40
		r := mustDebit(t, l, entry("d", privacy.GDP(3)))
		if f := float64(r.Fits.(privacy.GDP)); f < 2.449489 || f > 2.449490 {
			t.Errorf("√6 is left, %v fits", r.Fits)
		}
		mustCap(t, l, "d", privacy.GDP(1)) // below what is spent
		var over *OverspendError
		if _, err := l.Debit(ctx, entry("d", privacy.GDP(0.001))); !errors.As(err, &over) || over.Fits != privacy.Guarantee(privacy.GDP(0)) {
			t.Errorf("a cap below the spending: %v", err)
		}
		if err := l.SetCap(ctx, CapChange{Dataset: "d", Who: "eve"}); err != nil {
			t.Fatal(err)
		}
		mustDebit(t, l, entry("d", privacy.GDP(10)))
		mustCap(t, l, "d", privacy.Approx{Epsilon: 1000, Delta: 1e-6})
		mustDebit(t, l, entry("d", privacy.Approx{Epsilon: 1, Delta: 1e-6}))
		mustVerify(t, l)
		events, err := l.History(ctx, "d")
		if err != nil {
			t.Fatal(err)
		}
		var caps []privacy.Guarantee
		for _, e := range events {
			if e.Kind == Capped {
				caps = append(caps, e.Cap)
			}
		}
		if want := []privacy.Guarantee{privacy.GDP(5), privacy.ZCDP(20), privacy.GDP(1), nil, privacy.Approx{Epsilon: 1000, Delta: 1e-6}}; !cmp.Equal(caps, want) {
			t.Errorf("caps %v, want %v", caps, want)
		}
	})
}

func TestUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		ctx := t.Context()
		l := open(t, where)
		var u *UnknownError
		if _, err := l.Show(ctx, "a"); !errors.As(err, &u) || len(u.Known) != 0 {
			t.Errorf("show: %v", err)
		}
		mustDebit(t, l, entry("growth", privacy.GDP(1)))
		if _, err := l.History(ctx, "a"); !errors.As(err, &u) || !cmp.Equal(u.Known, []string{"growth"}) {
			t.Errorf("history: %v", err)
		}
		if err := l.Complete(ctx, "a", 1, "ada", [32]byte{}); !errors.As(err, &u) || !cmp.Equal(u.Known, []string{"growth"}) {
			t.Errorf("complete: %v", err)
		}
		if err := l.SetCap(ctx, CapChange{Dataset: "a", Who: "eve"}); !errors.As(err, &u) {
			t.Errorf("no cap: %v", err)
		}
		if names, _ := l.Datasets(ctx); len(names) != 1 {
			t.Errorf("questions about a data set created it: %q", names)
		}
	})
}

// Many goroutines, several handles: the spending is exactly what was granted.
func TestConcurrent(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		handles := make([]*Ledger, 3)
		var open sync.WaitGroup
		for i := range handles { // creating the schema is a race too
			open.Go(func() {
				l, err := Open(t.Context(), where)
				if err != nil {
					t.Error(err)
					return
				}
				handles[i] = l
			})
		}
		open.Wait()
		if t.Failed() {
			return
		}
		for _, l := range handles {
			defer l.Close()
		}
		mustCap(t, handles[0], "d", privacy.ZCDP(0.15)) // 30 times μ = 0.1
		var mu sync.Mutex
		granted, refused := 0, 0
		var work sync.WaitGroup
		for i := range 12 {
			work.Go(func() {
				for range 4 {
					r, err := handles[i%3].Debit(t.Context(), entry("d", privacy.GDP(0.1)))
					var over *OverspendError
					if err != nil && !errors.As(err, &over) {
						t.Error(err)
						return
					}
					mu.Lock()
					if err == nil {
						granted++
					} else {
						refused++
					}
					mu.Unlock()
					if err == nil {
						if err := r.Complete(t.Context(), sha256.Sum256([]byte(r.Hash))); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		work.Wait()
		if granted != 30 || refused != 18 {
			t.Errorf("granted %d and refused %d, want 30 and 18", granted, refused)
		}
		mustVerify(t, handles[1])
	})
}

// A cancelled context neither blocks nor spends behind the caller's back in an undetectable way.
func TestCancelled(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Debit(ctx, entry("d", privacy.GDP(1))); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if names, _ := l.Datasets(t.Context()); len(names) != 0 {
			t.Errorf("spent on %q", names)
		}
	})
}
