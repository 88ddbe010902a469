package ledger

// Verification: the chain of hashes, and that the history adds up, read in one snapshot.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/curveil/curveil/privacy"
)

// Problem is something that this package never writes.
type Problem struct {
	Dataset string
	Seq     int64 // the event where it shows, 0 for the data set as a whole
	Reason  string
}

func (p Problem) String() string {
	if p.Seq == 0 {
		return fmt.Sprintf("data set %q: %s", p.Dataset, p.Reason)
	}
	return fmt.Sprintf("data set %q, event %d: %s", p.Dataset, p.Seq, p.Reason)
}

// Verification is what Verify found.
type Verification struct {
	Datasets int
	Events   int64
	Problems []Problem // empty when the ledger is sound
}

// Verify reads every history and checks that each event has the hash of its content and its predecessor, that none is
// missing or left over, that the last one is the one the data set vouches for, that every spending is the sum of its
// debits and stayed under the cap of its time, and that each anchor is in place. The error is for a database that cannot be
// read; what is wrong with the ledger is in Problems.
func (l *Ledger) Verify(ctx context.Context, anchors ...Anchor) (*Verification, error) {
	var v *Verification
	err := l.b.transact(ctx, true, func(tx *sql.Tx) error {
		v = &Verification{}
		names, err := datasets(ctx, tx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := v.dataset(ctx, tx, name, anchors); err != nil {
				return err
			}
		}
		for _, a := range anchors {
			if !slices.Contains(names, a.Dataset) {
				v.add(a.Dataset, 0, "the data set is missing, and an anchor vouches for it")
			}
		}
		return v.orphans(ctx, tx)
	})
	return v, wrap("verifying", "", err)
}

func (v *Verification) add(dataset string, seq int64, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{dataset, seq, fmt.Sprintf(format, args...)})
}

// orphans finds events without a data set.
func (v *Verification) orphans(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT dataset, count(*) FROM curveil_event WHERE dataset NOT IN (SELECT name FROM curveil_dataset) GROUP BY dataset`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		v.add(name, 0, "%d events belong to no data set: its row was deleted", n)
	}
	return rows.Err()
}

// dataset walks one chain.
func (v *Verification) dataset(ctx context.Context, tx *sql.Tx, name string, anchors []Anchor) error {
	v.Datasets++
	var count int64
	var head string
	if err := tx.QueryRowContext(ctx, `SELECT events, head FROM curveil_dataset WHERE name = $1`, name).Scan(&count, &head); err != nil {
		return err
	}
	hashes := map[int64]string{}
	for _, a := range anchors {
		if a.Dataset == name {
			hashes[a.Seq] = a.Hash
		}
	}
	var seq int64
	previous := ""
	replay := &replay{released: map[int64]bool{}}
	err := eachRow(ctx, tx, name, func(r row) error {
		v.Events++
		switch {
		case r.seq == seq+2:
			v.add(name, seq+1, "the event is missing")
		case r.seq != seq+1:
			v.add(name, seq+1, "events %d to %d are missing", seq+1, r.seq-1)
		}
		if r.chain(previous) != r.hash {
			v.add(name, r.seq, "its hash does not follow from its content and the event before: it was altered, moved, or its predecessor was")
		}
		if want, ok := hashes[r.seq]; ok && want != r.hash {
			v.add(name, r.seq, "its hash is not the anchor's: the history up to here was rewritten")
		}
		delete(hashes, r.seq)
		if err := replay.step(r); err != nil {
			v.add(name, r.seq, "%s", err)
		}
		seq, previous = r.seq, r.hash
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case seq == 0:
		v.add(name, 0, "the history is empty: its events were deleted")
	case seq < count:
		v.add(name, seq, "the history ends here and the data set counts %d events: the last ones were deleted", count)
	case seq > count:
		v.add(name, seq, "the history goes on after the %d events that the data set counts: they were appended by hand, or the data set's row was put back", count)
	case previous != head:
		v.add(name, seq, "the last event does not have the hash that the data set vouches for: the end was rewritten")
	}
	for at := range hashes {
		v.add(name, at, "the event is missing, and an anchor vouches for it")
	}
	return nil
}

// replay recomputes the state from the events.
type replay struct {
	read     reader
	state    *state // nil before the first event, or after one that could not be read
	begun    bool
	released map[int64]bool // debits, and whether they are released
}

// step checks one event against the state before it, and continues from the state that the event claims, so that one problem is
// reported once.
func (p *replay) step(r row) error {
	claimed, err := p.read.state(&r)
	before, begun := p.state, p.begun
	p.state, p.begun = claimed, true
	if err != nil {
		return err
	}
	if Kind(r.kind) == Debited {
		p.released[r.seq] = false
	}
	if !begun || r.kind == string(Created) {
		if begun || r.kind != string(Created) || r.seq != 1 {
			return fmt.Errorf("a %s event cannot stand here", r.kind)
		}
		if claimed.cap != nil || claimed.spent.Sign() != 0 {
			return errors.New("a new data set has a cap or spending")
		}
		return nil
	}
	if before == nil {
		return nil // reported where it broke
	}
	if claimed.terms != before.terms {
		return errors.New("the terms changed")
	}
	spent := before.spent
	switch Kind(r.kind) {
	case Capped:
		if claimed.spent.Cmp(spent) != 0 {
			return errors.New("a cap changed the spending")
		}
		return nil
	case Released:
		open, known := p.released[r.debit]
		if !known || open {
			return fmt.Errorf("it releases event %d, which is no debit or was released before", r.debit)
		}
		p.released[r.debit] = true
	case Debited:
		var s privacy.Statement
		if err := s.UnmarshalJSON([]byte(r.statement)); err != nil {
			return err
		}
		if termsOf(s) != before.terms {
			return errors.New("the debit is under other terms than the data set")
		}
		price := new(big.Rat).Sub(claimed.spent, spent)
		if !costs(s.Guarantee, price) {
			return fmt.Errorf("the spending grew from %s to %s, which is not the cost of %v", formatDecimal(spent), r.spent, s.Guarantee)
		}
		if before.cap != nil && !within(claimed.spent, before.cap) {
			return fmt.Errorf("the spending %s exceeds the cap %v", r.spent, before.cap)
		}
		spent = claimed.spent
	default:
		return fmt.Errorf("events of kind %q are not known", r.kind)
	}
	if claimed.spent.Cmp(spent) != 0 {
		return errors.New("the spending changed without a debit")
	}
	if claimed.cap != before.cap {
		return errors.New("the cap changed without a cap event")
	}
	return nil
}

// costs tells whether a guarantee costs the price. Functions of the normal law may differ in the last digits between processors:
// such costs are compared to 9 digits.
func costs(g privacy.Guarantee, price *big.Rat) bool {
	want, err := costOf(g)
	if err != nil {
		return false
	}
	if computed(g) {
		return near(price, want)
	}
	return price.Cmp(want) == 0
}

// within tells whether the spending is within the cap.
func within(spent *big.Rat, limit privacy.Guarantee) bool {
	want, err := limitOf(limit)
	if err != nil {
		return false
	}
	return spent.Cmp(want) <= 0 || computed(limit) && near(spent, want)
}

// computed tells whether a guarantee's cost goes through functions of the normal law.
func computed(g privacy.Guarantee) bool {
	switch g.(type) {
	case privacy.Pure, privacy.Approx:
		return true
	}
	return false
}

func near(a, b *big.Rat) bool {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(new(big.Rat).Mul(b, big.NewRat(1, 1e9))) <= 0
}
