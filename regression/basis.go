// Coordinates of a person's x: e(x), shortened where needed to length B. Shortening makes ‖φ(x)‖ ≤ B hold by
// construction, whatever the space, also outside its domain, where Eval takes x to the nearest point.

package regression

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/curveil/curveil/space"
)

// Basis is the space that is regressed on: functions on a box, with an orthonormal basis. [OneVariable] makes one of a
// space on an interval, space.Radial is one of several variables.
type Basis = space.BoxSpace

// oneVariable is a space on an interval as one on a box.
type oneVariable struct {
	space.Space
	box []space.Interval
}

// OneVariable is the space of functions of one x.
func OneVariable(s space.Space) Basis {
	return oneVariable{s, []space.Interval{s.Domain()}}
}

func (o oneVariable) Box() []space.Interval     { return o.box }
func (o oneVariable) Eval(dst, x []float64)     { o.Space.Eval(dst, x[0]) }
func (o oneVariable) Bound(x []float64) float64 { return o.Space.Bound(x[0]) }

// unmarshalBasis reads the JSON form of a space on an interval or on a box.
func unmarshalBasis(data []byte) (Basis, error) {
	var probe map[string]json.RawMessage
	if err := json.Unmarshal(data, &probe); err != nil {
		return nil, fmt.Errorf("regression: space: %w", err)
	}
	if _, box := probe["box"]; box {
		return space.UnmarshalBoxSpace(data)
	}
	s, err := space.Unmarshal(data)
	if err != nil {
		return nil, err
	}
	return OneVariable(s), nil
}

// features sets dst to φ(x) and returns whether it had to be shortened. x has as many finite numbers as the box has
// variables. A basis that fails to give numbers gives the zero vector: φ is total, for whether a report can be made must
// not depend on x.
func features(dst []float64, b Basis, bound float64, x []float64) {
	b.Eval(dst, x)
	norm := 0.0
	for _, v := range dst {
		norm += v * v
	}
	norm = math.Sqrt(norm)
	switch {
	case norm <= bound:
	case math.IsNaN(norm) || math.IsInf(norm, 0):
		clear(dst)
	default:
		floats.Scale(bound/norm, dst)
	}
}

// LargestFeature is the largest ‖e(x)‖ on a fine grid of the box: the natural B of a stream. It is public, being
// computed from the space alone; the few points between the grid's where ‖e(x)‖ is larger are shortened to B.
func LargestFeature(b Basis) float64 {
	largest := 0.0
	overBox(b.Box(), []int{1025, 65, 17, 9}, func(x []float64) { largest = math.Max(largest, b.Bound(x)) })
	return largest
}

// overBox calls f at the points of a regular grid with both ends; perAxis is for 1, 2, … variables.
func overBox(box []space.Interval, perAxis []int, f func(x []float64)) {
	n := perAxis[min(len(box), len(perAxis))-1]
	x, index := make([]float64, len(box)), make([]int, len(box))
	for {
		for i, d := range box {
			x[i] = d.A + (d.B-d.A)*float64(index[i])/float64(n-1)
		}
		f(x)
		i := 0
		for ; i < len(index); i++ {
			if index[i]++; index[i] < n {
				break
			}
			index[i] = 0
		}
		if i == len(index) {
			return
		}
	}
}

// largestEigenvalue is about that of E φ(x)φ(x)ᵀ, x uniform on the box, by power iteration; at most B².
func largestEigenvalue(b Basis, bound float64) float64 {
	var rows [][]float64
	overBox(b.Box(), []int{129, 13, 6, 4}, func(x []float64) {
		phi := make([]float64, b.Dim())
		features(phi, b, bound, x)
		rows = append(rows, phi)
	})
	v, next := make([]float64, b.Dim()), make([]float64, b.Dim())
	for _, phi := range rows {
		floats.Add(v, phi)
	}
	v[0] += bound // in case the features cancel
	lambda := bound * bound
	for range 30 {
		floats.Scale(1/floats.Norm(v, 2), v)
		clear(next)
		for _, phi := range rows {
			floats.AddScaled(next, floats.Dot(phi, v)/float64(len(rows)), phi)
		}
		if n := floats.Norm(next, 2); n > 0 {
			lambda = math.Min(n, bound*bound)
			v, next = next, v
		}
	}
	return lambda
}

func checkPoint(b Basis, x []float64, y float64) error {
	if len(x) != len(b.Box()) {
		return fmt.Errorf("regression: x has %s, the space has %s: give one number for each", count(len(x), "number"), count(len(b.Box()), "variable"))
	}
	for i, v := range x {
		if !finite(v) {
			return fmt.Errorf("regression: x[%d] is %v: give a finite number", i, v)
		}
	}
	if !finite(y) {
		return fmt.Errorf("regression: y is %v: give a finite number", y)
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
