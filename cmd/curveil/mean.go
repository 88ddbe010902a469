package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

func meanCommand() *cobra.Command {
	var m flags.Mean
	var in flags.Input
	var out publish.Output
	var budget publish.Budget
	var q quantileFlags
	var boundMu float64
	var unitName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mean FILE",
		Short: "Private mean curve of a cohort",
		Long: `Releases the mean of the curves in FILE (CSV or Parquet, wide or long; - for
standard input) so that replacing any one person's curves changes the law of the
output only within the guarantee. The number of people is public.

Every parameter is public: take it from what is known about such curves, or from
'curveil plan mean', never from the data.`,
		Example: `  curveil mean growth.csv --bound 60 --center const:120 --mu 1 -o growth.json --plot growth.svg
  curveil mean gait.csv --domain 0:1 --space fourier:9 --bound 60 --rho 0.5 -o gait.json`,
		Args: exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := in.Options()
			if err != nil {
				return err
			}
			if err := out.Check(args[0]); err != nil {
				return err
			}
			if g, err := m.Guarantee.Stated(cmd.Flags()); err != nil {
				return err
			} else if err := budget.Accept(g); err != nil {
				return err
			}
			if m.AutoBound() && args[0] == "-" {
				return usagef("--bound auto reads the data twice, which standard input does not allow: use a file")
			}
			file, err := openPeople(&m, cmd.ErrOrStderr(), args[0], &o)
			if err != nil {
				return err
			}
			defer file.Close()
			schema := file.Schema()
			cfg, err := m.Config(cmd.Flags(), schema.Components, schema.Times)
			if err != nil {
				return err
			}
			cfg.Unit = cmp.Or(unitName, flags.UnitOf(schema))
			if _, err := mean.New(cfg); err != nil {
				return usageError{err}
			}
			var bound mean.BoundConfig
			if m.AutoBound() {
				if bound, err = autoBound(&q, boundMu, cfg); err != nil {
					return err
				}
			}
			book, err := budget.Open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			expenditure := func(acc *mean.Mean) publish.Expenditure {
				return publish.Expenditure{
					Budget: &budget, Book: book, Dataset: budget.Name(args[0]), Verb: "mean",
					Statement: acc.Config().Statement(), Parameters: flags.MeanParameters(acc.Config()),
					Predicted: predictMean(acc),
				}
			}
			if m.AutoBound() {
				buyer := &boundBuyer{config: bound}
				if err := buyer.read(cmd, args[0], o, file, &cfg); err != nil {
					return err
				}
				// Neither debit is made unless both can be.
				first, second := buyer.expenditure(args[0], book, &budget), expenditure(buyer.trial)
				if budget.Dry {
					total := second.Statement
					if total.Guarantee, err = together(cfg.Guarantee, boundMu); err != nil {
						return err
					}
					second.Predicted = first.Predicted // there is no bound yet to predict the mean's error from
					return publish.Rehearse(cmd.Context(), cmd.OutOrStdout(), total, first, second)
				}
				if _, err := publish.Afford(cmd.Context(), first, second); err != nil {
					return err
				}
				if err := publish.Try(out.Out); out.Out != "" && err != nil {
					return err
				}
				bought, err := buyer.buy(cmd, first, cmd.ErrOrStderr(), false)
				if err != nil {
					return err
				}
				if bought.Beyond {
					return fmt.Errorf("the bound could not be bought: %g is the end of the public range; state a larger --bound-range", bought.Radius)
				}
				cfg.Radius = bought.Radius
				if file, err = dataset.Open(args[0], o); err != nil {
					return err
				}
				defer file.Close()
			}
			var acc *mean.Mean
			var times observed
			err = readPeople(cmd, args[0], o, file, func() (adder, error) {
				var err error
				acc, err = mean.New(cfg)
				return times.of(acc), err
			})
			if err != nil {
				return err
			}
			if err := acc.Ready(); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err := warnMean(cmd.ErrOrStderr(), acc, &times); err != nil {
				return err
			}
			return publish.Release(cmd, expenditure(acc), &out, asJSON, func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
		},
	}
	cmd.AddCommand(meanPartialCommand(), meanMergeCommand())
	m.Register(cmd.Flags())
	in.Register(cmd.Flags())
	in.RegisterUnsorted(cmd.Flags())
	out.Register(cmd.Flags())
	budget.Register(cmd.Flags())
	budget.RegisterDry(cmd.Flags())
	q.register(cmd.Flags())
	cmd.Flags().Float64Var(&boundMu, "bound-mu", 0, "with --bound auto: budget, as μ-GDP, spent on the bound besides the mean's own")
	flags.RegisterUnitName(cmd.Flags(), &unitName)
	addJSON(cmd, &asJSON)
	return cmd
}

