// Kernels of Markov processes (Laplace, Matérn, Brownian): on one side of t, K(t_j,t) is a fixed combination
// of a few functions of t whose weights are sums over the grid points on that side. Those sums are kept for
// every grid point, so that e(t) costs O(Dim) instead of O(T·Dim): one term per side for Laplace and
// Brownian, two for Matérn 3/2, three for Matérn 5/2. With x = c(t−t_i)+y_j, y_j = c(t_i−t_j),
//
//	x^m e^{−x} = e^{−c(t−t_i)} Σ_l binom(m,l) (c(t−t_i))^{m−l} · y_j^l e^{−y_j}.

package space

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// markovTable is the most numbers per term and side; above it the direct sum is used and saves the memory.
const markovTable = 1 << 18

type markov struct {
	terms int
	root  float64 // √(2ν): x = root·|s−t|/scale
	// left[i] holds terms×Dim sums over j ≤ i, right[i] over j ≥ i.
	left, right []float64
}

// prepareMarkov fills the tables; for the other kernels it leaves terms = 0.
func (s *KernelSpace) prepareMarkov() {
	n, p := len(s.grid.T), s.dim
	if n*p > markovTable {
		return
	}
	m := markov{}
	switch s.kern.name {
	case "laplace":
		m.terms, m.root = 1, 1
	case "matern32":
		m.terms, m.root = 2, math.Sqrt(3)
	case "matern52":
		m.terms, m.root = 3, math.Sqrt(5)
	case "brownian":
		m.terms = 1
	default:
		return
	}
	size := m.terms * p
	m.left, m.right = make([]float64, n*size), make([]float64, n*size)
	if s.kern.name == "brownian" {
		// min(u_j,u) is u_j on the left of t and u on the right.
		for i := range n {
			j := n - 1 - i
			copy(m.right[j*size:], s.factor[j*p:(j+1)*p])
			floats.AddScaled(m.left[i*size:(i+1)*size], s.at.domain.unit(s.grid.T[i]), s.factor[i*p:(i+1)*p])
			if i > 0 {
				floats.Add(m.left[i*size:(i+1)*size], m.left[(i-1)*size:i*size])
				floats.Add(m.right[j*size:(j+1)*size], m.right[(j+1)*size:(j+2)*size])
			}
		}
		s.markov = m
		return
	}
	for i := range n {
		m.step(m.left, s, i, i-1)
		m.step(m.right, s, n-1-i, n-i)
	}
	s.markov = m
}

// step moves the sums at grid point from, if there is one, to grid point i and adds that point.
func (m *markov) step(table []float64, s *KernelSpace, i, from int) {
	p := s.dim
	size := m.terms * p
	to := table[i*size : (i+1)*size]
	copy(to, s.factor[i*p:(i+1)*p])
	if from < 0 || from >= len(s.grid.T) {
		return
	}
	old := table[from*size : (from+1)*size]
	h := m.gap(s, s.grid.T[i]-s.grid.T[from])
	e := math.Exp(-h)
	for k := range p {
		to[k] += e * old[k]
		if m.terms > 1 {
			to[p+k] = e * (old[p+k] + h*old[k])
		}
		if m.terms > 2 {
			to[2*p+k] = e * (old[2*p+k] + h*(2*old[p+k]+h*old[k]))
		}
	}
}

// gap is x for a distance, cut where e^{−x} is 0 so that 0·∞ does not arise.
func (m *markov) gap(s *KernelSpace, distance float64) float64 {
	return math.Min(m.root*(math.Abs(distance)/s.at.scale), 800)
}

func (m *markov) eval(dst []float64, s *KernelSpace, t float64) {
	size := m.terms * s.dim
	right := sort.SearchFloat64s(s.grid.T, t)
	if left := right - 1; left >= 0 {
		if s.kern.name == "brownian" {
			floats.Add(dst, m.left[left*size:(left+1)*size])
		} else {
			m.add(dst, m.left[left*size:(left+1)*size], m.gap(s, t-s.grid.T[left]))
		}
	}
	if right < len(s.grid.T) {
		if s.kern.name == "brownian" {
			floats.AddScaled(dst, s.at.domain.unit(t), m.right[right*size:(right+1)*size])
		} else {
			m.add(dst, m.right[right*size:(right+1)*size], m.gap(s, t-s.grid.T[right]))
		}
	}
}

// add adds the part of e(t) of one side, whose nearest grid point is at the gap x.
func (m *markov) add(dst, sums []float64, x float64) {
	e, p := math.Exp(-x), len(dst)
	switch m.terms {
	case 1:
		floats.AddScaled(dst, e, sums)
	case 2:
		floats.AddScaled(dst, (1+x)*e, sums[:p])
		floats.AddScaled(dst, e, sums[p:])
	case 3:
		floats.AddScaled(dst, (1+x+x*x/3)*e, sums[:p])
		floats.AddScaled(dst, (1+2*x/3)*e, sums[p:2*p])
		floats.AddScaled(dst, e/3, sums[2*p:])
	}
}
