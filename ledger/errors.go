package ledger

// What can be refused, as types that callers act on.

import (
	"fmt"
	"strings"

	"github.com/curveil/curveil/internal/nearest"
	"github.com/curveil/curveil/privacy"
)

// OverspendError refuses a debit that the cap does not hold. Nothing was spent. Spent is rounded up and Fits down, in
// the data set's currency (privacy.GDP, privacy.Geo or privacy.ConcentratedGeo).
type OverspendError struct {
	Dataset string
	Asked   privacy.Guarantee // as it was asked for, in the first of the debits
	Debits  int               // how many were asked for together
	Cost    privacy.Guarantee // what was asked for, in the data set's currency, rounded up
	Spent   privacy.Guarantee
	Cap     privacy.Guarantee // as it was set
	Fits    privacy.Guarantee // the largest that would still fit; zero when nothing does
	Entries []Event           // the debits that spent it, oldest first
}

func (e *OverspendError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ledger: data set %q: ", e.Dataset)
	if e.Debits > 1 {
		fmt.Fprintf(&b, "asked %d debits of %v together", e.Debits, privacy.Shorten(e.Cost, true))
	} else {
		fmt.Fprintf(&b, "asked %v", e.Asked)
	}
	if e.Debits <= 1 && e.Cost != e.Asked {
		fmt.Fprintf(&b, ", which costs %v", privacy.Shorten(e.Cost, true))
	}
	releases := "1 release"
	if n := len(e.Entries); n != 1 {
		releases = fmt.Sprintf("%d releases", n)
	}
	fmt.Fprintf(&b, "; spent %v in %s of a cap of %v; ", privacy.Shorten(e.Spent, true), releases, e.Cap)
	if e.Fits.Validate() != nil {
		b.WriteString("nothing more fits: raise the cap, or stop here")
	} else {
		fmt.Fprintf(&b, "at most %v still fits: ask for that, or raise the cap", privacy.Shorten(e.Fits, false))
	}
	return b.String()
}

// MismatchError refuses a use of a data set under other terms than its first.
type MismatchError struct {
	Dataset    string
	Field      string // "currency", "unit of privacy", "adjacency", "metric", "unit of distance"
	Have, Want string // fixed by the first use; asked for now
}

// Usage marks the error as one of the call.
func (e *MismatchError) Usage() {}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("ledger: data set %q has the %s %q since its first use, and %q was asked for: budgets under different terms do not add up; use %q, or keep another data set name",
		e.Dataset, e.Field, e.Have, e.Want, e.Have)
}

// UnknownError says that the ledger has no data set of this name.
type UnknownError struct {
	Dataset string
	Known   []string
}

// Usage marks the error as one of the call.
func (e *UnknownError) Usage() {}

func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("ledger: no data set %q: the ledger is empty; the first release or cap creates it", e.Dataset)
	}
	if near := nearest.Of(e.Dataset, e.Known); near != "" {
		return fmt.Sprintf("ledger: no data set %q: is %q meant? 'curveil ledger show' lists all %d", e.Dataset, near, len(e.Known))
	}
	const most = 12
	names, rest := e.Known, ""
	if len(names) > most {
		names, rest = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("ledger: no data set %q: the ledger has %q%s", e.Dataset, names, rest)
}

// RequestError refuses what was asked for, whatever the ledger holds: a name that cannot be one, a budget that is none.
type RequestError struct{ Err error }

func (e *RequestError) Error() string { return e.Err.Error() }

func (e *RequestError) Unwrap() error { return e.Err }

// Usage marks the error as one of the call.
func (e *RequestError) Usage() {}

func refused(format string, args ...any) error { return &RequestError{fmt.Errorf(format, args...)} }

// DamageError says that a history is not as this package wrote it. A damaged data set accepts no debit.
type DamageError struct {
	Dataset string
	Seq     int64
	Reason  string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("ledger: history of data set %q is damaged at event %d: %s: nothing was spent; run a verification and restore a backup", e.Dataset, e.Seq, e.Reason)
}

func damaged(dataset string, seq int64, reason error) error {
	return &DamageError{dataset, seq, reason.Error()}
}

// SchemaError says that the database was written by another version.
type SchemaError struct {
	Have, Want int64
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("ledger: database has schema version %d and this program knows version %d: use a program of that version", e.Have, e.Want)
}
