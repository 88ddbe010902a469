package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	gamma, exponent, smoothness                             float64
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
	f.Float64Var(&s.smoothness, "smoothness", regression.DefaultSmoothness, "r in (0, 1] of --steps private and paper: 1 for smooth curves, 0.5 for curves with features as narrow as the kernel")
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
	if err := space.CheckReach(one); err != nil {
		return nil, usagef("--space: %w", err)
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
	if !(s.smoothness > 0 && s.smoothness <= 1) {
		return out, usagef("--smoothness %v must be above 0 and at most 1, beyond which averaging gains nothing", s.smoothness)
	}
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
	// What makes no sense is found before anything is read; the steps are still to come.
	tried := out.WithDefaults()
	tried.Steps = regression.Steps{Gamma0: 1e-3 / (tried.Bound * tried.Bound), Horizon: 1}
	return out, wrapUsage(tried.WithDefaults().Validate())
}

// withSteps adds the steps for n people.
func (s *streamFlags) withSteps(out regression.Stream, n int64) (_ regression.Stream, err error) {
	zeta := s.exponent
	horizon := n
	switch s.steps {
	case "private":
		out.Steps, err = regression.SmoothSteps(out, n, s.smoothness)
		if err == nil && s.gamma != 0 {
			out.Steps.Gamma0 = s.gamma
		}
		return out, wrapUsage(err)
	case "paper":
		zeta = regression.PaperExponent(regression.Decay(out.Basis), s.smoothness)
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
	var p flags.Points
	var columns []string
	var yColumn, outside string
	var n int64
	var delay int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "regress FILE",
		Short: "Play a table of (x, y) through the streaming private regression",
		Long: `Plays the people of FILE (CSV or Parquet; - for standard input) through the client and the server
of the streaming regression in one process: each person's gradient is made private as on the person's
own device. For planning and study, and for data whose people agreed to their being in one
place: whoever runs this sees them. 'curveil serve' collects without seeing.

Each row is a person, or --unit names the column that tells people apart. A person makes one
report, in the order of the file: the average gradient of the person's rows, which stand
together. So everybody counts as much, and all rows of a person are protected as one.

Where people are few, the curve is still pulled toward --center, where it began, and no band shows that:
'curveil plan regression' predicts it. x outside --domain is refused, before anything is spent.`,
		Example: `  curveil regress survey.csv --x age --y height --domain 1:18 --center 120 --tau 8 --epsilon 1 --delta 1e-6 -o curve.json --plot curve.png
  curveil regress visits.csv --unit patient --x age --y height --domain 1:18 --center 120 --tau 8 --epsilon 1 --delta 1e-6 -o curve.json`,
		Args: exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.unit = cmp.Or(p.UnitName, "person"); p.O.Unit != "" {
				s.unit = p.Name()
			}
			if outside != "" && outside != "clamp" {
				return usagef("--outside %q: there is clamp, which takes x outside --domain to its nearest point; rows cannot be dropped, for the number of people is published, and would tell of x", outside)
			}
			s.xLabel, s.yLabel = cmp.Or(s.xLabel, strings.Join(columns, ", ")), cmp.Or(s.yLabel, yColumn)
			stream, err := s.stream(cmd.Flags(), budget.Name(args[0]))
			if err != nil {
				return err
			}
			if len(columns) != len(stream.Basis.Box()) || yColumn == "" {
				return usagef("--x and --y are needed: a column for each range in --domain, and the column of y")
			}
			if len(columns) > 2 && out.Picture != "" {
				return usagef("--plot: a regression of %d variables has no picture; leave --plot out, and ask for values at points with 'curveil eval'", len(columns))
			}
			if n < 0 {
				return usagef("--n %d must be the number of people, at least 1", n)
			}
			if err := budget.Accept(stream.Budget); err != nil {
				return err
			}
			if err := out.Check(args[0]); err != nil {
				return err
			}
			points, err := p.Options(append(slices.Clone(columns), yColumn))
			if err != nil {
				return err
			}
			table, err := newPeopleTable(args[0], cmd.InOrStdin(), points, stream.Basis.Box())
			if err != nil {
				return err
			}
			n, clamped, err := table.check(&p, n, outside == "clamp")
			if err != nil {
				return err
			}
			if stream, err = s.withSteps(stream, n); err != nil {
				return err
			}
			stream = stream.WithDefaults()
			if err := stream.Validate(); err != nil {
				return usageError{err}
			}
			if delay < 0 || int64(delay) > stream.Staleness {
				return usagef("--delay %d: the stream takes reports that are up to %d versions old (--staleness)", delay, stream.Staleness)
			}
			for _, w := range stream.Warnings(n) {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: %s\n", w)
			}
			if reach := stream.Reach(n); reach < 3*stream.Tau {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: but for noise, the reports of %s can take the curve %.2g away from --center %g at most, wherever the people's y are: too few to show more, and no band shows it\n", peopleCount(n), reach, stream.Center)
			}
			if clamped > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: %s with x outside --domain count as its nearest point (for the curator: the number is read off the data and must not be published, nor --domain be chosen by it)\n", plural(clamped, "row"))
			}
			guess, err := regression.NewPlan(regression.PlanConfig{Stream: stream, People: []int64{n}})
			if err != nil {
				return usageError{err}
			}
			likely := guess.Predictions[0]
			fmt.Fprintf(cmd.ErrOrStderr(), "curveil: where x is spread evenly over --domain, an sd of about %.3g of the privacy noise is likely to be left in the curve; the band is for the most that can be, whatever x is\n", likely.Privacy)
			book, err := budget.Open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			err = publish.Release(cmd, publish.Expenditure{
				Budget: &budget, Book: book, Dataset: budget.Name(args[0]), Verb: regression.Verb, Statement: stream.Statement(stream.Budget),
				Parameters: map[string]any{"space": stream.Basis.String(), "tau": stream.Tau, "steps": stream.Steps, "calibration": stream.Calibration},
				Predicted: func() string {
					return fmt.Sprintf("about %.3g, root-mean-square over the domain, for a curve that is %.3g from --center (root-mean-square) and x spread evenly: 'curveil plan regression' takes other guesses", likely.Error, guess.Signal)
				},
			}, &out, asJSON, func() (*release.Release, error) {
				var failed error
				v, err := regression.SimulatePeople(cmd.Context(), regression.Simulation{Stream: stream, Source: noise.Crypto(), Delay: delay}, table.people(&failed))
				if failed != nil {
					return nil, failed
				}
				if err != nil {
					return nil, err
				}
				return v.Release()
			})
			return inEpsilon(err, stream.Budget.Delta, ": --epsilon asks for it")
		},
	}
	s.register(cmd.Flags())
	out.Register(cmd.Flags())
	budget.Register(cmd.Flags())
	budget.RegisterDry(cmd.Flags())
	p.Register(cmd.Flags())
	f := cmd.Flags()
	f.Lookup("unit").Usage = "column that tells people apart; the rows of one, which must stand together, make one report; - when each row is a person's"
	f.Lookup("unit-name").Usage = "what one protected person is called, such as patient (default: the column's name, or person)"
	f.StringSliceVar(&columns, "x", nil, "column of x, or one for each variable")
	f.StringVar(&yColumn, "y", "", "column of y")
	f.Int64VarP(&n, "n", "n", 0, "public number of people (default: counted in a first pass over the file)")
	f.StringVar(&outside, "outside", "", "clamp: x outside --domain counts as its nearest point (default: refused, as people's own devices do)")
	f.IntVar(&delay, "delay", 0, "how many versions old the model is at which people answer")
	addJSON(cmd, &asJSON)
	return cmd
}
