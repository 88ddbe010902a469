// The exact laws of the rounded deviates and the χ² test against them. Every
// test of this package is seeded and has a false-alarm rate of at most 1e-6 (were
// the seed redrawn) per statistic.

package noise

import (
	"math"
	"slices"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"gonum.org/v1/gonum/mathext"
)

// law is the law of a real deviate through its upper tail on y ≥ 0.
type law struct {
	name      string
	tail      func(y float64) float64 // P(Y > y)
	symmetric bool                    // else Y ≥ 0
}

var (
	normal      = law{"normal", func(y float64) float64 { return math.Erfc(y/math.Sqrt2) / 2 }, true}
	laplace     = law{"Laplace", func(y float64) float64 { return math.Exp(-y) / 2 }, true}
	exponential = law{"exponential", func(y float64) float64 { return math.Exp(-y) }, false}
	// One coordinate of a spherical Laplace vector in three dimensions has the
	// density ∫_|x|^∞ e^(−r) 2πr dr / 8π = (1+|x|)e^(−|x|)/4.
	spherical3 = law{"spherical Laplace coordinate, m=3", func(y float64) float64 { return (2 + y) * math.Exp(-y) / 4 }, true}
)

func gamma(m int) law {
	return law{"Gamma", func(y float64) float64 { return mathext.GammaIncRegComp(float64(m), y) }, false}
}

// between returns P(a < Y < b), without cancellation in the tails.
func (l law) between(a, b float64) float64 {
	if !l.symmetric {
		return l.tail(max(a, 0)) - l.tail(max(b, 0))
	}
	switch {
	case a >= 0:
		return l.tail(a) - l.tail(b)
	case b <= 0:
		return l.tail(-b) - l.tail(-a)
	default:
		return 1 - l.tail(-a) - l.tail(b)
	}
}

// edges returns about n integers that cut the rounded deviate into cells: all of
// ±12 scales if these are few, else equally probable ones. Cell i holds
// edges[i−1] < n ≤ edges[i].
func (l law) edges(scale float64, n int) []int64 {
	var edges []int64
	if 24*scale < float64(n) {
		for q := -math.Ceil(12 * scale); q <= 12*scale; q++ {
			edges = append(edges, int64(q))
		}
		return edges
	}
	for i := 1; i < n; i++ {
		low, high := -60., 60.
		for high-low > 1e-12 {
			if middle := (low + high) / 2; l.between(-math.MaxFloat64, middle) < float64(i)/float64(n) {
				low = middle
			} else {
				high = middle
			}
		}
		edges = append(edges, int64(low*scale))
	}
	return edges
}

// fit tests draws of round(scale·Y) against their law.
func (l law) fit(draw func() int64, draws int, scale float64) stattest.GoodnessOfFit {
	edges, counts := l.count(draw, draws, scale)
	return stattest.ChiSquare(counts, l.probabilities(edges, scale))
}

func (l law) count(draw func() int64, draws int, scale float64) (edges, counts []int64) {
	edges = l.edges(scale, 200)
	counts = make([]int64, len(edges)+1)
	for range draws {
		i, _ := slices.BinarySearch(edges, draw())
		counts[i]++
	}
	return edges, counts
}

func (l law) probabilities(edges []int64, scale float64) []float64 {
	probability := make([]float64, len(edges)+1)
	a := -1e6
	for i := range probability {
		b := 1e6
		if i < len(edges) {
			b = (float64(edges[i]) + 0.5) / scale
		}
		probability[i] = l.between(a, b)
		a = b
	}
	return probability
}

// statistical skips a long test on one goroutine under the race detector, which
// has nothing to find in it and slows it down tenfold.
func statistical(t *testing.T) {
	if raceDetector {
		t.Skip("statistics on one goroutine: run without -race")
	}
}

type sampler struct {
	law  law
	draw func(s *Source, scale float64) int64
}

var samplers = []sampler{
	{normal, (*Source).RoundedNormal},
	{laplace, (*Source).RoundedLaplace},
	{exponential, (*Source).RoundedExponential},
	{laplace, func(s *Source, scale float64) int64 {
		var dst [1]int64
		s.RoundedSphericalLaplace(dst[:], scale)
		return dst[0]
	}},
	{spherical3, func(s *Source, scale float64) int64 {
		var dst [3]int64
		s.RoundedSphericalLaplace(dst[:], scale)
		return dst[1]
	}},
}

