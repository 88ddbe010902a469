// The law of the noise in a release. It is public, so everyone can say how far
// the released function is from the one without noise.

package release

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Laws of noise.
const (
	// Gaussian: σ·ξ, ξ standard normal in each coordinate of each component.
	Gaussian = "gaussian"
	// GaussianLinearised: L·ξ in each component, independent between
	// components: how the noise in the samples moves a protect-then-fit
	// release, the multiplier of its constraint held at the released one.
	// Exact while the constraint is not active, of first order once it is.
	GaussianLinearised = "gaussian-linearised"
	// GaussianLayered: σ_s·ξ in the coefficients of shell s, whose levels lie
	// in (Ranks[s−1], Ranks[s]]; no noise in the constant, which is the same for
	// every density, nor beyond the last rank, where there are no coefficients.
	GaussianLayered = "gaussian-layered"
	// SphericalLaplace: b·Z, Z ∈ R^m with density ∝ exp(−‖z‖₂), one draw for
	// all m = len(Components)·Dim coordinates jointly. E‖Z‖² = m(m+1).
	SphericalLaplace = "spherical-laplace"
)

// Noise is the law of the noise in the coordinates, before any projection.
type Noise struct {
	Law    string
	Scale  float64     // σ (gaussian) or b (spherical-laplace), in units of the coefficients; 0 otherwise
	Factor [][]float64 // L, Dim×r, for gaussian-linearised; nil otherwise
	Ranks  []float64   // largest level of each shell, increasing, for gaussian-layered; nil otherwise
	Scales []float64   // σ of each shell, in units of the coefficients
}

func (n Noise) validate(dim int) (at string, err error) {
	if n.Law != GaussianLayered && (n.Ranks != nil || n.Scales != nil) {
		return ".ranks", fmt.Errorf("law %q has no shells; remove them", n.Law)
	}
	switch n.Law {
	case GaussianLayered:
		return n.validateLayers()
	case Gaussian, SphericalLaplace:
		if !finite(n.Scale) || n.Scale <= 0 {
			return ".scale", fmt.Errorf("noise scale %v must be positive and finite", n.Scale)
		}
		if n.Factor != nil {
			return ".factor", fmt.Errorf("law %q has a scale and no factor; remove one", n.Law)
		}
		return "", nil
	case GaussianLinearised:
		if n.Scale != 0 {
			return ".scale", fmt.Errorf("law %q has a factor and no scale (found %v); fold the scale into the factor", n.Law, n.Scale)
		}
		return n.validateFactor(dim)
	}
	return ".law", fmt.Errorf("unknown law of noise %q; known are %q, %q, %q, %q", n.Law, Gaussian, GaussianLinearised, GaussianLayered, SphericalLaplace)
}

func (n Noise) validateFactor(dim int) (at string, err error) {
	if len(n.Factor) != dim {
		return ".factor", fmt.Errorf("%d rows, the space has dimension %d; give one row per coordinate", len(n.Factor), dim)
	}
	r := len(n.Factor[0])
	if r < 1 || r > maxFactorEntries/dim {
		return ".factor", fmt.Errorf("%d columns; between 1 and %d are accepted in dimension %d", r, maxFactorEntries/dim, dim)
	}
	zero := true
	for i, row := range n.Factor {
		if len(row) != r {
			return fmt.Sprintf(".factor[%d]", i), fmt.Errorf("%d columns where the first row has %d", len(row), r)
		}
		for j, v := range row {
			if !finite(v) {
				return fmt.Sprintf(".factor[%d][%d]", i, j), fmt.Errorf("%v is not finite", v)
			}
			zero = zero && v == 0
		}
	}
	if zero {
		return ".factor", fmt.Errorf("all entries are 0: a release without noise is not private")
	}
	return "", nil
}

// direction writes to dst the vector d(t) for which the noise of component k at
// t is d(t)·ζ_k, ζ_k the component's unit noise (ξ, or its part of Z), and
// returns ‖d(t)‖. e is e(t).
func (n Noise) direction(dst, e []float64) float64 {
	if n.Law == GaussianLinearised {
		clear(dst)
		for i, row := range n.Factor {
			for j, v := range row {
				dst[j] += v * e[i]
			}
		}
	} else {
		for i, v := range e {
			dst[i] = n.Scale * v
		}
	}
	return norm(dst)
}

