package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func planRegressionCommand() *cobra.Command {
	var s streamFlags
	var p regression.PlanConfig
	var people []string
	var truth, density string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "regression",
		Short: "Predicted error of a streaming private regression; reads no data",
		Long: `Predicts the error of the curve against the number of people, from public numbers and guesses
only; the guesses are printed. Errors are root-mean-squares over the domain, in the units of y, so that
places where few people have their x count as much as others. Unless --steps says otherwise they are
those of the best constant step under the guesses, and, in the last columns, of the default step of
'regress' and 'serve', which knows of no guesses.

A stream begins at --center, and a report pulls the curve toward a person's y by a step that does not grow
with the distance. A curve that is many τ away, all along or where few people are, is reached late. So guess
the curve, where you can: --truth '0:500,1:5000,2:15000,3:16000', and where people are: --x-density.`,
		Example: `  curveil plan regression --n 1000,10000,100000 --domain 1:18 --center 120 --tau 8 --epsilon 1 --delta 1e-6 --signal 30
  curveil plan regression --n 50000 --domain 0:3 --center 4000 --tau 1000 --epsilon 1 --delta 1e-6 --truth 0:500,1:5000,2:15000,3:16000 --x-density 0:0,0.3:4,1:2,2:0.3,3:0`,
		Args: exactArgs(0, "none: a plan reads no data"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.People, err = parsePeople(people); err != nil {
				return err
			}
			if p.Stream, err = s.stream(cmd.Flags(), "plan"); err != nil {
				return err
			}
			if cmd.Flags().Changed("signal") && truth != "" {
				return usagef("--signal and --truth both say how far the curve is from the center: give one of them")
			}
			for name, v := range map[string]float64{"signal": p.Signal, "noise": p.Errors} {
				if cmd.Flags().Changed(name) && !(v > 0 && v <= math.MaxFloat64) {
					return usagef("--%s %v must be a positive number, in the units of y", name, v)
				}
			}
			own := s.steps != "private" || s.gamma != 0
			if p.Smoothness = s.smoothness; own {
				if p.Stream, err = s.withSteps(p.Stream, p.People[len(p.People)-1]); err != nil {
					return err
				}
			}
			box := p.Stream.Basis.Box()
			if p.Truth, err = guessedCurve("--truth", truth, box); err != nil {
				return err
			}
			if p.Density, err = guessedCurve("--x-density", density, box); err != nil {
				return err
			}
			plan, err := regression.NewPlan(p)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), plan)
			}
			printRegressionPlan(cmd.OutOrStdout(), p, plan, own)
			return nil
		},
	}
	s.register(cmd.Flags())
	f := cmd.Flags()
	f.StringSliceVarP(&people, "n", "n", []string{"1000", "10000", "100000", "1000000"}, "public numbers of people")
	f.Float64Var(&p.Errors, "noise", 0, "guessed standard deviation of y around the curve (default: τ/1.345)")
	f.Float64Var(&p.Signal, "signal", 0, "guessed root mean square of the curve around the center (default: 1.5τ)")
	f.StringVar(&truth, "truth", "", "guessed curve instead of --signal (one variable): points x:y,x:y,… with straight lines between them, or a CSV of x,y")
	f.StringVar(&density, "x-density", "", "guessed density of x (one variable): points x:weight,… up to a factor, or a CSV (default: uniform over the domain)")
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

// guessedCurve is linear between the points x:y,… or those of a CSV; nil without a text.
func guessedCurve(flag, text string, box []space.Interval) (func([]float64) float64, error) {
	if text == "" {
		return nil, nil
	}
	if len(box) != 1 {
		return nil, usagef("%s is for one variable", flag)
	}
	var t, x []float64
	if strings.Contains(text, ":") && !exists(text) {
		for part := range strings.SplitSeq(text, ",") {
			a, b, ok := strings.Cut(part, ":")
			if !ok {
				return nil, usagef("%s: %q is no point x:y, such as 0:120", flag, part)
			}
			u, err := flags.Float(flag, a)
			if err != nil {
				return nil, err
			}
			v, err := flags.Float(flag, b)
			if err != nil {
				return nil, err
			}
			t, x = append(t, u), append(x, v)
		}
	} else {
		var err error
		if t, x, err = dataset.ReadTable(text); err != nil {
			return nil, err
		}
	}
	table, err := release.Table(t, x)
	if err != nil {
		return nil, usagef("%s %s: %w", flag, text, err)
	}
	if d := box[0]; t[0] > d.A || t[len(t)-1] < d.B {
		return nil, usagef("%s goes from %g to %g: it must reach both ends of --domain %g:%g", flag, t[0], t[len(t)-1], d.A, d.B)
	}
	return func(x []float64) float64 { return table.At(x[0]) }, nil
}

