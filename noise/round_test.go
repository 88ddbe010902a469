package noise

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// nearestRat returns ⌊v+½⌋, or for an open upper end the value just below v.
func nearestRat(v *big.Rat, openEnd bool) *big.Int {
	v = new(big.Rat).Add(v, big.NewRat(1, 2))
	q, rest := new(big.Int).DivMod(v.Num(), v.Denom(), new(big.Int))
	if openEnd && rest.Sign() == 0 {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// roundsTo returns what scale·(k+x) rounds to for all x of the interval that the
// first digits of x leave, if that is one integer.
func roundsTo(s *Source, scale float64, k uint64, x *uniform, digits int) (q *big.Int, certain bool) {
	n := s.prefix(x, digits)
	d := new(big.Int).Lsh(big.NewInt(1), uint(digits)*s.width)
	low := new(big.Rat).SetFrac(n, d)
	high := new(big.Rat).SetFrac(new(big.Int).Add(n, big.NewInt(1)), d)
	for _, v := range []*big.Rat{low, high} {
		v.Add(v, new(big.Rat).SetUint64(k))
		v.Mul(v, new(big.Rat).SetFloat64(scale))
	}
	q = nearestRat(low, false)
	return q, q.Cmp(nearestRat(high, true)) == 0
}

// The result is the one integer that all reals with the digits drawn round to,
// and no digit is drawn beyond the first that makes it certain. The
// reference is rational arithmetic.
func TestRoundIsCertainAndLazy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Seeded(rapid.Uint64().Draw(t, "seed"))
		s.width = rapid.SampledFrom([]uint{64, 64, 64, 1, 3, 8, 30, 63}).Draw(t, "width")
		scale := math.Ldexp(rapid.Float64Range(0.5, 1).Draw(t, "mantissa"), rapid.IntRange(-70, 56).Draw(t, "exponent"))
		k := rapid.Uint64Range(0, 70).Draw(t, "k")
		x := &uniform{head: s.digit()}
		if scale > 1 && rapid.Bool().Draw(t, "near a tie") {
			// The first digit next to a point that scale·(k+x) sends to an integer and a half.
			n := math.Floor(scale*(float64(k)+0.3)) + 0.5
			v := new(big.Rat).Quo(new(big.Rat).SetFloat64(n), new(big.Rat).SetFloat64(scale))
			v.Sub(v, new(big.Rat).SetUint64(k))
			v.Mul(v, new(big.Rat).SetFloat64(0x1p64))
			f := new(big.Int).Quo(v.Num(), v.Denom())
			f.Add(f, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "offset")))
			if f.IsUint64() {
				x.head = f.Uint64() &^ (1<<(64-s.width) - 1)
			}
		}
		f := s.multiplier(scale)
		got := s.round(&f, k, x)
		digits := 1 + len(x.tail)
		want, certain := roundsTo(s, scale, k, x, digits)
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if !certain || want.Int64() != got {
			t.Fatalf("round(%v·(%d+x)) = %d, want %v, certain: %v, x=%x", scale, k, got, want, certain, *x)
		}
		if digits > 1 {
			if _, certain := roundsTo(s, scale, k, x, digits-1); certain {
				t.Fatalf("round(%v·(%d+x)) drew digit %d though %d were enough", scale, k, digits, digits-1)
			}
		}
	})
}

