package noise

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"pgregory.net/rapid"
)

var aroundSamplers = []struct {
	law
	draw func(s *Source, centre, scale float64) int64
}{
	{normal, (*Source).NormalAround},
	{laplace, (*Source).LaplaceAround},
	{laplace, func(s *Source, c, scale float64) int64 {
		var dst [1]int64
		s.SphericalLaplaceAround(dst[:], []float64{c}, scale)
		return dst[0]
	}},
	{spherical3, func(s *Source, c, scale float64) int64 {
		var dst [3]int64
		s.SphericalLaplaceAround(dst[:], []float64{1e9, c, -0.25}, scale)
		return dst[1]
	}},
}

// centred counts draws of round(c + scale·Y) in cells around c and tests them
// against the exact probabilities, as if the centre were claimed.
func centred(l law, draw func() int64, draws int, scale, centre, claimed float64) float64 {
	whole := int64(math.Round(centre))
	edges := l.edges(scale, 200)
	counts := make([]int64, len(edges)+1)
	for range draws {
		i, _ := slices.BinarySearch(edges, draw()-whole)
		counts[i]++
	}
	probability := make([]float64, len(counts))
	a := -1e6
	for i := range probability {
		b := 1e6
		if i < len(edges) {
			b = (float64(edges[i]) + 0.5 - (claimed - float64(whole))) / scale
		}
		probability[i] = l.between(a, b)
		a = b
	}
	return stattest.ChiSquare(counts, probability).P
}

func TestAroundLaw(t *testing.T) {
	statistical(t)
	for i, c := range aroundSamplers {
		for j, centre := range []float64{0, 0.3, -0.49, 0.5, 2.5, 1e-30, -1e-300, 123456.78, -(1 << 40) + 0.125} {
			for k, scale := range []float64{0.4, 3, 1 << 24} {
				for w, width := range []uint{64, 3} {
					s := Seeded(uint64(20_000 + 1000*i + 100*j + 10*k + w))
					s.width = width
					draws := 8_000
					if width != 64 {
						draws = 800
					}
					p := centred(c.law, func() int64 { return c.draw(s, centre, scale) }, draws, scale, centre, centre)
					stattest.Require(t, p, c.name)
				}
			}
		}
		// The test sees a centre that is off by a quarter of the scale.
		s := Seeded(uint64(30_000 + i))
		if p := centred(c.law, func() int64 { return c.draw(s, 0.5, 3) }, 20_000, 3, 0.5, 0.25); p >= stattest.FalseAlarm {
			t.Errorf("%s: a centre of 0.25 passes for 0.5: p = %g", c.name, p)
		}
	}
}

// An integer centre shifts the noise and nothing else.
func TestIntegerCentre(t *testing.T) {
	for seed := range uint64(200) {
		a, b := Seeded(seed), Seeded(seed)
		scale := math.Ldexp(1.3, int(seed%58)-3)
		if got, want := a.NormalAround(17, scale), 17+b.RoundedNormal(scale); got != want {
			t.Fatalf("seed %d: %d, want %d", seed, got, want)
		}
	}
}

// The words of the fast paths agree with exact rational arithmetic for any
// centre, scale and digits.
func TestRoundShiftedExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Seeded(rapid.Uint64().Draw(t, "seed"))
		s.width = rapid.SampledFrom([]uint{64, 64, 64, 1, 5, 63}).Draw(t, "width")
		scale := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "scale"), rapid.IntRange(-70, 55).Draw(t, "exponent"))
		part := rapid.OneOf(rapid.Float64Range(-0.5, 0.5), rapid.SampledFrom([]float64{0, 0.5, -0.5, 0x1p-1074, -0x1p-1074, -0x1p-60})).Draw(t, "part")
		k := rapid.Uint64Range(0, 80).Draw(t, "k")
		x := uniform{head: rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64})).Draw(t, "x") &^ (1<<(64-s.width) - 1)}
		f := s.multiplier(scale)
		got := s.roundShifted(&f, part, k, &x)

		// The deviate, to the digits drawn and twenty more.
		y := new(big.Rat).SetInt(new(big.Int).SetUint64(k))
		digits := len(x.tail) + 20
		p := uint(digits) * s.width
		y.Add(y, new(big.Rat).SetFrac(s.prefix(&x, digits), new(big.Int).Lsh(big.NewInt(1), p)))
		y.Mul(y, new(big.Rat).SetFloat64(scale))
		y.Add(y, new(big.Rat).SetFloat64(part))
		y.Add(y, big.NewRat(1, 2))
		want := new(big.Int).Div(y.Num(), y.Denom())
		if want.Cmp(big.NewInt(got)) != 0 && !(got == math.MaxInt64 && want.Cmp(big.NewInt(got)) > 0) {
			t.Fatalf("round(%g + %g·(%d+%v)) = %d, want %v", part, scale, k, x, got, want)
		}
	})
}

