package main

import (
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// streamFlags are the public parameters of a regression stream.
type streamFlags struct {
	space, domain, calibration, steps, unit, xLabel, yLabel string
	tau, bound, center, epsilon, delta, radius              float64
	gamma, exponent                                         float64
	staleness                                               int64
}

func (s *streamFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.space, "space", "kernel:gauss:20%", "function space of the curve, as in 'curveil mean'; a kernel where there are several variables")
	f.StringVar(&s.domain, "domain", "", "public range a:b of x; a:b,c:d,… for several variables")
	f.Float64Var(&s.tau, "tau", 0, "τ of the Huber loss, in the units of y: about 0.4 to 1.3 standard deviations of the errors, from public data or a guess, never from the data")
	f.Float64Var(&s.center, "center", 0, "public guess of the level of y; the deviation from it is learned")
	f.Float64Var(&s.epsilon, "epsilon", 0, "ε of each person's report")
	f.Float64Var(&s.delta, "delta", 0, "δ of each person's report; below one over the number of people")
	f.StringVar(&s.calibration, "calibration", "analytic", "noise: analytic, or classical (the paper's, with more noise)")
	f.Float64Var(&s.bound, "bound", 0, "B, a bound on the features (default: their largest)")
	f.Float64Var(&s.radius, "radius", 0, "public bound on the curve's norm: iterates are projected onto the ball")
	f.StringVar(&s.steps, "steps", "private", "exponent of the constant step γ₀n^−ζ: private (right under privacy noise), paper, or constant or decaying with --gamma and --exponent")
	f.Float64Var(&s.gamma, "gamma", 0, "γ₀ of --steps constant, decaying or paper")
	f.Float64Var(&s.exponent, "exponent", 0, "ζ of --steps constant or decaying")
	f.Int64Var(&s.staleness, "staleness", 0, "how many versions old the model of a report may be (default: what is harmless)")
	f.StringVar(&s.xLabel, "x-label", "", "name and unit of x, for pictures")
	f.StringVar(&s.yLabel, "y-label", "", "name and unit of y, for pictures")
}

// centres of a kernel on a box, per axis, by the number of variables.
var centresPerAxis = []int{0, 0, 12, 6, 4}

func (s *streamFlags) basis() (regression.Basis, error) {
	if s.domain == "" {
		return nil, usagef("--domain a:b is needed: the public range of x; it must not be read off the data")
	}
	var box []space.Interval
	for part := range strings.SplitSeq(s.domain, ",") {
		d, err := flags.Domain("--domain", part)
		if err != nil {
			return nil, err
		}
		box = append(box, d)
	}
	one, err := space.Parse(s.space, box[0])
	if err != nil {
		return nil, usageError{err}
	}
	if len(box) == 1 {
		return regression.OneVariable(one), nil
	}
	kernel, ok := one.(*space.KernelSpace)
	if !ok || len(box) >= len(centresPerAxis) {
		return nil, usagef("--space %s on %d variables: take a kernel, such as kernel:gauss:0.2, on up to %d", s.space, len(box), len(centresPerAxis)-1)
	}
	axes := slices.Repeat([]int{centresPerAxis[len(box)]}, len(box))
	centres, err := space.Centres(box, axes...)
	if err != nil {
		return nil, usageError{err}
	}
	r, err := space.NewRadial(kernel.Kern(), box, centres, 1e-8)
	if err != nil {
		return nil, usageError{err}
	}
	return r, nil
}

// stream is without its steps.
func (s *streamFlags) stream(f *pflag.FlagSet, name string) (regression.Stream, error) {
	var out regression.Stream
	if !f.Changed("tau") {
		return out, usagef("--tau is needed: where the loss turns from squared to absolute, in the units of y; from public data or a guess")
	}
	if !f.Changed("epsilon") || !f.Changed("delta") {
		return out, usagef("--epsilon E and --delta D are needed: the guarantee of each person's report")
	}
	basis, err := s.basis()
	if err != nil {
		return out, err
	}
	out = regression.Stream{Name: name, Basis: basis, Tau: s.tau, Bound: s.bound, Center: s.center, Budget: privacy.Approx{Epsilon: s.epsilon, Delta: s.delta},
		Calibration: regression.Calibration(s.calibration), Staleness: s.staleness, Radius: s.radius, Unit: s.unit, XLabel: s.xLabel, YLabel: s.yLabel}
	return out, nil
}

