package main

// What a call says of the curves that it released, or would release.

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// report says what was released and what was debited.
func (j *curveJob) report(stdout io.Writer, results []*curve.Result, spent []*publish.Expense) {
	if len(results) == 1 {
		publish.Summary(stdout, results[0].Release)
	} else {
		fmt.Fprintf(stdout, "%d private curves in %s, each: %v\n", len(results), j.out.path, j.statement())
	}
	publish.Label(stdout, "means")
	fmt.Fprintln(stdout, meaning(j.cfg))
	if words := leftError(j.cfg, results[0].Release); words != "" && (len(results) == 1 || j.cfg.Roughness > 0) {
		publish.Label(stdout, "error")
		fmt.Fprintln(stdout, words)
	}
	switch {
	case j.oneName():
		spent[len(spent)-1].Standing(stdout)
	case j.book != nil:
		publish.Label(stdout, "ledger")
		fmt.Fprintln(stdout, j.debited())
	}
}

// rehearse says what would be spent, the words of one track for all.
func (j *curveJob) rehearse(cmd *cobra.Command, all []publish.Expenditure) error {
	if err := publish.Rehearse(cmd.Context(), cmd.OutOrStdout(), j.statement(), all...); err != nil {
		return err
	}
	if n := len(j.tracks); n > 1 {
		publish.Label(cmd.OutOrStdout(), "in all")
		fmt.Fprintf(cmd.OutOrStdout(), "so for each of %d tracks: %s\n", n, j.debited())
	}
	return nil
}

func (j *curveJob) draw(path string, r *release.Release) error {
	o := plot.Options{NoBand: r.Method == release.Denoised}
	if j.out.own {
		o.Private = ownPicture
		for k, s := range j.curves[0] {
			o.Overlay = append(o.Overlay, plot.Line{Name: "original (not private)", Component: k, T: s.T, X: s.X})
		}
	}
	return publish.Picture(path, r, o)
}

// meaning says what a budget means in the units of the data.
func meaning(c curve.Config) string {
	unit := c.Distance
	if unit == "" {
		unit = "units"
	}
	scale := 1.0
	if c.Metric == privacy.L2 {
		scale = math.Sqrt(c.Window.Length())
	}
	switch g := c.Guarantee.(type) {
	case privacy.Geo:
		return fmt.Sprintf("two curves %.4g %s apart all along the window are told apart at ε·d = 1: no test gains more than a factor e = 2.7 on them", 1/(float64(g)*scale), unit)
	case privacy.ConcentratedGeo:
		d := 1 / (math.Sqrt(2*float64(g)) * scale)
		return fmt.Sprintf("two curves %.4g %s apart all along the window are told apart like a μ = 1 release: ε = 4.9 at δ = 1e-6", d, unit)
	}
	return ""
}
