package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/curveil/curveil/space"
)

var unit = space.Interval{A: 0, B: 1}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// spaces is one space of each kind, some larger than the usual number of samples.
func spaces(t fataler) []space.Space {
	t.Helper()
	var out []space.Space
	for _, text := range []string{
		"legendre:1", "legendre:4", "legendre:9", "fourier:5", "cosine:6", "bspline:7",
		"kernel:gauss:0.2:12", "kernel:matern32:0.3:15", "kernel:brownian:10", "legendre:24",
	} {
		sp, err := space.Parse(text, unit)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sp)
	}
	return out
}

// increasing returns n times of (0,1), in order.
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

// matrix is A, and with weights W^{1/2}A.
func matrix(sp space.Space, t, w []float64) *mat.Dense {
	a := mat.NewDense(len(t), sp.Dim(), nil)
	for j, tj := range t {
		row := a.RawRowView(j)
		sp.Eval(row, tj)
		if w != nil {
			for k := range row {
				row[k] *= math.Sqrt(w[j])
			}
		}
	}
	return a
}

func weighted(x, w []float64) []float64 {
	out := append([]float64(nil), x...)
	if w != nil {
		for j := range out {
			out[j] *= math.Sqrt(w[j])
		}
	}
	return out
}

func norm(v []float64) float64 {
	var n float64
	for _, x := range v {
		n = math.Hypot(n, x)
	}
	return n
}

func design(t fataler, sp space.Space, times, w []float64) *Design {
	t.Helper()
	d, err := NewDesign(sp, times, w)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func one(d *Design, x []float64, radius float64) (beta []float64, lambda float64) {
	var s Solver
	var l [1]float64
	beta = make([]float64, d.v.Rows)
	s.Fit(d, beta, append([]float64(nil), x...), 1, radius, l[:])
	return beta, l[0]
}

// bisection solves min ‖y − Aβ‖² s.t. ‖β‖ ≤ radius by the normal equations
// (AᵀA+λI)β = Aᵀy and bisection on λ: slow, and none of Fit's algebra.
func bisection(t fataler, a *mat.Dense, y []float64, radius float64) []float64 {
	t.Helper()
	_, p := a.Dims()
	var ata, aty mat.Dense
	ata.Mul(a.T(), a)
	aty.Mul(a.T(), mat.NewVecDense(len(y), y))
	at := func(lambda float64) []float64 {
		s := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				s.SetSym(i, j, ata.At(i, j))
			}
			s.SetSym(i, i, ata.At(i, i)+lambda)
		}
		var c mat.Cholesky
		if !c.Factorize(s) {
			t.Fatal("reference: not positive definite")
		}
		var beta mat.VecDense
		if err := c.SolveVecTo(&beta, aty.ColView(0)); err != nil {
			t.Fatal(err)
		}
		return beta.RawVector().Data
	}
	low := 1e-12 * mat.Norm(&ata, 2)
	if beta := at(low); norm(beta) <= radius {
		return beta
	}
	high := low
	for norm(at(high)) > radius {
		high *= 2
	}
	for range 200 {
		if middle := low + (high-low)/2; norm(at(middle)) > radius {
			low = middle
		} else {
			high = middle
		}
	}
	return at(high)
}

func TestFitAgainstBisection(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	active := 0
	for i := range 60 {
		for _, sp := range spaces(t) {
			n := sp.Dim() + 3 + rnd.IntN(10) // full rank, so that λ→0 is a reference
			times := increasing(rnd, n)
			var w []float64
			if i%2 == 1 {
				w = make([]float64, n)
				for j := range w {
					w[j] = math.Exp(rnd.NormFloat64())
				}
			}
			x := normals(rnd, n, 1)
			radius := math.Exp(2 * rnd.NormFloat64())
			beta, lambda := one(design(t, sp, times, w), x, radius)
			if lambda == 0 && sp.Dim() > 9 {
				continue // normal equations of condition > 1e12 are no reference
			}
			want := bisection(t, matrix(sp, times, w), weighted(x, w), radius)
			tolerance := 1e-6 * norm(want)
			if lambda > 0 {
				active++
				tolerance = 1e-8 * radius
			}
			for k := range beta {
				if math.Abs(beta[k]-want[k]) > tolerance {
					t.Fatalf("%v, radius %g, λ=%g: β[%d] = %.12g, want %.12g", sp, radius, lambda, k, beta[k], want[k])
				}
			}
		}
	}
	if active < 100 {
		t.Fatalf("only %d constraints were active", active)
	}
}

