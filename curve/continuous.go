// The nearest continuous function of a piecewise space ([GEO] §4.1.2).

package curve

import (
	"fmt"

	"github.com/curveil/curveil/space"
)

// Continuous moves the coordinates, ordered by piece, basis function, component,
// to those of the nearest continuous function of the piecewise space: y − Cᵀ(CCᵀ)⁻¹Cy,
// a row of C for each inner break, the jump there. Rows of neighbouring breaks
// share a piece, so CCᵀ is tridiagonal and the cost is linear in the number of
// pieces. It is post-processing. It refuses a space without pieces and panics
// on a wrong number of coordinates.
func Continuous(sp space.Space, coordinates []float64, components int) error {
	pieces, ok := sp.(interface {
		Pieces() int
		Ends(s int) (left, right []float64)
	})
	if !ok {
		return fmt.Errorf("curve: %v is not piecewise: its functions are as continuous as they are; leave continuity out", sp)
	}
	if len(coordinates) != sp.Dim()*components {
		panic("curve: the number of coordinates is not that of the space times the components")
	}
	count := pieces.Pieces()
	if count < 2 {
		return nil
	}
	m := sp.Dim() / count
	rows := count - 1
	right, left := make([][]float64, rows), make([][]float64, rows) // e at break s from the left piece, from the right piece
	diagonal, off := make([]float64, rows), make([]float64, rows)
	_, right[0] = pieces.Ends(0)
	for s := range rows {
		l, r := pieces.Ends(s + 1)
		left[s] = l
		if s+1 < rows {
			right[s+1] = r
		}
		diagonal[s] = inner(right[s], right[s]) + inner(l, l)
		if s+1 < rows {
			off[s] = -inner(l, r) // row s has −l on piece s+1, row s+1 has +r there
		}
	}
	// Thomas algorithm on the symmetric positive definite CCᵀ, factored once.
	for s := 1; s < rows; s++ {
		w := off[s-1] / diagonal[s-1]
		diagonal[s] -= w * off[s-1]
	}
	jump := make([]float64, rows)
	for k := range components {
		at := func(s, j int) *float64 { return &coordinates[(s*m+j)*components+k] }
		for s := range rows {
			var v float64
			for j := range m {
				v += right[s][j]**at(s, j) - left[s][j]**at(s+1, j)
			}
			jump[s] = v
			if s > 0 {
				jump[s] -= off[s-1] / diagonal[s-1] * jump[s-1]
			}
		}
		for s := rows - 1; s >= 0; s-- {
			if s+1 < rows {
				jump[s] -= off[s] * jump[s+1]
			}
			jump[s] /= diagonal[s]
			for j := range m {
				*at(s, j) -= right[s][j] * jump[s]
				*at(s+1, j) += left[s][j] * jump[s]
			}
		}
	}
	return nil
}

func inner(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
