package mean

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func increasing(rnd *rand.Rand, n int) []float64 {
	t := make([]float64, n)
	for j := range t {
		t[j] = (float64(j) + 0.05 + 0.9*rnd.Float64()) / float64(n)
	}
	return t
}

func normals(rnd *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rnd.NormFloat64()
	}
	return x
}

// cohort draws people of every sort: on one of a few grids (blocks), with times
// of their own, with components on different times, with several curves.
func cohort(rnd *rand.Rand, n, comps int, grids [][]float64) [][]fit.Curve {
	people := make([][]fit.Curve, n)
	for i := range people {
		curves := 1
		if rnd.IntN(6) == 0 {
			curves = 1 + rnd.IntN(4)
		}
		for range curves {
			var c fit.Curve
			times := grids[min(rnd.IntN(2*len(grids)), len(grids)-1)]
			own := rnd.IntN(8)
			if own == 0 {
				times = increasing(rnd, 1+rnd.IntN(12))
			}
			for k := range comps {
				t := times
				if own == 1 || own == 2 && k > 0 {
					t = increasing(rnd, 1+rnd.IntN(12))
				}
				x := normals(rnd, len(t), math.Exp(rnd.NormFloat64()))
				if rnd.IntN(20) == 0 {
					x[0] = 1e308
				}
				c = append(c, fit.Series{T: t, X: x})
			}
			people[i] = append(people[i], c)
		}
	}
	return people
}

func sumOf(t fataler, m *Mean) string {
	t.Helper()
	sum, err := m.total()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := m.N(); n != sum.N() || err != nil {
		t.Fatalf("N() = %d, %v, but the sum has %d", n, err, sum.N())
	}
	return fmt.Sprint(sum.N(), sum.Vector())
}

// The integers of the sum depend on who is in it, and on nothing else.
func TestSumIsBitIdentical(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	kernel, err := space.Parse("kernel:gauss:0.2:20", space.Interval{A: 0, B: 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := release.Table([]float64{0, 0.3, 1}, []float64{1, -1, 2})
	if err != nil {
		t.Fatal(err)
	}
	spaces := []space.Space{legendre(t, 3), kernel}
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		comps := 1 + rnd.IntN(2)
		var grids [][]float64
		for range 1 + rnd.IntN(12) { // also more than there are open blocks
			size := 3 + rnd.IntN(20)
			if rnd.IntN(5) == 0 {
				size = 500 + rnd.IntN(500) // fills blocks
			}
			grids = append(grids, increasing(rnd, size))
		}
		c := Config{Space: spaces[rnd.IntN(2)], Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Components: []string{"a", "b"}[:comps]}
		if rnd.IntN(2) == 0 {
			c.Reference = []release.Reference{table, release.Constant(0.5)}[:comps]
		}
		people := cohort(rnd, rapid.IntRange(1, 120).Draw(t, "people"), comps, grids)
		if rnd.IntN(3) == 0 { // protect-then-fit: complete rows only
			c.Method, c.Grid = ProtectThenFit, grids[0]
			for _, curves := range people {
				for _, curve := range curves {
					for k := range curve {
						curve[k] = fit.Series{T: c.Grid, X: normals(rnd, len(c.Grid), 1)}
					}
				}
			}
		}
		one := mustNew(t, c)
		for _, curves := range people {
			mustAdd(t, one, curves...)
		}
		want := sumOf(t, one)

		runtime.GOMAXPROCS(1 + rnd.IntN(4))
		rnd.Shuffle(len(people), func(i, j int) { people[i], people[j] = people[j], people[i] })
		shards := make([]*Mean, 1+rnd.IntN(4))
		for i := range shards {
			shards[i] = mustNew(t, c)
		}
		for _, curves := range people {
			rnd.Shuffle(len(curves), func(i, j int) { curves[i], curves[j] = curves[j], curves[i] })
			own := slices.Clone(curves)
			if rnd.IntN(2) == 0 { // the slices are the caller's again after Add
				for i, curve := range own {
					own[i] = slices.Clone(curve)
					for k, s := range curve {
						own[i][k] = fit.Series{T: slices.Clone(s.T), X: slices.Clone(s.X)}
					}
				}
			}
			mustAdd(t, shards[rnd.IntN(len(shards))], own...)
			if &own[0][0].X[0] != &curves[0][0].X[0] {
				clear(own[0][0].X)
				clear(own[0][0].T)
			}
			if rnd.IntN(40) == 0 {
				sumOf(t, shards[rnd.IntN(len(shards))]) // flushed in the middle
			}
		}
		for len(shards) > 1 {
			i := 1 + rnd.IntN(len(shards)-1)
			if rnd.IntN(2) == 0 {
				data, err := shards[i].MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				if err := shards[0].UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
			} else if err := shards[0].Merge(shards[i]); err != nil {
				t.Fatal(err)
			}
			shards = slices.Delete(shards, i, i+1)
		}
		if got := sumOf(t, shards[0]); got != want {
			t.Fatalf("%s\nwant %s", got, want)
		}
	})
}

