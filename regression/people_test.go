package regression_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// TestPersonWithSeveralPoints: under the same noise the report about two points is the mean of the reports about each, up to the
// rounding, and costs one expense.
func TestPersonWithSeveralPoints(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6})
	v := newServer(t, s)
	points := []regression.Point{{X: []float64{0.1}, Y: 5}, {X: []float64{0.6}, Y: -0.3}}
	about := func(p ...regression.Point) []int64 {
		r, err := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(7)}).ContributeAll(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return r.Coordinates
	}
	both, first, second, twice := about(points...), about(points[0]), about(points[1]), about(points[0], points[0])
	for j := range both {
		if d := float64(both[j]) - float64(first[j])/2 - float64(second[j])/2; math.Abs(d) > 2 {
			t.Errorf("coordinate %d: %d of both, %d and %d of each", j, both[j], first[j], second[j])
		}
		if d := twice[j] - first[j]; d < -1 || d > 1 {
			t.Errorf("coordinate %d: the same point twice gives %d, once %d", j, twice[j], first[j])
		}
	}
	if slices.Equal(both, first) {
		t.Error("the second point makes no difference")
	}
	c := newClient(t, v, regression.ClientConfig{})
	if _, err := c.ContributeAll(t.Context(), points); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ContributeAll(t.Context(), points); err == nil {
		t.Error("a second report was made without a ledger")
	}
	for _, bad := range [][]regression.Point{nil, {points[0], {X: []float64{0.2}, Y: math.NaN()}}, {points[0], {X: []float64{0.2, 0.3}, Y: 1}}} {
		if _, err := newClient(t, v, regression.ClientConfig{}).ContributeAll(t.Context(), bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

// TestSimulatePeople counts people and not points, and plays people of one point each as Simulate does.
func TestSimulatePeople(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6})
	var points []regression.Point
	var people [][]regression.Point
	for i := range 50 {
		points = append(points, regression.Point{X: []float64{float64(i) / 50}, Y: 1})
		people = append(people, points[i:])
	}
	run := func(people [][]regression.Point) *regression.Server {
		v, err := regression.SimulatePeople(context.Background(), regression.Simulation{Stream: s, Source: noise.Seeded(1)}, slices.Values(people))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, err := regression.Simulate(t.Context(), regression.Simulation{Stream: s, Source: noise.Seeded(1)}, regression.Sequence(points))
	if err != nil {
		t.Fatal(err)
	}
	if many := run(people); many.At() != 50 {
		t.Errorf("%d people", many.At())
	}
	several := append([][]regression.Point{points}, people[1:]...)
	several[0] = []regression.Point{points[0], points[30]}
	if got := run(several); got.At() != 49+1 || string(snapshot(t, got)) == string(snapshot(t, one)) {
		t.Error("a person's second point makes no difference")
	}
	if _, err := regression.SimulatePeople(t.Context(), regression.Simulation{Stream: s}, slices.Values([][]regression.Point{nil})); err == nil {
		t.Error("a person without points was accepted")
	}
}

func TestInside(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6})
	for _, x := range []float64{0, 0.5, 1} {
		if err := s.Inside([]float64{x}); err != nil {
			t.Error(err)
		}
	}
	for _, x := range [][]float64{{-1e-9}, {1.0001}, {math.NaN()}, {0.5, 0.5}, nil} {
		if err := s.Inside(x); err == nil {
			t.Errorf("%v was accepted", x)
		} else if len(x) == 1 && x[0] > 1 && !strings.Contains(err.Error(), "[0, 1]") {
			t.Errorf("the error does not name the range: %v", err)
		}
	}
}
