package space

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func refused(t *testing.T, what string, s Space, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was accepted as %v", what, s)
		return
	}
	if s != nil {
		t.Errorf("%s: a space came with the error", what)
	}
	if !strings.HasPrefix(err.Error(), "space: ") {
		t.Errorf("%s: %q does not start with the package", what, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not say %q", what, err, part)
		}
	}
}

func TestDomainsRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		domain Interval
		say    string
	}{
		{Interval{1, 1}, "single point"},
		{Interval{2, 1}, "did you mean [1,2]"},
		{Interval{nan, 1}, "not a number"},
		{Interval{0, nan}, "not a number"},
		{Interval{-inf, 1}, "unbounded"},
		{Interval{0, inf}, "unbounded"},
		{Interval{-1e308, 1e308}, "too long"},
		{Interval{}, "single point"},
	} {
		for kind, build := range dimensional {
			s, err := build(c.domain, 7)
			refused(t, kind+c.domain.String(), s, err, c.say)
		}
		s, err := Kernel(Brownian(), Grid{c.domain, []float64{0}})
		refused(t, "kernel"+c.domain.String(), s, err, c.say)
		_, err = Points(c.domain, []float64{0})
		refused(t, "points"+c.domain.String(), nil, err, c.say)
		s, err = Parse("legendre:6", c.domain)
		refused(t, "parse"+c.domain.String(), s, err, c.say)
	}
}

func TestDimensionsRefused(t *testing.T) {
	unit := Interval{0, 1}
	for kind, build := range dimensional {
		for _, dim := range []int{0, -1, math.MinInt} {
			s, err := build(unit, dim)
			refused(t, kind, s, err, "at least 1")
		}
		for _, dim := range []int{MaxDim + 1, math.MaxInt} {
			s, err := build(unit, dim)
			refused(t, kind, s, err, "at most 4096")
		}
	}
	for dim, say := range map[int]string{2: "use 1 or 3", 10: "use 9 or 11", 4096: "use 4095"} {
		s, err := Fourier(unit, dim)
		refused(t, fmt.Sprint("fourier", dim), s, err, "odd", say)
	}
	s, err := BSpline(unit, 3)
	refused(t, "bspline:3", s, err, "bspline:4 or more")
	s, err = BSpline(unit, 7, Degree(9))
	refused(t, "bspline:7:degree=9", s, err, "bspline:10 or more", "lower degree")
	for _, degree := range []int{0, -1, 10} {
		s, err = BSpline(unit, 20, Degree(degree))
		refused(t, "degree", s, err, "straight pieces")
	}
}

// The largest spaces there are can be made and evaluated.
func TestLargestSpaces(t *testing.T) {
	for kind, build := range dimensional {
		s, err := build(Interval{0, 1}, MaxDim-1)
		if err != nil {
			t.Error(err)
			continue
		}
		if b := s.Bound(1); math.IsNaN(b) || b <= 0 {
			t.Errorf("%s: Bound = %v", kind, b)
		}
	}
	for degree := 1; degree <= MaxDegree; degree++ {
		if _, err := BSpline(Interval{0, 1}, 1000, Degree(degree)); err != nil {
			t.Error(err)
		}
	}
}

func TestKernelsRefused(t *testing.T) {
	grid := Uniform(0, 1, 5)
	for _, scale := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, k := range []Kern{Gaussian(scale), Laplace(scale), Matern32(scale), Matern52(scale), Periodic(scale), Gaussian(scale).Relative()} {
			s, err := Kernel(k, grid)
			refused(t, k.String(), s, err, "above 0", "20%")
		}
	}
	s, err := Kernel(Kern{}, grid)
	refused(t, "no kernel", s, err, "the kernels are gauss, laplace")
	s, err = Kernel(PeriodicSobolev(3), grid)
	refused(t, "sobolev3", s, err, `"sobolev3"`, "sobolev1, sobolev2")
	s, err = Kernel(Brownian().Relative(), grid)
	refused(t, "relative brownian", s, err, "takes no scale")
	s, err = Kernel(Gaussian(1e-320).Relative(), Uniform(0, 1e-9, 5))
	refused(t, "vanishing scale", s, err, "another unit")
	for _, floor := range []float64{-1e-9, 1, math.NaN(), math.Inf(1)} {
		s, err = Kernel(Gaussian(1), grid, Floor(floor))
		refused(t, "floor", s, err, "below 1")
	}
	s, err = Kernel(Brownian(), Grid{Interval{0, 1}, []float64{0}})
	refused(t, "brownian at 0", s, err, "zero on the whole grid")
}

func TestGridsRefused(t *testing.T) {
	unit := Interval{0, 1}
	for _, c := range []struct {
		points []float64
		say    string
	}{
		{nil, "no points"},
		{[]float64{0.5, 1.5}, "1.5 lies outside the domain [0,1]"},
		{[]float64{0.5, -0.1}, "-0.1 lies outside"},
		{[]float64{0.5, 0.7, 0.5}, "0.5 occurs twice"},
		{[]float64{0, math.Copysign(0, -1)}, "occurs twice"},
		{[]float64{0.5, math.NaN()}, "not a number"},
		{[]float64{math.Inf(1)}, "outside"},
		{make([]float64, MaxGrid+1), "more than 4096"},
	} {
		_, err := Points(unit, c.points)
		refused(t, "points", nil, err, c.say)
	}
	s, err := Kernel(Gaussian(1), Grid{unit, []float64{0.5, 0.1}})
	refused(t, "unsorted grid", s, err, "Points does")
	for n, say := range map[int]string{0: "no points", -1: "no points", MaxGrid + 1: "more than 4096", math.MaxInt: "more than 4096"} {
		s, err = Kernel(Gaussian(1), Uniform(0, 1, n))
		refused(t, "uniform", s, err, say)
		s, err = Kernel(Gaussian(1), Midpoints(0, 1, n))
		refused(t, "midpoints", s, err, say)
	}
	// Nine representable numbers cannot hold fifty points.
	s, err = Parse("kernel:brownian", Interval{1, 1 + 8*0x1p-52})
	refused(t, "narrow domain", s, err, "can tell apart")
}

// A grid is copied: the caller may reuse its slice.
func TestGridIsCopied(t *testing.T) {
	points := []float64{0.7, 0.1}
	grid, err := Points(Interval{0, 1}, points)
	if err != nil || points[0] != 0.7 {
		t.Fatal(err, points)
	}
	s, err := Kernel(Gaussian(1), grid)
	if err != nil {
		t.Fatal(err)
	}
	before := at(s, 0.3)
	grid.T[0] = 0.2
	s.(*KernelSpace).Grid().T[1] = 0.9
	if !slices.Equal(before, at(s, 0.3)) {
		t.Error("the space changed with the caller's slice")
	}
}
