package experiment

import (
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Error is the root mean square distance of the released function from the
// curve's piecewise linear interpolant, over all components, exactly: through
// the projection of the curve on the space of the release.
func Error(c fit.Curve, r *release.Release) (float64, error) {
	q, err := fit.Project(c, r.Space)
	if err != nil {
		return 0, err
	}
	sum := q.Residual
	for k, row := range r.Coefficients {
		for j, a := range row {
			d := a - q.Coordinates[j*len(c)+k]
			sum += d * d
		}
	}
	return math.Sqrt(sum), nil
}

// Norm is the root mean square of the curve over the window.
func Norm(c fit.Curve, window space.Interval) float64 {
	zero := make(fit.Curve, len(c))
	for k := range zero {
		zero[k] = fit.Series{T: []float64{window.A, window.B}, X: []float64{0, 0}}
	}
	return Distance(c, zero, window)
}
