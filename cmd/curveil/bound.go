package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// quantileFlags say which quantile of the norms is bought, over which bins.
type quantileFlags struct {
	quantile  float64
	rangeText string
	perOctave int
}

func (q *quantileFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&q.quantile, "quantile", 0.95, "bought bound: share of the people whose curves should lie within it")
	f.StringVar(&q.rangeText, "bound-range", "0.001:1000000", "bought bound: public range that surely holds it")
	f.IntVar(&q.perOctave, "per-octave", 2, "bought bound: histogram bins between a norm and its double")
}

func (q *quantileFlags) config(c mean.Config, g privacy.Guarantee) (mean.BoundConfig, error) {
	lo, hi, ok := strings.Cut(q.rangeText, ":")
	if !ok {
		return mean.BoundConfig{}, usagef("--bound-range %q: write low:high, such as 1:1000", q.rangeText)
	}
	b := mean.BoundConfig{Config: c, Quantile: q.quantile, PerOctave: q.perOctave}
	b.Guarantee = g
	var err error
	if b.Low, err = flags.Float("--bound-range", lo); err != nil {
		return b, err
	}
	b.High, err = flags.Float("--bound-range", hi)
	return b, err
}

func boundCommand() *cobra.Command {
	var m flags.Mean
	var q quantileFlags
	var in flags.Input
	var budget publish.Budget
	var unitName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bound FILE",
		Short: "Buy a bound: a private quantile of how far the curves are from the center",
		Long: `Spends a part of the budget on a private quantile of the curves' norms in the
space, around the center, so that the --bound of a mean can be chosen without
peeking. The histogram's bins are public and geometric: the answer is one of their
edges.`,
		Example: `  curveil bound growth.csv --center const:120 --mu 0.3
  curveil bound growth.csv --center const:120 --mu 0.3 --quantile 0.9 --bound-range 1:1000 --per-octave 4`,
		Args: exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := in.Options()
			if err != nil {
				return err
			}
			g, err := m.Guarantee.Stated(cmd.Flags())
			if err != nil {
				return err
			}
			if err := budget.Accept(g); err != nil {
				return err
			}
			file, err := openPeople(&m, cmd.ErrOrStderr(), args[0], &o)
			if err != nil {
				return err
			}
			defer file.Close()
			c, err := m.Public(file.Schema().Components, file.Schema().Times)
			if err != nil {
				return err
			}
			c.Unit, c.Grid = cmp.Or(unitName, flags.UnitOf(file.Schema())), file.Schema().Times
			bc, err := q.config(c, g)
			if err != nil {
				return err
			}
			if _, err := mean.NewBound(bc); err != nil {
				return usageError{err}
			}
			book, err := budget.Open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			buyer := &boundBuyer{config: bc}
			if err := buyer.read(cmd, args[0], o, file, nil); err != nil {
				return err
			}
			e := buyer.expenditure(args[0], book, &budget)
			if budget.Dry {
				return publish.Rehearse(cmd.Context(), cmd.OutOrStdout(), e.Statement, e)
			}
			_, err = buyer.buy(cmd, e, cmd.OutOrStdout(), asJSON)
			return err
		},
	}
	m.RegisterPublic(cmd.Flags())
	m.Guarantee.Register(cmd.Flags())
	q.register(cmd.Flags())
	in.Register(cmd.Flags())
	in.RegisterUnsorted(cmd.Flags())
	budget.Register(cmd.Flags())
	budget.RegisterDry(cmd.Flags())
	flags.RegisterUnitName(cmd.Flags(), &unitName)
	addJSON(cmd, &asJSON)
	return cmd
}

// boundBuyer reads the people and buys their bound.
type boundBuyer struct {
	config mean.BoundConfig
	people observed
	bound  *mean.Bound
	trial  *mean.Mean // of the same people, with any radius, where a mean is to follow: it refuses what the mean would
}

