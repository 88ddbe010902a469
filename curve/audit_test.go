// Empirical audits: lower bounds on the privacy loss between close pairs of
// curves, for each method, with mechanisms of half the noise as controls. Each
// bound has confidence 1 − 1e-7, and there are fewer than ten of each kind.

package curve

import (
	"math"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/internal/stattest"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

const auditAlpha = 1e-8

// hushed draws noise of half the scale: the control that an audit must catch.
type hushed struct{ exact }

func louder(g privacy.Guarantee) privacy.Guarantee {
	switch g := g.(type) {
	case privacy.Geo:
		return 2 * g
	case privacy.ConcentratedGeo:
		return 4 * g
	}
	panic("guarantee of another kind")
}

func (h hushed) first(g privacy.Guarantee, threshold float64, n int, f func(int) float64) (int, error) {
	return h.exact.first(louder(g), threshold, n, f)
}
func (h hushed) scalar(g privacy.Guarantee, v float64) (float64, error) {
	return h.exact.scalar(louder(g), v)
}
func (h hushed) vector(g privacy.Guarantee, dst, x []float64) error {
	return h.exact.vector(louder(g), dst, x)
}

func trajectory(t *testing.T, name string) fit.Curve {
	points, ok := golden(t).Trajectories.Trajectories[name]
	if !ok {
		t.Fatalf("no trajectory %s", name)
	}
	c := fit.Curve{{}, {}}
	for _, p := range points {
		for k := range c {
			c[k].T, c[k].X = append(c[k].T, p[0]), append(c[k].X, p[1+k])
		}
	}
	return c
}

// The distances of the paper's three trajectories.
func TestGoldenDistances(t *testing.T) {
	for pair, want := range golden(t).Trajectories.Pairs {
		got := experiment.Distance(trajectory(t, pair[:2]), trajectory(t, pair[3:]), space.Interval{A: 0, B: 1})
		near(t, "dist2 of "+pair, got, want.Dist2)
	}
}

// pull is the released function's part along q − q′, at 64 times: about 0 on
// q′, and dist² on q.
func pull(r *Result, q, other fit.Curve) float64 {
	var sum float64
	d := r.Release.Space.Domain()
	x := make([]float64, len(q))
	for i := range 64 {
		at := d.A + d.Length()*(float64(i)+0.5)/64
		if err := r.Release.Eval(x, at); err != nil {
			panic(err)
		}
		for k := range q {
			sum += (x[k] - other[k].At(at)) * (q[k].At(at) - other[k].At(at)) / 64
		}
	}
	return sum
}

// exceedances counts how often event holds in releases of a curve.
func exceedances(t *testing.T, p *Privatizer, c fit.Curve, runs int, seed uint64, half bool, event func(*Result) bool) int64 {
	t.Helper()
	var d draws = exact{noise.Seeded(seed)}
	if half {
		d = hushed{d.(exact)}
	}
	var hits int64
	for range runs {
		r, err := p.privatize(c, d)
		if err != nil {
			t.Fatal(err)
		}
		if event(r) {
			hits++
		}
	}
	return hits
}

// excess is by how much two frequencies of one event prove more than the
// guarantee allows at the distance: positive is a violation. For ε, ln(p/p′) −
// ε·dist. For ρ, from Dα ≤ αρ·dist²: ln p ≤ (α−1)ρ·dist² + (1−1/α)·ln p′ for every α.
func excess(g privacy.Guarantee, distance float64, hits, otherHits, runs int64) float64 {
	p, other := stattest.LowerBound(hits, runs, auditAlpha), stattest.UpperBound(otherHits, runs, auditAlpha)
	if e, pure := g.(privacy.Geo); pure {
		return math.Log(p/other) - float64(e)*distance
	}
	most := math.Inf(-1)
	for alpha := 1.05; alpha < 50; alpha *= 1.05 {
		most = max(most, math.Log(p)-(alpha-1)*value(g)*distance*distance-(1-1/alpha)*math.Log(other))
	}
	return most
}

func TestAudit(t *testing.T) {
	unit := space.Interval{A: 0, B: 1}
	q1, q2, q3 := trajectory(t, "q1"), trajectory(t, "q2"), trajectory(t, "q3")
	// A brief detour: 4 to one side for 5 % of the window.
	detour := fit.Curve{{T: []float64{0, 0.5, 0.525, 0.55, 1}, X: []float64{0, 4, 4, 4.4, 8}}, {T: []float64{0, 0.5, 0.525, 0.55, 1}, X: []float64{0, 3.2, 7.2, 3.52, 6.4}}}
	straight := fit.Curve{{T: []float64{0, 1}, X: []float64{0, 8}}, {T: []float64{0, 1}, X: []float64{0, 6.4}}}
	shifted := fit.Curve{{T: []float64{0, 1}, X: []float64{0.3, 8.3}}, {T: []float64{0, 1}, X: []float64{0.4, 6.8}}}
	line, _ := space.Legendre(unit, 2)
	for i, c := range []struct {
		name     string
		q, other fit.Curve
		method   Method
		space    space.Space
		control  bool // the event is sharp enough to catch half the noise
	}{
		{"project, shift", shifted, straight, Project, line, true},
		{"project, q1 and q2", q1, q2, Project, nil, false},
		{"select, q1 and q3", q3, q1, Select, nil, false},
		{"segment, q2 and q3", q2, q3, Segment, nil, false},
		{"segment, detour", detour, straight, Segment, nil, false},
		{"denoise, q1 and q3", q1, q3, Denoise, nil, false},
		{"denoise, detour", detour, straight, Denoise, nil, false},
		{"denoise, shift", shifted, straight, Denoise, nil, false},
	} {
		for j, concentrated := range []bool{false, true} {
			distance := experiment.Distance(c.q, c.other, unit)
			var g privacy.Guarantee = privacy.Geo(2 / distance)
			if concentrated {
				g = privacy.ConcentratedGeo(0.5 / distance / distance)
			}
			p, err := New(Config{Window: unit, Guarantee: g, Components: []string{"x", "y"}, Method: c.method, Space: c.space, MaxLevel: 4})
			if err != nil {
				t.Fatal(err)
			}
			event := func(r *Result) bool { return pull(r, c.q, c.other) > 0.8*distance*distance }
			runs := 1000
			if c.control {
				// The likelihood ratio itself: coordinates nearer to q than to q′.
				event = ratioEvent(t, c.q, c.other, c.space, distance, concentrated)
				runs = 30_000
			}
			seed := uint64(100*i + 10*j)
			hits := exceedances(t, p, c.q, runs, seed, false, event)
			otherHits := exceedances(t, p, c.other, runs, seed+1, false, event)
			got := excess(g, distance, hits, otherHits, int64(runs))
			t.Logf("%s, %v: %d and %d of %d, excess %.2f", c.name, g, hits, otherHits, runs, got)
			if got > 0 {
				t.Errorf("%s, %v: more is told than the guarantee allows, by %g", c.name, g, got)
			}
			if !c.control {
				continue
			}
			hits = exceedances(t, p, c.q, runs, seed+2, true, event)
			otherHits = exceedances(t, p, c.other, runs, seed+3, true, event)
			if got := excess(g, distance, hits, otherHits, int64(runs)); got <= 0 {
				t.Errorf("%s, %v: half the noise goes unnoticed (%d and %d, excess %g): the audit could not see a fault", c.name, g, hits, otherHits, got)
			}
		}
	}
}

// ratioEvent is that the noisy coordinates are nearer to those of q than to those
// of q′ by most of the distance (pure), or by a difference of squares.
func ratioEvent(t *testing.T, q, other fit.Curve, s space.Space, distance float64, concentrated bool) func(*Result) bool {
	a, err := fit.Project(q, s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fit.Project(other, s)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *Result) bool {
		var toA, toB float64
		for k, row := range r.Release.Coefficients {
			for j, v := range row {
				da, db := v-a.Coordinates[j*2+k], v-b.Coordinates[j*2+k]
				toA += da * da
				toB += db * db
			}
		}
		if concentrated {
			return toB-toA > distance*distance
		}
		return math.Sqrt(toB)-math.Sqrt(toA) > 0.8*distance
	}
}
