package publish

import (
	"context"
	"fmt"
	"io"

	"github.com/curveil/curveil/ledger"
)

// Rehearse says what an expenditure would spend, whether the ledger would allow it, and the
// error to expect. Nothing is spent; what the ledger would refuse is the same error.
func Rehearse(ctx context.Context, e Expenditure, w io.Writer) error {
	if err := e.Budget.Accept(e.Statement.Guarantee); err != nil {
		return err
	}
	stands := "none: it would be recorded nowhere"
	switch {
	case e.Book != nil:
		e.Budget.look(ctx, e.Book, e.Dataset)
		r, err := e.Book.Rehearse(ctx, ledger.Entry{Dataset: e.Dataset, Who: e.Budget.Spender(), Verb: e.Verb, Parameters: e.Parameters, Statement: e.Statement})
		if err != nil {
			return explain(err)
		}
		stands = standing(r, "would have spent")
	case e.Budget.Where != "none":
		stands = fmt.Sprintf("%s would be made; first spending on data set %q", e.Budget.Where, e.Dataset)
	}
	fmt.Fprintln(w, "dry run: everything was checked; nothing was spent and nothing released")
	Label(w, "would spend")
	fmt.Fprintln(w, e.Statement)
	Label(w, "ledger")
	fmt.Fprintln(w, stands)
	if e.Predicted != nil {
		if words := e.Predicted(); words != "" {
			Label(w, "predicted")
			fmt.Fprintln(w, words)
		}
	}
	return nil
}
