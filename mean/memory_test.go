package mean

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func kernel100(t testing.TB) (space.Space, []float64) {
	t.Helper()
	grid := space.Uniform(0, 1, 100)
	sp, err := space.Kernel(space.Gaussian(0.2), grid)
	if err != nil {
		t.Fatal(err)
	}
	return sp, grid.T
}

// smooth returns n curves of the space on the grid, of norms uniform on
// (0.5, 1.5), so that in a ball of radius 1 half of the constraints are active.
func smooth(rnd *rand.Rand, sp space.Space, grid []float64, n int) [][]float64 {
	rows := make([][]float64, len(grid))
	for j, u := range grid {
		rows[j] = make([]float64, sp.Dim())
		sp.Eval(rows[j], u)
	}
	out := make([][]float64, n)
	for i := range out {
		beta := normals(rnd, sp.Dim(), 1)
		scale := (0.5 + rnd.Float64()) / norm2(beta)
		out[i] = make([]float64, len(grid))
		for j, row := range rows {
			for k, e := range row {
				out[i][j] += scale * beta[k] * e
			}
		}
	}
	return out
}

func TestAddDoesNotAllocate(t *testing.T) {
	sp, grid := kernel100(t)
	x := smooth(rand.New(rand.NewPCG(1, 1)), sp, grid, 10)
	for _, method := range []Method{FitThenProtect, ProtectThenFit} {
		m := mustNew(t, Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Method: method, Grid: grid})
		curve := fit.Curve{{T: grid}}
		i := 0
		add := func() {
			curve[0].X = x[i%len(x)]
			i++
			if err := m.Add(curve); err != nil {
				t.Fatal(err)
			}
		}
		for range 3000 { // until there is a block for every worker
			add()
		}
		// One goroutine and one block header in some 300 curves.
		if allocs := testing.AllocsPerRun(3000, add); allocs > 0.1 {
			t.Errorf("%s: %.2f allocations per curve", method, allocs)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 3000 {
			add()
		}
		runtime.ReadMemStats(&after)
		if bytes := float64(after.TotalAlloc-before.TotalAlloc) / 3000; bytes > 100 { // a curve has 800
			t.Errorf("%s: %.0f bytes allocated per curve", method, bytes)
		}
	}
}

// The heap does not grow with the number of people, on any path.
func TestMemoryIsIndependentOfN(t *testing.T) {
	sp, grid := kernel100(t)
	rnd := rand.New(rand.NewPCG(2, 1))
	x := smooth(rnd, sp, grid, 10)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	for name, add := range map[string]func(m *Mean, i int){
		"one grid":  func(m *Mean, i int) { mustAdd(t, m, fit.Curve{{T: grid, X: x[i%10]}}) },
		"own times": func(m *Mean, i int) { mustAdd(t, m, fit.Curve{{T: increasing(rnd, 10), X: x[i%10][:10]}}) },
		"two curves": func(m *Mean, i int) {
			c := fit.Curve{{T: grid, X: x[i%10]}}
			mustAdd(t, m, c, c)
		},
		"missing values": func(m *Mean, i int) {
			k := i % 100
			mustAdd(t, m, fit.Curve{{T: slices.Delete(slices.Clone(grid), k, k+1), X: x[i%10][:99]}})
		},
	} {
		m := mustNew(t, Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person"})
		for i := range 1000 {
			add(m, i)
		}
		before := heap()
		for i := range 6000 { // 4.8 MB of samples
			add(m, i)
		}
		if after := heap(); after > before+(2<<20) {
			t.Errorf("%s: the heap grew from %d to %d bytes", name, before, after)
		}
		sumOf(t, m)
	}
}

// A release tells of the data nothing but its coefficients (and for
// protect-then-fit the factor, which follows from them): two cohorts as different
// as can be give releases that agree in every other field.
func TestReleaseHoldsNothingElse(t *testing.T) {
	grid := []float64{0, 0.5, 1}
	for _, method := range []Method{FitThenProtect, ProtectThenFit} {
		c := Config{
			Space: legendre(t, 2), Radius: 3, Guarantee: privacy.GDP(1), Unit: "person", Method: method, Grid: grid,
			Reference: []release.Reference{release.Constant(7)}, XLabel: "age", YLabel: "height",
		}
		a, b := mustNew(t, c), mustNew(t, c)
		for i := range 50 {
			mustAdd(t, a, fit.Curve{{T: grid, X: []float64{7, 7, 7}}})
			x := fit.Curve{{T: grid, X: []float64{1e308, -1e308, float64(i)}}}
			if method == FitThenProtect { // even the times differ
				x = fit.Curve{{T: []float64{0.01 * float64(i), 0.9}, X: []float64{1e9, -5}}}
			}
			mustAdd(t, b, x)
		}
		ra, err := a.Release(noise.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		rb, err := b.Release(noise.Seeded(2))
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(ra.Coefficients, rb.Coefficients) {
			t.Error("the cohorts do not differ: the test has lost its purpose")
		}
		for _, r := range []*release.Release{ra, rb} {
			r.Coefficients, r.Raw, r.Noise.Factor, r.Space = nil, nil, nil, nil
		}
		if diff := cmp.Diff(ra, rb, cmp.AllowUnexported(release.Reference{})); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
}

// The projection keeps the direction, and the raw form is what was noisy.
func TestProjectionOntoTheBall(t *testing.T) {
	grid := []float64{0, 0.5, 1}
	projected, inside := 0, 0
	for seed := range uint64(60) {
		c := Config{Space: legendre(t, 3), Radius: 2, Guarantee: privacy.GDP(1), Unit: "person"}
		var got [2]*release.Release
		for i := range got {
			c.Raw = i == 1
			m := mustNew(t, c)
			for range 2 {
				mustAdd(t, m, fit.Curve{{T: grid, X: []float64{1, 0.5, 0}}})
			}
			r, err := m.Release(noise.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			got[i] = r
		}
		plain, raw := got[0], got[1].Coefficients[0]
		if got[1].Raw != nil {
			t.Fatal("a raw release was projected")
		}
		if norm2(raw) <= 2 {
			inside++
			if plain.Raw != nil || !slices.Equal(plain.Coefficients[0], raw) {
				t.Fatal("a release inside the ball was changed")
			}
			continue
		}
		projected++
		if !slices.Equal(plain.Raw[0], raw) || norm2(plain.Coefficients[0]) > 2*(1+1e-15) {
			t.Fatalf("raw %v, want %v; projected norm %v", plain.Raw, raw, norm2(plain.Coefficients[0]))
		}
		for k, x := range plain.Coefficients[0] {
			if math.Abs(x-raw[k]*2/norm2(raw)) > 1e-12 {
				t.Fatalf("projection of %v is %v", raw, plain.Coefficients[0])
			}
		}
	}
	if projected < 5 || inside < 5 {
		t.Errorf("%d projected, %d inside", projected, inside)
	}
}
