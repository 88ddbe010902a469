package main

import (
	"math"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/privacy"
)

// hardlyApart is a distance in metres at which two tracks hardly differ: about what a receiver of satellites errs by.
const hardlyApart = 10

const weakCurveUsage = "spend also a budget under which two tracks on the ground that are 10 m apart all along the window, about the error of the receiver, are practically told apart with certainty (for rms: ρ ≥ 0.5 per squared m, or ε ≥ 1.51 per m); signals are not judged, since their units say nothing of what must be hidden"

// acceptCurve refuses a budget that would hide hardly anything of a track, unless that is meant. Signals are not judged.
func acceptCurve(b *publish.Budget, c curve.Config, onGround bool) error {
	if !onGround {
		return nil
	}
	d := float64(hardlyApart)
	if c.Metric == privacy.L2 {
		d *= math.Sqrt(c.Window.Length())
	}
	return b.AcceptApart(c.Guarantee, d, hardlyApart)
}
