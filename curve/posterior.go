// The posterior of a moving point given noisy projections on equal cells, in
// O(N): the states at the ends of the cells have a block tridiagonal precision.

package curve

import "math"

// path is one component over N cells of the window, in units in which the
// noise of a cell's two coordinates y has variance 1 each. The driving noise of
// cell i has rate q[i].
type path struct {
	y []([2]float64)
	q []float64

	x          [][2]float64 // posterior mean of the state at the ends of cells, N+1
	h          [][2]float64
	d          []mat2 // inverses of the diagonal blocks of the factorisation
	e          []mat2 // blocks above the diagonal
	variance   []mat2 // posterior covariance of the state at an end
	covariance []mat2 // of the states at the two ends of a cell
	stat       []float64
	evidence   float64 // log marginal likelihood, up to a constant
}

func newPath(cells int) *path {
	return &path{y: make([][2]float64, cells), q: make([]float64, cells),
		x: make([][2]float64, cells+1), h: make([][2]float64, cells+1), d: make([]mat2, cells+1), e: make([]mat2, cells),
		variance: make([]mat2, cells+1), covariance: make([]mat2, cells), stat: make([]float64, cells)}
}

// weight is the inverse covariance of y given both states.
func (m *motion) weight(q float64) mat2 {
	w := m.s01.scale(q)
	w[0]++
	w[3]++
	return w.inverse()
}

// solve computes the posterior mean and the covariances that expect needs. The
// prior of the first state is flat in the value and stationary in the velocity.
func (p *path) solve(m *motion) {
	cells := len(p.q)
	clear(p.d)
	clear(p.h)
	p.d[0][3] = m.start / p.q[0]
	logs, squares := math.Log(p.q[0]/m.start), 0.0
	for i, q := range p.q {
		w := m.weight(q)
		r := 1 / q
		near, far := m.b0T.times(w), m.b1T.times(w)
		p.d[i] = p.d[i].plus(m.prior00.scale(r)).plus(near.times(m.b0))
		p.d[i+1] = m.inverse.scale(r).plus(far.times(m.b1))
		p.e[i] = m.prior01.scale(r).plus(near.times(m.b1))
		a, b := near.on(p.y[i]), far.on(p.y[i])
		p.h[i][0] += a[0]
		p.h[i][1] += a[1]
		p.h[i+1] = b
		wy := w.on(p.y[i])
		squares += wy[0]*p.y[i][0] + wy[1]*p.y[i][1]
		logs += 2*math.Log(q) + m.logDet - math.Log(w.det())
	}
	for i := range p.e {
		logs += math.Log(p.d[i].det())
		p.d[i] = p.d[i].inverse()
		k := p.e[i].t().times(p.d[i])
		p.d[i+1] = p.d[i+1].plus(k.times(p.e[i]).scale(-1))
		squares -= quadratic(p.d[i], p.h[i])
		v := k.on(p.h[i])
		p.h[i+1][0] -= v[0]
		p.h[i+1][1] -= v[1]
	}
	logs += math.Log(p.d[cells].det())
	p.d[cells] = p.d[cells].inverse()
	squares -= quadratic(p.d[cells], p.h[cells])
	p.evidence = -(logs + squares) / 2

	p.x[cells] = p.d[cells].on(p.h[cells])
	p.variance[cells] = p.d[cells]
	for i := cells - 1; i >= 0; i-- {
		v := p.e[i].on(p.x[i+1])
		p.x[i] = p.d[i].on([2]float64{p.h[i][0] - v[0], p.h[i][1] - v[1]})
		g := p.d[i].times(p.e[i]).scale(-1)
		p.covariance[i] = g.times(p.variance[i+1])
		p.variance[i] = p.d[i].plus(p.covariance[i].times(g.t()))
	}
}

func quadratic(a mat2, v [2]float64) float64 {
	w := a.on(v)
	return w[0]*v[0] + w[1]*v[1]
}

// left is y less its mean given the posterior mean of the two states.
func (p *path) left(m *motion, i int) [2]float64 {
	a, b := m.b0.on(p.x[i]), m.b1.on(p.x[i+1])
	return [2]float64{p.y[i][0] - a[0] - b[0], p.y[i][1] - a[1] - b[1]}
}

// expect sets stat to what q would be estimated by in each cell if the path were
// known, averaged over the posterior (the E step of the EM algorithm): a quarter
// of the squared length of four independent parts, the change of the state and
// the two coordinates given both states, each over its covariance at q = 1.
func (p *path) expect(m *motion) {
	for i, q := range p.q {
		v0, v1, v01 := p.variance[i], p.variance[i+1], p.covariance[i]
		x := m.phi.on(p.x[i])
		r := [2]float64{p.x[i+1][0] - x[0], p.x[i+1][1] - x[1]}
		cross := m.phi.times(v01)
		spread := v1.plus(m.phi.times(v0).times(m.phi.t())).plus(cross.plus(cross.t()).scale(-1))
		sum := quadratic(m.inverse, r) + traceOf(m.inverse, spread)

		w := m.weight(q)
		ws := w.times(m.s01)
		wsw := ws.times(w)
		cross = m.b0.times(v01).times(m.b1T)
		spread = m.b0.times(v0).times(m.b0T).plus(m.b1.times(v1).times(m.b1T)).plus(cross.plus(cross.t()))
		sum += q*q*(quadratic(wsw, p.left(m, i))+traceOf(wsw, spread)-ws[0]-ws[3]) + 2*q
		p.stat[i] = sum / 4
	}
}

// cubic returns the posterior mean in a cell as its first four Legendre
// coordinates, in the average over the cell.
func (p *path) cubic(m *motion, i int) [4]float64 {
	var c [4]float64
	v := m.weight(p.q[i]).on(p.left(m, i))
	for j := range c {
		c[j] = m.near[j][0]*p.x[i][0] + m.near[j][1]*p.x[i][1] + m.far[j][0]*p.x[i+1][0] + m.far[j][1]*p.x[i+1][1] +
			p.q[i]*(m.s[j][0]*v[0]+m.s[j][1]*v[1])
	}
	return c
}