func printRegressionPlan(w io.Writer, p regression.PlanConfig, plan *regression.Plan, own bool) {
	fmt.Fprintf(w, "regression in %v (dimension %d), τ = %.4g, %v for each person: noise %.4g in each coordinate of a report (μ = %.3g)\n",
		p.Stream.Basis, plan.Dim, p.Stream.Tau, p.Stream.Budget, plan.NoiseScale, plan.Mu)
	printGuesses(w, p, plan)
	fmt.Fprint(w, "\npredicted root-mean-square error of the curve over the domain\n\n")
	t := newTable(w)
	usual := "\tat the default step"
	if own {
		usual = ""
	}
	fmt.Fprintf(t, "people\tbias\tprivacy\tsampling\terror\twithout privacy\tstep%s\tif the curve is %d times as far\n", usual, regression.FarTimes)
	for _, q := range plan.Predictions {
		fmt.Fprintf(t, "%d\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g", q.N, q.Bias, q.Privacy, q.Sampling, q.Error, q.NonPrivate, q.Steps.At(1))
		if !own {
			fmt.Fprintf(t, "\t%.3g", q.Default)
		}
		fmt.Fprintf(t, "\t%.3g\n", q.Far)
	}
	t.Flush()
	last := plan.Predictions[len(plan.Predictions)-1]
	if !own && last.Error < 0.95*last.Default {
		fmt.Fprintf(w, "\nfor the step of the last line: --steps constant --gamma %.3g --exponent 0\n", last.Steps.At(1))
	}
	fmt.Fprintf(w, "\none report, honest or forged, moves the curve by at most %.3g (at the last step)\n", plan.Influence)
	for _, text := range plan.Warnings {
		fmt.Fprintf(w, "note: %s\n", text)
	}
	if last.Bias > last.Privacy+last.Sampling || last.Bias > 0.3*plan.Signal {
		fmt.Fprintf(w, "note: much of the error is bias: the people are too few to move the curve from --center to where it is guessed to be; a center nearer to it, or a larger τ, may help most\n")
	}
}

// printGuesses says what a prediction rests on.
func printGuesses(w io.Writer, p regression.PlanConfig, plan *regression.Plan) {
	usual := func(flag string, given bool, otherwise string) string {
		if given {
			return flag
		}
		return flag + ", by default " + otherwise
	}
	fmt.Fprintln(w, "\nguesses, all public; where one is wrong, so is the prediction")
	curve := fmt.Sprintf("%.4g from the center %g, root-mean-square (%s)", plan.Signal, p.Stream.Center, usual("--signal", p.Signal != 0, "1.5 τ"))
	if p.Truth != nil {
		curve = fmt.Sprintf("that of --truth, %.4g from the center %g, root-mean-square", plan.Signal, p.Stream.Center)
	}
	law := "uniform over the domain (--x-density)"
	if p.Density != nil {
		law = "as in --x-density"
	}
	publish.Label(w, "curve")
	fmt.Fprintln(w, curve)
	publish.Label(w, "errors")
	fmt.Fprintf(w, "sd %.4g of y around the curve (%s)\n", plan.Errors, usual("--noise", p.Errors != 0, "τ/1.345"))
	publish.Label(w, "x")
	fmt.Fprintln(w, law)
	publish.Label(w, "smoothness")
	fmt.Fprintf(w, "r = %g (--smoothness), of the default step\n", p.Smoothness)
	fmt.Fprintln(w, "The curve matters most: a level far from the center, or a large amplitude, is reached late or not at all.")
}