// countRows reads all rows once, so that a fault in the last one stops everything
// before anything is spent, and refuses another number than the one stated.
func countRows(stderr io.Writer, path string, o dataset.PointOptions, stated int64) (int64, error) {
	file, err := dataset.OpenPoints(path, o)
	if err != nil {
		return 0, err
	}
	name := file.PersonColumn()
	if err := file.Close(); err != nil {
		return 0, err
	}
	if name != "" {
		fmt.Fprintf(stderr, "curveil: WARNING: column %s is not read: each row counts as another person's, and protects that row only\n", name)
	}
	var n int64
	if err := eachPerson(path, o, func(float64s) error { n++; return nil }); err != nil {
		return 0, err
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("%s: no rows: there is nothing to release", path)
	case stated != 0 && n != stated:
		return 0, fmt.Errorf("%s has %d people, but the public number was stated as %d", path, n, stated)
	}
	return n, nil
}

// withSteps adds the steps for n people.
func (s *streamFlags) withSteps(out regression.Stream, n int64) (_ regression.Stream, err error) {
	zeta := s.exponent
	horizon := n
	switch s.steps {
	case "private":
		out.Steps, err = regression.DefaultSteps(out, n)
		if err == nil && s.gamma != 0 {
			out.Steps.Gamma0 = s.gamma
		}
		return out, wrapUsage(err)
	case "paper":
		zeta = regression.PaperExponent(regression.Decay(out.Basis), 0.5)
	case "constant":
	case "decaying":
		horizon = 0
	default:
		return out, usagef("--steps %q: take private, paper, constant or decaying", s.steps)
	}
	if !(s.gamma > 0) {
		return out, usagef("--steps %s needs --gamma, the γ₀", s.steps)
	}
	out.Steps = regression.Steps{Gamma0: s.gamma, Exponent: zeta, Horizon: horizon}
	return out, nil
}

func wrapUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

func regressCommand() *cobra.Command {
	var s streamFlags
	var out publish.Output
	var budget publish.Budget
	var in flags.Input
	var columns []string
	var yColumn string
	var n int64
	var delay int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "regress FILE",
		Short: "Play a table of (x, y) through the streaming private regression",
		Long: `Plays the rows of FILE (CSV or Parquet, one person per row; - for standard input) through the
client and the server of the streaming regression in one process: each person's gradient is made
private as on the person's own device. For planning and study, and for data whose people agreed to their
being in one place: whoever runs this sees them. 'curveil serve' collects without seeing.`,
		Example: `  curveil regress survey.csv --x age --y height --domain 1:18 --center 120 --tau 8 --epsilon 1 --delta 1e-6 -o curve.json --plot curve.png`,
		Args:    exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			stream, err := s.stream(cmd.Flags(), budget.Name(args[0]))
			if err != nil {
				return err
			}
			if len(columns) != len(stream.Basis.Box()) || yColumn == "" {
				return usagef("--x and --y are needed: a column for each range in --domain, and the column of y")
			}
			if err := out.Check(args[0]); err != nil {
				return err
			}
			options, err := in.Options()
			if err != nil {
				return err
			}
			points := dataset.PointOptions{Columns: append(slices.Clone(columns), yColumn), Separator: options.Separator, Decimal: options.Decimal}
			if args[0] == "-" {
				if n == 0 && s.steps != "decaying" {
					return usagef("standard input cannot be read twice: give --n, the public number of people, or --steps decaying")
				}
			} else if n, err = countRows(cmd.ErrOrStderr(), args[0], points, n); err != nil {
				return err
			}
			if stream, err = s.withSteps(stream, n); err != nil {
				return err
			}
			stream = stream.WithDefaults()
			if err := stream.Validate(); err != nil {
				return usageError{err}
			}
			for _, w := range stream.Warnings(n) {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: %s\n", w)
			}
			book, err := budget.Open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			return publish.Release(cmd, publish.Expenditure{
				Budget: &budget, Book: book, Dataset: budget.Name(args[0]), Verb: regression.Verb, Statement: stream.Statement(stream.Budget),
				Parameters: map[string]any{"space": stream.Basis.String(), "tau": stream.Tau, "steps": stream.Steps, "calibration": stream.Calibration},
			}, &out, asJSON, func() (*release.Release, error) {
				var failed error
				v, err := regression.Simulate(cmd.Context(), regression.Simulation{Stream: stream, Source: noise.Crypto(), Delay: delay}, rowsOf(args[0], points, &failed))
				if failed != nil {
					return nil, failed
				}
				if err != nil {
					return nil, err
				}
				return v.Release()
			})
		},
	}
	s.register(cmd.Flags())
	out.Register(cmd.Flags())
	budget.Register(cmd.Flags())
	f := cmd.Flags()
	f.StringSliceVar(&columns, "x", nil, "column of x, or one for each variable")
	f.StringVar(&yColumn, "y", "", "column of y")
	f.Int64VarP(&n, "n", "n", 0, "public number of people (default: counted in a first pass over the file)")
	f.IntVar(&delay, "delay", 0, "how many versions old the model is at which people answer")
	f.StringVar(&s.unit, "unit-name", "person", "what one protected person is called")
	f.StringVar(&in.Separator, "separator", "", "field separator of a CSV file (default: seen from the file)")
	f.StringVar(&in.Decimal, "decimal", "", "decimal sign of a CSV file, . or , (default: seen from the file)")
	addJSON(cmd, &asJSON)
	return cmd
}

