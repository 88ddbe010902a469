package density

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func TestGoldenProjection(t *testing.T) {
	g := readGolden(t).Postprocess
	v := append([]float64(nil), g.Grid...)
	projectOntoDensities(v)
	for i := range v {
		near(t, fmt.Sprintf("projected cell %d", i), v[i], g.Project[i])
	}
}

// The projection is a density, leaves densities alone and is the nearest: no other density is nearer.
func TestProjectionProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		v := rapid.SliceOfN(rapid.Float64Range(-5, 5), n, n).Draw(rt, "v")
		mean := 0.0
		for _, x := range v {
			mean += x / float64(n)
		}
		for i := range v {
			v[i] += 1 - mean
		}
		p := append([]float64(nil), v...)
		projectOntoDensities(p)
		sum, inner := 0.0, 0.0
		other := rapid.SliceOfN(rapid.Float64Range(0, 3), n, n).Draw(rt, "other")
		total := 1e-9
		for _, x := range other {
			total += x
		}
		for i, x := range p {
			if x < 0 {
				rt.Fatalf("cell %d is %v", i, x)
			}
			sum += x
			inner += (v[i] - x) * (other[i]/total*float64(n)*(1-1e-9/total) - x)
		}
		if math.Abs(sum-float64(n)) > 1e-9*float64(n) {
			rt.Fatalf("mass %v", sum/float64(n))
		}
		if inner > 1e-6 { // ⟨v − p, q − p⟩ ≤ 0 for every density q
			rt.Fatalf("another density is nearer: %v", inner)
		}
		again := append([]float64(nil), p...)
		projectOntoDensities(again)
		for i := range p {
			if math.Abs(again[i]-p[i]) > 1e-9 {
				rt.Fatalf("a density was changed: %v to %v", p[i], again[i])
			}
		}
	})
}

