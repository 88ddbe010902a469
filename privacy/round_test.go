package privacy

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// magnitude draws positive floats over the whole exponent range, powers of two among them.
func magnitude(t *rapid.T, name string) float64 {
	exp := rapid.IntRange(-1074, 1000).Draw(t, name+" exponent")
	return math.Ldexp(rapid.Float64Range(1, 2).Draw(t, name), exp)
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(x) }

// Every elementary operation lies on its side of the exact result, and within two floats of it.
func TestDirectedRounding(t *testing.T) {
	type op struct {
		name     string
		up, down func(a, b float64) float64
		exact    func(a, b *big.Float) *big.Float
	}
	prec := func() *big.Float { return new(big.Float).SetPrec(5000) }
	ops := []op{
		{name: "add", up: AddUp, down: AddDown, exact: func(a, b *big.Float) *big.Float { return prec().Add(a, b) }},
		{name: "mul", up: MulUp, down: MulDown, exact: func(a, b *big.Float) *big.Float { return prec().Mul(a, b) }},
		{name: "div", up: DivUp, down: DivDown, exact: func(a, b *big.Float) *big.Float { return prec().Quo(a, b) }},
		{
			name: "sqrt",
			up:   func(a, _ float64) float64 { return SqrtUp(a) },
			down: func(a, _ float64) float64 { return SqrtDown(a) },
			exact: func(a, _ *big.Float) *big.Float {
				return prec().Sqrt(a)
			},
		},
	}
	for _, o := range ops {
		t.Run(o.name, rapid.MakeCheck(func(t *rapid.T) {
			a, b := magnitude(t, "a"), magnitude(t, "b")
			want := o.exact(exact(a), exact(b))
			hi, lo := o.up(a, b), o.down(a, b)
			if !math.IsInf(hi, 1) && exact(hi).Cmp(want) < 0 {
				t.Fatalf("up(%g, %g) = %g below the exact %g", a, b, hi, want)
			}
			if math.IsInf(lo, 0) || exact(lo).Cmp(want) > 0 {
				t.Fatalf("down(%g, %g) = %g above the exact %g", a, b, lo, want)
			}
			if math.IsInf(hi, 1) {
				if want.Cmp(exact(math.MaxFloat64)) <= 0 {
					t.Fatalf("up(%g, %g) = +Inf for the exact %g", a, b, want)
				}
				return
			}
			if next := math.Nextafter(math.Nextafter(lo, math.Inf(1)), math.Inf(1)); hi > next {
				t.Fatalf("up %g and down %g of (%g, %g) are further than two floats apart", hi, lo, a, b)
			}
		}))
	}
}

// Exact results stay: neighbours of a value nobody asked for would make 0.5+0.5 overspend a cap of 1.
func TestDirectedRoundingExact(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"0.5+0.5", AddUp(0.5, 0.5), 1}, {"3·7", MulUp(3, 7), 21}, {"√9", SqrtUp(9), 3}, {"6/3", DivUp(6, 3), 2},
		{"0.5+0.5 down", AddDown(0.5, 0.5), 1}, {"3·7 down", MulDown(3, 7), 21}, {"√9 down", SqrtDown(9), 3}, {"6/3 down", DivDown(6, 3), 2},
		{"0·x", MulUp(0, 3), 0}, {"0/x", DivUp(0, 3), 0}, {"√0", SqrtUp(0), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s = %.17g, want %g", c.name, c.got, c.want)
		}
	}
	if AddUp(1, 1e-300) <= 1 || AddDown(1, -1e-300) >= 1 {
		t.Error("a lost summand left no trace")
	}
}
