package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

func ledgerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Budgets: what was spent on which data set, and what may be",
		RunE:  subverb,
	}
	var where string
	cmd.PersistentFlags().StringVar(&where, "ledger", publish.DefaultLedger(), "the ledger: a SQLite file or postgres://… (environment: CURVEIL_LEDGER)")
	cmd.AddCommand(ledgerShow(&where), ledgerCap(&where), ledgerHistory(&where), ledgerVerify(&where))
	return cmd
}

// withLedger opens an existing ledger for a verb that reads it.
func withLedger(cmd *cobra.Command, where string, do func(*ledger.Ledger) error) error {
	l, err := ledger.OpenExisting(cmd.Context(), where)
	if err != nil {
		return err
	}
	return errors.Join(do(l), l.Close())
}

// account is a summary as printed.
type account struct {
	Dataset    string          `json:"dataset"`
	Unit       string          `json:"unit"`
	Currency   ledger.Currency `json:"currency"`
	Metric     privacy.Metric  `json:"metric,omitempty"`   // of curves
	Distance   string          `json:"distance,omitempty"` // of curves: the unit
	Spent      float64         `json:"spent"`
	AtMost     bool            `json:"at_most,omitempty"` // pure ε is counted among it, as the μ that it implies
	Cap        json.RawMessage `json:"cap,omitempty"`
	Fits       *float64        `json:"fits,omitempty"`
	Rho        float64         `json:"rho,omitempty"`
	Equivalent []epsilonAt     `json:"equivalent,omitempty"`
	Debits     int64           `json:"debits"`
	Unreleased int64           `json:"spent_not_released"`
	Head       string          `json:"head"`
}

type epsilonAt struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// amount is the number of a guarantee in a ledger's currency.
func amount(g privacy.Guarantee) float64 {
	switch g := g.(type) {
	case privacy.GDP:
		return float64(g)
	case privacy.Geo:
		return float64(g)
	case privacy.ConcentratedGeo:
		return float64(g)
	}
	return 0
}

func newAccount(s *ledger.Summary, deltas []float64) (account, error) {
	a := account{Dataset: s.Dataset, Unit: s.Terms.Unit, Currency: s.Terms.Currency, Metric: s.Terms.Metric, Distance: s.Terms.Distance, AtMost: s.AtMost, Spent: amount(s.Spent), Debits: s.Debits, Unreleased: s.Unreleased, Head: s.Head}
	if s.Cap != nil {
		text, err := privacy.MarshalGuarantee(s.Cap)
		if err != nil {
			return a, err
		}
		fits := amount(s.Fits)
		a.Cap, a.Fits = text, &fits
	}
	if mu, ok := s.Spent.(privacy.GDP); ok && mu > 0 {
		a.Rho = float64(mu.ZCDP())
		for _, d := range deltas {
			a.Equivalent = append(a.Equivalent, epsilonAt{d, mu.Epsilon(d)})
		}
	}
	return a, nil
}

func ledgerShow(where *string) *cobra.Command {
	var asJSON bool
	var deltas []float64
	cmd := &cobra.Command{
		Use:   "show [DATASET…]",
		Short: "What each data set has spent, and what still fits",
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, d := range deltas {
				if !(d > 0 && d < 1) {
					return usagef("--delta %g must lie between 0 and 1", d)
				}
			}
			return withLedger(cmd, *where, func(l *ledger.Ledger) (err error) {
				if len(names) == 0 {
					if names, err = l.Datasets(cmd.Context()); err != nil {
						return err
					}
				}
				var out []account
				var rows []*ledger.Summary
				asTable := len(names) > mostAccounts
				for _, name := range names {
					s, err := l.Show(cmd.Context(), name)
					if err != nil {
						return err
					}
					a, err := newAccount(s, deltas)
					if err != nil {
						return err
					}
					out, rows = append(out, a), append(rows, s)
					if !asJSON && !asTable {
						printAccount(cmd.OutOrStdout(), s, a)
					}
				}
				if asTable && !asJSON {
					return printAccounts(cmd.OutOrStdout(), rows, out)
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), out)
				}
				if len(out) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "the ledger has no data sets yet: the first release or cap makes one")
				}
				return nil
			})
		},
	}
	cmd.Flags().Float64SliceVar(&deltas, "delta", []float64{1e-6, 1e-9}, "δ at which to state ε (repeatable)")
	addJSON(cmd, &asJSON)
	return cmd
}