// openPeople opens a table of people's curves, restricted to the public domain,
// and refuses one in which nothing tells people apart. It says which columns are
// not read.
func openPeople(m *flags.Mean, stderr io.Writer, path string, o *dataset.Options) (*dataset.Reader, error) {
	if err := m.Restrict(o); err != nil {
		return nil, err
	}
	file, err := dataset.Open(path, *o)
	if err != nil {
		return nil, err
	}
	if err := flags.CheckPeople(file.Schema(), *o); err != nil {
		file.Close()
		return nil, err
	}
	noteIgnored(stderr, file.Schema())
	m.Dated = file.Schema().Dated
	return file, nil
}

// noteIgnored says which columns are not read, since a curve could have been
// meant.
func noteIgnored(w io.Writer, s dataset.Schema) {
	if len(s.Ignored) > 0 {
		fmt.Fprintf(w, "curveil: columns not read: %s\n", strings.Join(s.Ignored, ", "))
	}
}

// autoBound checks that a bound can be bought, before anything is.
func autoBound(q *quantileFlags, mu float64, c mean.Config) (mean.BoundConfig, error) {
	if !(mu > 0) {
		return mean.BoundConfig{}, usagef("--bound auto needs --bound-mu M, what may be spent on the bound besides the mean's own budget; 'curveil plan mean --bound-mu M' says what that costs and gains")
	}
	b, err := q.config(c, privacy.GDP(mu))
	if err != nil {
		return b, err
	}
	if _, err := mean.NewBound(b); err != nil {
		return b, usageError{err}
	}
	return b, nil
}

// adder is what people are added to.
type adder interface {
	Add(curves ...fit.Curve) error
}

// observed counts the people who pass through it, and keeps the first and the last time of
// their curves.
type observed struct {
	adder
	n           int64
	first, last float64
}

func (o *observed) of(a adder) adder {
	*o = observed{a, 0, math.Inf(1), math.Inf(-1)}
	return o
}

func (o *observed) Add(curves ...fit.Curve) error {
	o.n++
	for _, c := range curves {
		for _, component := range c {
			if t := component.T; len(t) > 0 { // in order, or Add refuses it
				o.first, o.last = min(o.first, t[0]), max(o.last, t[len(t)-1])
			}
		}
	}
	return o.adder.Add(curves...)
}

// warn says that their times lie in a small part of the domain, where no public times are known.
func (o *observed) warn(w io.Writer, c mean.Config) {
	if c.Grid == nil {
		warn(w, flags.SparseDomain(o.first, o.last, c.Space.Domain())...)
	}
}

// warnMean says, before the budget is spent, what the call will hardly have meant. times are
// private and looked at only where no public ones are known; nil for none.
func warnMean(w io.Writer, acc *mean.Mean, times *observed) error {
	n, err := acc.N()
	if err != nil {
		return err
	}
	c := acc.Config()
	warn(w, flags.MeanRemarks(c, n)...)
	if times != nil {
		times.warn(w, c)
	}
	return nil
}

// predictMean says the error to expect of a mean of the people who were added.
func predictMean(acc *mean.Mean) func() string {
	return func() string {
		n, err := acc.N()
		if err != nil {
			return ""
		}
		return flags.PredictMean(acc.Config(), n)
	}
}

// together is a guarantee and a bought bound's, in one.
func together(g privacy.Guarantee, boundMu float64) (privacy.Guarantee, error) {
	mu, err := privacy.GaussianMu(g)
	if pure, ok := g.(privacy.Pure); ok {
		mu, err = pure.GDP(), nil
	}
	if err != nil {
		return nil, err
	}
	return privacy.Shorten(privacy.GDP(math.Hypot(float64(mu), boundMu)), true), nil
}

var warn = publish.Remarks

// readPeople adds everybody in the file to a new accumulator. A large file whose
// people are scattered is read again from the start, in several passes.
func readPeople(cmd *cobra.Command, path string, o dataset.Options, file *dataset.Reader, make func() (adder, error)) error {
	acc, err := make()
	if err != nil {
		return err
	}
	count := newCounter(cmd.ErrOrStderr(), "people")
	err = addAll(cmd.Context(), path, file, acc, count)
	var scattered *dataset.UngroupedError
	if !errors.As(err, &scattered) || o.Unsorted || path == "-" {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "curveil: people are scattered over the file (line %d): reading it again in several passes; a file sorted by person is faster\n", scattered.Line)
	o.Unsorted = true
	again, err := dataset.Open(path, o)
	if err != nil {
		return err
	}
	defer again.Close()
	if acc, err = make(); err != nil {
		return err
	}
	return addAll(cmd.Context(), path, again, acc, count)
}

func addAll(ctx context.Context, path string, file *dataset.Reader, acc adder, count *counter) error {
	defer count.clear()
	for i := 0; file.Next(); i++ {
		count.at(i)
		if i%1024 == 0 && ctx.Err() != nil {
			return errors.New("interrupted: nothing was released and nothing spent")
		}
		p := file.Person()
		if err := acc.Add(p.Curves...); err != nil {
			return fmt.Errorf("%s:%d: %w", path, p.Line, err)
		}
	}
	return file.Err()
}
