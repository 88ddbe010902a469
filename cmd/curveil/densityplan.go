package main

import (
	"fmt"
	"io"
	"math"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/publish"
)

func printDensityPlan(w io.Writer, p density.PlanConfig, plan *density.Plan) {
	fmt.Fprintf(w, "density of n = %d people in %d variables, %v\n", plan.N, len(p.Box), p.Guarantee)
	fmt.Fprint(w, "predicted mean integrated squared error, the square of the uniform density being 1\n\n")
	publish.Label(w, "guess")
	fmt.Fprintln(w, guessedShape(plan))
	fmt.Fprintln(w)
	t := newTable(w)
	bias := "bias at most"
	if plan.Peaks > 0 {
		bias = "bias"
	}
	fmt.Fprintf(t, "rank\tcoefficients\t%s\tsampling\tprivacy\terror\n", bias)
	for _, q := range plan.Fixed {
		mark := ""
		if q.Rank == plan.Best {
			mark = "  best"
		}
		fmt.Fprintf(t, "%d\t%d\t%.3g\t%.3g\t%.3g\t%.3g%s\n", q.Rank, q.Coefficients, q.Bias, q.Sampling, q.Privacy, q.Error, mark)
	}
	t.Flush()
	fmt.Fprintf(w, "\nlayered, up to rank %d: privacy %.3g at rank %d, for not having to know the rank\n", plan.Rank, plan.Layered.Privacy, plan.Layered.Rank)
	if last := plan.Fixed[len(plan.Fixed)-1]; last.Rank == plan.Best && last.Bias > last.Sampling+last.Privacy {
		fmt.Fprintf(w, "note: the largest rank is best, and most of its error is detail that it cannot show: a larger --rank, or a smaller box\n")
	}
	for _, r := range plan.Remarks {
		fmt.Fprintf(w, "note: %s\n", r)
	}
}

// guessedShape says what a plan takes the density for. Sampling and privacy are known; the bias is as good as the guess.
func guessedShape(plan *density.Plan) string {
	if plan.Peaks > 0 {
		return fmt.Sprintf("all of it in peaks that are %g of the box's side wide (--peaks), with a square of %.3g; flatter parts have less bias, narrower peaks more", plan.Peaks, plan.Square)
	}
	words := fmt.Sprintf("%g derivatives of size %.3g (--smoothness, --energy)", plan.Smoothness, plan.Energy)
	if math.Abs(plan.Energy-math.Pow(2*math.Pi, plan.Smoothness)) < 1e-9*plan.Energy {
		words = fmt.Sprintf("as smooth as one wave across the box (%g derivatives: --smoothness, --energy)", plan.Smoothness)
	}
	return words + "; with peaks the bias is larger, a hundred times and more: say --peaks W, their width as a share of the box's side"
}
