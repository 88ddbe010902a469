package fit

import "math"

// spectrum is the singular values of a least-squares problem: top·s, s ≤ 1
// descending; s2 their squares and inv one over these. Problems that share one
// ball follow each other in it.
type spectrum struct {
	top        float64
	s, s2, inv []float64
}

// negligible is where a singular value counts as zero beside those of another
// component: what is below would over- and underflow, and has no digits left.
const negligible = 1e-30

func (p *spectrum) clear() { *p = spectrum{1, p.s[:0], p.s2[:0], p.inv[:0]} }

func (p *spectrum) add(s float64) {
	if s < negligible {
		p.s, p.s2, p.inv = append(p.s, 0), append(p.s2, 0), append(p.inv, 0)
		return
	}
	p.s, p.s2, p.inv = append(p.s, s), append(p.s2, s*s), append(p.inv, 1/(s*s))
}

// secular solves the ball constraint in the coordinates of the singular
// vectors. With the right-hand side z (one row of len(s) numbers for each
// component, laid end to end) the fit is y_k(λ) = s_k z_k/(s_k²+λ)/top, and λ is
// the smallest multiplier ≥ floor with ‖y(λ)‖ ≤ radius; λ and floor count in units
// of top². It overwrites z with y and returns λ.
func secular(p *spectrum, z []float64, radius, floor float64) (lambda float64) {
	r := len(p.s)
	var size float64
	for rest := z; len(rest) > 0; rest = rest[r:] {
		g := rest[:r]
		for k, sk := range p.s {
			g[k] *= sk
			size = max(size, math.Abs(g[k]))
		}
	}
	if size == 0 {
		return floor
	}
	// Work on z/size and y·top/size, so that no square over- or underflows.
	inv, ball := 1/size, radius/size*p.top
	if ball < 1e-150 { // λ → ∞: the fit is the gradient's direction on the sphere
		var n2 float64
		for _, g := range z {
			n2 += (g / size) * (g / size)
		}
		scale := radius / math.Sqrt(n2)
		for i, g := range z {
			z[i] = g / size * scale
		}
		return math.Inf(1)
	}
	if math.IsInf(inv, 0) { // subnormal data
		inv, ball, size = 1, radius*p.top, 1
	}
	norm, start := p.unconstrained(z, inv, ball)
	lambda = floor
	if floor > 0 || norm > ball*(1+1e-14) {
		lambda, norm = p.root(z, ball, floor, start)
	}
	scale := size / p.top
	if norm > ball {
		scale *= ball / norm
	}
	if lambda == 0 {
		for rest := z; len(rest) > 0; rest = rest[r:] {
			g := rest[:r]
			for k, v := range p.inv[:r] {
				g[k] *= v * scale
			}
		}
		return 0
	}
	for rest := z; len(rest) > 0; rest = rest[r:] {
		g := rest[:r]
		for k, v := range p.s2[:r] {
			g[k] *= scale / (v + lambda)
		}
	}
	return lambda
}

// unconstrained multiplies g by scale and returns ‖y(0)‖ and, where that is
// outside the ball, a multiplier to start from: 1/‖y‖ − 1/ball must be near its
// root there, for λ may be anything between the squares of the singular values.
func (p *spectrum) unconstrained(z []float64, scale, ball float64) (norm, start float64) {
	r := len(p.s)
	var n2, g2, gs2 float64
	for rest := z; len(rest) > 0; rest = rest[r:] {
		g := rest[:r]
		for k, v := range p.inv[:r] {
			g[k] *= scale
			y := g[k] * v
			if n2 <= ball*ball && n2+y*y > ball*ball {
				// The first coordinate that does not fit in, were it the last.
				start = p.s2[k] * (math.Abs(y)/math.Sqrt(ball*ball-n2) - 1)
			}
			n2 += y * y
			g2 += g[k] * g[k]
			gs2 += g[k] * g[k] * p.s2[k]
		}
	}
	// The mean of 1/(s²+λ)² is at least that of the mean s²: left of the root.
	if far := math.Sqrt(g2)/ball - gs2/g2; far > 0 {
		start = far
	}
	return math.Sqrt(n2), start
}

// root finds λ ≥ floor with ‖y(λ)‖ = ball, or floor if that is inside already.
//
// h(λ) = 1/‖y(λ)‖ is concave and increasing (Moré & Sorensen 1983), so a step of
// Newton's method on h − 1/ball lands left of the root from either side. Halley's
// step, which goes on where Newton's is short, is taken where it stays between
// the bounds known.
func (p *spectrum) root(z []float64, ball, floor, start float64) (lambda, norm float64) {
	r := len(p.s)
	lo, hi := floor, math.Inf(1)
	lambda = max(floor, start, negligible*negligible)
	for range 64 {
		var n2, d, e float64 // ‖y‖² = Σ y², d = Σ y²/(s²+λ) = −½ d‖y‖²/dλ, e = Σ y²/(s²+λ)²
		for rest := z; len(rest) > 0; rest = rest[r:] {
			g := rest[:r]
			for k, v := range p.s2[:r] {
				w := 1 / (v + lambda)
				y := g[k] * w
				y *= y
				n2 += y
				y *= w
				d += y
				e += y * w
			}
		}
		norm = math.Sqrt(n2)
		x := norm/ball - 1
		if math.Abs(x) <= 1e-14 || d == 0 || x < 0 && lambda == floor {
			break
		}
		if x > 0 {
			lo = max(lo, lambda)
		} else {
			hi = min(hi, lambda)
		}
		step := n2 / d * x
		lo = max(lo, lambda+step)
		next := lambda + step
		if c := 3 * x * (e/d*n2/d - 1); math.Abs(c) < 1.5 {
			next = lambda + step/(1-c/2)
		}
		if !(next >= lo && next < hi) {
			next = lo
			if hi < math.Inf(1) {
				next = math.Sqrt(lo) * math.Sqrt(hi)
			}
		}
		if next == lambda {
			break
		}
		lambda = next
	}
	return lambda, norm
}
