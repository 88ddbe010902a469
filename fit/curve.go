// Package fit turns the samples of a curve into coordinates in a function
// space: weighted least squares under a ball constraint,
//
//	min ‖W^{1/2}(x − Aβ)‖²  subject to  ‖β‖ ≤ B,   A_jk = e_k(t_j),
//
// solved through one singular value decomposition per grid and one scalar
// equation per curve ([FTP] §3; methods §3).
package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/curveil/curveil/space"
)

// Series is the samples of one output component of one curve: X[j] observed
// at T[j], in the user's units. T increases strictly.
type Series struct{ T, X []float64 }

// Curve is one curve: one series per output component. Components may be
// sampled at different times.
type Curve []Series

// Check reports the first thing that keeps the curve from being fitted in a
// space on the domain: a missing component, lengths that differ, no samples,
// a value that is not finite, times that do not increase or lie outside.
func (c Curve) Check(domain space.Interval, components int) error {
	if len(c) != components {
		return fmt.Errorf("curve has %d components, want %d", len(c), components)
	}
	for i, s := range c {
		if err := s.check(domain); err != nil {
			if components > 1 {
				return fmt.Errorf("component %d: %w", i+1, err)
			}
			return err
		}
	}
	return nil
}

func (s Series) check(domain space.Interval) error {
	if len(s.T) != len(s.X) {
		return fmt.Errorf("curve has %d times but %d values", len(s.T), len(s.X))
	}
	if len(s.T) == 0 {
		return fmt.Errorf("curve has no samples: leave the person out of the file (which changes n) or give at least one value")
	}
	for j, t := range s.T {
		switch {
		case !(t >= domain.A && t <= domain.B):
			return fmt.Errorf("time %g is outside the domain %g:%g: widen the domain, which is a public choice, or cut the curve first", t, domain.A, domain.B)
		case j > 0 && t <= s.T[j-1]:
			return fmt.Errorf("time %g does not come after %g: times must increase strictly", t, s.T[j-1])
		}
		if x := s.X[j]; math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("value at time %g is %g: leave a missing sample out, never pass NaN or Inf", t, x)
		}
	}
	return nil
}

// Finite reports whether no number of x is NaN or infinite.
func Finite(x []float64) bool {
	if sum := floats.Sum(x); !math.IsNaN(sum - sum) {
		return true
	}
	for _, v := range x { // the sum alone may overflow
		if math.IsNaN(v - v) {
			return false
		}
	}
	return true
}
