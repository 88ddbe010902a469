package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/curveil/curveil/space"
)

// The path for components with times of their own and the path for blocks give
// the same coordinates where both apply, to the bit.
func TestMixedEqualsBlock(t *testing.T) {
	all := spaces(t)
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		sp := all[rnd.IntN(len(all))]
		n, comps := 1+rnd.IntN(30), 1+rnd.IntN(3)
		times := increasing(rnd, n)
		radius := math.Exp(2 * rnd.NormFloat64())
		var curve Curve
		var x []float64
		for range comps {
			s := Series{T: slices.Clone(times), X: normals(rnd, n, 1)}
			if rnd.IntN(4) == 0 {
				s.X[rnd.IntN(n)] = math.Copysign(1e308, rnd.NormFloat64())
			}
			curve = append(curve, s)
			x = append(x, s.X...)
		}
		given := slices.Clone(curve[0].X)
		want, got := make([]float64, comps*sp.Dim()), make([]float64, comps*sp.Dim())
		new(Solver).Fit(design(t, sp, times, nil), want, x, comps, radius, nil)
		if err := NewDesigns(sp).Curve(new(Solver), got, curve, radius); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, %d samples: %v, want %v", sp, n, got, want)
		}
		if !slices.Equal(curve[0].X, given) {
			t.Fatal("Curve changed the samples")
		}
	})
}

func TestDesignsCache(t *testing.T) {
	sp := spaces(t)[1]
	c := NewDesigns(sp)
	grid := func(i int) []float64 { return []float64{0, 0.001 * float64(i+1), 0.5, 0.7, 1} }
	first, err := c.Get(grid(0))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := c.Get(grid(0)); again != first {
		t.Error("a grid was factorised twice")
	}
	for i := range 200 {
		d, err := c.Get(grid(i))
		if err != nil || !slices.Equal(d.T(), grid(i)) {
			t.Fatalf("grid %d: %v, %v", i, d.T(), err)
		}
		if again, _ := c.Get(grid(i)); again != d {
			t.Fatalf("grid %d was not kept", i)
		}
		if len(c.slots) > designSlots {
			t.Fatalf("%d designs kept", len(c.slots))
		}
		if keep, _ := c.Get(grid(0)); keep != first { // used all the time: never dropped
			t.Fatalf("the grid in use was dropped after %d others", i)
		}
	}
	if again, _ := c.Get(grid(1)); len(c.slots) != designSlots || again.T()[1] != grid(1)[1] {
		t.Error("the cache is not full, or gave a wrong design")
	}
}

// Long grids are dropped by size, not by number.
func TestDesignsCacheIsBounded(t *testing.T) {
	sp := spaces(t)[1]
	c := NewDesigns(sp)
	for i := range 12 {
		times := make([]float64, 200_000)
		for j := range times {
			times[j] = (float64(j) + 0.01*float64(i)) / 200_001
		}
		d, err := c.Get(times)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, o := range c.slots {
			size += o.size()
		}
		if size > designFloats || c.slots[0] != d {
			t.Fatalf("%d floats kept in %d designs", size, len(c.slots))
		}
	}
}