// read adds everybody to the bound, and makes trial unless its configuration is nil. Fit-then-protect takes what the bound takes,
// whose fits are its own; only protect-then-fit, which asks for a common grid, is tried with the people.
func (q *boundBuyer) read(cmd *cobra.Command, path string, o dataset.Options, file *dataset.Reader, trial *mean.Config) error {
	tried := false
	err := readPeople(cmd, path, o, file, func() (adder, error) {
		var err error
		if q.bound, err = mean.NewBound(q.config); err != nil || trial == nil {
			return q.people.of(q.bound), err
		}
		if q.trial, err = mean.New(*trial); err != nil {
			return nil, err
		}
		if tried = q.trial.Config().Method == mean.ProtectThenFit; !tried {
			return q.people.of(q.bound), nil
		}
		return q.people.of(both{q.bound, q.trial}), nil
	})
	if err == nil {
		err = q.bound.Ready()
	}
	if err == nil && tried {
		err = q.trial.Ready()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	warn(cmd.ErrOrStderr(), append(flags.BoundRemarks(q.config, q.people.n), flags.DomainRemarks(q.config.Grid, q.config.Space.Domain())...)...)
	q.people.warn(cmd.ErrOrStderr(), q.config.Config)
	return nil
}

// both adds people to two.
type both struct{ a, b adder }

func (t both) Add(curves ...fit.Curve) error {
	if err := t.a.Add(curves...); err != nil {
		return err
	}
	return t.b.Add(curves...)
}

func (q *boundBuyer) expenditure(path string, book *ledger.Ledger, budget *publish.Budget) publish.Expenditure {
	c := q.config
	return publish.Expenditure{
		Budget: budget, Book: book, Dataset: budget.Name(path), Verb: "bound", Statement: q.bound.Statement(),
		Parameters: map[string]any{
			"space": c.Space.String(), "domain": []float64{c.Space.Domain().A, c.Space.Domain().B},
			"quantile": c.Quantile, "range": []float64{c.Low, c.High}, "per_octave": c.PerOctave,
		},
		Predicted: func() string { return flags.PredictBound(c, q.people.n) },
	}
}

// buy debits and draws the bound, prints it to where it belongs and records it.
func (q *boundBuyer) buy(cmd *cobra.Command, e publish.Expenditure, to io.Writer, asJSON bool) (*mean.BoundRelease, error) {
	spent, err := e.Budget.Debit(cmd.Context(), e.Book, e.Dataset, e.Verb, e.Statement, e.Parameters)
	if err != nil {
		return nil, err
	}
	r, err := q.bound.Release(noise.Crypto())
	if err != nil {
		return nil, spent.Wasted(err)
	}
	text, err := r.Encode()
	if err != nil {
		return nil, spent.Wasted(err)
	}
	var shown bytes.Buffer
	if asJSON {
		err = printJSON(&shown, r)
	} else {
		printBound(&shown, r)
	}
	if err != nil {
		return nil, spent.Wasted(err)
	}
	if _, err := to.Write(shown.Bytes()); err != nil {
		return nil, e.Budget.Unwritten(cmd.Context(), spent, text, err)
	}
	if asJSON {
		to = cmd.ErrOrStderr()
	}
	return r, spent.Complete(cmd.Context(), text, to)
}

func printBound(w io.Writer, r *mean.BoundRelease) {
	t := publish.Labelled(w)
	defer t.Flush()
	fmt.Fprintf(t, "private bound %.6g of n = %d\n", r.Radius, r.N)
	fmt.Fprintf(t, "  guarantee\t%v per %s (%s: one %s's data replaced, n public)\n", r.Privacy.Guarantee, r.Privacy.Unit, r.Privacy.Adjacency, r.Privacy.Unit)
	if r.Beyond {
		fmt.Fprintf(t, "  accuracy\tthe %.4g quantile lies beyond the public range: state a larger --bound-range\n", r.Quantile)
		return
	}
	fmt.Fprintf(t, "  accuracy\tasked for %.4g of the people; between %.0f%% and %.0f%% of them are within it, for 95 %% of the noise\n",
		r.Quantile, 100*r.Within[0], 100*r.Within[1])
}

// printBoundPlan says what buying the bound costs and gains.
func printBoundPlan(w io.Writer, p mean.PlanConfig, q *quantileFlags, boundMu float64) error {
	mu, err := privacy.GaussianMu(p.Guarantee)
	if err != nil {
		return usagef("--bound-mu: %w", err)
	}
	if !(boundMu > 0 && boundMu < float64(mu)) {
		return usagef("--bound-mu %g must be positive and less than the whole budget, μ = %.4g", boundMu, float64(mu))
	}
	c, err := q.config(p.Config, privacy.GDP(boundMu))
	if err != nil {
		return err
	}
	within, err := mean.PlanBound(c)
	if err != nil {
		return usageError{err}
	}
	rest := math.Sqrt(float64(mu)*float64(mu) - boundMu*boundMu)
	more := float64(mu)/rest - 1
	fmt.Fprintf(w, "\nbuying the bound (--bound auto --mu %.4g --bound-mu %g: μ = %.4g in all)\n", rest, boundMu, float64(mu))
	fmt.Fprintf(w, "  costs   %.0f%% more noise in the mean\n", 100*more)
	fmt.Fprintf(w, "  gains   a bound within which surely %.0f%% to %.0f%% of the people lie (asked: %.0f%%), to a factor of %.2f\n",
		100*within[0], 100*within[1], 100*q.quantile, math.Exp2(1/float64(q.perOctave)))
	fmt.Fprintf(w, "  pays    when the bound %.4g is more than %.2f times larger than need be\n", p.Radius, (1+more)*math.Exp2(1/float64(q.perOctave)))
	return nil
}