func released(t *testing.T, c Config, n int) *release.Release {
	t.Helper()
	d := newDensity(t, c)
	x := randomPoints(21, n, len(c.Box))
	for i := range x {
		b := c.Box[i%len(c.Box)]
		x[i] = b.A + b.Length()*x[i]
	}
	if err := d.AddPoints(x); err != nil {
		t.Fatal(err)
	}
	r, err := d.Release(noise.Seeded(8))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var lonLat = []space.Interval{{A: -122.52, B: -122.35}, {A: 37.6, B: 37.82}}

func whole(t *Table) float64 {
	sum := 0.0
	for _, v := range t.Density {
		sum += v
	}
	return sum * t.volume() / float64(len(t.Density))
}

func TestTables(t *testing.T) {
	for _, c := range []Config{
		{Box: []space.Interval{{A: 60, B: 3600}}, Rank: []int{16}, Names: []string{"s"}}, {Box: lonLat, Rank: []int{4}, Basis: Fourier, Names: []string{"lon", "lat"}},
		{Box: append(lonLat[:2:2], space.Interval{A: 0, B: 24}), Rank: []int{2}},
	} {
		r := released(t, c, 4000)
		table, err := Of(r)
		if err != nil {
			t.Fatal(err)
		}
		if m := whole(table); math.Abs(m-1) > 1e-12 {
			t.Errorf("mass %v", m)
		}
		// At a point where the released function is well above zero the two agree up to cells and projection.
		x := make([]float64, len(c.Box))
		for i, b := range c.Box {
			x[i] = b.A + 0.2*b.Length()
		}
		if got, want := table.At(x)*r.Volume(), r.AtPoint(x)*r.Volume(); math.Abs(got-want) > 0.1*want {
			t.Errorf("density at %v is %v, the release says %v", x, got, want)
		}
		x[0] = c.Box[0].B + 1
		if table.At(x) != 0 {
			t.Error("density outside the box")
		}
		half := append([]space.Interval(nil), c.Box...)
		half[0].B = half[0].A + half[0].Length()/3
		rest := append([]space.Interval(nil), c.Box...)
		rest[0].A = half[0].B
		a, err := table.Probability(half)
		if err != nil {
			t.Fatal(err)
		}
		b, err := table.Probability(rest)
		if err != nil || math.Abs(a+b-1) > 1e-12 {
			t.Errorf("a region and the rest have %v and %v (%v)", a, b, err)
		}
		m, err := table.Marginal(0)
		if err != nil || math.Abs(whole(m)-1) > 1e-12 {
			t.Fatalf("marginal of mass %v (%v)", whole(m), err)
		}
		if p, err := m.Probability(half[:1]); err != nil || math.Abs(p-a) > 1e-12 {
			t.Errorf("the marginal gives %v to a region of probability %v", p, a)
		}
		q, err := m.Quantile(a)
		if err != nil || math.Abs(q-half[0].B) > 1e-9*half[0].Length() {
			t.Errorf("quantile %v is %v, want %v (%v)", a, q, half[0].B, err)
		}
		for _, p := range []float64{0, 1} {
			if q, err := m.Quantile(p); err != nil || !m.Box[0].Contains(q) {
				t.Errorf("quantile %v is %v (%v)", p, q, err)
			}
		}
		if len(c.Box) > 1 {
			s, err := table.Slice(0, half[0].B)
			if err != nil || math.Abs(whole(s)-1) > 1e-12 || len(s.Box) != len(c.Box)-1 {
				t.Errorf("slice of mass %v (%v)", whole(s), err)
			}
		}
		// Synthetic points: the share in the region, with 6 standard deviations.
		const n = 20000
		points := table.Points(noise.Seeded(4), n)
		inside := 0.0
		for i := 0; i < len(points); i += len(c.Box) {
			if table.At(points[i:i+len(c.Box)]) == 0 {
				t.Fatalf("a synthetic point where the density is zero: %v", points[i:i+len(c.Box)])
			}
			if points[i] < half[0].B {
				inside++
			}
		}
		if math.Abs(inside/n-a) > 6*math.Sqrt(a*(1-a)/n) {
			t.Errorf("%v of the synthetic points lie in a region of probability %v", inside/n, a)
		}
	}
}

// The averages over the cells are those of the function: coarse cells are sums of fine ones before the projection.
func TestCellAverages(t *testing.T) {
	for _, basis := range []Basis{Fourier, Cosine} {
		r := released(t, Config{Box: unitBox(1), Basis: basis, Rank: []int{3}, Guarantee: privacy.ZCDP(50)}, 5000)
		coarse, err := Of(r, 4)
		if err != nil {
			t.Fatal(err)
		}
		const fine = 4000
		for i := range 4 {
			sum := 0.0
			for k := range fine {
				sum += r.At((float64(i)+(float64(k)+0.5)/fine)/4) / fine
			}
			if math.Abs(sum-coarse.Density[i]) > 1e-6 {
				t.Errorf("%s: cell %d is %v, the average is %v", basis, i, coarse.Density[i], sum)
			}
		}
	}
}

func TestTableRefusals(t *testing.T) {
	r := released(t, Config{Box: lonLat, Rank: []int{2}}, 100)
	table, err := Of(r, 8)
	if err != nil {
		t.Fatal(err)
	}
	_, tooMany := Of(r, 5000)
	_, none := Of(r, 0)
	_, uneven := Of(r, 3, 3, 3)
	_, mean := Of(&release.Release{Verb: release.Mean})
	_, twice := table.Marginal(0, 0)
	_, nothing := table.Marginal()
	_, slice := table.Slice(2, 0)
	_, away := table.Slice(0, 0)
	_, quantile := table.Quantile(0.5)
	_, region := table.Probability(lonLat[:1])
	_, backwards := table.Probability([]space.Interval{{A: 1, B: 0}, lonLat[1]})
	for i, err := range []error{tooMany, none, uneven, mean, twice, nothing, slice, away, quantile, region, backwards} {
		if err == nil {
			t.Errorf("mistake %d was accepted", i)
		}
	}
}
