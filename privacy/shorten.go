package privacy

import (
	"math"
	"strconv"
)

// shortDigits is what people read of a computed budget.
const shortDigits = 6

// Shorten returns the guarantee with its numbers to six significant digits, for
// people: rounded up where up is true, as what was spent must be, and else down, as
// what is left must be. Numbers within 1e-12 of a shorter one, such as the sum of 0.1
// and 0.2, become that. Accounts keep the exact numbers.
func Shorten(g Guarantee, up bool) Guarantee {
	s := func(x float64) float64 { return shorten(x, up) }
	switch g := g.(type) {
	case GDP:
		return GDP(s(float64(g)))
	case ZCDP:
		return ZCDP(s(float64(g)))
	case Pure:
		return Pure(s(float64(g)))
	case Geo:
		return Geo(s(float64(g)))
	case ConcentratedGeo:
		return ConcentratedGeo(s(float64(g)))
	case Approx:
		return Approx{Epsilon: s(g.Epsilon), Delta: s(g.Delta)}
	}
	return g
}

func shorten(x float64, up bool) float64 {
	near := decimal(strconv.FormatFloat(x, 'e', shortDigits-1, 64))
	if math.Abs(near-x) <= 1e-12*math.Abs(x) || near > x == up {
		return near
	}
	e := math.Floor(math.Log10(math.Abs(x)))
	step := math.Pow(10, e-shortDigits+1)
	if !up {
		step = -step
	}
	return decimal(strconv.FormatFloat(near+step, 'e', shortDigits-1, 64))
}

func decimal(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}
