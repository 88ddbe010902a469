// One suite that every implementation of Space passes.

package space

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// everySpace holds the text forms on which the suite runs; kernels on given points are added in eachSpace.
var everySpace = []string{
	"legendre:1", "legendre:6", "legendre:65",
	"fourier:1", "fourier:9", "fourier:129",
	"cosine:1", "cosine:8", "cosine:128",
	"bspline:4", "bspline:12", "bspline:150", "bspline:2:degree=1", "bspline:40:degree=1", "bspline:12:degree=2", "bspline:30:degree=9",
	"piecewise:1:legendre:3", "piecewise:8:legendre:2", "piecewise:5:fourier:3", "piecewise:3:bspline:4",
	"kernel:gauss:20%", "kernel:gauss:3%:40:floor=0", "kernel:gauss:20%:floor=0", "kernel:laplace:20%", "kernel:matern32:20%", "kernel:matern52:20%:30",
	"kernel:brownian", "kernel:brownian:7", "kernel:periodic:20%", "kernel:sobolev1", "kernel:sobolev2:9",
	"kernel:gauss:1000%:5", "kernel:laplace:0.01%:6", "kernel:matern52:0.01%:6", "kernel:gauss:20%:1",
}

var domains = []Interval{{0, 1}, {-3, 18}, {1.2e9, 1.2e9 + 43200}, {0, 1e-9}}

func eachSpace(t *testing.T, check func(t *testing.T, s Space)) {
	for _, domain := range domains {
		for _, text := range everySpace {
			s, err := Parse(text, domain)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(text+" "+domain.String(), func(t *testing.T) { check(t, s) })
		}
		var points []float64
		for _, u := range []float64{0.9, 0.05, 0.2, 0.21, 0.5, 0.65} {
			points = append(points, domain.A+u*domain.Length())
		}
		grid, err := Points(domain, points)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []Kern{Gaussian(0.2), Laplace(0.2), Matern32(0.2), Matern52(0.2), Periodic(0.2)} {
			s, err := Kernel(k.Relative(), grid)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(s.String()+" "+domain.String(), func(t *testing.T) { check(t, s) })
		}
	}
}

func at(s Space, t float64) []float64 {
	e := make([]float64, s.Dim())
	s.Eval(e, t)
	return e
}

// The Gram matrix in the space's own inner product is the identity.
func TestOrthonormal(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		// Far from zero the quadrature nodes are rounded to representable t, the steps of which are this
		// part of the domain.
		step := (s.Domain().B - math.Nextafter(s.Domain().B, s.Domain().A)) / s.Domain().Length()
		gram, slack := averageGram(s), (1e-12+10*step)*float64(s.Dim()+10)
		if k, ok := s.(*KernelSpace); ok {
			// e_k and e_l have the inner product e_kᵀK⁺e_l of their values on the grid, K⁺ over the kept
			// modes; an eigenvalue at the fraction f of the largest has lost the digits of 1/f.
			gram = kernelGram(t, k)
			values := k.Eigenvalues()
			slack = 1e-13 * float64(len(k.grid.T)) * values[0] / values[len(values)-1]
		}
		worst := 0.0
		for i := range s.Dim() {
			for j := range s.Dim() {
				want := 0.0
				if i == j {
					want = 1
				}
				worst = math.Max(worst, math.Abs(gram.At(i, j)-want))
			}
		}
		if !(worst <= slack) {
			t.Errorf("Gram matrix is %g away from the identity, allowed %g", worst, slack)
		}
	})
}

func averageGram(s Space) *mat.Dense {
	gram := mat.NewDense(s.Dim(), s.Dim(), nil)
	if _, isKernel := s.(*KernelSpace); isKernel {
		return gram
	}
	pieces := 40 * s.Dim()
	order := 6
	switch s := s.(type) {
	case *bspline:
		pieces, order = s.spans, s.degree+1
	case *legendre:
		pieces, order = 1, s.Dim()
	}
	x, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	d := s.Domain()
	for m := range pieces {
		for q := range x {
			e := mat.NewVecDense(s.Dim(), at(s, d.A+d.Length()*((float64(m)+x[q])/float64(pieces))))
			gram.RankOne(gram, w[q]/float64(pieces), e, e)
		}
	}
	return gram
}

