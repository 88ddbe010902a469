// Package space holds finite-dimensional Hilbert spaces of functions of one variable, each given by an
// orthonormal basis e₁…e_p on a domain [a,b] in the user's own units of t.
//
// Orthonormal means that a function f = Σ β_k e_k has ‖f‖ = ‖β‖₂, so a ball of functions is a ball of
// coordinates: whatever is calibrated to one is calibrated to the other. The norm is
//
//   - for Legendre, Fourier, Cosine and BSpline, the root mean square over the domain,
//     ‖f‖² = (1/(b−a)) ∫ f² dt, in the units of f: the constant 1 has norm 1 whatever the domain; so too for
//     Piecewise on one of these;
//   - for Sinc and Hermite, the same with the integral over the whole line;
//   - for WithGram, the one given;
//   - for Kernel, the norm of the reproducing kernel Hilbert space.
//
// A space is immutable and may be used by several goroutines at once. It is public: nothing in it may be
// read off private data.
package space

import (
	"bytes"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Space is a finite-dimensional Hilbert space with an orthonormal basis.
type Space interface {
	// Dim is the number p of basis functions.
	Dim() int
	// Domain is the interval on which the functions are defined, ends included.
	Domain() Interval
	// Eval sets dst to e(t) = (e₁(t),…,e_p(t)) without allocating. It panics if len(dst) ≠ Dim. A t
	// outside the domain is evaluated at the nearest end, so that |f(t)| ≤ ‖f‖·Bound(t) always holds;
	// callers to whom that is an error check Domain().Contains first. A NaN gives NaN.
	Eval(dst []float64, t float64)
	// Bound is a(t) = ‖e(t)‖₂, the largest |f(t)| over the unit ball. Like Eval it takes t to the
	// nearest end of the domain.
	Bound(t float64) float64
	// String is the short text form, which Parse reads back on the same domain; a kernel space on a
	// grid given point by point has no text form and says so ("… on 7 given points").
	String() string
	// MarshalJSON is the full form, which Unmarshal reads back to a space that evaluates identically.
	MarshalJSON() ([]byte, error)
}

// MaxDim is the largest dimension and MaxGrid the largest number of grid points of a space.
const (
	MaxDim  = 4096
	MaxGrid = 4096
)

// Interval is a domain [A,B] in the user's units of t.
type Interval struct{ A, B float64 }

// Contains reports whether t lies in the interval, ends included.
func (d Interval) Contains(t float64) bool { return t >= d.A && t <= d.B }

// Length is B−A.
func (d Interval) Length() float64 { return d.B - d.A }

// String is "[a,b]".
func (d Interval) String() string { return "[" + formatFloat(d.A) + "," + formatFloat(d.B) + "]" }

// Validate returns an error unless A < B, both are finite and so is their difference.
func (d Interval) Validate() error {
	switch {
	case math.IsNaN(d.A) || math.IsNaN(d.B):
		return fmt.Errorf("space: domain %v has an end that is not a number: give two finite numbers a < b", d)
	case math.IsInf(d.A, 0) || math.IsInf(d.B, 0):
		return fmt.Errorf("space: domain %v is unbounded: give two finite numbers a < b", d)
	case d.A == d.B:
		return fmt.Errorf("space: domain %v is a single point: its start must be less than its end", d)
	case d.A > d.B:
		return fmt.Errorf("space: domain %v ends before it starts: did you mean [%s,%s]?", d, formatFloat(d.B), formatFloat(d.A))
	case math.IsInf(d.B-d.A, 0):
		return fmt.Errorf("space: domain %v is too long for a 64-bit number: use a larger unit of t", d)
	}
	return nil
}

// clamp takes t to the nearest point of the interval and keeps NaN.
func (d Interval) clamp(t float64) float64 {
	if t < d.A {
		return d.A
	}
	if t > d.B {
		return d.B
	}
	return t
}

// unit maps the interval onto [0,1]. The subtraction comes first: far from zero it is exact or nearly so.
func (d Interval) unit(t float64) float64 { return (d.clamp(t) - d.A) / (d.B - d.A) }

// MeanSquareBound is the average of a(t)² over the domain, (1/(b−a))∫‖e(t)‖²dt: Dim for the spaces whose
// inner product is the average over the domain, by quadrature for others. Isotropic noise of
// standard deviation σ in the coordinates has mean square error σ²·MeanSquareBound over the domain.
func MeanSquareBound(s Space) float64 {
	if k, ok := s.(interface{ meanSquareBound() float64 }); ok {
		return k.meanSquareBound()
	}
	return float64(s.Dim())
}

// Equal reports whether two spaces are the same to the last bit, so that coordinates in one are
// coordinates in the other: sums of coordinates may be merged only between equal spaces. Two kernel spaces
// built from the same grid by different processors can differ in the last bits of their basis, or by a
// rotation of it, and then are not equal: pass the space to other machines in its JSON form.
func Equal(s, t Space) bool {
	a, errA := s.MarshalJSON()
	b, errB := t.MarshalJSON()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func checkDim(name string, dim int) error {
	if dim < 1 {
		return fmt.Errorf("space: %s with %d functions: give at least 1", name, dim)
	}
	if dim > MaxDim {
		return fmt.Errorf("space: %s with %d functions: at most %d are supported, and noise grows with every one", name, dim, MaxDim)
	}
	return nil
}

func checkLen(dst []float64, dim int) {
	if len(dst) != dim {
		panic(fmt.Sprintf("space: Eval: len(dst) = %d, but the space has dimension %d", len(dst), dim))
	}
}

// boundByEval computes ‖e(t)‖ in a fresh slice: spaces are shared between goroutines.
func boundByEval(dim int, eval func(dst []float64)) float64 {
	dst := make([]float64, dim)
	eval(dst)
	// Scaled, because far from the grid of a short kernel the squares would underflow.
	return floats.Norm(dst, 2)
}

// Averaging reports whether the inner product of the space is the average over its domain, or over the line
// for functions on the line, so that coordinates of a curve q are (1/(b−a))∫q·e_k dt.
func Averaging(s Space) bool {
	switch s.(type) {
	case *legendre, *fourier, *cosine, *bspline, *piecewise, *sinc, *hermite:
		return true
	}
	return false
}