// rowsOf are the points of the file, the last column being y.
func rowsOf(path string, o dataset.PointOptions, failed *error) iter.Seq[regression.Point] {
	return func(yield func(regression.Point) bool) {
		stop := fmt.Errorf("stopped")
		err := eachPerson(path, o, func(p float64s) error {
			row := p[0]
			if !yield(regression.Point{X: row[:len(row)-1], Y: row[len(row)-1]}) {
				return stop
			}
			return nil
		})
		if err != nil && !strings.HasSuffix(err.Error(), stop.Error()) {
			*failed = err
		}
	}
}

func planRegressionCommand() *cobra.Command {
	var s streamFlags
	var p regression.PlanConfig
	var people []string
	var truth string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "regression",
		Short: "Predicted error of a streaming private regression; reads no data",
		Long: `Predicts the error of the curve against the number of people, from public numbers and guesses
only. Errors are root-mean-squares over x, in the units of y.`,
		Example: `  curveil plan regression --n 1000,10000,100000 --domain 1:18 --center 120 --tau 8 --epsilon 1 --delta 1e-6`,
		Args:    exactArgs(0, "none: a plan reads no data"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.People, err = parsePeople(people); err != nil {
				return err
			}
			if p.Stream, err = s.stream(cmd.Flags(), "plan"); err != nil {
				return err
			}
			if s.steps != "private" || s.gamma != 0 {
				if p.Stream, err = s.withSteps(p.Stream, p.People[len(p.People)-1]); err != nil {
					return err
				}
			}
			if truth != "" {
				if p.Truth, err = readTruth(truth, len(p.Stream.Basis.Box())); err != nil {
					return err
				}
			}
			plan, err := regression.NewPlan(p)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), plan)
			}
			printRegressionPlan(cmd.OutOrStdout(), p, plan)
			return nil
		},
	}
	s.register(cmd.Flags())
	f := cmd.Flags()
	f.StringSliceVarP(&people, "n", "n", []string{"1000", "10000", "100000", "1000000"}, "public numbers of people")
	f.Float64Var(&p.Errors, "noise", 0, "guessed standard deviation of y around the curve (default: τ/1.345)")
	f.Float64Var(&p.Signal, "signal", 0, "guessed root mean square of the curve around the center (default: 1.5τ)")
	f.StringVar(&truth, "truth", "", "guessed curve: a CSV of x,y (one variable)")
	addJSON(cmd, &asJSON)
	return cmd
}

func parsePeople(texts []string) ([]int64, error) {
	var out []int64
	for _, text := range texts {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64) // 1e6 is a usual way to write it
		if err != nil || v < 1 || v > 1e15 || v != math.Trunc(v) {
			return nil, usagef("--n %q must be a whole number of people, at least 1", text)
		}
		out = append(out, int64(v))
	}
	slices.Sort(out)
	return out, nil
}

// readTruth is linear between the points of a table.
func readTruth(path string, variables int) (func([]float64) float64, error) {
	if variables != 1 {
		return nil, usagef("--truth is for one variable")
	}
	t, x, err := dataset.ReadTable(path)
	if err != nil {
		return nil, err
	}
	table, err := release.Table(t, x)
	if err != nil {
		return nil, usagef("--truth %s: %w", path, err)
	}
	return func(x []float64) float64 { return table.At(x[0]) }, nil
}

func printRegressionPlan(w io.Writer, p regression.PlanConfig, plan *regression.Plan) {
	fmt.Fprintf(w, "regression in %v (dimension %d), τ = %.4g, %v for each person: noise %.4g in each coordinate of a report (μ = %.3g)\n",
		p.Stream.Basis, plan.Dim, p.Stream.Tau, p.Stream.Budget, plan.NoiseScale, plan.Mu)
	fmt.Fprint(w, "predicted root-mean-square error of the curve\n\n")
	t := newTable(w)
	fmt.Fprintln(t, "people\tbias\tprivacy\tsampling\terror\twithout privacy\tstep")
	for _, q := range plan.Predictions {
		fmt.Fprintf(t, "%d\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\n", q.N, q.Bias, q.Privacy, q.Sampling, q.Error, q.NonPrivate, q.Steps.At(1))
	}
	t.Flush()
	fmt.Fprintf(w, "\none report, honest or forged, moves the curve by at most %.3g (at the last step)\n", plan.Influence)
	for _, text := range plan.Warnings {
		fmt.Fprintf(w, "note: %s\n", text)
	}
}
