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
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/release"
)

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
only. Errors are root-mean-squares over x, in the units of y. Unless --steps says otherwise they are
those of the best constant step under the guesses, and, in the last column, of the default step of
'regress' and 'serve', which knows of no guesses.`,
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
			own := s.steps != "private" || s.gamma != 0
			if p.Smoothness = s.smoothness; own {
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
			printRegressionPlan(cmd.OutOrStdout(), p, plan, own)
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

func printRegressionPlan(w io.Writer, p regression.PlanConfig, plan *regression.Plan, own bool) {
	fmt.Fprintf(w, "regression in %v (dimension %d), τ = %.4g, %v for each person: noise %.4g in each coordinate of a report (μ = %.3g)\n",
		p.Stream.Basis, plan.Dim, p.Stream.Tau, p.Stream.Budget, plan.NoiseScale, plan.Mu)
	fmt.Fprint(w, "predicted root-mean-square error of the curve\n\n")
	t := newTable(w)
	fmt.Fprintln(t, "people\tbias\tprivacy\tsampling\terror\twithout privacy\tstep\tat the default step")
	for _, q := range plan.Predictions {
		fmt.Fprintf(t, "%d\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\n", q.N, q.Bias, q.Privacy, q.Sampling, q.Error, q.NonPrivate, q.Steps.At(1), q.Default)
	}
	t.Flush()
	if last := plan.Predictions[len(plan.Predictions)-1]; !own && last.Error < 0.95*last.Default {
		fmt.Fprintf(w, "\nfor the step of the last line: --steps constant --gamma %.3g --exponent 0\n", last.Steps.At(1))
	}
	fmt.Fprintf(w, "\none report, honest or forged, moves the curve by at most %.3g (at the last step)\n", plan.Influence)
	for _, text := range plan.Warnings {
		fmt.Fprintf(w, "note: %s\n", text)
	}
}
