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

// observed is what a cell of rate q adds to the precision of the states at its two ends. Until roughness is local all
// cells have one rate, so that it is computed once.
type observed struct {
	q               float64
	w, near, far    mat2
	here, next, off mat2 // of the first state, of the second, between them
	logs            float64
	ready, expects  bool
	// What expect multiplies the covariances of the two states with, and the residual of the coordinates.
	v0, v1, v01, wsw mat2
	constant         float64
}

func (o *observed) at(m *motion, q float64) {
	if o.ready && o.q == q {
		return
	}
	r := 1 / q
	o.q, o.ready, o.expects = q, true, false
	o.w = m.weight(q)
	o.near, o.far = m.b0T.times(o.w), m.b1T.times(o.w)
	o.here = m.prior00.scale(r).plus(o.near.times(m.b0))
	o.next = m.inverse.scale(r).plus(o.far.times(m.b1))
	o.off = m.prior01.scale(r).plus(o.near.times(m.b1))
	o.logs = 2*math.Log(q) + m.logDet - math.Log(o.w.det())
}

// expecting gathers the traces of expect by covariance: tr(Σ⁻¹(V₁ + ΦV₀Φᵀ − ΦV₀₁ − V₀₁ᵀΦᵀ)) and q² tr(wSw(B₀V₀B₀ᵀ + …)).
func (o *observed) expecting(m *motion) {
	if o.expects {
		return
	}
	o.expects = true
	q2 := o.q * o.q
	ws := o.w.times(m.s01)
	o.wsw = ws.times(o.w)
	near, far := o.near.times(m.s01), o.far.times(m.s01)
	nearT := o.near.t()
	o.v0 = m.prior00.plus(near.times(nearT).scale(q2))
	o.v1 = m.inverse.plus(far.times(o.far.t()).scale(q2))
	o.v01 = m.prior01.t().plus(far.times(nearT).scale(q2)).scale(2)
	o.constant = 2*o.q - q2*(ws[0]+ws[3])
}

// forward factors the precision and computes the evidence. The prior of the first state is flat in the value and
// stationary in the velocity.
func (p *path) forward(m *motion) {
	cells := len(p.q)
	var o observed
	p.d[0], p.h[0] = mat2{3: m.start / p.q[0]}, [2]float64{}
	logs, squares := math.Log(p.q[0]/m.start), 0.0
	var det logProduct
	for i, q := range p.q {
		o.at(m, q)
		y := p.y[i]
		a, b, wy := o.near.on(y), o.far.on(y), o.w.on(y)
		h := [2]float64{p.h[i][0] + a[0], p.h[i][1] + a[1]}
		d := p.d[i].plus(o.here)
		squares += wy[0]*y[0] + wy[1]*y[1]
		logs += o.logs
		det.times(d.det())
		d = d.inverse()
		k := o.off.t().times(d)
		squares -= quadratic(d, h)
		v := k.on(h)
		p.d[i], p.h[i], p.e[i] = d, h, o.off
		p.d[i+1] = o.next.plus(k.times(o.off).scale(-1))
		p.h[i+1] = [2]float64{b[0] - v[0], b[1] - v[1]}
	}
	det.times(p.d[cells].det())
	p.d[cells] = p.d[cells].inverse()
	squares -= quadratic(p.d[cells], p.h[cells])
	p.evidence = -(logs + det.log() + squares) / 2
}

// backward computes, after forward, the posterior mean and the covariances that expect needs.
func (p *path) backward() {
	cells := len(p.q)
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

// logProduct is the logarithm of a product of positive numbers, with one logarithm for many of them.
type logProduct struct{ sum, product float64 }

func (l *logProduct) times(v float64) {
	if l.product == 0 {
		l.product = 1
	}
	// Beyond these a factor of 2^±500 could leave the range of a float64.
	if l.product *= v; !(l.product > 0x1p-500 && l.product < 0x1p500) {
		l.sum, l.product = l.log(), 1
	}
}

func (l *logProduct) log() float64 { return l.sum + math.Log(l.product) }

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
	var o observed
	for i, q := range p.q {
		o.at(m, q)
		o.expecting(m)
		x := m.phi.on(p.x[i])
		r := [2]float64{p.x[i+1][0] - x[0], p.x[i+1][1] - x[1]}
		sum := quadratic(m.inverse, r) + q*q*quadratic(o.wsw, p.left(m, i)) + o.constant +
			traceOf(o.v0, p.variance[i]) + traceOf(o.v1, p.variance[i+1]) + traceOf(o.v01, p.covariance[i])
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
