package fit

import (
	"fmt"

	"github.com/curveil/curveil/space"
)

// CheckGaps refuses a curve with a stretch of the window longer than most
// without a sample, its two ends included: interpolating across is a modelling
// choice that the person must make. The error tells the person, not the public.
func (c Curve) CheckGaps(window space.Interval, most float64) error {
	for k, s := range c {
		last := window.A
		for _, t := range append(s.T[:len(s.T):len(s.T)], window.B) {
			if t-last > most {
				return fmt.Errorf("component %d has no sample for %g from time %g on, longer than the largest gap %g: cut the window, or allow longer gaps, across which the curve is drawn straight", k+1, t-last, last, most)
			}
			last = t
		}
	}
	return nil
}
