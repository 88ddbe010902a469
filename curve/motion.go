// The prior of a denoised curve: its velocity forgets itself over a persistence
// time, so that it is smooth over shorter times and Brownian over longer ones (an
// integrated Ornstein–Uhlenbeck process).

package curve

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// motion is the process over one cell, in units of the cell, for a driving noise
// of rate 1. Its state is the value x and w = θ·(velocity), θ the persistence in
// cells: an impulse at time 0 moves w by 1 and x by 1 − e^{−u/θ} at time u, so over
// long times x is a Brownian path of rate 1.
//
// Let s₀, s₁ be the states at the two ends. Then s₁ = Φs₀ + N(0, Σ), and the Legendre
// coordinates c₀ … c₃ of the path in between, in the average over the cell, are
// Aₛ₀·s₀ + Aₛ₁·s₁ + N(0, S) given both.
type motion struct {
	phi, sigma  mat2
	inverse     mat2          // Σ⁻¹
	start       float64       // inverse of the stationary variance of w, θ/2
	logDet      float64       // log |Σ|
	near, far   [4][2]float64 // Aₛ₀, Aₛ₁ by coordinate
	s           [4][4]float64
	b0, b1, s01 mat2 // the first two rows of Aₛ₀ and Aₛ₁, and of S
	prior00     mat2 // Φᵀ Σ⁻¹ Φ
	prior01     mat2 // −Φᵀ Σ⁻¹
	b0T, b1T    mat2
}

func newMotion(theta float64) *motion {
	const parts, order = 6, 16
	u, weight := make([]float64, order), make([]float64, order)
	quad.Legendre{}.FixedLocations(u, weight, 0, 1)
	integral := func(from float64, f func(u, w float64)) {
		// Parts shrink towards both ends, where short persistence makes f steep.
		edges := [parts + 1]float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}
		for p := range parts {
			a, h := edges[p], edges[p+1]-edges[p]
			for q := range u {
				f(from+(1-from)*(a+h*u[q]), weight[q]*h*(1-from))
			}
		}
	}
	legendre := func(u float64) [4]float64 {
		x := 2*u - 1
		return [4]float64{1, math.Sqrt(3) * x, math.Sqrt(5) * (3*x*x - 1) / 2, math.Sqrt(7) * (5*x*x*x - 3*x) / 2}
	}
	response := func(u float64) float64 { return -math.Expm1(-u / theta) }

	m := &motion{start: 2 / theta, phi: mat2{1, response(1), 0, math.Exp(-1 / theta)}}
	// Of the state at the end and of the coordinates: what an impulse at time s
	// adds to each, and the covariance of all six.
	var c [6][6]float64
	integral(0, func(s, w float64) {
		k := [6]float64{response(1 - s), math.Exp(-(1 - s) / theta)}
		integral(s, func(u, w float64) {
			for j, e := range legendre(u) {
				k[2+j] += w * response(u-s) * e
			}
		})
		for i, a := range k {
			for j, b := range k {
				c[i][j] += w * a * b
			}
		}
	})
	m.sigma = mat2{c[0][0], c[0][1], c[1][0], c[1][1]}
	m.inverse = m.sigma.inverse()
	m.logDet = math.Log(m.sigma.det())
	var free [4][2]float64 // coordinates of the path without noise
	free[0][0] = 1
	integral(0, func(u, w float64) {
		for j, e := range legendre(u) {
			free[j][1] += w * response(u) * e
		}
	})
	for j := range 4 {
		m.far[j] = [2]float64{
			c[2+j][0]*m.inverse[0] + c[2+j][1]*m.inverse[2],
			c[2+j][0]*m.inverse[1] + c[2+j][1]*m.inverse[3],
		}
		for i := range 2 {
			m.near[j][i] = free[j][i] - m.far[j][0]*m.phi[i] - m.far[j][1]*m.phi[2+i]
		}
		for k := range 4 {
			m.s[j][k] = c[2+j][2+k] - m.far[j][0]*c[0][2+k] - m.far[j][1]*c[1][2+k]
		}
	}
	m.b0 = mat2{m.near[0][0], m.near[0][1], m.near[1][0], m.near[1][1]}
	m.b1 = mat2{m.far[0][0], m.far[0][1], m.far[1][0], m.far[1][1]}
	m.s01 = mat2{m.s[0][0], m.s[0][1], m.s[1][0], m.s[1][1]}
	m.b0T, m.b1T = m.b0.t(), m.b1.t()
	m.prior01 = m.phi.t().times(m.inverse).scale(-1)
	m.prior00 = m.phi.t().times(m.inverse).times(m.phi)
	return m
}

// mat2 is a 2×2 matrix by rows.
type mat2 [4]float64

func (a mat2) times(b mat2) mat2 {
	return mat2{a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3], a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3]}
}
func (a mat2) plus(b mat2) mat2     { return mat2{a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]} }
func (a mat2) scale(f float64) mat2 { return mat2{f * a[0], f * a[1], f * a[2], f * a[3]} }
func (a mat2) t() mat2              { return mat2{a[0], a[2], a[1], a[3]} }
func (a mat2) det() float64         { return a[0]*a[3] - a[1]*a[2] }
func (a mat2) on(v [2]float64) [2]float64 {
	return [2]float64{a[0]*v[0] + a[1]*v[1], a[2]*v[0] + a[3]*v[1]}
}

// inverse of a symmetric positive definite matrix.
func (a mat2) inverse() mat2 {
	f := 1 / a.det()
	return mat2{f * a[3], -f * a[1], -f * a[2], f * a[0]}
}

// traceOf is tr(a·b).
func traceOf(a, b mat2) float64 { return a[0]*b[0] + a[1]*b[2] + a[2]*b[1] + a[3]*b[3] }
