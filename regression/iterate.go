// The recursion in coordinates: a ← a + γg, optionally projected onto a ball, and the average of the a's. Every
// product is rounded before it is added: the conversions forbid fused operations, so that a replay gives identical
// bytes also where the compiler would fuse some loops and not others.

package regression

import "math"

type iterate struct {
	a, mean []float64
	weight  float64 // sum of the weights of the iterates in the mean
	radius  float64 // of the ball, 0 for none
}

func newIterate(dim int, radius float64) iterate {
	return iterate{a: make([]float64, dim), mean: make([]float64, dim), radius: radius}
}

// step sets a ← a + γ·scale·g and gives the new a the weight w in the mean.
func step[T int64 | float64](it *iterate, gamma, scale, w float64, g []T) {
	c := float64(gamma * scale)
	a := it.a
	g = g[:len(a)]
	for j, v := range a {
		a[j] = v + float64(c*float64(g[j]))
	}
	if it.radius > 0 {
		it.project()
	}
	it.weight += w
	part := w / it.weight
	mean := it.mean[:len(a)]
	for j, v := range mean {
		mean[j] = v + float64(part*float64(a[j]-v))
	}
}

// project takes a to the nearest point of the ball: post-processing, and no two runs come further apart by it.
func (it *iterate) project() {
	norm := 0.0
	for _, v := range it.a {
		norm += float64(v * v)
	}
	norm = math.Sqrt(norm)
	if norm <= it.radius {
		return
	}
	shrink := it.radius / norm
	for j, v := range it.a {
		it.a[j] = float64(v * shrink)
	}
}

// huber is ℓ_τ(u); τ = +Inf is the squared loss.
func huber(u, tau float64) float64 { return math.Max(-tau, math.Min(tau, u)) }

func dot(a, b []float64) float64 {
	s := 0.0
	b = b[:len(a)]
	for j, v := range a {
		s += float64(v * b[j])
	}
	return s
}
