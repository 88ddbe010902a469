package fit

import "math"

// secular solves the ball constraint in the coordinates of the singular
// vectors. With singular values top·s, s ≤ 1, s2 their squares, and right-hand
// side z (one row of len(s) numbers for each component, laid end to end), the fit
// is y_k(λ) = s_k z_k/(s_k²+λ)/top, and λ is the smallest multiplier ≥ floor with
// ‖y(λ)‖ ≤ radius; λ and floor count in units of top². It overwrites z with y
// and returns λ.
//
// 1/‖y(λ)‖ is concave and increasing in λ (Moré & Sorensen 1983), so Newton's
// method on 1/‖y‖ − 1/radius from the left climbs monotonically to the root.
func secular(s, s2, z []float64, top, radius, floor float64) (lambda float64) {
	r := len(s)
	var size float64
	for rest := z; len(rest) > 0; rest = rest[r:] {
		g := rest[:r]
		for k, sk := range s {
			g[k] *= sk
			size = max(size, math.Abs(g[k]))
		}
	}
	if size == 0 {
		return floor
	}
	// Work on z/size and y·top/size, so that no square over- or underflows.
	inv, ball := 1/size, radius/size*top
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
		inv, ball, size = 1, radius*top, 1
	}
	var g2 float64
	for i := range z {
		z[i] *= inv
		g2 += z[i] * z[i]
	}
	lambda = max(floor, math.Sqrt(g2)/ball-1) // ‖y(λ)‖ ≥ ‖g‖/(1+λ): still left of the root
	var norm float64
	for range 64 {
		var n2, d float64 // ‖y‖² and Σ y²/(s²+λ) = −½ d‖y‖²/dλ
		for rest := z; len(rest) > 0; rest = rest[r:] {
			g := rest[:r]
			for k, v := range s2[:r] {
				w := 1 / (v + lambda)
				y := g[k] * w
				n2 += y * y
				d += y * y * w
			}
		}
		norm = math.Sqrt(n2)
		if norm <= ball*(1+1e-14) || d == 0 {
			break
		}
		next := lambda + n2/d*(norm-ball)/ball
		if !(next > lambda) {
			break
		}
		lambda = next
	}
	scale := size / top
	if norm > ball {
		scale *= ball / norm
	}
	for rest := z; len(rest) > 0; rest = rest[r:] {
		g := rest[:r]
		for k, v := range s2[:r] {
			g[k] *= scale / (v + lambda)
		}
	}
	return lambda
}