func kernelGram(t *testing.T, s *KernelSpace) *mat.Dense {
	n := len(s.grid.T)
	k := mat.NewSymDense(n, nil)
	onGrid := mat.NewDense(n, s.dim, nil)
	for i, ti := range s.grid.T {
		onGrid.SetRow(i, at(s, ti))
		for j, tj := range s.grid.T {
			k.SetSym(i, j, s.at.at(ti, tj))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(k, true) {
		t.Fatal("no eigenvalues")
	}
	var u, modes mat.Dense
	eig.VectorsTo(&u)
	modes.Mul(u.T(), onGrid)
	for i, value := range eig.Values(nil) {
		for j := range s.dim {
			if i < n-s.dim {
				modes.Set(i, j, 0)
			} else {
				modes.Set(i, j, modes.At(i, j)/math.Sqrt(value))
			}
		}
	}
	var gram mat.Dense
	gram.Mul(modes.T(), &modes)
	return &gram
}

// Σ e_k(t)e_k(t_j) = K(t,t_j) for every t and every grid point t_j, up to the modes below the floor, whose
// part is at most √(K(t,t)·floor·λ₁).
func TestReproducing(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		k, ok := s.(*KernelSpace)
		if !ok {
			return
		}
		floor := math.Max(k.floor, 8*float64(len(k.grid.T))*0x1p-52)
		slack := math.Sqrt(floor*k.Eigenvalues()[0]) + 1e-11
		d := s.Domain()
		for i := range 200 {
			x := d.A + d.Length()*(float64(i)/199)
			for _, tj := range k.grid.T {
				if got, want := floats.Dot(at(s, x), at(s, tj)), k.at.at(d.clamp(x), tj); !(math.Abs(got-want) <= slack) {
					t.Fatalf("⟨K(%v,·),K(%v,·)⟩ = %v, want %v ± %g", x, tj, got, want, slack)
				}
			}
		}
	})
}

// |f(t)| ≤ ‖f‖·Bound(t), with equality for f = e(t).
func TestBound(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		d := s.Domain()
		check := func(rt interface{ Errorf(string, ...any) }, x float64, seed uint64) {
			e, bound := at(s, x), s.Bound(x)
			if got := floats.Norm(e, 2); math.Abs(got-bound) > 1e-12*bound+1e-300 {
				rt.Errorf("Bound(%v) = %v, but ‖e‖ = %v", x, bound, got)
			}
			r := rand.New(rand.NewPCG(seed, 1))
			f := make([]float64, s.Dim())
			for i := range f {
				f[i] = r.NormFloat64()
			}
			if got, most := math.Abs(floats.Dot(f, e)), floats.Norm(f, 2)*bound; got > most*(1+1e-12)+1e-300 {
				rt.Errorf("|f(%v)| = %v exceeds ‖f‖·Bound = %v", x, got, most)
			}
		}
		for seed, x := range []float64{d.A, d.B, d.A + d.Length()/2, d.A - 1, d.B + 1} {
			check(t, x, uint64(seed))
		}
		rapid.Check(t, func(rt *rapid.T) {
			check(rt, rapid.Float64Range(d.A, d.B).Draw(rt, "t"), rapid.Uint64().Draw(rt, "seed"))
		})
	})
}