func printAccount(w io.Writer, s *ledger.Summary, a account) {
	t := newTable(w)
	defer t.Flush()
	per := a.Unit
	if s.Terms.Metric != "" {
		per += fmt.Sprintf(", distance %s in %s", s.Terms.Metric, cmp.Or(s.Terms.Distance, noUnit))
	}
	fmt.Fprintf(t, "%s\tper %s\n", a.Dataset, per)
	if s.Debits == 0 {
		fmt.Fprintf(t, "  spent\tnothing\n")
	} else {
		fmt.Fprintf(t, "  spent\t%s, in %s", spentWords(s), plural(s.Debits, "debit"))
		if s.Unreleased > 0 {
			fmt.Fprintf(t, " (%d of them spent, not released)", s.Unreleased)
		}
		fmt.Fprintln(t)
	}
	if a.Rho > 0 {
		is := "="
		if s.AtMost {
			is = "≤"
		}
		words := []string{fmt.Sprintf("ρ %s %.4g", is, a.Rho)}
		for _, e := range a.Equivalent {
			words = append(words, fmt.Sprintf("ε %s %.4g at δ = %g", is, e.Epsilon, e.Delta))
		}
		if s.AtMost {
			words = append(words, "pure ε being counted as the μ that it implies")
		}
		fmt.Fprintf(t, "  which is\t%s\n", strings.Join(words, ", "))
	}
	switch {
	case s.Cap == nil:
		fmt.Fprintf(t, "  cap\tnone\n")
	case s.Fits.Validate() != nil:
		fmt.Fprintf(t, "  cap\t%v; nothing more fits\n", s.Cap)
	default:
		fmt.Fprintf(t, "  cap\t%v; %v still fits\n", s.Cap, privacy.Shorten(s.Fits, false))
	}
}

// spentWords is what is spent, at most where pure ε was counted as μ.
func spentWords(s *ledger.Summary) string {
	spent := privacy.Shorten(s.Spent, true)
	if s.AtMost {
		return publish.AtMost(spent)
	}
	return fmt.Sprint(spent)
}

// mostAccounts are shown each in words; more are shown as a table.
const mostAccounts = 3

