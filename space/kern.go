// Kernels K(s,t): positive semi-definite functions of two points. A scale is in the user's units of t, or a
// fraction of the domain's length.

package space

import (
	"fmt"
	"math"
	"strings"
)

// Kern is a kernel, not yet tied to a domain.
type Kern struct {
	name     string
	scale    float64
	relative bool
}

// Gaussian is K(s,t) = exp(−(s−t)²/(2ρ²)), ρ = scale in the units of t.
func Gaussian(scale float64) Kern { return Kern{name: "gauss", scale: scale} }

// Laplace is K(s,t) = exp(−|s−t|/ρ), the Matérn kernel of smoothness 1/2.
func Laplace(scale float64) Kern { return Kern{name: "laplace", scale: scale} }

// Matern32 is K(s,t) = (1+x)e^{−x}, x = √3|s−t|/ρ.
func Matern32(scale float64) Kern { return Kern{name: "matern32", scale: scale} }

// Matern52 is K(s,t) = (1+x+x²/3)e^{−x}, x = √5|s−t|/ρ.
func Matern52(scale float64) Kern { return Kern{name: "matern52", scale: scale} }

// Periodic is the Gaussian kernel on the circle whose circumference P is the length of the domain, with
// the distance measured along the chord: K(s,t) = exp(−c²/(2ρ²)), c = (P/π)·sin(π|s−t|/P). For |s−t| ≪ P
// it is Gaussian(scale). MacKay's form exp(−2sin²(π|s−t|/P)/ℓ²) has ℓ = 2πρ/P.
func Periodic(scale float64) Kern { return Kern{name: "periodic", scale: scale} }

// PeriodicSobolev is the kernel of periodic functions with a square-integrable derivative of the given
// order, 1 or 2, with K(t,t) = 1: (1+6B₂(x))/2 or (1−30B₄(x))/2, x = |s−t|/(b−a), B the Bernoulli
// polynomials. Other orders are refused by Kernel.
func PeriodicSobolev(order int) Kern { return Kern{name: fmt.Sprintf("sobolev%d", order)} }

// Brownian is K(s,t) = min(u(s),u(t)), u = (t−a)/(b−a): functions that are 0 at a with a square-integrable
// derivative. Bound is 0 at t = a, where every function of the space is 0; a method that divides by the
// bound (protect-then-fit) refuses a data point there.
func Brownian() Kern { return Kern{name: "brownian"} }

// Relative says that the scale is a fraction of the domain's length: Gaussian(0.2).Relative() is
// `kernel:gauss:20%`.
func (k Kern) Relative() Kern {
	k.relative = true
	return k
}

type kernKind struct {
	name             string
	scaled, periodic bool
}

// kernKinds lists the kernels in the order of the error text.
var kernKinds = []kernKind{
	{name: "gauss", scaled: true},
	{name: "laplace", scaled: true},
	{name: "matern32", scaled: true},
	{name: "matern52", scaled: true},
	{name: "brownian"},
	{name: "periodic", scaled: true, periodic: true},
	{name: "sobolev1", periodic: true},
	{name: "sobolev2", periodic: true},
}

func (k Kern) kind() (kernKind, bool) {
	for _, kind := range kernKinds {
		if kind.name == k.name {
			return kind, true
		}
	}
	return kernKind{}, false
}

func (k Kern) scaled() bool {
	kind, _ := k.kind()
	return kind.scaled
}

// String is the kernel's part of the text form: `gauss:0.2`, `gauss:20%`, `brownian`.
func (k Kern) String() string {
	switch {
	case !k.scaled():
		return k.name
	case k.relative:
		return k.name + ":" + formatPercent(k.scale)
	default:
		return k.name + ":" + formatFloat(k.scale)
	}
}

func (k Kern) validate() error {
	kind, known := k.kind()
	if !known {
		var names []string
		for _, kind := range kernKinds {
			names = append(names, kind.name)
		}
		return fmt.Errorf("space: unknown kernel %q: the kernels are %s", k.name, strings.Join(names, ", "))
	}
	if kind.scaled {
		if math.IsNaN(k.scale) || math.IsInf(k.scale, 0) || k.scale <= 0 {
			return fmt.Errorf("space: kernel %s has scale %s: give a finite number above 0, in the units of t (0.2) or as a part of the domain (20%%)", k.name, formatFloat(k.scale))
		}
	} else if k.scale != 0 || k.relative {
		return fmt.Errorf("space: kernel %s takes no scale: remove it", k.name)
	}
	return nil
}

// boundKern is a kernel tied to a domain: scale in units of t.
type boundKern struct {
	name   string
	scale  float64
	domain Interval
	length float64
}

func (k Kern) bind(domain Interval) (boundKern, error) {
	b := boundKern{name: k.name, scale: k.scale, domain: domain, length: domain.Length()}
	if err := k.validate(); err != nil {
		return b, err
	}
	if k.relative {
		b.scale *= b.length
	}
	if k.scaled() && (b.scale == 0 || math.IsInf(b.scale, 0)) {
		return b, fmt.Errorf("space: kernel %v on the domain %v has a scale of %s: a 64-bit number cannot hold it, use another unit of t", k, domain, formatFloat(b.scale))
	}
	return b, nil
}

// at is K(s,t) for s and t in the domain.
func (k *boundKern) at(s, t float64) float64 {
	const flat = 800 // e^{−800} is 0 in 64 bits, and Inf·0 must not become NaN
	switch k.name {
	case "gauss":
		z := (s - t) / k.scale
		return math.Exp(-0.5 * z * z)
	case "laplace":
		return math.Exp(-math.Abs(s-t) / k.scale)
	case "matern32":
		x := math.Sqrt(3) * (math.Abs(s-t) / k.scale)
		if x > flat {
			return 0
		}
		return (1 + x) * math.Exp(-x)
	case "matern52":
		x := math.Sqrt(5) * (math.Abs(s-t) / k.scale)
		if x > flat {
			return 0
		}
		return (1 + x + x*x/3) * math.Exp(-x)
	case "periodic":
		z := math.Sin(math.Pi*(math.Abs(s-t)/k.length)) / math.Pi * k.length / k.scale
		return math.Exp(-0.5 * z * z)
	case "sobolev1":
		x := math.Abs(s-t) / k.length
		y := x * (1 - x)
		return 1 - 3*y // B₂ = 1/6 − y
	case "sobolev2":
		x := math.Abs(s-t) / k.length
		y := x * (1 - x)
		return 1 - 15*y*y // B₄ = y² − 1/30
	case "brownian":
		return (math.Min(s, t) - k.domain.A) / k.length
	}
	panic("space: kernel " + k.name + " was not validated")
}
