package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
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
			r, spent, err := buyBound(cmd, bc, args[0], o, file, book, &budget)
			if err != nil || budget.Dry {
				return err
			}
			text, err := r.Encode()
			if err != nil {
				return spent.Wasted(err)
			}
			to := cmd.OutOrStdout()
			if asJSON {
				if err := printJSON(to, r); err != nil {
					return spent.Wasted(err)
				}
				to = cmd.ErrOrStderr()
			} else {
				printBound(to, r)
			}
			return spent.Complete(cmd.Context(), text, to)
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

// buyBound reads everybody, debits and releases; the caller completes the
// expense. A dry run ends before that, with neither.
func buyBound(cmd *cobra.Command, c mean.BoundConfig, path string, o dataset.Options, file *dataset.Reader, book *ledger.Ledger, budget *publish.Budget) (*mean.BoundRelease, *publish.Expense, error) {
	var b *mean.Bound
	var people observed
	err := readPeople(cmd, path, o, file, func() (adder, error) {
		var err error
		b, err = mean.NewBound(c)
		return people.of(b), err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := b.Ready(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	warn(cmd.ErrOrStderr(), append(flags.BoundRemarks(c, people.n), flags.DomainRemarks(c.Grid, c.Space.Domain())...)...)
	people.warn(cmd.ErrOrStderr(), c.Config)
	parameters := map[string]any{
		"space": c.Space.String(), "domain": []float64{c.Space.Domain().A, c.Space.Domain().B},
		"quantile": c.Quantile, "range": []float64{c.Low, c.High}, "per_octave": c.PerOctave,
	}
	if budget.Dry {
		return nil, nil, publish.Rehearse(cmd.Context(), publish.Expenditure{
			Budget: budget, Book: book, Dataset: budget.Name(path), Verb: "bound", Statement: b.Statement(), Parameters: parameters,
			Predicted: func() string { return flags.PredictBound(c, people.n) },
		}, cmd.OutOrStdout())
	}
	spent, err := budget.Debit(cmd.Context(), book, budget.Name(path), "bound", b.Statement(), parameters)
	if err != nil {
		return nil, nil, err
	}
	r, err := b.Release(noise.Crypto())
	if err != nil {
		return nil, nil, spent.Wasted(err)
	}
	return r, spent, nil
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
