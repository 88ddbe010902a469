package noise

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

const sphericalScale = 1 << 40

func sphericalDraw(s *Source, m int) (z []float64, radius float64) {
	dst := make([]int64, m)
	s.RoundedSphericalLaplace(dst, sphericalScale)
	z = make([]float64, m)
	for i, q := range dst {
		z[i] = float64(q) / sphericalScale
		radius += z[i] * z[i]
	}
	return z, math.Sqrt(radius)
}

// equalCells returns the cell of a uniform deviate among n, and the law of cells.
func equalCells(u float64, n int) int { return min(int(u*float64(n)), n-1) }

func equalLaw(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	return p
}

// The radius is Gamma(m, 1), the direction uniform: through their distribution
// functions both become uniform, and they are independent. The square of one
// coordinate of a uniform direction is Beta(1/2, (m−1)/2).
func TestSphericalRadiusAndDirection(t *testing.T) {
	statistical(t)
	const draws, cells = 20_000, 8
	for _, m := range []int{2, 3, 7, 30} {
		s := Seeded(uint64(500 + m))
		law := gamma(m)
		joint := make([]int64, cells*cells)
		pair := make([]int64, cells)
		var wide [2]int64 // radius beyond the upper decile of the right law
		for range draws / (1 + m/10) {
			z, radius := sphericalDraw(s, m)
			u := 1 - law.tail(radius)
			c := z[m-1] / radius
			v := mathext.RegIncBeta(0.5, float64(m-1)/2, min(c*c, 1))
			if c < 0 {
				v = -v
			}
			joint[cells*equalCells(u, cells)+equalCells((1+v)/2, cells)]++
			pair[equalCells((1+math.Atan2(z[0], z[1])/math.Pi)/2, cells)]++
			if u > 0.9 {
				wide[0]++
			}
			if 1-law.tail(radius*1.1) > 0.9 {
				wide[1]++
			}
		}
		g := stattest.ChiSquare(joint, equalLaw(cells*cells))
		t.Logf("m=%d radius × direction: %v", m, g)
		stattest.Require(t, g.P, "radius × direction")
		stattest.Require(t, stattest.ChiSquare(pair, equalLaw(cells)).P, "angle of two coordinates")
		n := int64(draws / (1 + m/10))
		stattest.Require(t, stattest.TwoSided(wide[0], n, 0.1), "upper decile of the radius")
		if p := stattest.TwoSided(wide[1], n, 0.1); p >= stattest.FalseAlarm {
			t.Errorf("m=%d: radii 10 %% too long pass with p=%g", m, p)
		}
	}
}

// The traps: a radius with the law Exp(1), and the law for another dimension.
func TestSphericalStatisticRejectsTraps(t *testing.T) {
	statistical(t)
	const draws, cells = 5_000, 20
	for _, wrong := range []int{1, 2, 4} {
		s := Seeded(9)
		counts := make([]int64, cells)
		for range draws {
			_, radius := sphericalDraw(s, 3)
			counts[equalCells(1-gamma(wrong).tail(radius), cells)]++
		}
		if g := stattest.ChiSquare(counts, equalLaw(cells)); g.P >= stattest.FalseAlarm {
			t.Errorf("Gamma(3) passes for Gamma(%d): %v", wrong, g)
		}
	}
}

// Every coordinate is the one integer to which all reals in the interval of its
// digits round. The reference brackets √V with big.Float at 2000 bits.
func TestSphericalIsCertain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Seeded(rapid.Uint64().Draw(t, "seed"))
		s.width = rapid.SampledFrom([]uint{64, 64, 1, 4, 17}).Draw(t, "width")
		m := rapid.IntRange(1, 4).Draw(t, "m")
		scale := math.Ldexp(rapid.Float64Range(0.5, 1).Draw(t, "mantissa"), rapid.IntRange(-3, 56).Draw(t, "exponent"))
		f := s.multiplier(scale)
		whole := make([]uint64, 2*m+1)
		fraction := make([]uniform, 2*m+1)
		for i := range whole {
			whole[i] = s.halfNormal(&fraction[i])
		}
		got := make([]int64, m)
		digits := 1
		for !s.roundMixture(got, &f, whole, fraction, digits) {
			digits++
		}

		const prec = 2000
		value := func(i int, end int64) *big.Float {
			n := s.prefix(&fraction[i], digits)
			n.Add(n, big.NewInt(end))
			y := new(big.Float).SetPrec(prec).SetInt(n)
			y.SetMantExp(y, -digits*int(s.width))
			return y.Add(y, new(big.Float).SetPrec(prec).SetUint64(whole[i]))
		}
		for _, end := range []int64{0, 1} {
			v := new(big.Float).SetPrec(prec)
			for j := m; j < len(whole); j++ {
				y := value(j, end)
				v.Add(v, y.Mul(y, y))
			}
			v.Sqrt(v)
			for i := range m {
				r := value(i, end)
				r.Mul(r, v)
				r.Mul(r, new(big.Float).SetPrec(prec).SetFloat64(scale))
				q, _ := r.Add(r, big.NewFloat(0.5)).Int(nil)
				if q.Cmp(big.NewInt(got[i])) != 0 {
					t.Fatalf("coordinate %d is %d, but end %d of its interval rounds to %v", i, got[i], end, q)
				}
			}
		}
	})
}

func TestSphericalOfDimensionZero(t *testing.T) {
	s := Seeded(1)
	s.RoundedSphericalLaplace(nil, 1)
	if !slices.Equal([]uint64{s.Uint64()}, goldenWords[:1]) {
		t.Error("a vector without coordinates draws words")
	}
}
