// The public reference curve: subtracted before the fit and added after the
// noise, so that the radius need cover deviations from it only. It is public by
// assumption and therefore stored in the clear.

package release

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/curveil/curveil/space"
)

// Reference is a public curve: a constant, or the piecewise linear interpolant
// of a table. The zero value is the constant 0. It is immutable.
type Reference struct {
	c    float64
	t, x []float64 // a table when t is not nil
}

// Constant returns the reference with value c everywhere. A c that is not
// finite is reported by [Reference.Validate].
func Constant(c float64) Reference { return Reference{c: c} }

// Table returns the piecewise linear reference through the points (t[i], x[i]).
// t and x have the same length, at least two, finite, t strictly increasing;
// the slices are copied. The table must reach both ends of the domain it is
// used on: it is never extrapolated, see [Reference.Validate].
func Table(t, x []float64) (Reference, error) {
	r := Reference{t: slices.Clone(t), x: slices.Clone(x)}
	if r.t == nil {
		r.t = []float64{}
	}
	if at, err := r.check(); err != nil {
		return Reference{}, fmt.Errorf("reference table%s: %w", at, err)
	}
	return r, nil
}

// At returns the reference at t, NaN outside a table.
func (r Reference) At(t float64) float64 {
	if r.t == nil {
		return r.c
	}
	n := len(r.t)
	i := sort.SearchFloat64s(r.t, t)
	switch {
	case i < n && r.t[i] == t:
		return r.x[i]
	case i == 0 || i == n:
		return math.NaN()
	}
	// Halved, because the difference of two finite times or values can overflow.
	w := (t/2 - r.t[i-1]/2) / (r.t[i]/2 - r.t[i-1]/2)
	return (1-w)*r.x[i-1] + w*r.x[i]
}

// IsConstant says whether the reference is a constant, and which.
func (r Reference) IsConstant() (float64, bool) { return r.c, r.t == nil }

// Points returns copies of the points of a table, nil for a constant.
func (r Reference) Points() (t, x []float64) { return slices.Clone(r.t), slices.Clone(r.x) }

// Validate checks that the reference is finite everywhere on the domain d.
func (r Reference) Validate(d space.Interval) error {
	if at, err := r.check(); err != nil {
		return fmt.Errorf("reference%s: %w", at, err)
	}
	if r.t == nil {
		return nil
	}
	first, last := r.t[0], r.t[len(r.t)-1]
	if first > d.A || last < d.B {
		return fmt.Errorf("reference table covers [%v, %v], the domain is [%v, %v]: it is never extrapolated; add points out to both ends", first, last, d.A, d.B)
	}
	return nil
}

// check returns the first fault and the place of it, as a suffix of the path.
func (r Reference) check() (at string, err error) {
	if r.t == nil {
		if !finite(r.c) {
			return "", fmt.Errorf("constant %v is not finite", r.c)
		}
		return "", nil
	}
	if len(r.t) != len(r.x) {
		return "", fmt.Errorf("%d times but %d values; give one value per time", len(r.t), len(r.x))
	}
	if len(r.t) < 2 {
		return "", fmt.Errorf("%d points; a table needs at least two (use a constant otherwise)", len(r.t))
	}
	if len(r.t) > maxTablePoints {
		return "", fmt.Errorf("%d points, at most %d are accepted; thin the table", len(r.t), maxTablePoints)
	}
	for i := range r.t {
		if !finite(r.t[i]) {
			return fmt.Sprintf(".t[%d]", i), fmt.Errorf("time %v is not finite", r.t[i])
		}
		if !finite(r.x[i]) {
			return fmt.Sprintf(".x[%d]", i), fmt.Errorf("value %v is not finite", r.x[i])
		}
		if i > 0 && !(r.t[i] > r.t[i-1]) {
			return fmt.Sprintf(".t[%d]", i), fmt.Errorf("time %v does not come after %v; sort the table and give each time once", r.t[i], r.t[i-1])
		}
	}
	return "", nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
