package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// What is known of the error of a private curve from public numbers: the budget, and guesses of how rough and how large it is.

// estimated says the error of the best that the plan knows, with what it rests on: "" without a guess of the roughness.
func estimated(c curve.Config, plan *curve.Plan) string {
	if plan.Best == 0 {
		return ""
	}
	with := func(v float64) string { return strings.TrimSpace(fmt.Sprintf("%.3g %s", v, c.Distance)) }
	for _, row := range plan.Rows {
		if row.Pieces != plan.Best {
			continue
		}
		value, how := row.Error, fmt.Sprintf(" with the best number of pieces (%d)", row.Pieces)
		if plan.Denoised > 0 {
			value, how = plan.Denoised, ""
		}
		grows := "four times as rough, about twice the error"
		if _, pure := c.Guarantee.(privacy.Geo); pure {
			grows = "eight times as rough, about four times the error"
		}
		each := ""
		if len(c.Components) > 1 {
			each = ", all components together"
		}
		return fmt.Sprintf("about %s root-mean-square%s%s: an estimate and no bound, for a random walk that moves %s in 1/64 of the window in each component (--roughness); %s",
			with(value), each, how, with(c.Roughness), grows)
	}
	return ""
}

// predictedError is that of a call with a stated roughness.
func predictedError(c curve.Config) string {
	plan, err := curve.NewPlan(curve.PlanConfig{Config: c})
	if err != nil {
		return ""
	}
	return estimated(c, plan)
}

// leftError says what is known beforehand of the error of a denoised curve, whose noise is
// that of the values before.
func leftError(c curve.Config, r *release.Release) string {
	if r.Method != release.Denoised {
		return ""
	}
	if words := predictedError(c); words != "" {
		return words
	}
	return "not known: the noise is that before denoising, and the rougher the curve, the more is left; 'curveil plan curve --roughness R --size S' estimates it, before anything is spent"
}

// warnCurve says, before anything is spent, that the release would hardly be worth its budget, as far as the guesses tell.
func warnCurve(w io.Writer, c curve.Config, size float64) error {
	plan, err := curve.NewPlan(curve.PlanConfig{Config: c, Size: size})
	if err != nil {
		return usageError{err}
	}
	for _, text := range plan.Warnings {
		warn(w, text+" ('curveil plan curve' shows what a budget buys)")
	}
	return nil
}

// ownPicture is said of a picture that shows the original, on it and when it is made.
const ownPicture = "Not private: it shows the original. Do not publish."
