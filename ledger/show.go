package ledger

// Reading: what is spent, and the history. Each call is one snapshot.

import (
	"context"
	"database/sql"
	"errors"
	"math/big"
	"slices"

	"github.com/curveil/curveil/privacy"
)

// Summary is where a data set stands.
type Summary struct {
	Dataset    string
	Terms      Terms
	Cap        privacy.Guarantee // as it was set; nil without one
	Spent      privacy.Guarantee // in the data set's currency, rounded up; zero before the first debit
	Fits       privacy.Guarantee // the largest that still fits under the cap, rounded down; nil without a cap
	AtMost     bool              // a debit in pure ε is among them, counted as the μ that it implies: more was not spent, less may have been
	Debits     int64
	Unreleased int64 // debits in the state "spent, not released"
	Events     int64
	Head       string // hash of the last event
}

// Anchor vouches for the history up to one event: who keeps it elsewhere can have Verify check it.
type Anchor struct {
	Dataset string
	Seq     int64
	Hash    string
}

// Anchor returns the anchor at the debit.
func (r *Receipt) Anchor() Anchor { return Anchor{r.Dataset, r.Seq, r.Hash} }

// Anchor returns the anchor at the last event.
func (s *Summary) Anchor() Anchor { return Anchor{s.Dataset, s.Events, s.Head} }

// Datasets returns the names of the data sets, sorted.
func (l *Ledger) Datasets(ctx context.Context) ([]string, error) {
	var names []string
	err := l.b.transact(ctx, true, func(tx *sql.Tx) (err error) {
		names, err = datasets(ctx, tx)
		return err
	})
	return names, wrap("listing", "", err)
}

// Show returns where a data set stands; *UnknownError for a name that the ledger does not have.
func (l *Ledger) Show(ctx context.Context, dataset string) (*Summary, error) {
	var out *Summary
	err := l.b.transact(ctx, true, func(tx *sql.Tx) error {
		s := &Summary{Dataset: dataset}
		w, err := locate(ctx, tx, dataset)
		if err != nil {
			return err
		}
		var released, pure int64
		err = tx.QueryRowContext(ctx, `SELECT coalesce(sum(CASE kind WHEN 'debited' THEN 1 ELSE 0 END), 0),
			coalesce(sum(CASE kind WHEN 'released' THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN statement LIKE '%"definition":"pure"%' THEN 1 ELSE 0 END), 0)
			FROM curveil_event WHERE dataset = $1`, dataset).Scan(&s.Debits, &released, &pure)
		if err != nil {
			return err
		}
		s.Unreleased, s.AtMost = s.Debits-released, pure > 0
		s.Events, s.Head, s.Terms, s.Cap = w.events, w.head, w.state.terms, w.state.cap
		s.Spent = guaranteeUp(s.Terms.Currency, w.state.spent)
		if s.Cap != nil {
			limit, err := limitOf(s.Cap)
			if err != nil {
				return err
			}
			s.Fits = guaranteeDown(s.Terms.Currency, new(big.Rat).Sub(limit, w.state.spent))
		}
		out = s
		return nil
	})
	return out, wrap("showing", dataset, err)
}

// locate reads the end of a data set's chain without locking it.
func locate(ctx context.Context, tx *sql.Tx, dataset string) (*writer, error) {
	w := &writer{tx: tx, dataset: dataset}
	err := tx.QueryRowContext(ctx, `SELECT events, head FROM curveil_dataset WHERE name = $1`, dataset).Scan(&w.events, &w.head)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, w.unknown(ctx)
	}
	if err != nil {
		return nil, err
	}
	return w, w.checkEnd(ctx)
}

// History returns the events of a data set in order; *UnknownError for a name that the ledger does not have.
func (l *Ledger) History(ctx context.Context, dataset string) ([]Event, error) {
	var events []Event
	err := l.b.transact(ctx, true, func(tx *sql.Tx) error {
		events = nil
		if _, err := locate(ctx, tx, dataset); err != nil {
			return err
		}
		var err error
		events, err = history(ctx, tx, dataset)
		return err
	})
	return events, wrap("reading the history of", dataset, err)
}

// history reads all events and joins releases to their debits.
func history(ctx context.Context, tx *sql.Tx, dataset string) ([]Event, error) {
	var events []Event
	at := map[int64]int{}
	var read reader
	err := eachRow(ctx, tx, dataset, func(r row) error {
		e, err := read.event(&r)
		if err != nil {
			return err
		}
		at[e.Seq] = len(events)
		if i, ok := at[e.Debit]; ok && e.Kind == Released {
			events[i].ReleasedBy, events[i].Release = e.Seq, e.Release
		}
		events = append(events, e)
		return nil
	})
	return events, err
}

// debits returns the debits among the first events.
func (l *Ledger) debits(ctx context.Context, dataset string, upTo int64) ([]Event, error) {
	events, err := l.History(ctx, dataset)
	return slices.DeleteFunc(events, func(e Event) bool { return e.Kind != Debited || e.Seq > upTo }), err
}
