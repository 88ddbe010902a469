package privacy

// Within returns the largest ε, shortened to six digits, at which (ε, δ)-DP costs no more than m: GaussianMu of it is at most m. It is for
// people who are asked for (ε, δ) and have an account in μ. False when no ε > 0 does: δ alone costs as much then, and a smaller one
// is needed.
func (m GDP) Within(delta float64) (Approx, bool) {
	if m.Validate() != nil || !(delta > 0 && delta < 1) {
		return Approx{}, false
	}
	epsilon := shorten(m.Epsilon(delta), false)
	for range 4 { // rounding of either conversion is far below a sixth digit
		if !(epsilon > 0) {
			break
		}
		a := Approx{Epsilon: epsilon, Delta: delta}
		if mu, err := GaussianMu(a); err == nil && mu <= m {
			return a, true
		}
		epsilon = shorten(epsilon*(1-1e-6), false)
	}
	return Approx{}, false
}