// The machine-word path gives what the big-integer path gives.
func TestSphericalWordsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 9).Draw(t, "m")
		scale := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "scale"), rapid.IntRange(-10, 55).Draw(t, "exponent"))
		centre := make([]float64, m)
		for i := range centre {
			centre[i] = rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Float64Range(-1e18, 1e18), rapid.Float64()).
				Filter(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }).Draw(t, "centre")
		}
		s := Seeded(rapid.Uint64().Draw(t, "seed"))
		z := &mixture{f: s.multiplier(scale), centre: centre, whole: make([]uint64, m), fraction: make([]uniform, m),
			sumWhole: make([]uint64, (m+1)/2), sumFraction: make([]uniform, (m+1)/2), negative: make([]bool, m)}
		for i := range z.sumWhole {
			z.sumWhole[i] = s.exponential(&z.sumFraction[i])
		}
		z.lastWhole = s.halfNormal(&z.lastFraction)
		for i := range centre {
			z.whole[i] = s.halfNormal(&z.fraction[i])
			z.negative[i] = i%2 == 1
		}
		fast, slow := make([]int64, m), make([]int64, m)
		if !z.round(s, fast, 1) {
			t.Skip("more digits needed")
		}
		if !z.round(s, slow, 2) {
			t.Fatal("two digits do not suffice where one did")
		}
		if !slices.Equal(fast, slow) {
			t.Fatalf("%v by words, %v by integers", fast, slow)
		}
	})
}

func TestSphericalAroundRadius(t *testing.T) {
	statistical(t)
	const draws, cells, scale = 4_000, 20, 1 << 30
	for _, m := range []int{1, 2, 5, 40} {
		s := Seeded(uint64(600 + m))
		l := gamma(m)
		counts := make([]int64, cells)
		dst, centre := make([]int64, m), make([]float64, m)
		for i := range centre {
			centre[i] = 1e6 + float64(i) + 0.3
		}
		for range draws {
			s.SphericalLaplaceAround(dst, centre, scale)
			var sum float64
			for i, q := range dst {
				d := (float64(q) - centre[i]) / scale
				sum += d * d
			}
			counts[equalCells(1-l.tail(math.Sqrt(sum)), cells)]++
		}
		stattest.Require(t, stattest.ChiSquare(counts, equalLaw(cells)).P, "radius")
	}
}

// V − W for two Laplace deviates has the upper tail (2+c)e^(−c)/4 at c ≥ 0.
func TestReachesLaw(t *testing.T) {
	statistical(t)
	const draws = 20_000
	for i, width := range []uint{64, 2} {
		s := Seeded(uint64(700 + i))
		s.width = width
		for _, c := range []float64{-2, -0.5, 0, 0.7, 3} {
			var hits int64
			for range draws {
				v, w := s.Laplace(), s.Laplace()
				if s.Reaches(10, 2, v, 10+2*c, 2, w) {
					hits++
				}
			}
			p := (2 + math.Abs(c)) * math.Exp(-math.Abs(c)) / 4
			if c < 0 {
				p = 1 - p
			}
			stattest.Require(t, stattest.TwoSided(hits, draws, p), "Reaches")
		}
	}
}

// The order is that of the real numbers, also where floating point cannot tell.
func TestReachesExact(t *testing.T) {
	s := Seeded(1)
	v := &Laplace{x: uniform{head: 1 << 63, tail: []uint64{5}}}
	w := &Laplace{x: uniform{head: 1 << 63, tail: []uint64{4}}}
	if !s.Reaches(1, 1, v, 1, 1, w) || s.Reaches(1, 1, w, 1, 1, v) {
		t.Error("digits beyond the first are ignored")
	}
	v.negative, w.negative = true, true
	if s.Reaches(1, 1, v, 1, 1, w) || !s.Reaches(1, 1, w, 1, 1, v) {
		t.Error("negative deviates are ordered wrongly")
	}
	// a − b is not representable: 1 − 2^-80 against 1.
	u := &Laplace{k: 3, x: uniform{head: 7}}
	if s.Reaches(-0x1p-80, 1, u, 0, 1, u) || !s.Reaches(0x1p-80, 1, u, 0, 1, u) {
		// The intervals of u with itself never separate by their own digits.
		t.Error("a tiny gap is lost")
	}
	for _, bad := range []func(){
		func() { s.Reaches(math.NaN(), 1, v, 0, 1, w) },
		func() { s.Reaches(0, 0, v, 0, 1, w) },
		func() { s.NormalAround(math.Inf(1), 1) },
		func() { s.NormalsAround(make([]int64, 2), make([]float64, 1), 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a programmer's mistake does not panic")
				}
			}()
			bad()
		}()
	}
}

func TestAroundSaturates(t *testing.T) {
	s := Seeded(3)
	if got := s.NormalAround(1e300, 1); got < math.MaxInt64-100 {
		t.Errorf("around 1e300: %d", got)
	}
	if got := s.NormalAround(-1e300, 1); got > -math.MaxInt64+100 {
		t.Errorf("around -1e300: %d", got)
	}
}

func BenchmarkNormalAround(b *testing.B) {
	s := Crypto()
	for range b.N {
		s.NormalAround(12345.678, 1<<24)
	}
}

func BenchmarkSphericalLaplaceAround(b *testing.B) {
	s := Crypto()
	dst, centre := make([]int64, 512), make([]float64, 512)
	for i := range centre {
		centre[i] = 1e9 / float64(i+3)
	}
	b.ResetTimer()
	for range b.N {
		s.SphericalLaplaceAround(dst, centre, 1<<24)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/coordinate")
}
