package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

func meanCommand() *cobra.Command {
	var m meanFlags
	var in inputFlags
	var out outputFlags
	var budget budgetFlags
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
			o, err := in.options()
			if err != nil {
				return err
			}
			if err := out.check(args[0]); err != nil {
				return err
			}
			if _, err := m.guarantee.guarantee(cmd.Flags()); err != nil {
				return err
			}
			if m.autoBound() && args[0] == "-" {
				return usagef("--bound auto reads the data twice, which standard input does not allow: use a file")
			}
			file, err := m.openPeople(cmd.ErrOrStderr(), args[0], &o)
			if err != nil {
				return err
			}
			defer file.Close()
			schema := file.Schema()
			cfg, err := m.config(cmd.Flags(), schema.Components, schema.Times)
			if err != nil {
				return err
			}
			if cfg.Unit = unitName; cfg.Unit == "" {
				cfg.Unit = unitOf(schema)
			}
			if _, err := mean.New(cfg); err != nil {
				return usageError{err}
			}
			var bound mean.BoundConfig
			if m.autoBound() {
				if bound, err = autoBound(&q, boundMu, cfg); err != nil {
					return err
				}
			}
			book, err := budget.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			if m.autoBound() {
				bought, spent, err := buyBound(cmd, bound, args[0], o, file, book, &budget)
				if err != nil {
					return err
				}
				text, err := bought.Encode()
				if err != nil {
					return spent.wasted(err)
				}
				printBound(cmd.ErrOrStderr(), bought)
				if err := spent.complete(cmd.Context(), text, cmd.ErrOrStderr()); err != nil {
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
			err = readPeople(cmd, args[0], o, file, func() (adder, error) {
				var err error
				acc, err = mean.New(cfg)
				return acc, err
			})
			if err != nil {
				return err
			}
			if err := acc.Ready(); err != nil {
				return err
			}
			return publish(cmd, expenditure{
				budget: &budget, book: book, dataset: budget.name(args[0]), verb: "mean",
				statement: acc.Config().Statement(), parameters: parameters(acc.Config()),
			}, &out, asJSON, func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
		},
	}
	cmd.AddCommand(meanPartialCommand(), meanMergeCommand())
	m.register(cmd.Flags())
	in.register(cmd.Flags())
	out.register(cmd)
	budget.register(cmd.Flags())
	q.register(cmd.Flags())
	cmd.Flags().Float64Var(&boundMu, "bound-mu", 0, "with --bound auto: budget, as μ-GDP, spent on the bound besides the mean's own")
	cmd.Flags().StringVar(&unitName, "unit-name", "", "what one protected person is called, such as child (default: the column's name)")
	addJSON(cmd, &asJSON)
	return cmd
}

// parameters are what the ledger's history keeps of a mean: public numbers.
func parameters(c mean.Config) any {
	return map[string]any{
		"space": c.Space.String(), "domain": []float64{c.Space.Domain().A, c.Space.Domain().B}, "radius": c.Radius,
		"method": c.Method, "components": c.Components, "raw": c.Raw,
	}
}

// openPeople opens a table of people's curves, restricted to the public domain,
// and refuses one in which nothing tells people apart. It says which columns are
// not read.
func (m *meanFlags) openPeople(stderr io.Writer, path string, o *dataset.Options) (*dataset.Reader, error) {
	if err := m.restrict(o); err != nil {
		return nil, err
	}
	file, err := dataset.Open(path, *o)
	if err != nil {
		return nil, err
	}
	if err := checkPeople(file.Schema(), *o); err != nil {
		file.Close()
		return nil, err
	}
	noteIgnored(stderr, file.Schema())
	return file, nil
}

// checkPeople refuses a long table in which no column tells people apart: all its
// rows would count as one person's, and values of an unnamed id as measurements.
func checkPeople(s dataset.Schema, o dataset.Options) error {
	if s.Layout == dataset.Long && s.ID == "" && s.Unit == "" && o.ID != "-" {
		return usagef("no column was recognised that tells people apart: name it with --id COLUMN, or say --id - if the whole file is one person's curve (values: %s)", strings.Join(s.Components, ", "))
	}
	return nil
}

// noteIgnored says which columns are not read, since a curve could have been
// meant.
func noteIgnored(w io.Writer, s dataset.Schema) {
	if len(s.Ignored) > 0 {
		fmt.Fprintf(w, "curveil: columns not read: %s\n", strings.Join(s.Ignored, ", "))
	}
}

// unitOf names the unit of privacy after the column that holds it.
func unitOf(s dataset.Schema) string {
	name := s.Unit
	if name == "" {
		name = s.ID
	}
	if name == "" || name == "id" {
		return "person"
	}
	return name
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
