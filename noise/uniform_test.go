package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"pgregory.net/rapid"
)

// enumerate runs f on every sequence of at most depth bits, one-bit digits, and
// returns the probability of each outcome that is decided, and of none.
func enumerate(depth int, f func(s *Source) uint64) (mass map[uint64]float64, undecided float64) {
	mass = map[uint64]float64{}
	var visit func(script []uint64)
	visit = func(script []uint64) {
		const refills = 1000
		s := &Source{width: 1, pos: bufferWords - len(script), private: true, buffers: refills}
		copy(s.buf[s.pos:], script)
		outcome := f(s)
		p := math.Exp2(-float64(len(script)))
		switch {
		case s.buffers == refills && s.pos == bufferWords:
			mass[outcome] += p
		case s.buffers == refills:
			panic("outcome decided by fewer bits: its parent was not a leaf")
		case len(script) == depth:
			undecided += p
		default:
			visit(append(script[:len(script):len(script)], 0))
			visit(append(script[:len(script):len(script)], 1<<63))
		}
	}
	visit(nil)
	return mass, undecided
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// One-bit digits make probabilities exactly countable: each outcome has at least
// the mass of the decided sequences and at most that plus the undecided.
func TestExactProbabilities(t *testing.T) {
	sum := 0.0
	for i := range 20 {
		sum += math.Exp(-float64(i*i) / 2)
	}
	// given returns x = 0.b₁b₂… with 40 bits in place, ⌊2^40·x⌋ = v.
	given := func(v uint64) *uniform {
		u := &uniform{head: v >> 39 << 63}
		for i := 38; i >= 0; i-- {
			u.tail = append(u.tail, v>>i<<63)
		}
		return u
	}
	const x, small = 0x9e3779b97f, 0x2e3779b97f // of 2^40
	y, ySmall := float64(x)/(1<<40), float64(small)/(1<<40)
	for _, c := range []struct {
		name  string
		depth int
		f     func(s *Source) uint64
		want  func(outcome int) float64
		slack float64 // largest acceptable undecided mass
	}{
		{"whole", 13, (*Source).whole, func(k int) float64 { return math.Exp(-float64(k*k)/2) / sum }, 1e-3},
		{"less", 14, func(s *Source) uint64 {
			return truth(s.less(&uniform{head: s.digit()}, &uniform{head: s.digit()}))
		}, func(int) float64 { return 0.5 }, 1e-2},
		{"less given", 14, func(s *Source) uint64 { return truth(s.less(&uniform{head: s.digit()}, given(x))) },
			func(b int) float64 { return []float64{1 - y, y}[b] }, 1e-4},
		{"share k=0", 14, func(s *Source) uint64 { return truth(s.lessShare(&uniform{head: s.digit()}, given(x), 0)) },
			func(b int) float64 { return []float64{1 - y/2, y / 2}[b] }, 1e-3},
		{"share k=3", 14, func(s *Source) uint64 { return truth(s.lessShare(&uniform{head: s.digit()}, given(x), 3)) },
			func(b int) float64 { return []float64{(2 - y) / 8, (6 + y) / 8}[b] }, 1e-3},
		{"share k=0, small x", 14, func(s *Source) uint64 { return truth(s.lessShare(&uniform{head: s.digit()}, given(small), 0)) },
			func(b int) float64 { return []float64{1 - ySmall/2, ySmall / 2}[b] }, 1e-3},
		{"share k=1, small x", 14, func(s *Source) uint64 { return truth(s.lessShare(&uniform{head: s.digit()}, given(small), 1)) },
			func(b int) float64 { return []float64{(2 - ySmall) / 4, (2 + ySmall) / 4}[b] }, 1e-3},
		{"e^-x given", 18, func(s *Source) uint64 { return truth(s.expFraction(given(x))) },
			func(b int) float64 { return []float64{1 - math.Exp(-y), math.Exp(-y)}[b] }, 2e-2},
		{"keep k=0 given", 18, func(s *Source) uint64 { return truth(s.keepFraction(0, given(x))) },
			func(b int) float64 { p := math.Exp(-y * y / 2); return []float64{1 - p, p}[b] }, 3e-2},
	} {
		mass, undecided := enumerate(c.depth, c.f)
		if undecided > c.slack {
			t.Errorf("%s: %v undecided after %d bits", c.name, undecided, c.depth)
		}
		if len(mass) < 2 {
			t.Errorf("%s: outcomes %v", c.name, mass)
		}
		for outcome, p := range mass {
			if want := c.want(int(outcome)); p > want+1e-11 || p+undecided < want-1e-11 {
				t.Errorf("%s: outcome %d has probability in [%v, %v], want %v", c.name, outcome, p, p+undecided, want)
			}
		}
	}
}

// The acceptance probabilities at given x and k, with 64-bit digits.
func TestKeepProbability(t *testing.T) {
	statistical(t)
	const draws = 100_000
	s := Seeded(600)
	for _, k := range []uint64{0, 1, 2, 5} {
		for _, x := range []float64{0x1p-40, 0.1, 0.5, 0.9, 1 - 0x1p-40} {
			var kept int64
			for range draws {
				if s.keepFraction(k, &uniform{head: uint64(x * 0x1p64)}) {
					kept++
				}
			}
			stattest.Require(t, stattest.TwoSided(kept, draws, math.Exp(-x*(2*float64(k)+x)/2)), "kept fractions of a normal")
			kept = 0
			for range draws {
				if s.expFraction(&uniform{head: uint64(x * 0x1p64)}) {
					kept++
				}
			}
			stattest.Require(t, stattest.TwoSided(kept, draws, math.Exp(-x)), "kept fractions of an exponential")
		}
	}
}

// The table against the series for e^(+1/2), evaluated and inverted with
// big.Float: another way than gaussianSums takes.
func TestWholeTable(t *testing.T) {
	const prec = 300
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	root, term := number(1), number(1)
	for n := 1; n < 100; n++ {
		term.Quo(term, number(2*float64(n)))
		root.Add(root, term)
	}
	root.Quo(number(1), root)
	var sums []*big.Float
	sum := number(0)
	for i := range 20 {
		w := number(1)
		for range i * i {
			w.Mul(w, root)
		}
		sum = new(big.Float).Add(sum, w)
		sums = append(sums, sum)
	}
	for k, got := range wholeBelow {
		p := new(big.Float).Quo(sums[k], sum)
		if want, _ := p.SetMantExp(p, 64).Uint64(); got != want {
			t.Errorf("wholeBelow[%d] = %#x, want %#x", k, got, want)
		}
	}
	for _, q := range []uint{33, 34, 63, 64, 65, 96, 160, 250} {
		low, high := gaussianSums(q)
		for k := range low {
			s := new(big.Float).Copy(sums[min(k, 19)])
			s.SetMantExp(s, int(q))
			if new(big.Float).SetInt(low[k]).Cmp(s) > 0 || new(big.Float).SetInt(high[k]).Cmp(s) < 0 {
				t.Errorf("S_%d·2^%d = %.0f is outside [%v, %v]", k, q, s, low[k], high[k])
			}
			if gap := new(big.Int).Sub(high[k], low[k]); gap.Cmp(big.NewInt(3)) > 0 {
				t.Errorf("q=%d: gap %v", q, gap)
			}
		}
	}
}

// Entries of the table as first digits are the values that cannot be decided
// from one digit; the neighbours can.
func TestWholeAtTableEntries(t *testing.T) {
	for k, below := range wholeBelow {
		for _, c := range []struct {
			u     uint64
			words int
			want  []uint64
		}{{below - 1, 1, []uint64{uint64(k)}}, {below, 2, []uint64{uint64(k), uint64(k) + 1}}, {below + 1, 1, []uint64{uint64(k) + 1}}} {
			s := Seeded(uint64(700 + k))
			s.Uint64()
			s.buf[s.pos] = c.u
			start := s.pos
			got := s.whole()
			if c.u > wholeBelow[len(wholeBelow)-1] {
				continue // beyond the table: wholeTail decides, with more words
			}
			if s.pos-start != c.words || got != c.want[0] && got != c.want[len(c.want)-1] {
				t.Errorf("first digit %#x gives %d from %d words, want one of %v from %d", c.u, got, s.pos-start, c.want, c.words)
			}
		}
	}
}

// Comparisons agree with all numbers that have the digits drawn, and draw no
// digit beyond the first that decides. The reference is rational arithmetic.
func TestComparisonsAgreeWithDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Seeded(rapid.Uint64().Draw(t, "seed"))
		s.width = rapid.SampledFrom([]uint{1, 1, 2, 2, 3, 4, 8, 63, 64}).Draw(t, "width")
		k := rapid.Uint64Range(0, 20).Draw(t, "k")
		r, x := &uniform{head: s.digit()}, &uniform{head: s.digit()}
		if rapid.Bool().Draw(t, "close") {
			r.head = x.head
		}
		// ends returns the interval that the first digits of u leave.
		ends := func(u *uniform, digits int) (low, high *big.Rat) {
			n := s.prefix(u, digits)
			d := new(big.Int).Lsh(big.NewInt(1), uint(digits)*s.width)
			return new(big.Rat).SetFrac(n, d), new(big.Rat).SetFrac(new(big.Int).Add(n, big.NewInt(1)), d)
		}
		// decided returns the answer to r < (twoK+x)/m on the first digits.
		decided := func(twoK, m uint64, digits int) (less, certain bool) {
			rLow, rHigh := ends(r, digits)
			xLow, xHigh := ends(x, digits)
			for _, y := range []*big.Rat{xLow, xHigh} {
				y.Quo(y.Add(y, new(big.Rat).SetUint64(twoK)), new(big.Rat).SetUint64(m))
			}
			return rHigh.Cmp(xLow) <= 0, rHigh.Cmp(xLow) <= 0 || rLow.Cmp(xHigh) >= 0
		}
		check := func(name string, got bool, twoK, m uint64, start int) {
			digits := 1 + max(len(r.tail), len(x.tail))
			if want, certain := decided(twoK, m, digits); !certain || got != want {
				t.Fatalf("%s is %v, want %v, certain: %v; r=%x x=%x", name, got, want, certain, *r, *x)
			}
			if digits > start {
				if _, certain := decided(twoK, m, digits-1); certain {
					t.Fatalf("%s drew digit %d though %d were enough; r=%x x=%x", name, digits, digits-1, *r, *x)
				}
			}
		}
		check("less", s.less(r, x), 0, 1, 1)
		start := 1 + len(x.tail)
		r = &uniform{head: s.digit()}
		check("lessShare", s.lessShare(r, x, k), 2*k, 2*k+2, start)
	})
}