func TestDesignsConcurrently(t *testing.T) {
	sp := spaces(t)[3]
	c := NewDesigns(sp)
	rnd := rand.New(rand.NewPCG(8, 1))
	type job struct {
		curve Curve
		want  []float64
	}
	var jobs []job
	for range 100 { // more grids than slots
		s := Series{T: increasing(rnd, 8), X: normals(rnd, 8, 1)}
		want := make([]float64, sp.Dim())
		if err := NewDesigns(sp).Curve(new(Solver), want, Curve{s}, 1); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{Curve{s}, want})
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			own := rand.New(rand.NewPCG(uint64(g), 2))
			got := make([]float64, sp.Dim())
			var solver Solver
			for range 300 {
				j := jobs[own.IntN(len(jobs))]
				if err := c.Curve(&solver, got, j.curve, 1); err != nil || !slices.Equal(got, j.want) {
					t.Errorf("%v, want %v (%v)", got, j.want, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(c.slots) > designSlots {
		t.Errorf("%d designs kept", len(c.slots))
	}
}

// Where all functions are zero the shortest fit is zero.
func TestRankZero(t *testing.T) {
	sp, err := space.Parse("kernel:brownian:10", unit)
	if err != nil {
		t.Fatal(err)
	}
	d := design(t, sp, []float64{0}, nil)
	if d.Rank() != 0 {
		t.Fatalf("rank %d", d.Rank())
	}
	beta, lambda := one(d, []float64{5}, 1)
	if norm(beta) != 0 || lambda != 0 {
		t.Fatalf("β = %v, λ = %g", beta, lambda)
	}
	both := make([]float64, 2*sp.Dim())
	for i := range both {
		both[i] = 9
	}
	if err := NewDesigns(sp).Curve(new(Solver), both, Curve{{[]float64{0}, []float64{5}}, {[]float64{0.5}, []float64{0.1}}}, 1); err != nil {
		t.Fatal(err)
	}
	if norm(both[:sp.Dim()]) != 0 || norm(both[sp.Dim():]) == 0 {
		t.Fatalf("β = %v", both)
	}
}

// At a fixed multiplier the fit is linear in the samples, with this matrix.
func TestLinearised(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for _, sp := range spaces(t)[:6] {
		n := sp.Dim() + 4
		times := increasing(rnd, n)
		w := make([]float64, n)
		for j := range w {
			w[j] = math.Exp(rnd.NormFloat64())
		}
		d := design(t, sp, times, w).WithFloor(0.3)
		x := normals(rnd, n, 1)
		beta, lambda := one(d, x, 1e9)
		if lambda != 0.3 {
			t.Fatalf("λ = %g", lambda)
		}
		l := d.Linearised(lambda)
		for k := range beta {
			var got float64
			for q := range d.Rank() {
				var z float64
				for j := range x {
					z += d.ut.Data[q*n+j] * x[j]
				}
				got += l[k][q] * z
			}
			if math.Abs(got-beta[k]) > 1e-12*(1+norm(beta)) {
				t.Fatalf("%v: L·Uᵀx = %g, fit %g", sp, got, beta[k])
			}
		}
	}
}

func TestNewDesignRefuses(t *testing.T) {
	sp := spaces(t)[1]
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		t, w []float64
		want string
	}{
		{nil, nil, "no sample times"},
		{[]float64{0, 1.5}, nil, "outside the domain"}, {[]float64{-0.1, 1}, nil, "outside the domain"}, {[]float64{nan}, nil, "outside the domain"},
		{[]float64{0.5, 0.5}, nil, "does not come after"}, {[]float64{0.5, 0.2}, nil, "does not come after"},
		{[]float64{0, 1}, []float64{1, 0}, "weight 0 at time 1"}, {[]float64{0, 1}, []float64{-1, 1}, "weight"},
		{[]float64{0, 1}, []float64{nan, 1}, "weight"}, {[]float64{0, 1}, []float64{1, inf}, "weight"},
	} {
		if _, err := NewDesign(sp, c.t, c.w); err == nil || !strings.HasPrefix(err.Error(), "fit: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewDesign(%v, %v): %v", c.t, c.w, err)
		}
	}
}

func TestPanicsOnTheWrongLength(t *testing.T) {
	sp := spaces(t)[1]
	d := design(t, sp, []float64{0, 0.5, 1}, nil)
	for name, f := range map[string]func(){
		"weights": func() { _, _ = NewDesign(sp, []float64{0, 1}, []float64{1}) },
		"dst":     func() { new(Solver).Fit(d, make([]float64, 3), make([]float64, 3), 1, 1, nil) },
		"x":       func() { new(Solver).Fit(d, make([]float64, 4), make([]float64, 4), 1, 1, nil) },
		"comps":   func() { new(Solver).Fit(d, make([]float64, 4), make([]float64, 3), 2, 1, nil) },
		"none":    func() { new(Solver).Fit(d, make([]float64, 4), make([]float64, 3), 0, 1, nil) },
		"curve": func() {
			_ = NewDesigns(sp).Curve(new(Solver), make([]float64, 3), Curve{{[]float64{0}, []float64{0}}}, 1)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := Series{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 3}}
	for _, c := range []struct {
		name  string
		curve Curve
		comps int
		want  string // "" for accepted
	}{
		{"good", Curve{ok}, 1, ""},
		{"good with two components", Curve{ok, {T: []float64{0.3}, X: []float64{1}}}, 2, ""},
		{"extreme values", Curve{{[]float64{0, 1}, []float64{1e308, -5e-324}}}, 1, ""},
		{"no component", Curve{}, 1, "curve has 0 components, want 1"},
		{"nil", nil, 2, "curve has 0 components, want 2"},
		{"too many components", Curve{ok, ok}, 1, "curve has 2 components, want 1"},
		{"no samples", Curve{{}}, 1, "curve has no samples: leave the person out"},
		{"lengths", Curve{{[]float64{0, 1}, []float64{1}}}, 1, "curve has 2 times but 1 values"},
		{"values only", Curve{{nil, []float64{1}}}, 1, "curve has 0 times but 1 values"},
		{"before the domain", Curve{{[]float64{-1e-9, 1}, []float64{1, 2}}}, 1, "outside the domain 0:1: widen the domain"},
		{"after the domain", Curve{{[]float64{0, 1.01}, []float64{1, 2}}}, 1, "time 1.01 is outside"},
		{"time NaN", Curve{{[]float64{nan}, []float64{1}}}, 1, "time NaN is outside"},
		{"time Inf", Curve{{[]float64{0, inf}, []float64{1, 1}}}, 1, "time +Inf is outside"},
		{"repeated time", Curve{{[]float64{0.5, 0.5}, []float64{1, 2}}}, 1, "time 0.5 does not come after 0.5: times must increase strictly"},
		{"unsorted", Curve{{[]float64{0.5, 0.2}, []float64{1, 2}}}, 1, "time 0.2 does not come after 0.5"},
		{"value NaN", Curve{{[]float64{0, 1}, []float64{1, nan}}}, 1, "value at time 1 is NaN: leave a missing sample out"},
		{"value Inf", Curve{{[]float64{0, 1}, []float64{-inf, 1}}}, 1, "value at time 0 is -Inf"},
		{"second component", Curve{ok, {[]float64{0}, []float64{nan}}}, 2, "component 2: value at time 0 is NaN"},
	} {
		err := c.curve.Check(unit, c.comps)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	sp, err := space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, 100))
	if err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	d, err := NewDesign(sp, space.Uniform(0, 1, 100).T, nil)
	if err != nil {
		b.Fatal(err)
	}
	a := matrix(sp, d.T(), nil)
	const rows = 300
	x := make([]float64, rows*100)
	for i := range rows { // norms uniform on (0.5, 1.5): half the constraints active
		beta := normals(rnd, sp.Dim(), 1)
		scale := (0.5 + rnd.Float64()) / norm(beta)
		for j := range 100 {
			for k := range beta {
				x[i*100+j] += scale * beta[k] * a.At(j, k)
			}
		}
	}
	dst, lambda := make([]float64, rows*sp.Dim()), make([]float64, rows)
	var s Solver
	for b.Loop() {
		s.Fit(d, dst, x, 1, 1, lambda)
	}
	active := 0
	for _, l := range lambda {
		if l > 0 {
			active++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/curve")
	b.ReportMetric(float64(active)/rows, "active")
}

func TestFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x    []float64
		want bool
	}{
		{nil, true}, {[]float64{1, 2}, true}, {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, true},
		{[]float64{1, nan}, false}, {[]float64{inf}, false}, {[]float64{inf, -inf}, false}, {[]float64{-inf, math.MaxFloat64}, false},
	} {
		if got := Finite(c.x); got != c.want {
			t.Errorf("%v: %v", c.x, got)
		}
	}
}

// A component sampled only where all functions all but vanish takes nothing from
// the others and breaks nothing.
func TestMixedWithVanishingComponent(t *testing.T) {
	sp, err := space.Kernel(space.Brownian(), space.Uniform(0, 1, 20))
	if err != nil {
		t.Fatal(err)
	}
	usual := Series{T: []float64{0.1, 0.5, 0.9}, X: []float64{1, 2, 3}}
	alone := make([]float64, sp.Dim())
	for _, radius := range []float64{0.5, 100} {
		if err := NewDesigns(sp).Curve(new(Solver), alone, Curve{usual}, radius); err != nil {
			t.Fatal(err)
		}
		for _, at := range []float64{1e-40, 1e-100, 1e-200, 1e-300} {
			for _, x := range []float64{0, 1, 1e300} {
				dst := make([]float64, 2*sp.Dim())
				if err := NewDesigns(sp).Curve(new(Solver), dst, Curve{usual, {T: []float64{at}, X: []float64{x}}}, radius); err != nil {
					t.Fatal(err)
				}
				if !Finite(dst) || floats.Norm(dst, 2) > radius*(1+1e-12) {
					t.Errorf("radius %g, %g at %g: %v", radius, x, at, dst)
				}
				if x*at < 1e-20 && !floats.EqualApprox(dst[:sp.Dim()], alone, 1e-9) {
					t.Errorf("radius %g, %g at %g: %v, alone %v", radius, x, at, dst[:sp.Dim()], alone)
				}
			}
		}
	}
}

// A curve with times of its own costs no memory once the solver has some, and its
// coordinates do not depend on what the solver did before.
func TestIrregularCurvesCostNoMemory(t *testing.T) {
	sp := spaces(t)[3]
	rnd := rand.New(rand.NewPCG(5, 1))
	var curves []Curve
	for i := range 2 * designsOnce {
		n := 3 + i%17
		curves = append(curves, Curve{{T: increasing(rnd, n), X: normals(rnd, n, 1)}, {T: increasing(rnd, 5), X: normals(rnd, 5, 1)}})
	}
	c, dst, want := NewDesigns(sp), make([]float64, 2*sp.Dim()), make([]float64, 2*sp.Dim())
	var solver Solver
	all := func() {
		for _, curve := range curves {
			if err := c.Curve(&solver, dst, curve, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	for _, curve := range curves {
		if err := c.Curve(&solver, dst, curve, 1); err != nil {
			t.Fatal(err)
		}
		if err := NewDesigns(sp).Curve(new(Solver), want, curve, 1); err != nil || !slices.Equal(dst, want) {
			t.Fatalf("%v, alone %v (%v)", dst, want, err)
		}
	}
	if a := testing.AllocsPerRun(3, all) / float64(len(curves)); a > .1 {
		t.Errorf("%v allocations per curve", a)
	}
}