// optimal checks the conditions of Karush, Kuhn and Tucker, which are necessary
// and sufficient here, in units in which nothing over- or underflows.
func optimal(t fataler, sp space.Space, times, w, x, beta []float64, lambda, radius float64) {
	t.Helper()
	a, y := matrix(sp, times, w), weighted(x, w)
	b := norm(beta)
	if !(lambda >= 0) || !(b <= radius*(1+1e-12)) {
		t.Fatalf("λ=%g, ‖β‖=%g with radius %g", lambda, b, radius)
	}
	if lambda > 0 && b < radius*(1-1e-9) {
		t.Fatalf("λ=%g>0 but ‖β‖=%g is inside the radius %g", lambda, b, radius)
	}
	var top float64
	for _, v := range y {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		if b != 0 {
			t.Fatalf("data of zero gave ‖β‖=%g", b)
		}
		return
	}
	// Everything over top: the gradient Aᵀ(y−Aβ) must be λβ.
	res := make([]float64, len(y))
	for j := range res {
		res[j] = y[j] / top
		for k := range beta {
			res[j] -= a.At(j, k) * (beta[k] / top)
		}
	}
	grad, data, flow := make([]float64, len(beta)), make([]float64, len(beta)), make([]float64, len(beta))
	for k := range beta {
		for j := range y {
			grad[k] += a.At(j, k) * res[j]
			data[k] += a.At(j, k) * (y[j] / top)
		}
	}
	for k := range beta {
		if lambda > 1e200 { // then the residual is the data itself and β is along the gradient
			flow[k] = beta[k] / radius * norm(grad)
		} else {
			flow[k] = lambda * (beta[k] / top)
		}
	}
	scale := mat.Norm(a, 2)*norm(res) + norm(data) + 1e-290/top
	for k := range grad {
		if !(math.Abs(grad[k]-flow[k]) <= 1e-9*scale) {
			t.Fatalf("%v on %d times, radius %g, data up to %g, λ=%g, ‖β‖=%g: gradient[%d] = %g, λβ = %g (scale %g)",
				sp, len(times), radius, top, lambda, b, k, grad[k], flow[k], scale)
		}
	}
}

func TestFitIsOptimal(t *testing.T) {
	all := spaces(t)
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		sp := all[rapid.IntRange(0, len(all)-1).Draw(t, "space")]
		times := increasing(rnd, rapid.IntRange(1, 40).Draw(t, "samples"))
		var w []float64
		if rapid.Bool().Draw(t, "weights") {
			for range times {
				w = append(w, math.Exp(2*rnd.NormFloat64()))
			}
		}
		scale := math.Pow(10, float64(rapid.IntRange(-300, 300).Draw(t, "data")))
		radius := math.Pow(10, float64(rapid.IntRange(-90, 90).Draw(t, "radius")))
		if rapid.Bool().Draw(t, "comparable") {
			radius = math.Pow(10, float64(rapid.IntRange(-80, 80).Draw(t, "power")))
			scale = radius * math.Exp(2*rnd.NormFloat64())
		}
		x := normals(rnd, len(times), scale)
		beta, lambda := one(design(t, sp, times, w), x, radius)
		optimal(t, sp, times, w, x, beta, lambda, radius)
	})
}

// Multiplying data and radius by one power of two multiplies the fit by it, to
// the bit.
func TestFitScales(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, sp := range spaces(t) {
		times := increasing(rnd, 15)
		d := design(t, sp, times, nil)
		x := normals(rnd, 15, 1)
		for _, radius := range []float64{0.1, 1, 10} {
			beta, lambda := one(d, x, radius)
			for _, e := range []int{-290, -100, -1, 3, 100, 290} {
				scaled := make([]float64, len(x))
				for j := range x {
					scaled[j] = math.Ldexp(x[j], e)
				}
				got, l := one(d, scaled, math.Ldexp(radius, e))
				for k := range got {
					if got[k] != math.Ldexp(beta[k], e) || l != lambda {
						t.Fatalf("%v at 2^%d: β[%d] = %g, want %g; λ %g, %g", sp, e, k, got[k], math.Ldexp(beta[k], e), l, lambda)
					}
				}
			}
		}
	}
}

func TestFitExtremes(t *testing.T) {
	const big, tiny = math.MaxFloat64, math.SmallestNonzeroFloat64
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, sp := range spaces(t) {
		times := increasing(rnd, 6)
		d := design(t, sp, times, nil)
		for _, radius := range []float64{1e-100, 1e-90, 1, 1e90, 1e100} {
			for _, x := range [][]float64{
				{big, big, big, big, big, big}, {-big, big, -big, big, -big, big}, {big, 0, 0, 0, 0, 0},
				{1e308, 1, tiny, -tiny, -1, -1e308}, {tiny, tiny, tiny, tiny, tiny, tiny}, {tiny, 0, -tiny, 0, 0, 0},
				{1e-310, 1e-309, 1e-308, 1e-307, 1e-306, 1e-305}, {0, 0, 0, 0, 0, 0}, {7, 7, 7, 7, 7, 7},
			} {
				beta, lambda := one(d, x, radius)
				if b := norm(beta); !(b <= radius*(1+1e-12)) || !(lambda >= 0) {
					t.Errorf("%v, x=%v, radius %g: ‖β‖=%g, λ=%g", sp, x, radius, b, lambda)
				}
				if x[0] == big && x[1] == big && radius <= 1 && norm(beta) < radius*(1-1e-9) {
					t.Errorf("%v: huge data gave ‖β‖=%g inside the radius %g", sp, norm(beta), radius)
				}
			}
		}
	}
}

