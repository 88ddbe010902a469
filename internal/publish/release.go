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

// Release debits, releases, writes, records and reports, in this order: all that can be tried
// was tried before, the budget is spent before noise is drawn, and the ledger learns of the
// release once it is written.
func Release(cmd *cobra.Command, e Expenditure, out *Output, asJSON bool, draw func() (*release.Release, error)) error {
	place, err := Reserve(out.Out)
	if err != nil {
		return err
	}
	defer place.Discard()
	if e.Budget.Dry {
		return Rehearse(cmd.Context(), cmd.OutOrStdout(), e.Statement, e)
	}
	spent, err := e.Budget.Debit(cmd.Context(), e.Book, e.Dataset, e.Verb, e.Statement, e.Parameters)
	if err != nil {
		return err
	}
	r, err := draw()
	if err != nil {
		return spent.Wasted(err)
	}
	text, err := Encode(r)
	if err != nil {
		return spent.Wasted(err)
	}
	to := cmd.OutOrStdout()
	if out.Out == "" {
		_, err = to.Write(text)
		to = cmd.ErrOrStderr()
	} else {
		err = place.Write(text)
	}
	if err != nil {
		return e.Budget.Unwritten(cmd.Context(), spent, text, err)
	}
	if err := spent.Record(cmd.Context(), text); err != nil {
		return err
	}
	if asJSON {
		if err := SummaryJSON(to, r); err != nil {
			return out.Afterwards("the summary", "show", err)
		}
		to = cmd.ErrOrStderr()
	} else {
		Summary(to, r)
	}
	spent.Standing(to)
	if out.Picture != "" { // last: it can be drawn again from the release
		if err := Picture(out.Picture, r, plot.Options{}); err != nil {
			return out.Afterwards("the picture", "plot", err)
		}
	}
	return nil
}
