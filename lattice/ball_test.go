package lattice

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustBall(t interface{ Fatal(...any) }, radius float64, dim int) Ball {
	b, err := NewBall(radius, dim)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ratio returns R/η exactly.
func ratio(b Ball) *big.Rat {
	r, step := new(big.Rat).SetFloat64(b.Radius()), new(big.Rat).SetFloat64(b.Step())
	return r.Quo(r, step)
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

func norm2(k []int64) *big.Int {
	sum, x := new(big.Int), new(big.Int)
	for _, v := range k {
		x.SetInt64(v)
		sum.Add(sum, x.Mul(x, x))
	}
	return sum
}

// real returns ‖v‖² exactly.
func real2(v []float64) *big.Rat {
	sum := new(big.Rat)
	for _, x := range v {
		r := new(big.Rat).SetFloat64(x)
		sum.Add(sum, r.Mul(r, r))
	}
	return sum
}

// scaled returns η²‖k‖² exactly.
func scaled(b Ball, k []int64) *big.Rat {
	step := new(big.Rat).SetFloat64(b.Step())
	step.Mul(step, step)
	return step.Mul(step, new(big.Rat).SetInt(norm2(k)))
}

func radii() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		if rapid.Bool().Draw(t, "power of two") {
			return math.Ldexp(1, rapid.IntRange(-332, 332).Draw(t, "exponent"))
		}
		return rapid.Float64Range(1, 10).Draw(t, "mantissa") * math.Pow(10, float64(rapid.IntRange(-99, 98).Draw(t, "exponent")))
	})
}

func TestBallIsExact(t *testing.T) {
	check := func(t interface {
		Fatal(...any)
		Fatalf(string, ...any)
	}, radius float64) {
		b := mustBall(t, radius, 3)
		frac, _ := math.Frexp(b.Step())
		if frac != 0.5 {
			t.Fatalf("step %g of radius %g is not a power of two", b.Step(), radius)
		}
		r := ratio(b)
		if r.Cmp(big.NewRat(1<<30, 1)) < 0 || r.Cmp(big.NewRat(1<<31, 1)) >= 0 {
			t.Fatalf("R/η = %v of radius %g is outside [2³⁰, 2³¹)", r, radius)
		}
		if want := floor(r.Mul(r, r)); !want.IsUint64() || want.Uint64() != b.k2 {
			t.Fatalf("k2 = %d of radius %g, want %v", b.k2, radius, want)
		}
	}
	for _, radius := range []float64{
		1, 2, 0.5, 3, 1.1, MinRadius, MaxRadius, math.Nextafter(1, 0), math.Nextafter(1, 2),
		math.Nextafter(2, 0), math.Sqrt(2), math.Pi, 1e-90, 1e90,
	} {
		check(t, radius)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, radii().Draw(t, "radius")) })
}

func TestNewBallRefuses(t *testing.T) {
	for _, c := range []struct {
		radius float64
		dim    int
		want   string
	}{
		{0, 1, "radius"}, {-1, 1, "radius"}, {math.NaN(), 1, "radius"}, {math.Inf(1), 1, "radius"},
		{MinRadius / 2, 1, "radius"}, {MaxRadius * 2, 1, "radius"}, {5e-324, 1, "radius"},
		{1, 0, "dimension"}, {1, -1, "dimension"},
	} {
		if _, err := NewBall(c.radius, c.dim); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "lattice: ") {
			t.Errorf("NewBall(%g, %d): %v", c.radius, c.dim, err)
		}
	}
}

// The worst pair of a ball is v and −v on the sphere, in one coordinate or in
// several.
func TestSensitivityCoversTheWorstPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := mustBall(t, radii().Draw(t, "radius"), 1)
		s := b.Sensitivity()
		// s² ≥ 4·k2 exactly: no two integer vectors of the ball are further apart.
		got := new(big.Rat).SetFloat64(s)
		got.Mul(got, got)
		if got.Cmp(new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(4), new(big.Int).SetUint64(b.k2)))) < 0 {
			t.Fatalf("sensitivity %v of k2=%d is below the worst pair", s, b.k2)
		}
		most, _ := ratio(b).Float64()
		if s > 2*most*(1+1e-8) {
			t.Fatalf("sensitivity %v is far above 2R/η = %v", s, 2*most)
		}
		k := []int64{int64(math.Sqrt(float64(b.k2)))}
		if !b.Contains(k) {
			k[0]--
		}
		if !b.Contains(k) || float64(2*k[0]) > s || float64(2*k[0]) < s*(1-1e-8) {
			t.Fatalf("the worst pair ±%d and the sensitivity %v do not agree", k[0], s)
		}
	})
}

