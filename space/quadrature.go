// Gauss–Legendre quadrature on pieces of the domain, exact for polynomials on each piece.

package space

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
)

// meanSquareBound integrates ‖e(t)‖² between neighbouring grid points, where every kernel is smooth, in
// pieces no longer than the kernel's scale.
func (s *KernelSpace) meanSquareBound() float64 {
	const order = 12
	x, w := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	d := s.grid.Domain
	knots := append([]float64{d.A}, s.grid.T...)
	knots = append(knots, d.B)
	dst := make([]float64, s.dim)
	total := 0.0
	for i, left := range knots[:len(knots)-1] {
		gap := knots[i+1] - left
		if gap == 0 {
			continue
		}
		pieces := 1.0
		if s.kern.scaled() {
			// Beyond a few hundred scales from every grid point the functions are zero in 64 bits.
			pieces = math.Min(math.Ceil(gap/s.at.scale), 1024)
		}
		for m := 0.0; m < pieces; m++ {
			for q, xq := range x {
				s.Eval(dst, left+gap*((m+xq)/pieces))
				total += w[q] * floats.Dot(dst, dst) * gap / pieces
			}
		}
	}
	return total / d.Length()
}
