// The error of the average, predicted mode by mode. In the eigenbasis of the covariance operator Σ = E φ(x)φ(x)ᵀ the
// recursion, linearised around the truth, falls apart into scalar ones,
//
//	d ← (1 − γκν_k)d + γζ,   Var ζ = s² + qν_k,
//
// whose means and second moments, and those of their sums over time, have closed forms over any stretch of constant γ,
// κ and q. κ is the slope of the smoothed ℓ_τ and q its second moment at normal residuals of variance V = σ² + E(d·φ)²
// (Stein's identity: E ℓ_τ(Z)Z = V·P(|Z| ≤ τ)), renewed as the error shrinks.

package regression

import (
	"math"
)

// mode is one eigenfunction: error of the iterate, and its sum over the steps.
type mode struct {
	nu        float64
	mean, sum float64 // mean of the error, and the mean of its sum
	// Variances from privacy noise [0] and from sampling [1]: of the error, with its sum, of the sum.
	v, cov, sumV [2]float64
}

// advance is the given number of steps.
func (m *mode) advance(steps, gamma, kappa float64, noise [2]float64) {
	c := gamma * kappa * m.nu
	rho := 1 - c
	power := math.Pow(rho, steps)
	small := c*steps < 1e-3
	a, s2 := steps, steps // Σρ^i and Σρ^{2i}, i = 0 … steps−1
	if !small {
		a, s2 = (1-power)/c, (1-power*power)/(c*(2-c))
	}
	g := rho * a
	m.sum += g * m.mean
	m.mean *= power
	for k, variance := range noise {
		n := gamma * gamma * variance
		m.sumV[k] += 2*g*m.cov[k] + g*g*m.v[k]
		m.cov[k] = power*m.cov[k] + power*g*m.v[k]
		m.v[k] = power*power*m.v[k] + n*s2
		if small {
			m.cov[k] += n * steps * (steps + 1) / 2
			m.sumV[k] += n * steps * (steps + 1) * (2*steps + 1) / 6
		} else {
			m.cov[k] += n / c * (a - rho*s2)
			m.sumV[k] += n / (c * c) * (steps - 2*rho*a + rho*rho*s2)
		}
	}
}

// oracle predicts runs of a stream under guesses.
type oracle struct {
	nu, theta []float64 // eigenvalues, and the truth's coordinates in the eigenbasis
	rest      float64   // mean square of what the space cannot represent
	tau       float64
	errors    float64 // σ of the observation errors
	privacy   float64 // s of the noise in each coordinate
	// r of the exponent that a chosen step is written with
	smoothness float64
}

// outcome is mean squares over x.
type outcome struct{ bias, privacy, sampling float64 }

func (o outcome) total() float64 { return o.bias + o.privacy + o.sampling }

// run predicts the mean square error of the average after n reports.
func (o *oracle) run(steps Steps, n float64) outcome {
	modes := make([]mode, len(o.nu))
	for k := range modes {
		modes[k] = mode{nu: o.nu[k], mean: -o.theta[k]}
	}
	for done := 0.0; done < n; {
		block := math.Min(math.Max(1, math.Floor(done/32)), n-done)
		gamma := steps.At(done + (block+1)/2)
		v := o.errors*o.errors + o.rest
		for _, m := range modes {
			v += m.nu * (m.mean*m.mean + m.v[0] + m.v[1])
		}
		kappa, q := smoothed(o.tau, v)
		for k := range modes {
			modes[k].advance(block, gamma, kappa, [2]float64{o.privacy * o.privacy, q * modes[k].nu})
		}
		done += block
	}
	out := outcome{bias: o.rest}
	for _, m := range modes {
		out.bias += m.nu * m.sum * m.sum / (n * n)
		out.privacy += m.nu * m.sumV[0] / (n * n)
		out.sampling += m.nu * m.sumV[1] / (n * n)
	}
	return out
}

// smoothed is κ = P(|Z| ≤ τ) and q = E ℓ_τ(Z)² for Z ~ N(0, v).
func smoothed(tau, v float64) (kappa, q float64) {
	if math.IsInf(tau, 1) {
		return 1, v
	}
	z := tau / math.Sqrt(v)
	kappa = math.Erf(z / math.Sqrt2)
	return kappa, v*(kappa-math.Sqrt(2/math.Pi)*z*math.Exp(-z*z/2)) + tau*tau*math.Erfc(z/math.Sqrt2)
}

// best is the constant step for n reports that minimises the predicted error, at most 1/B².
func (o *oracle) best(n, bound float64) float64 {
	at := func(logGamma float64) float64 {
		return o.run(Steps{Gamma0: math.Exp(logGamma), Horizon: 1}, n).total()
	}
	// The error falls, then rises in γ: golden section on a bracket from a coarse scan.
	high := -2 * math.Log(bound)
	best, bestAt := math.Inf(1), high
	for i := range 33 {
		x := high - 0.5*float64(i)
		if e := at(x); e < best {
			best, bestAt = e, x
		}
	}
	lo, hi := bestAt-0.5, math.Min(bestAt+0.5, high)
	const golden = 0.6180339887498949
	for hi-lo > 1e-3 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if at(a) < at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return math.Exp((lo + hi) / 2)
}