// More functions than samples: of all curves through the samples the fit is the
// shortest.
func TestFitMinimumNorm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	for _, text := range []string{"legendre:24", "fourier:15", "bspline:20", "kernel:matern32:0.3:15"} {
		sp, err := space.Parse(text, unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 5, 8} {
			times, x := increasing(rnd, n), normals(rnd, n, 1)
			beta, lambda := one(design(t, sp, times, nil), x, 1e6)
			var want mat.VecDense // gonum: minimum norm by LQ
			if err := want.SolveVec(matrix(sp, times, nil), mat.NewVecDense(n, x)); err != nil {
				t.Fatal(err)
			}
			for k := range beta {
				if lambda != 0 || math.Abs(beta[k]-want.AtVec(k)) > 1e-9*norm(beta) {
					t.Fatalf("%v on %d times, λ=%g: β[%d] = %g, want %g", sp, n, lambda, k, beta[k], want.AtVec(k))
				}
			}
		}
	}
}

// A curve of the space, sampled without noise anywhere, is fitted exactly.
func TestFitRecoversIrregularSamples(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	for _, sp := range spaces(t)[:6] { // well conditioned
		truth := normals(rnd, sp.Dim(), 1)
		for range 20 {
			n := 2*sp.Dim() + rnd.IntN(20)
			times := increasing(rnd, n)
			x := make([]float64, n)
			a := matrix(sp, times, nil)
			for j := range x {
				for k, b := range truth {
					x[j] += b * a.At(j, k)
				}
			}
			beta, _ := one(design(t, sp, times, nil), x, norm(truth)*(1+1e-9))
			for k := range beta {
				if math.Abs(beta[k]-truth[k]) > 1e-9 {
					t.Fatalf("%v on %d times: β[%d] = %.12g, want %.12g", sp, n, k, beta[k], truth[k])
				}
			}
		}
	}
}

// A row's coordinates do not depend on the block, to the bit.
func TestFitIsIndependentOfTheBlock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for _, sp := range spaces(t) {
		for comps := 1; comps <= 3; comps++ {
			n, rows, p := 13, 9, sp.Dim()
			d := design(t, sp, increasing(rnd, n), nil)
			x := normals(rnd, rows*comps*n, 1)
			x[5], x[n*comps*3] = 1e308, -1e308
			var s Solver
			all, lambda := make([]float64, rows*comps*p), make([]float64, rows)
			s.Fit(d, all, append([]float64(nil), x...), comps, 1, lambda)
			for i := range rows {
				alone, l := make([]float64, comps*p), make([]float64, 1)
				new(Solver).Fit(d, alone, append([]float64(nil), x[i*comps*n:(i+1)*comps*n]...), comps, 1, l)
				if fmt.Sprint(alone, l) != fmt.Sprint(all[i*comps*p:(i+1)*comps*p], lambda[i:i+1]) {
					t.Fatalf("%v: row %d depends on its block", sp, i)
				}
			}
		}
	}
}

// Several components share the one ball: the same as one problem with a
// block-diagonal matrix.
func TestComponentsShareTheBall(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	sp := spaces(t)[1]
	for _, radius := range []float64{0.05, 0.5, 1, 2} {
		ta, tb := increasing(rnd, 14), increasing(rnd, 5)
		xa, xb := normals(rnd, 14, 1), normals(rnd, 5, 3)
		got := make([]float64, 2*sp.Dim())
		if err := NewDesigns(sp).Curve(new(Solver), got, Curve{{ta, xa}, {tb, xb}}, radius); err != nil {
			t.Fatal(err)
		}
		p := sp.Dim()
		a := mat.NewDense(19, 2*p, nil)
		a.Slice(0, 14, 0, p).(*mat.Dense).Copy(matrix(sp, ta, nil))
		a.Slice(14, 19, p, 2*p).(*mat.Dense).Copy(matrix(sp, tb, nil))
		want := bisection(t, a, append(append([]float64(nil), xa...), xb...), radius)
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-8*radius {
				t.Fatalf("radius %g: β[%d] = %.12g, want %.12g", radius, k, got[k], want[k])
			}
		}
		if norm(got) > radius*(1+1e-12) {
			t.Fatalf("joint norm %g, radius %g", norm(got), radius)
		}
	}
}
