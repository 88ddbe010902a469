package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/privacy"
)

func planCurveCommand() *cobra.Command {
	var c curveFlags
	var p curve.PlanConfig
	var components int
	var unit string
	var shift, detour, duration float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "curve",
		Short: "What a budget means for a private curve, and its predicted error; reads no data",
		Long: `Says what a budget protects, in units that a person understands, and predicts the
error of the release for each number of pieces. With a guess of the curve's size and
roughness it suggests a number of pieces and says when no shape can survive.`,
		Example: `  curveil plan curve --epsilon 0.02 --window 0:43200 --components 2 --unit m --roughness 500 --size 3000`,
		Args:    exactArgs(0, "none: a plan reads no data"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.Config, err = c.config(cmd.Flags(), time.UTC); err != nil {
				return err
			}
			if components < 1 || components > 100 {
				return usagef("--components %d must lie between 1 and 100", components)
			}
			for i := range components {
				p.Components = append(p.Components, fmt.Sprintf("component %d", i+1))
			}
			p.Distance, p.Size = unit, c.size
			plan, err := curve.NewPlan(p)
			if err != nil {
				return usageError{err}
			}
			length := p.Window.Length()
			if duration == 0 {
				duration = length / 72
			}
			if p.Stay == 0 {
				p.Stay = length / 12
			}
			epsilon, rho := bothBudgets(p)
			stays, err := bothStays(p, epsilon, rho, plan.Best)
			if err != nil {
				return usageError{err}
			}
			readings, err := curve.Readings(epsilon, rho, length, shift, detour, duration)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Epsilon  float64         `json:"epsilon_per_rms"`
					Rho      float64         `json:"rho_per_rms2"`
					Readings []curve.Reading `json:"readings"`
					Stay     [2]float64      `json:"stay"`
					*curve.Plan
				}{float64(epsilon), float64(rho), readings, [2]float64{stays[0].Stay, stays[1].Stay}, plan})
			}
			printCurvePlan(cmd.OutOrStdout(), p, plan, readings, stays, epsilon, rho, duration)
			return nil
		},
	}
	c.register(cmd.Flags())
	f := cmd.Flags()
	f.IntVar(&components, "components", 2, "number of components: 2 for a track")
	f.StringVar(&unit, "unit", "m", "unit of the values, for the words")
	f.Float64Var(&p.Stay, "stay", 0, "duration of a stay in one place, in the units of t (default: a twelfth of the window)")
	f.Float64Var(&shift, "shift", 100, "a sustained shift by this distance")
	f.Float64Var(&detour, "detour", 1000, "a detour of this distance …")
	f.Float64Var(&duration, "detour-time", 0, "… for this time, in the units of t (default: a 72nd of the window)")
	addJSON(cmd, &asJSON)
	return cmd
}

// bothStays are the rows, under the pure and the concentrated budget, of the best
// number of pieces, or of the fewest that do not blur the stay.
func bothStays(p curve.PlanConfig, epsilon privacy.Geo, rho privacy.ConcentratedGeo, best int) (out [2]curve.PlanRow, err error) {
	p.Metric = privacy.RMS
	for k, g := range []privacy.Guarantee{epsilon, rho} {
		p.Guarantee = g
		plan, err := curve.NewPlan(p)
		if err != nil {
			return out, err
		}
		for _, r := range plan.Rows {
			if out[k] = r; r.Stay > 0 && r.Pieces >= best {
				break
			}
		}
	}
	return out, nil
}

// bothBudgets are the stated budget and the one of the other kind that it
// corresponds to, per unit of root-mean-square distance: ε-geo-privacy implies
// ρ = ε²/2, and they are compared at that.
func bothBudgets(p curve.PlanConfig) (privacy.Geo, privacy.ConcentratedGeo) {
	scale := 1.0
	if p.Metric == privacy.L2 {
		scale = math.Sqrt(p.Window.Length())
	}
	switch g := p.Guarantee.(type) {
	case privacy.ConcentratedGeo:
		rho := float64(g) * scale * scale
		return privacy.Geo(math.Sqrt(2 * rho)), privacy.ConcentratedGeo(rho)
	case privacy.Geo:
		epsilon := float64(g) * scale
		return privacy.Geo(epsilon), privacy.ConcentratedGeo(epsilon * epsilon / 2)
	}
	return 0, 0
}

func printCurvePlan(w io.Writer, p curve.PlanConfig, plan *curve.Plan, readings []curve.Reading, stays [2]curve.PlanRow, epsilon privacy.Geo, rho privacy.ConcentratedGeo, duration float64) {
	unit := p.Distance
	span := fmt.Sprintf("%g", p.Window.Length())
	if p.UnixTime {
		span = fmt.Sprintf("%s s, %s to %s", span, clock.Short(p.Window.A), clock.Short(p.Window.B))
	}
	fmt.Fprintf(w, "a curve of %s on a window of %s, %v\n\n", plural(int64(len(p.Components)), "component"), span, p.Guarantee)
	fmt.Fprintln(w, "what it protects: who must guess which of two curves was released, both equally likely, is right")
	t := newTable(w)
	fmt.Fprintf(t, "\tgeo, ε = %.3g\tconcentrated, ρ = %.3g\n", float64(epsilon), float64(rho))
	for _, r := range readings {
		what := fmt.Sprintf("all along %.6g %s apart", r.Distance, unit)
		if r.What == "detour" {
			what = fmt.Sprintf("a detour of %.4g %s for %.6g", r.Distance*math.Sqrt(p.Window.Length()/duration), unit, duration)
		}
		fmt.Fprintf(t, "  %s\tat most %.1f%%\tat most %.1f%%\n", what, 100*r.Geo, 100*r.Concentrated)
	}
	fmt.Fprintf(t, "  a stay of %.6g is located, from a release of %d pieces, to\t± %.3g %s\t± %.3g %s\n", p.Stay, stays[0].Pieces, stays[0].Stay, unit, stays[1].Stay, unit)
	t.Flush()
	fmt.Fprintf(w, "\nwhat it costs, in %s (root-mean-square over the window), before denoising\n", unit)
	t = newTable(w)
	shape := p.Roughness > 0
	head := "  pieces\tnoise"
	if shape {
		head += "\tshape lost\terror"
	}
	fmt.Fprintf(t, "%s\ta stay of %.6g is located to\n", head, p.Stay)
	for _, r := range plan.Rows {
		fmt.Fprintf(t, "  %d\t%.3g", r.Pieces, r.Noise)
		if shape {
			fmt.Fprintf(t, "\t%.3g\t%.3g", r.Shape, r.Error)
		}
		if r.Stay > 0 {
			fmt.Fprintf(t, "\t± %.3g", r.Stay)
		} else {
			fmt.Fprint(t, "\tblurred")
		}
		if r.Pieces == plan.Best {
			fmt.Fprint(t, "\tbest")
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	fmt.Fprintf(w, "\nmethod: %s\n", plan.Method)
	if shape {
		fmt.Fprintf(w, "error:  %s\n", estimated(p.Config, plan))
	}
	for _, r := range append(plan.Remarks, plan.Warnings...) {
		fmt.Fprintf(w, "note: %s\n", r)
	}
	if !shape {
		fmt.Fprintln(w, "note: with --roughness, a guess of how far the curve moves in 1/64 of the window, root-mean-square in each component, the plan weighs the shape that is lost and suggests a number of pieces")
	}
}
