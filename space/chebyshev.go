// Interpolation of e(t) for the kernels that are analytic (Gaussian, periodic): the domain is cut into cells
// of at most half the scale ρ, and on each e is interpolated at n Chebyshev points, which costs O(n·Dim)
// instead of O(T·Dim) and T exponentials. A function of norm 1 has
//
//	|f⁽ⁿ⁾| ≤ √(∂ₛⁿ∂ₜⁿK) = √((2n−1)!!)/ρⁿ   (Gaussian kernel, s = t),
//
// and interpolation on a cell of length ρ/2 the error 2·(1/8)ⁿ·√((2n−1)!!)/n! < 10⁻¹⁶ for n = 14, less than
// the rounding of the direct sum. A periodic kernel of the same scale has a slightly wider spectrum: n = 16.

package space

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const chebyshevNodes = 16

// chebyshevTable is the most numbers a table may have; above it the direct sum is used and saves the memory.
const chebyshevTable = 1 << 20

type chebyshev struct {
	cells          int
	nodes, weights [chebyshevNodes]float64
	table          []float64 // cells × nodes × Dim: e at the nodes
}

func (s *KernelSpace) prepareChebyshev() {
	if s.kern.name != "gauss" && s.kern.name != "periodic" {
		return
	}
	d := s.grid.Domain
	// On the circle of a long scale the chord, not the scale, sets the length of a cell.
	cells := math.Max(16, math.Ceil(2*s.at.length/s.at.scale))
	// Also where the direct sum is as cheap.
	if cells*chebyshevNodes*float64(s.dim) > chebyshevTable || len(s.grid.T) <= chebyshevNodes/2 {
		return
	}
	c := chebyshev{cells: int(cells)}
	for i := range chebyshevNodes {
		angle := math.Pi * (float64(i) + 0.5) / chebyshevNodes
		sin, cos := math.Sincos(angle)
		c.nodes[i], c.weights[i] = cos, float64(1-2*(i%2))*sin
	}
	p := s.dim
	c.table = make([]float64, c.cells*chebyshevNodes*p)
	for cell := range c.cells {
		for i, x := range c.nodes {
			row := c.table[(cell*chebyshevNodes+i)*p:][:p]
			// Both kernels depend on s−t only: distances from the start of the domain keep the digits
			// that t itself does not have far from zero.
			node := s.at.length * ((float64(cell) + (1+x)/2) / cells)
			for j, tj := range s.grid.T {
				if k := s.at.at(tj-d.A, node); k != 0 {
					floats.AddScaled(row, k, s.factor[j*p:(j+1)*p])
				}
			}
		}
	}
	s.chebyshev = c
}

// eval adds the interpolant by the second barycentric formula (Berrut and Trefethen 2004, equation 4.2).
func (c *chebyshev) eval(dst []float64, u float64) {
	p := len(dst)
	place := u * float64(c.cells)
	cell := min(int(place), c.cells-1)
	x := 2*(place-float64(cell)) - 1
	rows := c.table[cell*chebyshevNodes*p : (cell+1)*chebyshevNodes*p]
	var share [chebyshevNodes]float64
	sum := 0.0
	for i, node := range &c.nodes {
		gap := x - node
		if gap == 0 {
			copy(dst, rows[i*p:(i+1)*p])
			return
		}
		share[i] = c.weights[i] / gap
		sum += share[i]
	}
	for i, v := range &share {
		floats.AddScaled(dst, v/sum, rows[i*p:(i+1)*p])
	}
}
