package fit

import (
	"fmt"

	"github.com/curveil/curveil/space"
	"gonum.org/v1/gonum/integrate/quad"
)

// ProjectVector projects the curve on a space of vector-valued functions: real
// coordinates, one per function, by quadrature on the linear pieces.
func ProjectVector(c Curve, v space.Vector) (Projection, error) {
	n := v.Components()
	if len(c) != n {
		return Projection{}, fmt.Errorf("fit: curve has %d components, the space %d", len(c), n)
	}
	out := Projection{Coordinates: make([]float64, v.Dim())}
	const order = 16
	u, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(u, w, 0, 1)
	e := make([]float64, v.Dim()*n)
	domain := v.Domain()
	for comp, s := range c {
		// Parts short against the functions: an even grid among the knots.
		t, x := s.on(domain, space.EqualPieces(domain, v.Dim()+8)...)
		out.MeanSquare += meanSquare(t, x, domain)
		for i := 1; i < len(t); i++ {
			h := t[i] - t[i-1]
			for q := range u {
				v.EvalVector(e, t[i-1]+h*u[q])
				weighted := w[q] * h / domain.Length() * (x[i-1]*(1-u[q]) + x[i]*u[q])
				for k := range out.Coordinates {
					out.Coordinates[k] += weighted * e[k*n+comp]
				}
			}
		}
	}
	out.subtract()
	return out, nil
}
