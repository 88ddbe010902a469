// Accuracy of the fast evaluations against slow exact ones.

package space

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// turns is k·u minus the nearest integer, rounded once.
func turns(k int, u float64) float64 {
	p := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(k)), new(big.Float).SetPrec(200).SetFloat64(u))
	whole, _ := p.Float64()
	p.Sub(p, big.NewFloat(math.Round(whole)))
	x, _ := p.Float64()
	return x
}

func TestTrigonometricAccuracy(t *testing.T) {
	for _, c := range []struct {
		dim, points int
		allowed     float64
	}{{129, 2001, 1e-13}, {4095, 31, 1e-13}} {
		worstF, worstC := 0.0, 0.0
		fourier, err := Fourier(Interval{0, 1}, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		cosine, err := Cosine(Interval{0, 1}, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.points {
			u := float64(i) / float64(c.points-1)
			e := at(fourier, u)
			for k := 1; k <= c.dim/2; k++ {
				sin, cos := math.Sincos(2 * math.Pi * turns(k, u))
				worstF = max(worstF, math.Abs(e[2*k-1]-math.Sqrt2*cos), math.Abs(e[2*k]-math.Sqrt2*sin))
			}
			e = at(cosine, u)
			for k := 1; k < c.dim; k++ {
				worstC = max(worstC, math.Abs(e[k]-math.Sqrt2*math.Cos(2*math.Pi*turns(k, u/2))))
			}
		}
		t.Logf("largest error of %d functions: fourier %.2g, cosine %.2g", c.dim, worstF, worstC)
		if worstF > c.allowed || worstC > c.allowed {
			t.Errorf("largest error of %d functions: fourier %g, cosine %g, allowed %g", c.dim, worstF, worstC, c.allowed)
		}
	}
}

// Legendre polynomials at the ends and in the middle, where they are known: e_k(±1) = (±1)^k√(2k+1),
// P_{2m}(0) = (−1)^m·binom(2m,m)/4^m.
func TestLegendreAccuracy(t *testing.T) {
	s, err := Legendre(Interval{0, 1}, 129)
	if err != nil {
		t.Fatal(err)
	}
	left, middle, right := at(s, 0), at(s, 0.5), at(s, 1)
	central := 1.0
	for k := range 129 {
		scale := math.Sqrt(float64(2*k + 1))
		sign := float64(1 - 2*(k%2))
		want := 0.0
		if k%2 == 0 {
			if k > 0 {
				central *= -float64(k-1) / float64(k)
			}
			want = central * scale
		}
		if math.Abs(right[k]-scale) > 1e-12*scale || math.Abs(left[k]-sign*scale) > 1e-12*scale || math.Abs(middle[k]-want) > 1e-13 {
			t.Errorf("degree %d: %v %v %v, want %v %v %v", k, left[k], middle[k], right[k], sign*scale, want, scale)
		}
	}
}

// The tables of the Markov and of the analytic kernels against the sum over the grid.
func TestFastEvalMatchesDirectSum(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) { matchesDirectSum(t, s) })
	for _, text := range []string{"kernel:gauss:1%:200:floor=0", "kernel:gauss:100%", "kernel:gauss:0.5%", "kernel:periodic:1%:200",
		"kernel:periodic:5%:100:floor=0", "kernel:periodic:100%", "kernel:periodic:1000%:20:floor=0"} {
		s, err := Parse(text, Interval{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(text, func(t *testing.T) {
			if s.(*KernelSpace).chebyshev.cells == 0 {
				t.Error("not interpolated")
			}
			matchesDirectSum(t, s)
		})
	}
}

func matchesDirectSum(t *testing.T, s Space) {
	k, ok := s.(*KernelSpace)
	if !ok || k.markov.terms+k.chebyshev.cells == 0 {
		return
	}
	d, direct := k.Domain(), make([]float64, k.dim)
	values := k.Eigenvalues()
	for i := range 2001 {
		x := d.clamp(d.A + d.Length()*float64(i)/2000)
		clear(direct)
		k.direct(direct, x)
		for j, e := range at(k, x) {
			// e_j is a sum of T terms of size up to 1/√λ_j.
			if math.Abs(e-direct[j]) > 1e-14*float64(len(k.grid.T))/math.Sqrt(values[j]) {
				t.Fatalf("e_%d(%v) = %v, by direct summation %v", j+1, x, e, direct[j])
			}
		}
	}
}

// Shifting the domain far from zero by a number that loses no digit of t changes no digit of e(t).
func TestFarDomainLosesNothing(t *testing.T) {
	const shift, length, points = 1.2e9, 43200, 49 // steps of 900
	for _, text := range []string{"legendre:65", "fourier:129", "cosine:128", "bspline:150", "kernel:gauss:5000:49",
		"kernel:laplace:5000:49", "kernel:matern32:5000:49", "kernel:matern52:5000:49", "kernel:brownian:49"} {
		here, err := Parse(text, Interval{0, length})
		if err != nil {
			t.Fatal(err)
		}
		far, err := Parse(text, Interval{shift, shift + length})
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(rt *rapid.T) {
			x := float64(rapid.IntRange(0, length<<20).Draw(rt, "2^20·t")) / (1 << 20)
			x = (x + shift) - shift
			e, f := at(here, x), at(far, x+shift)
			for k := range e {
				if e[k] != f[k] {
					rt.Fatalf("%s: e_%d(%v) = %v, shifted %v", text, k+1, x, e[k], f[k])
				}
			}
		})
	}
}

// A domain of another length and relative scales is the same space up to rounding.
func TestTinyDomain(t *testing.T) {
	for _, text := range []string{"legendre:65", "fourier:129", "cosine:128", "bspline:150", "kernel:gauss:20%:20:floor=1e-4",
		"kernel:laplace:20%", "kernel:matern32:20%", "kernel:matern52:20%:20", "kernel:brownian"} {
		one, err := Parse(text, Interval{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		tiny, err := Parse(text, Interval{0, 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if one.Dim() != tiny.Dim() {
			t.Fatalf("%s: dimension %d on [0,1], %d on [0,1e-9]", text, one.Dim(), tiny.Dim())
		}
		for i := range 500 {
			x := float64(i) / 499
			e, f := at(one, x), at(tiny, x*1e-9)
			for k := range e {
				if math.Abs(e[k]-f[k]) > 1e-11 {
					t.Fatalf("%s: e_%d(%v) = %v, on the tiny domain %v", text, k+1, x, e[k], f[k])
				}
			}
		}
	}
}

func TestBrownianIsZeroAtItsStart(t *testing.T) {
	s, err := Parse("kernel:brownian", Interval{-3, 18})
	if err != nil {
		t.Fatal(err)
	}
	if s.Bound(-3) != 0 || s.Dim() != DefaultGrid-1 {
		t.Errorf("Bound(-3) = %v with %d functions, want 0 with %d", s.Bound(-3), s.Dim(), DefaultGrid-1)
	}
}

// Of the weights of largest size of a function, the first is positive.
func TestSignConvention(t *testing.T) {
	eachSpace(t, func(t *testing.T, s Space) {
		k, ok := s.(*KernelSpace)
		if !ok || k.floor == 0 {
			return // modes of rounding size are not symmetric to the digits that the convention compares
		}
		for i := range k.dim {
			largest := 0.0
			for j := range k.grid.T {
				largest = max(largest, math.Abs(k.factor[j*k.dim+i]))
			}
			for j := range k.grid.T {
				if f := k.factor[j*k.dim+i]; math.Abs(f) > largest*(1-1e-7) {
					if f < 0 {
						t.Errorf("function %d has the largest weight %v at grid point %d", i+1, f, j+1)
					}
					break
				}
			}
		}
	})
}

// A floor of 0 drops what is positive only by rounding.
func TestFloorZero(t *testing.T) {
	s, err := Parse("kernel:gauss:20%:floor=0", Interval{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	values := s.(*KernelSpace).Eigenvalues()
	if last := values[len(values)-1] / values[0]; s.Dim() > 25 || last < 8*50*0x1p-52 {
		t.Errorf("%d functions, smallest relative eigenvalue %g", s.Dim(), last)
	}
}