func TestContains(t *testing.T) {
	b := mustBall(t, 1, 2) // R/η = 2³⁰
	const r = 1 << 30
	for _, c := range []struct {
		k    []int64
		want bool
	}{
		{[]int64{0, 0}, true}, {[]int64{r, 0}, true}, {[]int64{0, -r}, true},
		{[]int64{r, 1}, false}, {[]int64{r + 1, 0}, false}, {[]int64{-r - 1, 0}, false},
		{[]int64{3 * r / 5, 4 * r / 5}, true}, {[]int64{3*r/5 + 1, 4*r/5 + 1}, false},
		{[]int64{math.MinInt64, 0}, false}, {[]int64{math.MaxInt64, 0}, false},
		{[]int64{1 << 32, 0}, false}, // its square is 0 modulo 2⁶⁴
		{[]int64{0}, false}, {[]int64{0, 0, 0}, false}, {nil, false},
	} {
		if got := b.Contains(c.k); got != c.want {
			t.Errorf("Contains(%v) = %v", c.k, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := mustBall(t, radii().Draw(t, "radius"), 4)
		k := rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1<<31, 1<<31), rapid.Int64Range(-1<<29, 1<<29)), 4, 4).Draw(t, "k")
		if want := norm2(k).Cmp(new(big.Int).SetUint64(b.k2)) <= 0; b.Contains(k) != want {
			t.Fatalf("Contains(%v) = %v, want %v", k, !want, want)
		}
	})
}

// checkRound holds Round to its contract on any finite vector.
func checkRound(t interface{ Fatalf(string, ...any) }, b Ball, v []float64) {
	given := append([]float64(nil), v...)
	k := make([]int64, len(v))
	if err := b.Round(k, v); err != nil {
		t.Fatalf("Round(%v) in radius %g: %v", v, b.Radius(), err)
	}
	if norm2(k).Cmp(new(big.Int).SetUint64(b.k2)) > 0 {
		t.Fatalf("Round(%v) = %v leaves the ball of radius %g", v, k, b.Radius())
	}
	// A subnormal power of two squared is no float64: compare in rationals.
	if scaled(b, k).Cmp(real2(v)) > 0 {
		t.Fatalf("Round(%v) = %v in radius %g increases the norm", v, k, b.Radius())
	}
	r := new(big.Rat).SetFloat64(b.Radius())
	inside := real2(v).Cmp(r.Mul(r, r)) <= 0
	step := new(big.Rat).SetFloat64(b.Step())
	for i, x := range v {
		if x != given[i] {
			t.Fatalf("Round changed its argument")
		}
		q := new(big.Rat).SetFloat64(x)
		q.Quo(q, step)
		exact := floor(q) // big.Int.Quo truncates toward zero
		own := big.NewInt(k[i])
		switch {
		case inside && own.Cmp(exact) != 0:
			t.Fatalf("coordinate %d of %v inside the ball is %d, want %v", i, v, k[i], exact)
		case own.Sign() != 0 && own.Sign() != exact.Sign():
			t.Fatalf("coordinate %d of %v changed its sign: %d", i, v, k[i])
		case own.CmpAbs(exact) > 0:
			t.Fatalf("coordinate %d of %v grew: %d, but x/η = %v", i, v, k[i], exact)
		}
	}
}

func TestRoundExtremes(t *testing.T) {
	big := math.MaxFloat64
	tiny := math.SmallestNonzeroFloat64
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	for _, radius := range []float64{1, 1.1, 2, math.Sqrt(3), MinRadius, 1e-90, 1e-5, 1e6, 1e90, MaxRadius} {
		third := radius / math.Sqrt(3)
		for _, v := range [][]float64{
			{0, 0, 0}, {radius, 0, 0}, {-radius, 0, 0}, {up(radius), 0, 0}, {0, -up(radius), 0},
			{third, third, third}, {up(third), up(third), up(third)}, {-third, third, up(up(third))},
			{0.6 * radius, 0.8 * radius, 0}, {up(0.6 * radius), up(0.8 * radius), 0},
			{big, 0, 0}, {big, big, big}, {-big, big, tiny}, {1e308, 1e308, 1e308}, {big, 1, 1}, {big, tiny, -tiny},
			{tiny, tiny, tiny}, {tiny, -tiny, 0}, {1e-310, 1e-320, 5e-324}, {2 * radius, 2 * radius, 2 * radius},
			{radius, tiny, 0}, {radius, 1e-17 * radius, 0}, {radius, 1e-9 * radius, 1e-9 * radius},
			{radius * 2, 0, 0}, {radius * 1.999999999, 0, 0}, {radius * 1e10, radius, 1},
			{math.Copysign(0, -1), radius, 0},
		} {
			checkRound(t, mustBall(t, radius, 3), v)
		}
	}
	for _, dim := range []int{1, 2, 7, 1000} { // all equal, on the sphere and outside
		v := make([]float64, dim)
		for _, x := range []float64{1 / math.Sqrt(float64(dim)), 1, 1e308, tiny, -1e308} {
			for i := range v {
				v[i] = x
			}
			checkRound(t, mustBall(t, 1, dim), v)
			for i := range v {
				v[i] = up(up(v[i]))
			}
			checkRound(t, mustBall(t, 1, dim), v)
		}
	}
}

func TestRoundAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		radius := radii().Draw(t, "radius")
		dim := rapid.IntRange(1, 8).Draw(t, "dim")
		near := rapid.Float64Range(-1.5, 1.5)
		v := make([]float64, dim)
		for i := range v {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				v[i] = near.Draw(t, "near") * radius
			case 1:
				v[i] = rapid.Float64().Filter(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }).Draw(t, "any")
			case 2:
				v[i] = rapid.SampledFrom([]float64{0, radius, -radius, 1e308, 5e-324}).Draw(t, "special")
			}
		}
		checkRound(t, mustBall(t, radius, dim), v)
	})
}

// Vectors on the sphere up to rounding are what fits deliver; half of them lie
// outside by an ulp.
func TestRoundOnTheSphere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	outside := 0
	for range 20000 {
		dim := 1 + rnd.IntN(20)
		radius := math.Exp(20 * rnd.NormFloat64())
		v := make([]float64, dim)
		var s float64
		for i := range v {
			v[i] = rnd.NormFloat64()
			s += v[i] * v[i]
		}
		for i := range v {
			v[i] *= radius / math.Sqrt(s)
		}
		b := mustBall(t, radius, dim)
		r := new(big.Rat).SetFloat64(radius)
		if real2(v).Cmp(r.Mul(r, r)) > 0 {
			outside++
		}
		checkRound(t, b, v)
		k := make([]int64, dim)
		if err := b.Round(k, v); err != nil {
			t.Fatal(err)
		}
		for i, x := range v { // nothing is lost but the last step or two
			if d := math.Abs(x/b.Step() - float64(k[i])); d > 3 {
				t.Fatalf("coordinate %g moved by %g steps", x, d)
			}
			v[i] *= 3
		}
		far := make([]int64, dim) // pulled back to the same place
		if err := b.Round(far, v); err != nil {
			t.Fatal(err)
		}
		for i := range far {
			if d := far[i] - k[i]; d < -6 || d > 6 {
				t.Fatalf("coordinate %g pulled %d steps away", v[i], d)
			}
		}
	}
	if outside < 1000 {
		t.Fatalf("only %d vectors lay outside the sphere: the test has lost its purpose", outside)
	}
}

func TestRoundRefusesWhatIsNotFinite(t *testing.T) {
	b := mustBall(t, 1, 3)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range 3 {
			for _, fill := range []float64{0, 0.1, 5, 1e308} {
				v := []float64{fill, fill, fill}
				v[i] = bad
				err := b.Round(make([]int64, 3), v)
				if err == nil || !strings.Contains(err.Error(), "not a finite number") {
					t.Errorf("Round(%v): %v", v, err)
				}
			}
		}
	}
}

func TestRoundPanicsOnTheWrongLength(t *testing.T) {
	b := mustBall(t, 1, 2)
	for _, c := range [][2]int{{1, 2}, {2, 1}, {3, 3}, {0, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic with lengths %v", c)
				}
			}()
			_ = b.Round(make([]int64, c[0]), make([]float64, c[1]))
		}()
	}
}

func BenchmarkRound(b *testing.B) {
	ball := mustBall(b, 1, 14)
	rnd := rand.New(rand.NewPCG(1, 2))
	inside, sphere := make([]float64, 14), make([]float64, 14)
	var s float64
	for i := range sphere {
		sphere[i] = rnd.NormFloat64()
		s += sphere[i] * sphere[i]
	}
	for i := range sphere {
		sphere[i] /= math.Sqrt(s)
		inside[i] = sphere[i] / 2
	}
	k := make([]int64, 14)
	for name, v := range map[string][]float64{"inside": inside, "sphere": sphere} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = ball.Round(k, v)
			}
		})
	}
}