// A curve given alone goes through a block, given twice by one person it goes the
// other way: the average of two equal vectors is that vector.
func TestSeveralCurvesAreAveraged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	sp := legendre(t, 4)
	grid := increasing(rnd, 9)
	for _, c := range []Config{
		{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person"},
		{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Method: ProtectThenFit, Grid: grid},
	} {
		curve := func() fit.Curve { return fit.Curve{{T: grid, X: normals(rnd, 9, 1)}} }
		a, b := curve(), curve()
		once, twice, both := mustNew(t, c), mustNew(t, c), mustNew(t, c)
		for range 3 { // so that blocks open
			mustAdd(t, once, a)
			mustAdd(t, twice, a, a, a)
			mustAdd(t, both, a, b)
		}
		if got, want := sumOf(t, twice), sumOf(t, once); got != want {
			t.Errorf("%s: three equal curves give %s, one gives %s", c.Method, got, want)
		}
		if n, _ := both.N(); n != 3 {
			t.Errorf("%d people", n)
		}
		alone := mustNew(t, c)
		mustAdd(t, alone, b)
		va, vb, vab := exactMean(t, once), exactMean(t, alone), exactMean(t, both)
		for k := range vab {
			if want := (va[k] + vb[k]) / 2; math.Abs(vab[k]-want) > 1e-8 {
				t.Errorf("%s: coordinate %d of the average is %g, want %g", c.Method, k, vab[k], want)
			}
		}
	}
}

// Missing samples and irregular times cost nothing: curves of the space, sampled
// without noise at any times, have the mean of the complete curves.
func TestMissingSamplesCostNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, text := range []string{"legendre:4", "fourier:5", "cosine:5", "bspline:6", "kernel:gauss:0.3:8:floor=1e-4"} {
		sp, err := space.Parse(text, space.Interval{A: 0, B: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := sp.Dim()
		full := space.Uniform(0, 1, 40).T
		c := Config{Space: sp, Radius: 2, Guarantee: privacy.GDP(1), Unit: "person", Components: []string{"a", "b"}}
		complete, holes := mustNew(t, c), mustNew(t, c)
		truth := make([]float64, 2*p)
		const n = 60
		for range n {
			beta := normals(rnd, 2*p, 1)
			scale := 2 * rnd.Float64() / norm2(beta)
			for i := range beta {
				beta[i] *= scale
				truth[i] += beta[i] / n
			}
			var whole, part fit.Curve
			for k := range 2 {
				own := beta[k*p : (k+1)*p]
				var times []float64
				for _, u := range full {
					if rnd.IntN(3) > 0 {
						times = append(times, u+0.01*(rnd.Float64()-0.5))
					}
				}
				times[0], times[len(times)-1] = max(0, times[0]), min(1, times[len(times)-1])
				whole = append(whole, fit.Series{T: full, X: values(sp, own, full)})
				part = append(part, fit.Series{T: times, X: values(sp, own, times)})
			}
			mustAdd(t, complete, whole)
			mustAdd(t, holes, part)
		}
		a, b := exactMean(t, complete), exactMean(t, holes)
		for k := range truth {
			if math.Abs(a[k]-truth[k]) > 1e-8 || math.Abs(b[k]-truth[k]) > 1e-8 {
				t.Errorf("%s: coordinate %d: %.10g from complete, %.10g from partial curves, want %.10g", text, k, a[k], b[k], truth[k])
			}
		}
	}
}

// Both components together lie in one ball.
func TestComponentsShareOneRadius(t *testing.T) {
	sp := legendre(t, 2)
	times := []float64{0, 0.5, 1}
	c := Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Components: []string{"a", "b"}}
	m := mustNew(t, c)
	mustAdd(t, m, fit.Curve{{T: times, X: []float64{3e9, 3e9, 3e9}}, {T: times, X: []float64{4e9, 4e9, 4e9}}})
	got := exactMean(t, m)
	for k, want := range []float64{0.6, 0, 0.8, 0} {
		if math.Abs(got[k]-want) > 1e-8 {
			t.Errorf("coordinate %d = %g, want %g", k, got[k], want)
		}
	}
	if norm2(got) > 1 {
		t.Errorf("joint norm %g", norm2(got))
	}
	if s := m.mech.Scale(1); math.Abs(s-2) > 1e-8 { // 2B′/(nμ): one radius, not √2 of it
		t.Errorf("noise scale %g", s)
	}
}

// The reference is taken off every sample of every path.
func TestReferenceIsSubtracted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	sp := legendre(t, 3)
	table, err := release.Table([]float64{0, 0.5, 1}, []float64{120, 140, 150})
	if err != nil {
		t.Fatal(err)
	}
	grid := increasing(rnd, 7)
	for _, method := range []Method{FitThenProtect, ProtectThenFit} {
		c := Config{Space: sp, Radius: 5, Guarantee: privacy.GDP(1), Unit: "person", Method: method, Grid: grid}
		plain := mustNew(t, c)
		c.Reference = []release.Reference{table}
		shifted := mustNew(t, c)
		for i := range 20 {
			x := normals(rnd, 7, 1)
			y := slices.Clone(x)
			for j := range y {
				y[j] += table.At(grid[j])
			}
			a, b := fit.Curve{{T: grid, X: x}}, fit.Curve{{T: grid, X: y}}
			if i%3 == 0 { // the other path
				mustAdd(t, plain, a, a)
				mustAdd(t, shifted, b, b)
			} else {
				mustAdd(t, plain, a)
				mustAdd(t, shifted, b)
			}
		}
		a, b := exactMean(t, plain), exactMean(t, shifted)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 1e-7 {
				t.Errorf("%s: coordinate %d is %g with the reference, %g without", method, k, b[k], a[k])
			}
		}
	}
}
