// What a person's report costs: consent to a second one about the same stream, and the account of what was spent.

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// reportLedger is the person's ledger, as regression.Ledger. It lets a stream have one report of the person, and one more
// for --again, in this call: two reports about the same (x, y) under fresh noise tell more than one, and that the ledger
// has room for both, or no cap, is not yet a person's wish to spend on this stream twice.
type reportLedger struct {
	publish.Person
	book    *ledger.Ledger // nil for none
	dataset string
	again   bool
	stderr  io.Writer

	spent   []privacy.Statement // by this call
	earlier []ledger.Event      // debits for the stream before the last one of this call
}

// errAgain refuses a second debit for a stream.
var errAgain = errors.New("a second report about the same stream is a second release, which spends again: --again makes one")

func (l *reportLedger) Spend(ctx context.Context, verb string, parameters any, s privacy.Statement) (complete func(ctx context.Context, release [sha256.Size]byte) error, err error) {
	if l.earlier, err = l.debits(ctx, parameters); err != nil {
		return nil, err
	}
	before := max(len(l.earlier), len(l.spent)) // without a ledger this call is all that is known
	switch {
	case before > 0 && !l.again:
		return nil, l.refuse()
	case before > 0:
		l.again = false // consent to one
		fmt.Fprintf(l.stderr, "curveil: spending %v again, for report %d about this stream\n", s.Guarantee, before+1)
	}
	if complete, err = l.Person.Spend(ctx, verb, parameters, s); err != nil {
		return nil, err
	}
	l.spent = append(l.spent, s)
	if now, err := l.debits(ctx, parameters); err == nil && len(now) > len(l.earlier)+1 {
		fmt.Fprintf(l.stderr, "curveil: WARNING: another call has spent on this stream from data set %q at the same time: two reports of one person\n", l.dataset)
	}
	return complete, nil
}

// rehearse says what a report would spend; budget is the person's own, zero for the stream's.
func (l *reportLedger) rehearse(cmd *cobra.Command, b *publish.Budget, m *regression.Model, budget privacy.Approx) error {
	print, err := m.Stream.Fingerprint()
	if err != nil {
		return err
	}
	parameters := map[string]any{"stream": m.Stream.Name, "fingerprint": print.String(), "at": m.At}
	if l.earlier, err = l.debits(cmd.Context(), parameters); err != nil {
		return err
	}
	if len(l.earlier) > 0 && !l.again {
		return l.refuse()
	}
	if budget == (privacy.Approx{}) {
		budget = m.Stream.Budget
	}
	e := publish.Expenditure{Budget: b, Book: l.book, Dataset: l.dataset, Verb: regression.Verb, Statement: m.Stream.Statement(budget), Parameters: parameters}
	return publish.Rehearse(cmd.Context(), cmd.OutOrStdout(), e.Statement, e)
}

// refuse says what was spent on the stream before, and what can be done.
func (l *reportLedger) refuse() error {
	if len(l.spent) > 0 || len(l.earlier) == 0 {
		return errAgain
	}
	last := l.earlier[len(l.earlier)-1]
	fate := "and a report made"
	if last.ReleasedBy == 0 {
		fate = "and no report booked, though one may have been sent"
	}
	return usageError{fmt.Errorf("%v was spent on this stream on %s, %s (data set %q, %s in the ledger): %w, if that is meant; for another person's (x, y) give --dataset",
		last.Statement.Guarantee, last.At.Local().Format(time.DateTime), fate, l.dataset, plural(int64(len(l.earlier)), "debit"), errAgain)}
}

// debits are those for reports to the stream of the parameters, which its fingerprint names.
func (l *reportLedger) debits(ctx context.Context, parameters any) ([]ledger.Event, error) {
	if l.book == nil {
		return nil, nil
	}
	events, err := l.book.History(ctx, l.dataset)
	var unknown *ledger.UnknownError
	if errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type stream struct{ Fingerprint string }
	var asked stream
	text, err := json.Marshal(parameters)
	if err == nil {
		err = json.Unmarshal(text, &asked)
	}
	if err != nil {
		return nil, err
	}
	var out []ledger.Event
	for _, e := range events {
		var s stream
		if e.Kind == ledger.Debited && e.Verb == regression.Verb && json.Unmarshal(e.Parameters, &s) == nil && s == asked {
			out = append(out, e)
		}
	}
	return out, nil
}

// account says what this call has spent and where the data set stands; it is a sentence even where the ledger cannot be read.
func (l *reportLedger) account(ctx context.Context) spending {
	a := spending{Spent: []json.RawMessage{}}
	for _, s := range l.spent {
		if text, err := privacy.MarshalGuarantee(s.Guarantee); err == nil {
			a.Spent = append(a.Spent, text)
		}
	}
	if len(l.spent) == 0 {
		a.words = "nothing more was spent"
		return a
	}
	a.words = fmt.Sprintf("spent %v", l.spent[0].Guarantee)
	if n := len(l.spent); n > 1 {
		a.words += fmt.Sprintf(", %d times", n)
	}
	if l.book == nil {
		a.words += ", recorded nowhere"
		return a
	}
	a.words += fmt.Sprintf(" on data set %q", l.dataset)
	s, err := l.book.Show(context.WithoutCancel(ctx), l.dataset)
	if err != nil {
		return a
	}
	a.Debits = s.Debits
	if text, err := privacy.MarshalGuarantee(s.Spent); err == nil {
		a.InAll = text
	}
	a.words += fmt.Sprintf("; in all %v, in %s", privacy.Shorten(s.Spent, true), plural(s.Debits, "debit"))
	switch {
	case s.Cap == nil:
		a.words += ", without a cap ('curveil ledger cap' sets one)"
	case s.Fits.Validate() != nil:
		a.words += fmt.Sprintf(", of a cap of %v; nothing more fits", s.Cap)
	default:
		a.words += fmt.Sprintf(", of a cap of %v; %v still fits", s.Cap, privacy.Shorten(s.Fits, false))
	}
	return a
}

// spending is what a call cost.
type spending struct {
	Spent  []json.RawMessage `json:"spent"`            // guarantee of each report that was made
	InAll  json.RawMessage   `json:"in_all,omitempty"` // of the data set; without a ledger not known
	Debits int64             `json:"debits,omitempty"`
	words  string
}
