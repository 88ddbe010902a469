package ledger

import (
	"crypto/sha256"
	"syscall"
	"testing"

	"github.com/curveil/curveil/privacy"
)

// The server itself stops without warning: what Debit and Complete returned from is there after recovery, and an open ledger
// goes on.
func TestServerCrash(t *testing.T) {
	where := postgresURL(t)
	l := open(t, where)
	mustCap(t, l, "d", privacy.GDP(1))
	var last *Receipt
	for range 3 {
		last = mustDebit(t, l, entry("d", privacy.GDP(0.5)))
	}
	if err := last.Complete(t.Context(), sha256.Sum256([]byte("release"))); err != nil {
		t.Fatal(err)
	}
	halt(syscall.SIGQUIT)
	if err := launch(); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, l, last.Anchor())
	s, err := l.Show(t.Context(), "d")
	if err != nil {
		t.Fatal(err)
	}
	if s.Debits != 3 || s.Unreleased != 2 {
		t.Errorf("after recovery: %+v", s)
	}
	mustDebit(t, l, entry("d", privacy.GDP(0.5)))
	if s, err = l.Show(t.Context(), "d"); err != nil || s.Spent != privacy.Guarantee(privacy.GDP(1)) {
		t.Errorf("%+v, %v", s, err)
	}
}
