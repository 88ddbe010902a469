package publish

import (
	"context"
	"fmt"
	"io"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

func (e Expenditure) entry() ledger.Entry {
	return ledger.Entry{Dataset: e.Dataset, Who: e.Budget.Spender(), Verb: e.Verb, Parameters: e.Parameters, Statement: e.Statement}
}

// Afford refuses expenditures of one call that the ledger would not allow, each after those before it, so that
// none is made in vain. It returns the receipts that they would get; nil without a ledger.
func Afford(ctx context.Context, all ...Expenditure) ([]*ledger.Receipt, error) {
	var entries []ledger.Entry
	for _, e := range all {
		if err := e.Budget.Accept(e.Statement.Guarantee); err != nil {
			return nil, err
		}
		entries = append(entries, e.entry())
	}
	first := all[0]
	if first.Book == nil {
		return nil, nil
	}
	first.Budget.look(ctx, first.Book, first.Dataset)
	receipts, err := first.Book.RehearseAll(ctx, entries)
	return receipts, first.Budget.explain(err)
}

// Rehearse says what the expenditures of a call would spend, whether the ledger would allow them, and the
// error to expect of the last. Nothing is spent; what the ledger would refuse is the same error. total is what they
// spend in all.
func Rehearse(ctx context.Context, w io.Writer, total privacy.Statement, all ...Expenditure) error {
	receipts, err := Afford(ctx, all...)
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	stands := "none: it would be recorded nowhere"
	switch {
	case receipts != nil:
		pure := atMost(last.Book, last.Dataset)
		stands = standing(receipts[len(receipts)-1], "would have spent", last.Statement.Guarantee, pure)
	case last.Budget.Where != "none":
		stands = fmt.Sprintf("%s would be made; first spending on data set %q", last.Budget.Where, last.Dataset)
	}
	fmt.Fprintln(w, "dry run: everything was checked; nothing was spent and nothing released")
	Label(w, "would spend")
	fmt.Fprintln(w, total)
	Label(w, "ledger")
	fmt.Fprintln(w, stands)
	if last.Predicted != nil {
		if words := last.Predicted(); words != "" {
			Label(w, "predicted")
			fmt.Fprintln(w, words)
		}
	}
	return nil
}
