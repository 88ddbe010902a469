package audit

import (
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// MeanBound is the bought radius: one person's norm moves from the lowest bin to
// the highest.
func MeanBound(claim privacy.Guarantee) (Subject, error) {
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 1)
	if err != nil {
		return Subject{}, err
	}
	c := mean.BoundConfig{Config: mean.Config{Space: sp, Guarantee: claim, Unit: "person"}, Low: 1, High: 16, PerOctave: 1}
	victim := [2]fit.Curve{constant(1, []float64{0.5}, 0), constant(1, []float64{0.5}, 100)}
	_, err = mean.NewBound(c)
	return Subject{
		Name:  "mean/bound",
		About: "one person's norm moves from the lowest bin of the histogram to the highest",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			b, err := mean.NewBound(c)
			if err != nil {
				return 0, err
			}
			if err := b.Add(victim[k]); err != nil {
				return 0, err
			}
			r, err := b.Release(src)
			if err != nil {
				return 0, err
			}
			// A ramp off the integers breaks ties, which would coarsen the attack.
			return float64(r.Counts[len(r.Counts)-1]-r.Counts[0]) + 1e-3*float64(src.Uint64()>>11)/(1<<53), nil
		},
	}, err
}
