package regression

import "math"

// noiseBound follows the variance that the noise of the reports would have in each coordinate of the estimate if the
// recursion damped nothing: S_n = Σ γᵢσᵢξᵢ, T = Σ w_nS_n. What the recursion does, multiplying by matrices between 0 and I
// (I − γh·φφᵀ with 0 ≤ h ≤ 1), only takes variance away, in every direction.
type noiseBound struct {
	s, st, t float64 // Var S, Cov(S,T), Var T
}

// add is one report of noise σ applied with step γ (its weight included) and weight w in the average.
func (b *noiseBound) add(gamma, sigma, w float64) {
	own := float64(gamma * sigma)
	b.s += float64(own * own)
	b.t += float64(2*w*b.st) + float64(w*w*b.s)
	b.st += float64(w * b.s)
}

// scale is the standard deviation in a coordinate of the average over the weight.
func (b *noiseBound) scale(weight float64) float64 { return math.Sqrt(b.t) / weight }
