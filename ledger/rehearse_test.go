package ledger

import (
	"crypto/sha256"
	"errors"
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
