package mean

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func boundConfig(t *testing.T, mu float64) BoundConfig {
	t.Helper()
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return BoundConfig{Config: Config{Space: sp, Guarantee: privacy.GDP(mu), Unit: "person"}}
}

func flat(v float64) fit.Curve { return fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{v, v, v}}} }

func buy(t *testing.T, c BoundConfig, people [][]fit.Curve) *BoundRelease {
	t.Helper()
	b, err := NewBound(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, curves := range people {
		if err := b.Add(curves...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := b.Release(noise.Seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBoundIsTheQuantile(t *testing.T) {
	var people [][]fit.Curve
	for i := range 1000 {
		people = append(people, []fit.Curve{flat(float64(i+1) / 10)}) // norms 0.1 … 100
	}
	for _, q := range []float64{0.1, 0.5, 0.95} {
		c := boundConfig(t, 40) // next to no noise
		c.Quantile, c.Low, c.High, c.PerOctave = q, 0.01, 1000, 8
		r := buy(t, c, people)
		if want := 100 * q; r.Radius < want*0.999 || r.Radius > want*math.Exp2(1.0/8)*1.001 {
			t.Errorf("quantile %g: radius %g, want the edge just above %g", q, r.Radius, want)
		}
		if r.Beyond || r.Private || r.N != 1000 {
			t.Errorf("quantile %g: %+v", q, r)
		}
	}
}

func TestBoundUsesTheReferenceAndTheLargestCurve(t *testing.T) {
	c := boundConfig(t, 40)
	c.Reference = []release.Reference{release.Constant(100)}
	c.Low, c.High, c.PerOctave, c.Quantile = 0.1, 1000, 16, 0.5
	people := make([][]fit.Curve, 500)
	for i := range people {
		people[i] = []fit.Curve{flat(101), flat(100 - 7), flat(100)}
	}
	if r := buy(t, c, people); r.Radius < 7 || r.Radius > 7*math.Exp2(1.0/16)*1.001 {
		t.Errorf("radius %g, want just above 7", r.Radius)
	}
}

// The stated interval holds the true share for about 95 % of the noise; with 300
// draws fewer than 85 % would be 8 standard deviations off (false alarm < 1e-6).
func TestBoundAccuracyStatement(t *testing.T) {
	c := boundConfig(t, 0.3)
	c.Low, c.High = 0.1, 1000
	b, err := NewBound(c)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	norms := make([]float64, n)
	for i := range norms {
		norms[i] = 2 * math.Exp2(3*float64(i)/n)
		if err := b.Add(flat(norms[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Ready(); err != nil {
		t.Fatal(err)
	}
	held, src := 0, noise.Seeded(9)
	var last *BoundRelease
	for range 300 {
		b.people.done = false
		r, err := b.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		last = r
		share := 0.0
		for _, v := range norms {
			if v <= r.Radius {
				share += 1.0 / n
			}
		}
		if share >= r.Within[0] && share <= r.Within[1] {
			held++
		}
	}
	if held < 255 {
		t.Errorf("the accuracy statement held %d times in 300", held)
	}
	if last.Within[1]-last.Within[0] > 0.2 {
		t.Errorf("the accuracy statement %v says too little", last.Within)
	}
}

func TestBoundBeyondTheRange(t *testing.T) {
	c := boundConfig(t, 40)
	c.Low, c.High = 1, 10
	people := make([][]fit.Curve, 100)
	for i := range people {
		people[i] = []fit.Curve{flat(1e9)}
	}
	if r := buy(t, c, people); !r.Beyond || r.Radius != 10 {
		t.Errorf("radius %g, beyond %v: want the end of the range and a flag", r.Radius, r.Beyond)
	}
}

func TestBoundRefuses(t *testing.T) {
	for _, bad := range []struct {
		change func(*BoundConfig)
		want   string
	}{
		{func(c *BoundConfig) { c.Quantile = 1 }, "quantile"},
		{func(c *BoundConfig) { c.Quantile = math.NaN() }, "quantile"},
		{func(c *BoundConfig) { c.Low, c.High = 5, 2 }, "range"},
		{func(c *BoundConfig) { c.Low = -1 }, "range"},
		{func(c *BoundConfig) { c.PerOctave = -1 }, "octave"},
		{func(c *BoundConfig) { c.Low, c.High, c.PerOctave = 1e-99, 1e99, 64 }, "narrow"},
		{func(c *BoundConfig) { c.Guarantee = privacy.Pure(1) }, ""},
		{func(c *BoundConfig) { c.Guarantee = nil }, "guarantee"},
	} {
		c := boundConfig(t, 1)
		bad.change(&c)
		if _, err := NewBound(c); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v", bad.want, err)
		}
	}
	b, err := NewBound(boundConfig(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(noise.Seeded(1)); err == nil {
		t.Error("a bound of nobody was released")
	}
	if err := b.Add(flat(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(noise.Seeded(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(noise.Seeded(1)); err == nil {
		t.Error("a second release of the same accumulator")
	}
}

// With 93 people and a small budget the bought radius stays within a factor of
// √2·2 of the best edge: high draws in empty bins far above do not count. Of 200
// purchases at most 10 may miss (observed: about 1 in 100; 11 would have a
// probability below 1e-6).
func TestBoundIsRobust(t *testing.T) {
	c := boundConfig(t, 0.5)
	b, err := NewBound(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 93 {
		if err := b.Add(flat(20 * math.Exp2(float64(i)/93))); err != nil {
			t.Fatal(err)
		}
	}
	missed, src := 0, noise.Seeded(3)
	for range 200 {
		b.people.done = false
		r, err := b.Release(src)
		if err != nil {
			t.Fatal(err)
		}
		if r.Radius < 20 || r.Radius > 120 {
			missed++
		}
	}
	if missed > 10 {
		t.Errorf("%d of 200 bought radii are far off", missed)
	}
}

func TestSimplexProjection(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{5, 5}, []float64{5, 5}},
		{[]float64{12, 0}, []float64{11, 0}},
		{[]float64{-3, 13, 1}, []float64{0, 10, 0}},
		{[]float64{-1, -1}, []float64{5, 5}},
	} {
		n := 10.0
		if c.in[0] == 12 {
			n = 11
		}
		got := append([]float64(nil), c.in...)
		simplex(got, n)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("simplex(%v, %g) = %v, want %v", c.in, n, got, c.want)
		}
	}
}

func TestPlanBound(t *testing.T) {
	c := boundConfig(t, 0.3)
	c.N = 100
	few, err := PlanBound(c)
	if err != nil {
		t.Fatal(err)
	}
	c.N = 100_000
	many, err := PlanBound(c)
	if err != nil {
		t.Fatal(err)
	}
	if many[1]-many[0] > few[1]-few[0] || many[0] < 0.94 {
		t.Errorf("more people do not make the bound more accurate: %v, then %v", few, many)
	}
}