// printAccounts has a line for each data set, with ε at the first δ.
func printAccounts(w io.Writer, summaries []*ledger.Summary, accounts []account) error {
	t := newTable(w)
	head := "data set\tper\tdebits\tspent"
	at := ""
	for _, a := range accounts {
		if len(a.Equivalent) > 0 {
			at = fmt.Sprintf("ε at δ = %g", a.Equivalent[0].Delta)
		}
	}
	if at != "" {
		head += "\t" + at
	}
	fmt.Fprintln(t, head+"\tcap\tstill fits")
	for i, a := range accounts {
		s := summaries[i]
		spent, limit, fits := "nothing", "none", ""
		if s.Debits > 0 {
			spent = spentWords(s)
		}
		if s.Cap != nil {
			limit, fits = fmt.Sprint(s.Cap), "nothing"
			if s.Fits.Validate() == nil {
				fits = fmt.Sprint(privacy.Shorten(s.Fits, false))
			}
		}
		debits := strconv.FormatInt(a.Debits, 10)
		if a.Unreleased > 0 {
			debits += fmt.Sprintf(" (%d not released)", a.Unreleased)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s", a.Dataset, a.Unit, debits, spent)
		if at != "" {
			epsilon := ""
			if len(a.Equivalent) > 0 {
				epsilon = fmt.Sprintf("%.4g", a.Equivalent[0].Epsilon)
			}
			fmt.Fprintf(t, "\t%s", epsilon)
		}
		fmt.Fprintf(t, "\t%s\t%s\n", limit, fits)
	}
	return t.Flush()
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func ledgerHistory(where *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history DATASET",
		Short: "Every event of a data set: who, when, what, how much",
		Args:  exactArgs(1, "one data set"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd, *where, func(l *ledger.Ledger) error {
				events, err := l.History(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), eventRows(events))
				}
				t := newTable(cmd.OutOrStdout())
				fmt.Fprintln(t, "#\twhen\twho\twhat\tguarantee\tspent so far\tstate")
				for _, e := range historyRows(events) {
					fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Seq, e.At.Format(time.RFC3339), e.Who, e.What, e.Guarantee, e.Spent, e.State)
				}
				return t.Flush()
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// eventRow is one line of a history.
type eventRow struct {
	Seq        int64           `json:"seq"`
	At         time.Time       `json:"at"`
	Who        string          `json:"who"`
	What       string          `json:"what"`
	Guarantee  string          `json:"guarantee,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Spent      string          `json:"spent"`
	State      string          `json:"state"`
	Release    string          `json:"release_sha256,omitempty"`
	Hash       string          `json:"hash"`
}

// historyRows are the events for people: that a release was written is the state of its
// debit and needs no line of its own.
func historyRows(events []ledger.Event) []eventRow {
	events = slices.DeleteFunc(slices.Clone(events), func(e ledger.Event) bool { return e.Kind == ledger.Released })
	for i, e := range events {
		if e.Spent != nil && e.Spent.Validate() == nil {
			events[i].Spent = privacy.Shorten(e.Spent, true)
		}
	}
	return eventRows(events)
}

func eventRows(events []ledger.Event) []eventRow {
	var out []eventRow
	pure := false // counted as the μ that it implies
	for _, e := range events {
		r := eventRow{Seq: e.Seq, At: e.At, Who: e.Who, What: string(e.Kind), Parameters: e.Parameters, State: e.State(), Release: e.Release, Hash: e.Hash, Spent: "nothing"}
		if e.Spent != nil && e.Spent.Validate() == nil {
			r.Spent = fmt.Sprint(e.Spent)
			if _, is := e.Statement.Guarantee.(privacy.Pure); is {
				pure = true
			}
			if pure {
				r.Spent = publish.AtMost(e.Spent)
			}
		}
		switch e.Kind {
		case ledger.Debited:
			r.What, r.Guarantee = e.Verb, fmt.Sprint(e.Statement.Guarantee)
		case ledger.Capped:
			r.Guarantee = "none"
			if e.Cap != nil {
				r.Guarantee = fmt.Sprint(e.Cap)
			}
		case ledger.Released:
			r.What = "release of " + strconv.FormatInt(e.Debit, 10)
		}
		out = append(out, r)
	}
	return out
}

func ledgerVerify(where *string) *cobra.Command {
	var anchors []string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find altered, deleted or reordered rows",
		Long: `Recomputes the hash chain of every data set. Who can write the database can also
recompute the whole chain: against that, keep the head that 'ledger show --json'
prints somewhere else and give it back as --anchor.`,
		Args: exactArgs(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var kept []ledger.Anchor
			for _, a := range anchors {
				parts := strings.Split(a, ":")
				if len(parts) < 3 {
					return usagef("--anchor %q: write DATASET:EVENT:HASH", a)
				}
				seq, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
				if err != nil {
					return usagef("--anchor %q: the event must be a number", a)
				}
				kept = append(kept, ledger.Anchor{Dataset: strings.Join(parts[:len(parts)-2], ":"), Seq: seq, Hash: parts[len(parts)-1]})
			}
			return withLedger(cmd, *where, func(l *ledger.Ledger) error {
				v, err := l.Verify(cmd.Context(), kept...)
				if err != nil {
					return err
				}
				for _, p := range v.Problems {
					fmt.Fprintln(cmd.OutOrStdout(), p)
				}
				if len(v.Problems) > 0 {
					return fmt.Errorf("the ledger is not as curveil wrote it: %d problems; restore a backup", len(v.Problems))
				}
				fmt.Fprintf(cmd.OutOrStdout(), "sound: %d data sets, %d events\n", v.Datasets, v.Events)
				return nil
			})
		},
	}
	cmd.Flags().StringSliceVar(&anchors, "anchor", nil, "DATASET:EVENT:HASH kept elsewhere (repeatable)")
	return cmd
}