func TestEdges(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		d := s.Domain()
		same := func(x, y float64) {
			e, f := at(s, x), at(s, y)
			for k := range e {
				if e[k] != f[k] {
					t.Fatalf("e(%v) ≠ e(%v) in function %d: %v, %v", x, y, k, e[k], f[k])
				}
				if math.IsNaN(e[k]) || math.IsInf(e[k], 0) {
					t.Fatalf("e(%v) is %v in function %d", x, e[k], k)
				}
			}
			if s.Bound(x) != s.Bound(y) {
				t.Fatalf("Bound(%v) ≠ Bound(%v)", x, y)
			}
		}
		same(d.A, d.A)
		same(d.B, d.B)
		same(d.A+d.Length()/3, d.A+d.Length()/3)
		same(d.A, d.A-0.7*d.Length())
		same(d.B, d.B+0.7*d.Length())
		same(d.A, math.Inf(-1))
		same(d.B, math.Inf(1))
		// One step inside the domain changes nothing that matters.
		e, f := at(s, d.B), at(s, math.Nextafter(d.B, d.A))
		step := (d.B - math.Nextafter(d.B, d.A)) / d.Length()
		for k := range e {
			// The steepest function here is the Legendre polynomial of degree 64, then the Laplace kernel
			// with a scale of 10⁻⁴.
			if math.Abs(e[k]-f[k]) > 1e-12+step*1e5 {
				t.Fatalf("function %d jumps at the end of the domain from %v to %v", k, f[k], e[k])
			}
		}
		nan := at(s, math.NaN())
		if !math.IsNaN(nan[len(nan)-1]) && s.Dim() > 1 {
			t.Errorf("e(NaN) = %v", nan)
		}
		if !math.IsNaN(s.Bound(math.NaN())) && s.Dim() > 1 {
			t.Errorf("Bound(NaN) = %v", s.Bound(math.NaN()))
		}
	})
}

func TestWrongLengthPanics(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		defer func() {
			if recover() == nil {
				t.Error("no panic on a slice of the wrong length")
			}
		}()
		s.Eval(make([]float64, s.Dim()+1), s.Domain().A)
	})
}

func TestEvalAllocatesNothing(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		e, x := make([]float64, s.Dim()), s.Domain().A+s.Domain().Length()*0.37
		if n := testing.AllocsPerRun(20, func() { s.Eval(e, x) }); n != 0 {
			t.Errorf("Eval allocates %v times", n)
		}
	})
}

func TestRoundTrips(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		form, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(form)
		if err != nil {
			t.Fatal(err)
		}
		again, err := back.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(form, again) || !Equal(s, back) {
			t.Errorf("JSON changed on the way:\n%s\n%s", form, again)
		}
		others := []Space{back}
		if k, ok := s.(*KernelSpace); !ok || sameGrid(k.grid, defaultGrid(k.kern, k.grid.Domain, len(k.grid.T))) {
			parsed, err := Parse(s.String(), s.Domain())
			if err != nil {
				t.Fatal(err)
			}
			if !Equal(s, parsed) {
				t.Errorf("Parse(%q) is another space", s)
			}
			others = append(others, parsed)
		} else if _, err := Parse(s.String(), s.Domain()); err == nil {
			t.Errorf("%q was parsed, but it has no text form", s)
		}
		for _, other := range others {
			if other.String() != s.String() || other.Dim() != s.Dim() || other.Domain() != s.Domain() {
				t.Errorf("%v %v %d came back as %v %v %d", s, s.Domain(), s.Dim(), other, other.Domain(), other.Dim())
			}
			for i := range 50 {
				x := s.Domain().A + s.Domain().Length()*float64(i)/49
				e, f := at(s, x), at(other, x)
				for k := range e {
					if e[k] != f[k] {
						t.Fatalf("e(%v) came back differently: %v, %v", x, e[k], f[k])
					}
				}
			}
		}
	})
}

// The average of Bound² by a fine midpoint rule.
func TestMeanSquareBound(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		if s.Domain() != domains[0] {
			return
		}
		const n = 20000
		want := 0.0
		for i := range n {
			b := s.Bound(s.Domain().A + s.Domain().Length()*((float64(i)+0.5)/n))
			want += b * b / n
		}
		// The midpoint rule is good to about n⁻², worst where Legendre polynomials of degree 64 are steep
		// and where kernels have kinks; a kernel of scale 10⁻⁴ has two points per scale.
		slack := 1e-4
		if strings.Contains(s.String(), ":0.01%") {
			slack = 0.05
		}
		if got := MeanSquareBound(s); math.Abs(got-want) > slack*want {
			t.Errorf("MeanSquareBound = %v, average of Bound² is %v", got, want)
		}
	})
}
