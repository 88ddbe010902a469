package privacy

// Directed rounding by error-free transformations: the rounding error of +, ×, ÷, √ is itself computed
// (TwoSum; fused multiply-add), and the result moves one float in the wanted direction only when the
// error says so. Explicit float64 conversions keep the compiler from fusing.

import "math"

// tiny is where a residual of a product could underflow and hide its sign; below it every result moves.
const tiny = 0x1p-900

func up(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return math.Nextafter(x, math.Inf(1))
}

func down(x float64) float64 {
	if math.IsInf(x, 1) {
		return math.MaxFloat64 // an overflowing finite result
	}
	return math.Nextafter(x, math.Inf(-1))
}

// AddUp returns the smallest float64 not below a+b, for finite a and b.
func AddUp(a, b float64) float64 {
	s, e := twoSum(a, b)
	if e > 0 {
		return up(s)
	}
	return s
}

// AddDown returns the largest float64 not above a+b, for finite a and b.
func AddDown(a, b float64) float64 {
	s, e := twoSum(a, b)
	if e < 0 || math.IsInf(s, 1) {
		return down(s)
	}
	return s
}

// twoSum returns a+b rounded and its error (Knuth, TAOCP 2, §4.2.2); the error is 0 when the sum overflows.
func twoSum(a, b float64) (s, e float64) {
	s = float64(a + b)
	if math.IsInf(s, 0) {
		return s, 0
	}
	t := float64(s - a)
	return s, float64(a-float64(s-t)) + float64(b-t)
}

// MulUp returns a float64 not below a·b, for finite a, b ≥ 0; the smallest one unless the product is below 2⁻⁹⁰⁰.
func MulUp(a, b float64) float64 {
	p := float64(a * b)
	if a == 0 || b == 0 {
		return 0
	}
	if p < tiny || math.FMA(a, b, -p) > 0 {
		return up(p)
	}
	return p
}

// MulDown returns a float64 not above a·b, for finite a, b ≥ 0.
func MulDown(a, b float64) float64 {
	p := float64(a * b)
	if p == 0 {
		return 0
	}
	if p < tiny || math.IsInf(p, 1) || math.FMA(a, b, -p) < 0 {
		return down(p)
	}
	return p
}

// DivUp returns a float64 not below a/b, for finite a ≥ 0 and b > 0.
func DivUp(a, b float64) float64 {
	q := float64(a / b)
	if a == 0 {
		return 0
	}
	if q < tiny || a < tiny || math.FMA(-q, b, a) > 0 {
		return up(q)
	}
	return q
}

// DivDown returns a float64 not above a/b, for finite a ≥ 0 and b > 0.
func DivDown(a, b float64) float64 {
	q := float64(a / b)
	if q == 0 {
		return 0
	}
	if q < tiny || a < tiny || math.IsInf(q, 1) || math.FMA(-q, b, a) < 0 {
		return down(q)
	}
	return q
}

// SqrtUp returns a float64 not below √a, for finite a ≥ 0.
func SqrtUp(a float64) float64 {
	s := math.Sqrt(a)
	if a == 0 {
		return 0
	}
	if a < tiny || math.FMA(-s, s, a) > 0 {
		return up(s)
	}
	return s
}

// SqrtDown returns a float64 not above √a, for finite a ≥ 0.
func SqrtDown(a float64) float64 {
	s := math.Sqrt(a)
	if a == 0 {
		return 0
	}
	if a < tiny || math.FMA(-s, s, a) < 0 {
		return down(s)
	}
	return s
}

const ulp = 0x1p-52

// inflate and deflate move x ≥ 0 by a relative error of n·2⁻⁵², outward and inward.
func inflate(x, n float64) float64 { return MulUp(x, AddUp(1, n*ulp)) }
func deflate(x, n float64) float64 { return MulDown(x, math.Max(0, AddDown(1, -n*ulp))) }
