// L² projection of a piecewise linear curve on any space whose inner product is
// an average over the window or over the line.

package fit

import (
	"math"
	"sort"

	"github.com/curveil/curveil/space"
	"gonum.org/v1/gonum/integrate/quad"
)

// Projection is the best approximation of a curve q in a space.
type Projection struct {
	// Coordinates by basis function, then component: [k·n + component].
	Coordinates []float64
	// MeanSquare of q over the window; Residual is the part of it that the
	// coordinates leave, (dist(q, Pq))².
	MeanSquare, Residual float64
}

// Project projects the piecewise linear interpolant of the curve (constant
// before its first and after its last sample) on the space, in the inner product
// (1/L)∫q·e dt over the domain, for which the space must be orthonormal: every
// space but kernels and given Gram matrices. Exact for Legendre polynomials up
// to MaxDegree, also on pieces, and for sinc functions (closed forms); for others by
// Gauss–Legendre quadrature of order 16 on parts short against their functions.
func Project(c Curve, s space.Space) (Projection, error) {
	n, p := len(c), s.Dim()
	out := Projection{Coordinates: make([]float64, n*p)}
	if degree, isLegendre := legendreDim(s); isLegendre && degree <= MaxDegree {
		pyramid, err := NewPyramid(c, s.Domain(), degree, 0)
		if err != nil {
			return out, err
		}
		return Projection{pyramid.Coordinates(0), pyramid.MeanSquare(), pyramid.residual[0][0]}, nil
	}
	if pieces, ok := s.(interface {
		Breaks() []float64
		Base() space.Space
	}); ok {
		if degree, isLegendre := legendreDim(pieces.Base()); isLegendre && degree <= MaxDegree {
			line := newLiner(degree)
			residual := make([]float64, len(pieces.Breaks())-1)
			for k, series := range c {
				out.MeanSquare += line.project(series, pieces.Breaks(), out.Coordinates[k:], residual, n)
			}
			for _, r := range residual {
				out.Residual += r
			}
			return out, nil
		}
	}
	if nodes, isSinc := s.(interface {
		Nodes() (first, spacing float64)
	}); isSinc {
		first, spacing := nodes.Nodes()
		weight := math.Sqrt(spacing) / math.Sqrt(s.Domain().Length())
		for k, series := range c {
			t, x := series.on(s.Domain())
			sincMoments(out.Coordinates[k:], n, p, t, x, first, spacing)
			out.MeanSquare += meanSquare(t, x, s.Domain())
		}
		for i := range out.Coordinates {
			out.Coordinates[i] *= weight
		}
		out.subtract()
		return out, nil
	}
	var breaks []float64
	if b, ok := s.(interface{ Breaks() []float64 }); ok {
		breaks = b.Breaks()
	}
	e := make([]float64, p)
	for k, series := range c {
		t, x := series.on(s.Domain(), breaks...)
		out.MeanSquare += meanSquare(t, x, s.Domain())
		integrate(t, x, s, func(t, weighted float64) {
			s.Eval(e, t)
			for j, v := range e {
				out.Coordinates[j*n+k] += weighted * v
			}
		})
	}
	out.subtract()
	return out, nil
}

// subtract sets the residual by Pythagoras.
func (p *Projection) subtract() {
	p.Residual = p.MeanSquare
	for _, a := range p.Coordinates {
		p.Residual -= a * a
	}
	p.Residual = max(p.Residual, 0)
}

func legendreDim(s space.Space) (int, bool) {
	legendre, err := space.Legendre(s.Domain(), s.Dim())
	return s.Dim(), err == nil && s.String() == legendre.String()
}

// on returns the knots of the interpolant on the window, both ends and the given
// further points, in order, included.
func (s Series) on(window space.Interval, further ...float64) (t, x []float64) {
	inside := func(v float64) bool { return v > window.A && v < window.B }
	t = append(t, window.A)
	i, j := 0, 0
	for i < len(s.T) || j < len(further) {
		var v float64
		if j == len(further) || i < len(s.T) && s.T[i] <= further[j] {
			v = s.T[i]
			i++
		} else {
			v = further[j]
			j++
		}
		if inside(v) && v > t[len(t)-1] {
			t = append(t, v)
		}
	}
	t = append(t, window.B)
	x = make([]float64, len(t))
	for i, v := range t {
		x[i] = s.At(v)
	}
	return t, x
}

// At is the piecewise linear interpolant at t, constant before the first and
// after the last sample.
func (s Series) At(t float64) float64 {
	i := sort.SearchFloat64s(s.T, t)
	switch {
	case i == len(s.T):
		return s.X[i-1]
	case i == 0 || s.T[i] == t:
		return s.X[i]
	}
	u := (t - s.T[i-1]) / (s.T[i] - s.T[i-1])
	return s.X[i-1]*(1-u) + s.X[i]*u
}

// meanSquare is (1/L)∫x² over linear pieces.
func meanSquare(t, x []float64, window space.Interval) float64 {
	var sum float64
	for i := 1; i < len(t); i++ {
		mid, half := x[i]/2+x[i-1]/2, x[i]/2-x[i-1]/2
		sum += (t[i] - t[i-1]) / window.Length() * (mid*mid + half*half/3)
	}
	return sum
}

// integrate calls add with the nodes and the values q·weight/L of a quadrature
// rule for (1/L)∫q·f dt, f varying like the functions of s.
func integrate(t, x []float64, s space.Space, add func(t, weighted float64)) {
	const order = 16
	u, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(u, w, 0, 1)
	longest := s.Domain().Length() / float64(s.Dim())
	for i := 1; i < len(t); i++ {
		h := t[i] - t[i-1]
		parts := math.Ceil(h / longest)
		for part := 0.0; part < parts; part++ {
			for q := range u {
				v := (part + u[q]) / parts
				add(t[i-1]+h*v, w[q]*h/parts/s.Domain().Length()*(x[i-1]*(1-v)+x[i]*v))
			}
		}
	}
}