// TestGoodnessOfFit also checks that the same statistic rejects scales that are
// wrong by 3 % (7 % for spherical Laplace), so that it would see such a fault.
func TestGoodnessOfFit(t *testing.T) {
	statistical(t)
	for i, c := range samplers {
		draws, wrong := 300_000, 1.03
		if i >= 3 {
			draws, wrong = 50_000, 1.07 // spherical Laplace is slower
		}
		for j, scale := range []float64{0.3, 1, 3, 1000, 1 << 30, MaxScale} {
			s := Seeded(uint64(100*i + j))
			edges, counts := c.law.count(func() int64 { return c.draw(s, scale) }, draws, scale)
			g := stattest.ChiSquare(counts, c.law.probabilities(edges, scale))
			t.Logf("%d %s ×%g: %v", i, c.law.name, scale, g)
			stattest.Require(t, g.P, c.law.name)
			for _, claimed := range []float64{scale / wrong, scale * wrong} {
				g := stattest.ChiSquare(counts, c.law.probabilities(edges, claimed))
				if g.P >= stattest.FalseAlarm {
					t.Errorf("%s with scale %g passes for %g: %v", c.law.name, scale, claimed, g)
				}
			}
		}
	}
}

// Digits of one to eleven bits take every slow path often: comparisons that
// need many digits, roundings whose interval straddles a boundary. The laws must
// not depend on where the digits are cut.
func TestNarrowDigits(t *testing.T) {
	statistical(t)
	for i, c := range samplers {
		for j, width := range []uint{1, 2, 5, 11} {
			for k, scale := range []float64{0.3, 3, 1000} {
				s := Seeded(uint64(10_000 + 100*i + 10*j + k))
				s.width = width
				draws := 15_000
				if i >= 3 {
					draws = 1_200
				}
				g := c.law.fit(func() int64 { return c.draw(s, scale) }, draws, scale)
				t.Logf("%s ×%g, %d bits: %v", c.law.name, scale, width, g)
				stattest.Require(t, g.P, c.law.name)
			}
		}
	}
}

// Positive and negative results are equally likely, and zero has the
// probability of both halves together (no sign is lost or counted twice at zero).
func TestSignAndZero(t *testing.T) {
	statistical(t)
	const draws = 500_000
	for i, c := range samplers[:2] {
		for _, scale := range []float64{0.3, 1, 1e6} {
			s := Seeded(uint64(200 + i))
			var zero, positive int64
			for range draws {
				switch q := c.draw(s, scale); {
				case q == 0:
					zero++
				case q > 0:
					positive++
				}
			}
			half := 0.5 / scale
			stattest.Require(t, stattest.TwoSided(zero, draws, c.law.between(-half, half)), c.law.name+": zeros")
			stattest.Require(t, stattest.TwoSided(positive, draws-zero, 0.5), c.law.name+": signs")
		}
	}
}

func TestTails(t *testing.T) {
	statistical(t)
	const draws = 1_000_000
	for i, c := range []struct {
		sampler
		from []int64
	}{{samplers[0], []int64{3, 4, 5, 6}}, {samplers[1], []int64{5, 8, 11, 15}}, {samplers[2], []int64{5, 8, 11, 15}}} {
		s := Seeded(uint64(300 + i))
		count := make([]int64, len(c.from))
		for range draws {
			q := c.draw(s, 1)
			for j, from := range c.from {
				if q >= from || q <= -from {
					count[j]++
				}
			}
		}
		for j, from := range c.from {
			p := c.law.tail(float64(from) - 0.5)
			if c.law.symmetric {
				p *= 2
			}
			stattest.Require(t, stattest.TwoSided(count[j], draws, p), c.law.name+": tail")
		}
	}
}

// On a large scale the low bits carry no structure: they are uniform.
func TestLowBits(t *testing.T) {
	statistical(t)
	uniform := make([]float64, 256)
	for i := range uniform {
		uniform[i] = 1. / 256
	}
	for i, c := range samplers {
		for _, scale := range []float64{1e5, 1 << 30, 1e12 / 3, MaxScale} {
			s := Seeded(uint64(400 + i))
			counts := make([]int64, 256)
			for range 25_600 {
				counts[c.draw(s, scale)&255]++
			}
			stattest.Require(t, stattest.ChiSquare(counts, uniform).P, c.law.name+": low bits")
		}
	}
}

func TestFillsIndependentDraws(t *testing.T) {
	statistical(t)
	a, b := Seeded(7), Seeded(7)
	dst := make([]int64, 50)
	a.RoundedNormals(dst, 12.5)
	for i, got := range dst {
		if want := b.RoundedNormal(12.5); got != want {
			t.Fatalf("RoundedNormals[%d] = %d, RoundedNormal gives %d", i, got, want)
		}
	}
	// Neighbouring draws: a 3×3 table of (below −1, middle, above 1).
	s := Seeded(8)
	class := func() int { return int(min(max(s.RoundedNormal(2)/2, -1), 1)) + 1 }
	inner := normal.between(-0.75, 0.75)
	p := []float64{(1 - inner) / 2, inner, (1 - inner) / 2}
	counts, probability := make([]int64, 9), make([]float64, 9)
	for range 200_000 {
		first := class()
		counts[3*first+class()]++
	}
	for i := range probability {
		probability[i] = p[i/3] * p[i%3]
	}
	stattest.Require(t, stattest.ChiSquare(counts, probability).P, "neighbouring draws")
}
