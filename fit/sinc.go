// Coordinates of a piecewise linear curve in sinc functions on the line, in
// closed form by the sine integral ([GEO] §3.5; methods §4).

package fit

import "math"

// sincMoments sets dst[j·stride] to ∫ q(t)·sinc(u−j) du over the window, u =
// (t−first)/spacing, for j < dim, q linear between (t, x).
func sincMoments(dst []float64, stride, dim int, t, x []float64, first, spacing float64) {
	for j := range dim {
		dst[j*stride] = 0
	}
	for i := 1; i < len(t); i++ {
		u0, u1 := (t[i-1]-first)/spacing, (t[i]-first)/spacing
		if !(u1 > u0) {
			continue
		}
		slope := (x[i] - x[i-1]) / (u1 - u0)
		for j := range dim {
			// With y = u−j the integrand is (value at j + slope·y)·sin(πy)/(πy).
			y0, y1 := u0-float64(j), u1-float64(j)
			at := x[i-1] - slope*y0
			// cos A − cos B = 2·sin((A+B)/2)·sin((B−A)/2), without cancellation.
			cosines := 2 * math.Sin(math.Pi*(y0+y1)/2) * math.Sin(math.Pi*(y1-y0)/2)
			dst[j*stride] += at*(SineIntegral(math.Pi*y1)-SineIntegral(math.Pi*y0))/math.Pi + slope*cosines/(math.Pi*math.Pi)
		}
	}
}

// SineIntegral returns Si(x) = ∫₀ˣ sin(u)/u du to about 1e-15: by the power series
// for |x| ≤ 4, beyond by the continued fraction of E₁(ix) (DLMF 6.9.1), Si(x) =
// π/2 + Im E₁(ix).
func SineIntegral(x float64) float64 {
	if x < 0 {
		return -SineIntegral(-x)
	}
	if x <= 4 {
		term, sum := x, x
		for n := 3.0; ; n += 2 {
			term *= -x * x / ((n - 1) * n)
			if next := sum + term/n; next == sum {
				return sum
			} else {
				sum = next
			}
		}
	}
	if math.IsInf(x, 1) {
		return math.Pi / 2
	}
	// Lentz's method on E₁(z) = e^{−z}/(z+1−1/(z+3−4/(z+5−…))), z = ix.
	b := complex(1, x)
	c := complex(math.MaxFloat64/1e10, 0)
	d := 1 / b
	h := d
	for n := 1.0; n < 300; n++ {
		a := complex(-n*n, 0)
		b += 2
		d = 1 / (a*d + b)
		c = b + a/c
		step := c * d
		h *= step
		if math.Abs(real(step)-1)+math.Abs(imag(step)) < 1e-16 {
			break
		}
	}
	sin, cos := math.Sincos(x)
	// Im(e^{−ix}·h).
	return math.Pi/2 + (cos*imag(h) - sin*real(h))
}
