package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
)

func planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Predict the error of a release from public numbers; reads no data",
		RunE:  subverb,
	}
	cmd.AddCommand(planMeanCommand(), planDensityCommand(), planRegressionCommand(), planCurveCommand())
	return cmd
}

func planMeanCommand() *cobra.Command {
	var m flags.Mean
	var p mean.PlanConfig
	var q quantileFlags
	var boundMu float64
	var components int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mean",
		Short: "Predicted error of a private mean curve; reads no data",
		Long: `Predicts the error of fit-then-protect and protect-then-fit from public numbers
and guesses only, recommends one, and shows what more people, a larger budget or
a smaller bound would buy. Errors are root-mean-squares over the domain, in the
units of the values.`,
		Example: `  curveil plan mean --n 93 --domain 1:18 --bound 60 --mu 1 --grid 1:18:31 --noise 0.5`,
		Args:    exactArgs(0, "none: a plan reads no data"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.N < 1 {
				return usagef("--n is needed: the public number of people")
			}
			if components < 1 || components > 100 {
				return usagef("--components %d must lie between 1 and 100", components)
			}
			names := []string{"value"}
			for i := 1; i < components; i++ {
				names = append(names, fmt.Sprintf("value %d", i+1))
			}
			if m.AutoBound() {
				return usagef("a plan needs a number as --bound, a guess; --bound-mu M says what buying it would cost and gain")
			}
			m.Method, m.Zone = "ftp", time.UTC // dates give the length of the domain
			c, err := m.Config(cmd.Flags(), names, nil)
			if err != nil {
				return err
			}
			c.Unit = "person"
			p.Config = c
			rows, plan, err := planRows(p)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					*mean.Plan
					Rows []planRow `json:"what_if"`
				}{plan, rows})
			}
			printPlan(cmd.OutOrStdout(), p, plan, rows)
			if cmd.Flags().Changed("bound-mu") {
				return printBoundPlan(cmd.OutOrStdout(), p, &q, boundMu)
			}
			return nil
		},
	}
	m.Register(cmd.Flags())
	for _, name := range []string{"method", "x-label", "y-label"} {
		_ = cmd.Flags().MarkHidden(name)
	}
	q.register(cmd.Flags())
	cmd.Flags().Float64Var(&boundMu, "bound-mu", 0, "part of the budget that buying the bound would take: says what that costs and gains")
	cmd.Flags().Float64Var(&p.Noise, "noise", 0, "guessed standard deviation of the observation noise of one sample")
	cmd.Flags().Float64Var(&p.Signal, "signal", 0, "guessed norm of one curve's deviation from the center (default: bound/1.1)")
	cmd.Flags().IntVar(&components, "components", 1, "number of output components")
	addJSON(cmd, &asJSON)
	return cmd
}

// planRow is one line of "what would … buy".
type planRow struct {
	Change string     `json:"change"`
	Plan   *mean.Plan `json:"plan"`
}

// planRows makes the plan and its variations.
func planRows(p mean.PlanConfig) ([]planRow, *mean.Plan, error) {
	base, err := mean.NewPlan(p)
	if err != nil {
		return nil, nil, err
	}
	rows := []planRow{{"as given", base}}
	for _, v := range []struct {
		name   string
		change func(*mean.PlanConfig)
	}{
		{"twice the people", func(p *mean.PlanConfig) { p.N *= 2 }},
		{"twice the budget", func(p *mean.PlanConfig) { p.Guarantee = scaled(p.Guarantee, 2) }},
		{"half the budget", func(p *mean.PlanConfig) { p.Guarantee = scaled(p.Guarantee, 0.5) }},
		{"half the bound", func(p *mean.PlanConfig) { p.Radius /= 2; p.Signal /= 2 }},
	} {
		q := p
		v.change(&q)
		plan, err := mean.NewPlan(q)
		if err != nil {
			continue // the variation, not the plan, is out of range
		}
		rows = append(rows, planRow{v.name, plan})
	}
	return rows, base, nil
}

// scaled multiplies the budget in the currency of noise: μ and ε by f, ρ by f².
func scaled(g privacy.Guarantee, f float64) privacy.Guarantee {
	switch g := g.(type) {
	case privacy.GDP:
		return privacy.GDP(f * float64(g))
	case privacy.ZCDP:
		return privacy.ZCDP(f * f * float64(g))
	case privacy.Pure:
		return privacy.Pure(f * float64(g))
	case privacy.Approx:
		return privacy.Approx{Epsilon: f * g.Epsilon, Delta: g.Delta}
	}
	return g
}

func printPlan(w io.Writer, p mean.PlanConfig, plan *mean.Plan, rows []planRow) {
	domain := p.Space.Domain()
	on := domain.String()
	if p.UnixTime {
		on = "[" + clock.Short(domain.A) + ", " + clock.Short(domain.B) + "]"
	}
	together, each := "", ""
	both := func(v float64) string { return fmt.Sprintf("%.3g", v) }
	if c := len(p.Components); c > 1 {
		together, each = " (all components together)", ", in each component (all together)"
		both = func(v float64) string { return fmt.Sprintf("%.3g (%.3g)", v, v*math.Sqrt(float64(c))) }
	}
	fmt.Fprintf(w, "mean of n = %d curves in %v on %s, radius %.4g%s, %v\n\n", plan.N, p.Space, on, p.Radius, together, p.Guarantee)
	t := newTable(w)
	fmt.Fprintf(t, "predicted%s\tnoise added\terror of the release\tconstraint active\n", each)
	reduced := false
	for _, q := range plan.Predictions {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.0f%%\n", q.Method, both(q.PrivacyNoise), both(q.Error), 100*q.ActiveShare)
		reduced = reduced || q.Error < 0.995*q.PrivacyNoise
	}
	t.Flush()
	if reduced {
		fmt.Fprintf(w, "\nAn error below the noise that is added: the projection onto the ball, or the fit, takes part of the noise away.\n")
	}
	fmt.Fprintf(w, "\nrecommended: %s\n", plan.Recommended)
	for _, r := range plan.Remarks {
		fmt.Fprintf(w, "note: %s\n", r)
	}
	fmt.Fprintf(w, "\nwhat it would buy (error of the release%s)\n", strings.TrimSuffix(each, " (all together)"))
	t = newTable(w)
	for _, r := range rows {
		fmt.Fprintf(t, "  %s", r.Change)
		for _, q := range r.Plan.Predictions {
			fmt.Fprintf(t, "\t%s %.3g", q.Method, q.Error)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if len(plan.Predictions) == 1 {
		fmt.Fprintf(w, "\nprotect-then-fit needs a common grid of sample times: give --grid to compare it\n")
	}
}
