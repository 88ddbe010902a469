// Package densities holds simulated truths on the unit box, for comparing estimators whose error can only
// be known when the truth is: tests, demonstrations and the reproduction of figures. Nothing here is private.
package densities

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Truth is a known density on the unit box of 1 or 2 variables.
type Truth struct {
	Name   string
	Smooth bool // without jumps, kinks or peaks narrower than a twentieth
	D      int
	parts  []part // a mixture
}

// part is a product of one-variable laws with a weight.
type part struct {
	weight float64
	laws   []law
}

// law is a density on [0,1] by its distribution function and the inverse of that.
type law struct {
	density  func(x float64) float64
	quantile func(p float64) float64
}

// Density is the density at x.
func (t Truth) Density(x []float64) float64 {
	sum := 0.0
	for _, p := range t.parts {
		v := p.weight
		for i, l := range p.laws {
			v *= l.density(x[i])
		}
		sum += v
	}
	return sum
}

// Points draws n points, the coordinates of one after the other.
func (t Truth) Points(r *rand.Rand, n int) []float64 {
	x := make([]float64, 0, n*t.D)
	for range n {
		u, k := r.Float64(), 0
		for ; k < len(t.parts)-1 && u >= t.parts[k].weight; k++ {
			u -= t.parts[k].weight
		}
		for _, l := range t.parts[k].laws {
			x = append(x, math.Min(1, math.Max(0, l.quantile(r.Float64()))))
		}
	}
	return x
}

// Grid is the density at the midpoints of m equal cells an axis, the last axis fastest.
func (t Truth) Grid(m int) []float64 {
	total := 1
	for range t.D {
		total *= m
	}
	out, x := make([]float64, total), make([]float64, t.D)
	for i := range out {
		for a, rest := t.D-1, i; a >= 0; a, rest = a-1, rest/m {
			x[a] = (float64(rest%m) + 0.5) / float64(m)
		}
		out[i] = t.Density(x)
	}
	return out
}

func uniform() law { return linear(0) }

// linear is 1 + s(2x − 1), |s| ≤ 1.
func linear(s float64) law {
	return law{
		density: func(x float64) float64 { return 1 + s*(2*x-1) },
		quantile: func(p float64) float64 {
			if s == 0 {
				return p
			}
			return (s - 1 + math.Sqrt((1-s)*(1-s)+4*s*p)) / (2 * s)
		},
	}
}

// normal is a normal law cut to [0,1].
func normal(mean, sd float64) law {
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-(x-mean)/sd/math.Sqrt2) }
	a, mass := cdf(0), cdf(1)-cdf(0)
	return law{
		density: func(x float64) float64 {
			z := (x - mean) / sd
			return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi) * mass)
		},
		quantile: func(p float64) float64 { return mean + sd*math.Sqrt2*math.Erfinv(2*(a+p*mass)-1) },
	}
}

// exponential is an exponential law of the rate cut to [0,1].
func exponential(rate float64) law {
	mass := -math.Expm1(-rate)
	return law{
		density:  func(x float64) float64 { return rate * math.Exp(-rate*x) / mass },
		quantile: func(p float64) float64 { return -math.Log1p(-p*mass) / rate },
	}
}

// wave is 1 + c·cos 2πkx, |c| ≤ 1, inverted by bisection.
func wave(c float64, k int) law {
	w := 2 * math.Pi * float64(k)
	return law{
		density: func(x float64) float64 { return 1 + c*math.Cos(w*x) },
		quantile: func(p float64) float64 {
			lo, hi := 0.0, 1.0
			for range 45 {
				if x := (lo + hi) / 2; x+c*math.Sin(w*x)/w < p {
					lo = x
				} else {
					hi = x
				}
			}
			return (lo + hi) / 2
		},
	}
}

// triangle is 2 − |4x − 2|.
func triangle() law {
	return law{
		density: func(x float64) float64 { return 2 - math.Abs(4*x-2) },
		quantile: func(p float64) float64 {
			if p < 0.5 {
				return math.Sqrt(p / 2)
			}
			return 1 - math.Sqrt((1-p)/2)
		},
	}
}

// steps is constant on equal pieces, with the masses given.
func steps(mass ...float64) law {
	n := float64(len(mass))
	return law{
		density: func(x float64) float64 { return n * mass[min(int(x*n), len(mass)-1)] },
		quantile: func(p float64) float64 {
			i := 0
			for ; i < len(mass)-1 && p >= mass[i]; i++ {
				p -= mass[i]
			}
			return (float64(i) + math.Min(1, p/mass[i])) / n
		},
	}
}

// All is the list of truths: smooth, peaked, non-periodic and rough, in one and two variables.
func All() []Truth {
	one := func(name string, smooth bool, parts ...part) Truth { return Truth{name, smooth, 1, parts} }
	two := func(name string, smooth bool, parts ...part) Truth { return Truth{name, smooth, 2, parts} }
	p := func(weight float64, laws ...law) part { return part{weight, laws} }
	return []Truth{
		one("wave", true, p(0.6, wave(0.9, 1)), p(0.4, wave(-0.7, 2))),
		one("two-bumps", true, p(0.6, normal(0.35, 0.09)), p(0.4, normal(0.7, 0.06))),
		one("slope", true, p(0.5, linear(0.8)), p(0.5, normal(0.6, 0.15))),
		one("exponential", true, p(1, exponential(4))),
		one("triangle", false, p(1, triangle())),
		one("peak", false, p(0.8, normal(0.4, 0.2)), p(0.2, normal(0.7, 0.012))),
		one("steps", false, p(1, steps(0.05, 0.3, 0.1, 0.35, 0.2))),
		two("two-hills", true, p(0.55, normal(0.35, 0.12), normal(0.6, 0.1)), p(0.45, normal(0.7, 0.09), normal(0.3, 0.13))),
		two("corner", true, p(1, exponential(3), exponential(2))),
		two("ripple", true, p(0.5, wave(0.8, 1), wave(0.8, 1)), p(0.5, uniform(), wave(0.5, 2))),
		two("town", false, p(0.5, normal(0.4, 0.15), normal(0.5, 0.2)), p(0.3, normal(0.65, 0.03), normal(0.7, 0.04)), p(0.2, normal(0.7, 0.02), normal(0.1, 0.02))),
		two("blocks", false, p(0.6, steps(0.1, 0.6, 0.3), steps(0.5, 0.2, 0.3)), p(0.4, uniform(), steps(0.1, 0.9))),
	}
}

// Named returns the truth of the name.
func Named(name string) (Truth, error) {
	var names []string
	for _, t := range All() {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Truth{}, fmt.Errorf("densities: no simulated truth is called %q; there are %s", name, strings.Join(names, ", "))
}