// rank is the length of a component's unit noise.
func (n Noise) rank(dim int) int {
	if n.Law == GaussianLinearised {
		return len(n.Factor[0])
	}
	return dim
}

// unitSD is the standard deviation of one coordinate of the unit noise, m the
// number of coordinates over all components.
func (n Noise) unitSD(m int) float64 {
	if n.Law == SphericalLaplace {
		return math.Sqrt(float64(m + 1)) // E Z₁² = E‖Z‖²/m
	}
	return 1
}

// unitQuantile is the q with Pr(|u·ζ| ≤ q) = level for every unit vector u.
func (n Noise) unitQuantile(m int, level float64) float64 {
	if n.Law == SphericalLaplace {
		return laplaceQuantile(m, level)
	}
	return math.Sqrt2 * math.Erfinv(level)
}

// NoiseSD returns the standard deviation of the privacy noise in the value of
// one component at t, before any projection onto the ball; it is the same for
// every component. Outside the domain it is NaN.
func (r *Release) NoiseSD(t float64) float64 {
	if r.inDomain(t) != nil {
		return math.NaN()
	}
	_, d := r.noiseAt(t)
	return d * r.Noise.unitSD(r.coordinates())
}

// NoiseRMS returns the root-mean-square over the domain of the privacy noise in one component, by Gauss–Legendre quadrature:
// exact where the basis is polynomial between the breaks of the space. For a denoised curve it is that of the lines, two
// coordinates a piece, that were released before smoothing. It is NaN for a function of several variables.
func (r *Release) NoiseRMS() float64 {
	if r.Space == nil {
		return math.NaN()
	}
	if sd, each, ok := r.beforeDenoising(); ok {
		return sd * math.Sqrt(float64(each))
	}
	const pieces, points = 64, 8
	d := r.Space.Domain()
	breaks := []float64{d.A, d.B}
	if p, ok := r.Space.(interface{ Breaks() []float64 }); ok {
		breaks = p.Breaks()
	}
	sd := r.NoiseSD
	if r.Noise.Law == Gaussian || r.Noise.Law == SphericalLaplace { // alike in all coordinates: only those that are not zero matter
		sd = func(t float64) float64 {
			e, _ := r.basis(t)
			return r.Noise.Scale * norm(e) * r.Noise.unitSD(r.coordinates())
		}
	}
	each := max(1, pieces/(len(breaks)-1))
	x, w := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	var sum float64
	for i := range len(breaks) - 1 {
		width := (breaks[i+1] - breaks[i]) / float64(each)
		for k := range each {
			for j, u := range x {
				v := sd(math.Min(breaks[i]+width*(float64(k)+u), d.B))
				sum += w[j] * v * v * width / d.Length()
			}
		}
	}
	return math.Sqrt(sum)
}

// beforeDenoising is the standard deviation of a coordinate and their number in each component, two for each piece, of what
// a denoised curve was made from.
func (r *Release) beforeDenoising() (sd float64, each int, ok bool) {
	p, pieces := r.Space.(interface{ Pieces() int })
	if r.Method != Denoised || !pieces {
		return 0, 0, false
	}
	each = 2 * p.Pieces()
	return r.Noise.Scale * r.Noise.unitSD(each*len(r.Components)), each, true
}

func (r *Release) coordinates() int { return len(r.Components) * r.dim() }

func (r *Release) noiseAt(t float64) (e []float64, d float64) {
	e = make([]float64, r.Space.Dim())
	r.Space.Eval(e, t)
	switch r.Noise.Law {
	case GaussianLinearised:
		return e, r.Noise.direction(make([]float64, r.Noise.rank(len(e))), e)
	case GaussianLayered:
		return e, r.layeredDirection(make([]float64, len(e)), e, r.layeredScales())
	}
	return e, r.Noise.Scale * norm(e)
}

func norm(v []float64) float64 {
	var big float64
	for _, x := range v {
		big = math.Max(big, math.Abs(x))
	}
	if big == 0 || !finite(big) {
		return big
	}
	var s float64
	for _, x := range v {
		s += (x / big) * (x / big)
	}
	return big * math.Sqrt(s)
}

// ball is how far from the reference a function of the ball can be at t; no ball
// bounds a curve, nor a regression without a radius.
func (r *Release) ball(t float64) float64 {
	if r.Verb == Curve || r.Radius == 0 {
		return math.Inf(1)
	}
	return r.Radius * r.Space.Bound(t)
}
