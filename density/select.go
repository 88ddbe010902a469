package density

import "math"

// The rank from noisy coefficients. Everything here sees the noisy coefficients and public numbers only.

// choose returns the index of the rank chosen among nested candidates 0…len(v)−1: energy[i] is the sum of
// squares of the noisy coefficients of shell i (energy[0] = 0), so ‖f_M − f_M′‖² is a sum of them; v[i] is V of
// candidate i.
func choose(rule Rule, kappa, energy, v []float64) int {
	up := make([]float64, len(energy)) // ‖f_i − f_0‖²
	for i := 1; i < len(up); i++ {
		up[i] = up[i-1] + energy[i]
	}
	return chooseBy(rule, kappa, v, func(i, j int) float64 { return math.Abs(up[j] - up[i]) })
}

// chooseBy is choose for any distances between the candidates, as those of a family.
func chooseBy(rule Rule, kappa, v []float64, distance func(i, j int) float64) int {
	last := len(v) - 1
	if rule == Lepskii2 {
		best, at := math.Inf(1), last
		for i := range v {
			worst := 0.0
			for j := i; j <= last; j++ {
				worst = math.Max(worst, distance(i, j)-kappa[0]*v[j])
			}
			if worst += kappa[1] * v[i]; worst < best {
				best, at = worst, i
			}
		}
		return at
	}
	for i := range v {
		ok := true
		for j := i + 1; j <= last; j++ {
			ok = ok && distance(i, j) <= kappa[0]*v[j]
		}
		if ok {
			return i
		}
	}
	return last
}

// shrinkage is the factor of a shell of the energy whose coefficients have the summed variance: block
// James–Stein with a known variance, (1 − V/‖θ‖²)₊.
func shrinkage(energy, variance float64) float64 {
	if energy <= variance {
		return 0
	}
	return 1 - variance/energy
}
