package publish

import (
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// Expenditure is what a release debits, to which ledger.
type Expenditure struct {
	Budget     *Budget
	Book       *ledger.Ledger // nil for none
	Dataset    string
	Verb       string
	Statement  privacy.Statement
	Parameters any
	Predicted  func() string // the error to expect, in words; may be nil
}

// Release debits, releases, writes and reports, in this order: the budget is spent
// before noise is drawn, and the ledger learns of the release once it is written.
func Release(cmd *cobra.Command, e Expenditure, out *Output, asJSON bool, draw func() (*release.Release, error)) error {
	if e.Budget.Dry {
		return Rehearse(cmd.Context(), e, cmd.OutOrStdout())
	}
	spent, err := e.Budget.Debit(cmd.Context(), e.Book, e.Dataset, e.Verb, e.Statement, e.Parameters)
	if err != nil {
		return err
	}
	r, err := draw()
	if err != nil {
		return spent.Wasted(err)
	}
	written, err := out.Write(r, cmd.OutOrStdout())
	if err != nil {
		return spent.Wasted(err)
	}
	to := cmd.OutOrStdout()
	if out.Out == "" {
		to = cmd.ErrOrStderr()
	}
	if asJSON {
		if err := SummaryJSON(to, r); err != nil {
			return err
		}
		to = cmd.ErrOrStderr()
	} else {
		Summary(to, r)
	}
	if err := spent.Complete(cmd.Context(), written, to); err != nil {
		return err
	}
	if out.Picture != "" { // last: it can be drawn again from the release
		return Picture(out.Picture, r, plot.Options{})
	}
	return nil
}