// Intervals are half-open: their lower end belongs to them, their upper does not.
func TestRoundAtTies(t *testing.T) {
	const half = 1 << 63
	for _, c := range []struct {
		scale  float64
		k      uint64
		head   uint64
		want   int64
		digits int
	}{
		{1, 0, 0, 0, 1},
		{1, 0, half - 1, 0, 1},
		{1, 0, half, 1, 1},
		{1, 0, math.MaxUint64, 1, 1},
		{1, 3, half - 1, 3, 1},
		{1, 3, half, 4, 1},
		{2, 0, half/2 - 1, 0, 1},
		{2, 0, half / 2, 1, 1},
		{0.5, 0, math.MaxUint64, 0, 1},
		{0.5, 1, 0, 1, 1},
		{1 << 40, 0, 1 << 23, 1, 1},
		{1 << 40, 0, 1<<23 - 1, 0, 1},
		{MaxScale, 0, 127, 0, 1},
		{MaxScale, 0, 128, 1, 1},
		{MaxScale, 63, math.MaxUint64, 1 << 62, 1},
		{0x1.8p55, 0, math.MaxUint64, 3 << 54, 1},
		{3, 0, 0x2aaaaaaaaaaaaaaa, 0, 2}, // 1/6 lies in the middle of this interval
		{3, 0, 0x2aaaaaaaaaaaaaa9, 0, 1},
		{3, 0, 0x2aaaaaaaaaaaaaab, 1, 1},
		{5e-324, 63, math.MaxUint64, 0, 1},
		{0x1p-70, 63, math.MaxUint64, 0, 1},
		{0x1p-7, 63, math.MaxUint64, 0, 1},
		{0x1.00001p-7, 63, math.MaxUint64, 1, 1},
	} {
		s := Seeded(1)
		f := s.multiplier(c.scale)
		x := &uniform{head: c.head}
		got := s.round(&f, c.k, x)
		if digits := 1 + len(x.tail); digits != c.digits || got != c.want && digits == 1 || got > c.want+1 {
			t.Errorf("round(%v·(%d+%#x/2^64)) = %d from %d digits, want %d from %d", c.scale, c.k, c.head, got, digits, c.want, c.digits)
		}
	}
}

// m·2^(64−t) is the scale itself, also where it is subnormal.
func TestMultiplierIsTheScale(t *testing.T) {
	s := Seeded(1)
	for _, scale := range []float64{5e-324, 3e-320, math.Nextafter(0x1p-1022, 0), 0x1p-1022, 1e-300, 0.1, 1, 1000, MaxScale} {
		f := s.multiplier(scale)
		if got := math.Ldexp(float64(f.m), 64-f.t); got != scale {
			t.Errorf("multiplier(%g) is %d·2^%d = %g", scale, f.m, 64-f.t, got)
		}
	}
}

func TestRoundSaturates(t *testing.T) {
	s := Seeded(1)
	f := s.multiplier(MaxScale)
	for k, want := range map[uint64]int64{64: 64 << 56, 127: 127 << 56, 128: math.MaxInt64, 1 << 40: math.MaxInt64} {
		if got := s.round(&f, k, &uniform{}); got != want {
			t.Errorf("round(2^56·%d) = %d, want %d", k, got, want)
		}
	}
	for range 100 {
		if q := s.signed(math.MaxInt64); q != math.MaxInt64 && q != -math.MaxInt64 {
			t.Fatalf("signed saturation gives %d", q)
		}
	}
	f = s.multiplier(5e-324)
	if got := s.round(&f, 1<<62, &uniform{}); got != 0 {
		t.Errorf("round(5e-324·2^62) = %d", got)
	}
}

func TestTinyScalesGiveZero(t *testing.T) {
	start := time.Now()
	s := Seeded(1)
	for _, scale := range []float64{1e-300, 5e-324, 0x1p-1022, math.Nextafter(0x1p-1022, 0), 1e-30, 0.01} {
		for range 2000 {
			var dst [2]int64
			s.RoundedSphericalLaplace(dst[:], scale)
			q := []int64{s.RoundedNormal(scale), s.RoundedLaplace(scale), s.RoundedExponential(scale), dst[0], dst[1]}
			for i, v := range q {
				if v != 0 && (i == 0 || scale < 0.01) {
					t.Fatalf("scale %g gives %v", scale, q)
				}
			}
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("tiny scales took %v", d)
	}
}

func TestScalesOutsideTheRangePanic(t *testing.T) {
	s := Seeded(1)
	for _, scale := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Nextafter(MaxScale, math.Inf(1))} {
		if ValidScale(scale) {
			t.Errorf("ValidScale(%v)", scale)
		}
		for name, f := range map[string]func(){
			"RoundedNormal":           func() { s.RoundedNormal(scale) },
			"RoundedNormals":          func() { s.RoundedNormals(nil, scale) },
			"RoundedLaplace":          func() { s.RoundedLaplace(scale) },
			"RoundedExponential":      func() { s.RoundedExponential(scale) },
			"RoundedSphericalLaplace": func() { s.RoundedSphericalLaplace(nil, scale) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s(%v): no panic", name, scale)
					}
				}()
				f()
			}()
		}
	}
	for _, scale := range []float64{5e-324, 1, MaxScale} {
		if !ValidScale(scale) {
			t.Errorf("ValidScale(%v) is false", scale)
		}
	}
}
