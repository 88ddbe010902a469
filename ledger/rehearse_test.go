package ledger

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
)

// A rehearsal answers as the debit will, and leaves nothing behind.
func TestRehearse(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		first, err := l.Rehearse(t.Context(), entry("d", privacy.GDP(1)))
		if err != nil {
			t.Fatal(err)
		}
		var unknown *UnknownError
		if _, err := l.Show(t.Context(), "d"); !errors.As(err, &unknown) {
			t.Errorf("a rehearsal made the data set: %v", err)
		}
		if err := first.Complete(t.Context(), sha256.Sum256(nil)); err == nil {
			t.Error("a rehearsal was completed")
		}
		real := mustDebit(t, l, entry("d", privacy.GDP(1)))
		if first.Seq != real.Seq || first.Spent != real.Spent {
			t.Errorf("rehearsed %+v, debited %+v", first, real)
		}
		mustCap(t, l, "d", privacy.GDP(1.2))
		for range 3 {
			if r, err := l.Rehearse(t.Context(), entry("d", privacy.GDP(0.5))); err != nil || r.Cap != privacy.GDP(1.2) || r.Fits.Validate() != nil {
				t.Errorf("%+v, %v", r, err)
			}
		}
		var over *OverspendError
		if _, err := l.Rehearse(t.Context(), entry("d", privacy.GDP(1))); !errors.As(err, &over) {
			t.Errorf("an overspending rehearsal: %v", err)
		}
		if s, err := l.Show(t.Context(), "d"); err != nil || s.Debits != 1 || s.Spent != real.Spent {
			t.Errorf("%+v, %v", s, err)
		}
		mustVerify(t, l)
	})
}

// Debits that would fit one by one, and not together, are refused before the first.
func TestRehearseAll(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		mustDebit(t, l, entry("d", privacy.GDP(1)))
		mustCap(t, l, "d", privacy.GDP(1.2))
		both := []Entry{entry("d", privacy.GDP(0.5)), entry("new", privacy.GDP(3)), entry("d", privacy.GDP(0.6))}
		var over *OverspendError
		if _, err := l.RehearseAll(t.Context(), both); !errors.As(err, &over) {
			t.Fatalf("%v", err)
		}
		if over.Debits != 2 || over.Spent != privacy.Guarantee(privacy.GDP(1)) || len(over.Entries) != 1 || !strings.Contains(over.Error(), "asked 2 debits of μ = 0.78102") {
			t.Errorf("%+v: %v", over, over)
		}
		both[2] = entry("d", privacy.GDP(0.4))
		receipts, err := l.RehearseAll(t.Context(), both)
		if err != nil || len(receipts) != 3 || receipts[2].Dataset != "d" || receipts[1].Dataset != "new" || receipts[2].Seq != receipts[0].Seq+1 {
			t.Errorf("%+v, %v", receipts, err)
		}
		if names, err := l.Datasets(t.Context()); err != nil || len(names) != 1 {
			t.Errorf("%v, %v", names, err)
		}
		mustVerify(t, l)
	})
}

// Pure ε in the sum is told.
func TestShowAtMost(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		for i, g := range []privacy.Guarantee{privacy.GDP(1), privacy.Pure(1), privacy.GDP(1)} {
			mustDebit(t, l, entry("d", g))
			if s, err := l.Show(t.Context(), "d"); err != nil || s.AtMost != (i > 0) {
				t.Errorf("after %v: %+v, %v", g, s, err)
			}
		}
	})
}
