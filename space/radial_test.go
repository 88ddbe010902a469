package space

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func radialBox() []Interval { return []Interval{{-1, 1}, {0, 5}} }

// TestRadialIsOneVariable: on one axis a radial space spans what the kernel space of one variable does.
func TestRadialIsOneVariable(t *testing.T) {
	domain := Interval{2, 5}
	grid := Midpoints(2, 5, 20)
	centres, err := Centres([]Interval{domain}, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kern{Gaussian(0.4), Laplace(1), Matern32(0.3).Relative(), Matern52(1)} {
		line, err := Kernel(k, grid)
		if err != nil {
			t.Fatal(err)
		}
		box, err := NewRadial(k, []Interval{domain}, centres, DefaultFloor)
		if err != nil {
			t.Fatal(err)
		}
		if line.Dim() != box.Dim() {
			t.Fatalf("%v: dimensions %d and %d", k, line.Dim(), box.Dim())
		}
		a, b := make([]float64, line.Dim()), make([]float64, line.Dim())
		for _, x := range []float64{1, 2, 2.3, 3.777, 5, 7} { // outside too: both take the nearest end
			line.Eval(a, x)
			box.Eval(b, []float64{x})
			// Bases of nearly equal eigenvalues may be rotated: compare kernels, e(s)·e(x).
			for _, s := range []float64{2.1, 4} {
				c, d := make([]float64, line.Dim()), make([]float64, line.Dim())
				line.Eval(c, s)
				box.Eval(d, []float64{s})
				if got, want := floats.Dot(b, d), floats.Dot(a, c); math.Abs(got-want) > 1e-9 {
					t.Errorf("%v: e(%v)·e(%v) = %v, in one variable %v", k, x, s, got, want)
				}
			}
		}
	}
}

// TestRadialReproduces: at the centres e(c)·e(c′) is the kernel, and ‖e(x)‖ ≤ 1 everywhere.
func TestRadialReproduces(t *testing.T) {
	centres, err := Centres(radialBox(), 4, 5)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewRadial(Matern32(0.5).Relative(), radialBox(), centres, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, s.Dim()), make([]float64, s.Dim())
	for _, c := range centres {
		for _, d := range centres {
			s.Eval(a, c)
			s.Eval(b, d)
			r := math.Sqrt(3) * math.Hypot((c[0]-d[0])/2, (c[1]-d[1])/5) / 0.5
			if got, want := floats.Dot(a, b), (1+r)*math.Exp(-r); math.Abs(got-want) > 1e-9 {
				t.Fatalf("e(%v)·e(%v) = %v, kernel %v", c, d, got, want)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if n := s.Bound([]float64{8*rnd.Float64() - 4, 20*rnd.Float64() - 10}); n > 1+1e-9 {
			t.Fatalf("‖e(x)‖ = %v", n)
		}
	}
}

func TestRadialJSON(t *testing.T) {
	centres, err := Centres(radialBox(), 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewRadial(Gaussian(0.3).Relative(), radialBox(), centres, DefaultFloor)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := UnmarshalBoxSpace(text)
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, s.Dim()), make([]float64, s.Dim())
	s.Eval(a, []float64{0.1, 2})
	back.Eval(b, []float64{0.1, 2})
	if !floats.Equal(a, b) {
		t.Error("the decoded space evaluates differently")
	}
	for _, c := range [][2]string{
		{`"kind":"radial"`, `"kind":"spiral"`},
		{`"kernel":"gauss"`, `"kernel":"periodic"`},
		{`"kernel":"gauss"`, `"kernel":"laplace"`}, // the factor is no longer orthonormal
		{`"scale":0.3`, `"scale":-1`},
		{`"scale":0.3`, `"scale":0.31`},
		{`"floor":1e-8`, `"floor":2`},
		{`"box":[[-1,1]`, `"box":[[1,-1]`},
		{`"centres":[[`, `"centres":[[9,9],[`},
		{`"factor":[[`, `"factor":[[1],[`},
		{`"relative":true`, `"relative":null`},
		{`{"kind"`, `{"extra":1,"kind"`},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		if bad == string(text) {
			t.Errorf("%s is not in %s", c[0], text)
		}
		if _, err := UnmarshalBoxSpace([]byte(bad)); err == nil {
			t.Errorf("accepted with %s", c[1])
		}
	}
	tensor, err := FourierBox(radialBox(), []int{2}, Cube)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = tensor.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	if _, err := UnmarshalBoxSpace(text); err != nil {
		t.Errorf("a tensor space: %v", err)
	}
}

func TestRadialRefuses(t *testing.T) {
	nan := math.NaN()
	for name, make := range map[string]func() (*Radial, error){
		"brownian":     func() (*Radial, error) { return NewRadial(Brownian(), radialBox(), [][]float64{{0, 1}}, 0) },
		"no centres":   func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), nil, 0) },
		"twice":        func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), [][]float64{{0, 1}, {0, 1}}, 0) },
		"outside":      func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), [][]float64{{0, 6}}, 0) },
		"NaN centre":   func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), [][]float64{{0, nan}}, 0) },
		"short centre": func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), [][]float64{{0}}, 0) },
		"scale":        func() (*Radial, error) { return NewRadial(Gaussian(0), radialBox(), [][]float64{{0, 1}}, 0) },
		"floor":        func() (*Radial, error) { return NewRadial(Gaussian(1), radialBox(), [][]float64{{0, 1}}, nan) },
		"no box":       func() (*Radial, error) { return NewRadial(Gaussian(1), nil, [][]float64{{}}, 0) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Centres(radialBox(), 100, 100); err == nil {
		t.Error("10,000 centres: accepted")
	}
	if _, err := Centres(radialBox(), 3); err == nil {
		t.Error("one number of centres for two variables: accepted")
	}
}
