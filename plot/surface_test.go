package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// regressionOn is a regression on the unit cube, of which the first coordinate is c.
func regressionOn(t *testing.T, variables int, c float64) *release.Release {
	t.Helper()
	var box []space.Interval
	centres := [][]float64{make([]float64, variables)}
	for i := range variables {
		box = append(box, space.Interval{A: 0, B: 1})
		centre := make([]float64, variables)
		centre[i] = 1
		centres = append(centres, centre)
	}
	sp, err := space.NewRadial(space.Gaussian(0.4), box, centres, space.DefaultFloor)
	if err != nil {
		t.Fatal(err)
	}
	coefficients := make([]float64, sp.Dim())
	coefficients[0] = c
	statement := privacy.Statement{Guarantee: privacy.Approx{Epsilon: 2, Delta: 1e-6}, Adjacency: privacy.Local, Unit: "person"}
	r := &release.Release{Verb: release.Regression, Method: release.HuberSGD, Components: []string{"value"}, Coefficients: [][]float64{coefficients},
		Noise: release.Noise{Law: release.Gaussian, Scale: 0.1}, Privacy: statement, N: 1000, Private: true, Box: sp, XLabel: "age, dose", YLabel: "mmHg"}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSurface(t *testing.T) {
	r := regressionOn(t, 2, 3)
	p, err := Release(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := p.panels[0]
	if q.x.label != "age" || q.y.label != "dose" || p.bar.label != "mmHg" || !strings.Contains(p.caption, "upper bound") {
		t.Errorf("%q, %q, %q: %s", q.x.label, q.y.label, p.bar.label, p.caption)
	}
	// The value of a cell is that of the release in its middle, y fastest, and the scale holds all of them.
	h := q.heat
	for _, at := range [][2]int{{0, 0}, {7, 100}, {119, 3}} {
		x := []float64{(float64(at[0]) + .5) / surfaceCells, (float64(at[1]) + .5) / surfaceCells}
		if got, want := h.values[at[0]*h.ny+at[1]], r.AtPoint(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("cell %v: %g, want %g", at, got, want)
		}
	}
	for _, v := range h.values {
		if u := p.bar.place(v); u < 0 || u > 1 {
			t.Fatalf("%g is at %g of the scale from %g to %g", v, u, p.bar.low, p.bar.top)
		}
	}
	for _, tick := range p.bar.ticks() {
		if tick.Value < p.bar.low || tick.Value > p.bar.top {
			t.Errorf("tick %v outside %g to %g", tick, p.bar.low, p.bar.top)
		}
	}
	if _, err := Release(regressionOn(t, 2, 0), Options{}); err != nil { // a constant
		t.Error(err)
	}
	if _, err := Release(regressionOn(t, 3, 1), Options{}); err == nil || !strings.Contains(err.Error(), "no picture") {
		t.Errorf("three variables: %v", err)
	}
}
