package space_test

import (
	"fmt"

	"github.com/curveil/curveil/space"
)

// Heights between the ages of 1 and 18, as polynomials of degree below 6.
func ExampleParse() {
	ages := space.Interval{A: 1, B: 18}
	for _, text := range []string{"legendre:6", "bspline:12", "kernel:matern32:3", "kernel:gauss:20%:80", "fourier:10"} {
		s, err := space.Parse(text, ages)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%v has %d functions on %v\n", s, s.Dim(), s.Domain())
	}
	// Output:
	// legendre:6 has 6 functions on [1,18]
	// bspline:12 has 12 functions on [1,18]
	// kernel:matern32:3 has 50 functions on [1,18]
	// kernel:gauss:20%:80 has 14 functions on [1,18]
	// space: fourier with 10 functions: the number must be odd, a constant and pairs of cosine and sine: use 9 or 11
}

// A function is given by its coordinates, and its norm is theirs: here f(t) = 3 + t on [0,12], whose
// root mean square is √(9² + 12).
func ExampleLegendre() {
	s, err := space.Legendre(space.Interval{A: 0, B: 12}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	coordinates := []float64{9, 6 / 1.7320508075688772}
	e := make([]float64, s.Dim())
	for _, t := range []float64{0, 6, 12} {
		s.Eval(e, t)
		fmt.Printf("f(%v) = %.3f, and no function of norm 1 exceeds %.3f there\n", t, coordinates[0]*e[0]+coordinates[1]*e[1], s.Bound(t))
	}
	// Output:
	// f(0) = 3.000, and no function of norm 1 exceeds 2.000 there
	// f(6) = 9.000, and no function of norm 1 exceeds 1.000 there
	// f(12) = 15.000, and no function of norm 1 exceeds 2.000 there
}

func ExampleKernel() {
	s, err := space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, 50))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s, s.Dim())
	fmt.Printf("%.6f\n", s.Bound(0.37))

	visits, err := space.Points(space.Interval{A: 0, B: 10}, []float64{7, 0.5, 1, 2, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err = space.Kernel(space.Matern32(0.2).Relative(), visits, space.Floor(1e-6))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	// Output:
	// kernel:gauss:0.2 14
	// 1.000000
	// kernel:matern32:20% on 5 given points
}

func ExampleUnmarshal() {
	s, err := space.Unmarshal([]byte(`{"kind":"bspline","dim":12,"degree":3,"domain":[0,24]}`))
	fmt.Println(s, err)
	_, err = space.Unmarshal([]byte(`{"kind":"bspline","dim":12,"degree":3,"domain":[24,0]}`))
	fmt.Println(err)
	// Output:
	// bspline:12 <nil>
	// space: domain [24,0] ends before it starts: did you mean [0,24]?
}
