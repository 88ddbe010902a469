// The posterior of a Brownian path given noisy projections on equal pieces. Its
// rate may differ from cell to cell; package comment of smooth.go.

package curve

import "math"

// path is one component over N cells of the window, in units in which the
// noise of a cell's coordinates has variance 1.
//
// In one cell let x₀, x₁ be the values at its ends and Q the variance of x₁ − x₀.
// Given these, the path inside is a Brownian bridge, and its two noisy
// coordinates in the average over the cell (constant and slope) are
//
//	y₀ = (x₀+x₁)/2 + b₀ + noise,       b₀ ~ N(0, Q/12),
//	y₁ = (x₁−x₀)/(2√3) + b₁ + noise,   b₁ ~ N(0, Q/60), independent of b₀,
//
// so that the ends of the cells have a tridiagonal posterior precision,
// LDLᵀ-factored in O(N). Given b₀ and b₁ the bridge has the mean b₀·6u(1−u) plus b₁
// times the odd cubic that vanishes at both ends: the posterior mean is a
// continuous piecewise cubic.
type path struct {
	y0, y1 []float64
	q      []float64 // Q by cell

	x    []float64 // posterior mean at the ends of cells, N+1
	d, l []float64 // precision = L·diag(d)·Lᵀ, L_{i+1,i} = l_i
	vd   []float64 // posterior variance at an end
	vo   []float64 // posterior covariance of the two ends of a cell
	stat []float64 // see expect
}

const (
	bridge0, bridge1 = 1. / 12, 1. / 60 // variances of b₀ and b₁ over Q
	root12           = 3.4641016151377544
)

func newPath(cells int) *path {
	return &path{y0: make([]float64, cells), y1: make([]float64, cells), q: make([]float64, cells),
		x: make([]float64, cells+1), d: make([]float64, cells+1), l: make([]float64, cells),
		vd: make([]float64, cells+1), vo: make([]float64, cells), stat: make([]float64, cells)}
}

// solve computes the posterior mean and the variances needed from it, for the
// current Q. The prior of the first value is flat.
func (p *path) solve() {
	cells := len(p.q)
	clear(p.d)
	clear(p.x)
	for i, q := range p.q {
		w0, w1 := 1/(1+q*bridge0), 1/(1+q*bridge1)
		same, cross := 1/q+w0/4+w1/12, -1/q+w0/4-w1/12
		p.d[i] += same
		p.d[i+1] += same
		p.l[i] = cross
		a, b := w0*p.y0[i]/2, w1*p.y1[i]/root12
		p.x[i] += a - b
		p.x[i+1] += a + b
	}
	for i := range p.l {
		f := p.l[i] / p.d[i]
		p.d[i+1] -= f * p.l[i]
		p.l[i] = f
		p.x[i+1] -= f * p.x[i]
	}
	p.x[cells] /= p.d[cells]
	p.vd[cells] = 1 / p.d[cells]
	for i := cells - 1; i >= 0; i-- {
		p.x[i] = p.x[i]/p.d[i] - p.l[i]*p.x[i+1]
		p.vo[i] = -p.l[i] * p.vd[i+1]
		p.vd[i] = 1/p.d[i] + p.l[i]*p.l[i]*p.vd[i+1]
	}
}

// inside is the posterior mean of b₀ and b₁ in a cell, given the mean of its ends.
func (p *path) inside(i int) (b0, b1 float64) {
	q := p.q[i]
	b0 = q * bridge0 / (1 + q*bridge0) * (p.y0[i] - (p.x[i]+p.x[i+1])/2)
	b1 = q * bridge1 / (1 + q*bridge1) * (p.y1[i] - (p.x[i+1]-p.x[i])/root12)
	return b0, b1
}

// expect sets stat to the posterior mean of the squares of the three independent
// parts of the path in each cell, each over its share of Q, averaged: what Q would
// be estimated by if the path were known (the E step of the EM algorithm).
func (p *path) expect() {
	for i, q := range p.q {
		g0, g1 := q*bridge0/(1+q*bridge0), q*bridge1/(1+q*bridge1)
		sum, difference := p.vd[i]+p.vd[i+1]+2*p.vo[i], p.vd[i]+p.vd[i+1]-2*p.vo[i]
		b0, b1 := p.inside(i)
		d := p.x[i+1] - p.x[i]
		p.stat[i] = (d*d + difference +
			(b0*b0+g0*g0*sum/4+g0)/bridge0 +
			(b1*b1+g1*g1*difference/12+g1)/bridge1) / 3
	}
}

// cubic returns the posterior mean in a cell as coordinates of the orthonormal
// Legendre polynomials of degree 0 … 3 in the average over the cell. 6u(1−u) is
// e₀ − e₂/√5, and the odd cubic e₁ − √(3/7)·e₃.
func (p *path) cubic(i int) [4]float64 {
	b0, b1 := p.inside(i)
	return [4]float64{(p.x[i]+p.x[i+1])/2 + b0, (p.x[i+1]-p.x[i])/root12 + b1, -b0 / math.Sqrt(5), -b1 * math.Sqrt(3./7)}
}
