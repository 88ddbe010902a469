package ledger

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/curveil/curveil/privacy"
)

func rat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return r
}

func TestCost(t *testing.T) {
	for _, c := range []struct {
		g    privacy.Guarantee
		want string
	}{
		{privacy.GDP(0.1), "1/100"},
		{privacy.GDP(1e-300), "1e-600"},
		{privacy.ZCDP(0.1), "1/5"},
		{privacy.Geo(0.1), "1/10"},
		{privacy.ConcentratedGeo(0.3), "3/10"},
	} {
		got, err := costOf(c.g)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cmp(rat(t, c.want)) != 0 {
			t.Errorf("%v costs %s, want %s", c.g, formatDecimal(got), c.want)
		}
	}
	// A converted guarantee costs no less than its exact μ²: (2Φ⁻¹(e/(1+e)))² by mpmath, 30 digits.
	got, err := costOf(privacy.Pure(1))
	if err != nil {
		t.Fatal(err)
	}
	exact := rat(t, "1.51791119074195863087718278242")
	if got.Cmp(exact) < 0 || new(big.Rat).Quo(got, exact).Cmp(rat(t, "1.00000000000002")) > 0 {
		t.Errorf("ε = 1 costs %s, want just above %s", formatDecimal(got), formatDecimal(exact))
	}
}

func guarantees(t *rapid.T) float64 {
	return math.Exp(rapid.Float64Range(math.Log(1e-12), math.Log(1e3)).Draw(t, "x"))
}

// What is said to be spent is not less, what is said to fit not more; both by less than three floats.
func TestDirections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Currency{GDP, Geo, ConcentratedGeo}).Draw(t, "currency")
		amount := new(big.Rat)
		for range rapid.IntRange(1, 5).Draw(t, "terms") {
			amount.Add(amount, cost(c, guarantees(t)))
		}
		number := func(g privacy.Guarantee) float64 {
			switch g := g.(type) {
			case privacy.GDP:
				return float64(g)
			case privacy.Geo:
				return float64(g)
			case privacy.ConcentratedGeo:
				return float64(g)
			}
			t.Fatalf("%T in currency %s", g, c)
			return 0
		}
		up, down := guaranteeUp(c, amount), guaranteeDown(c, amount)
		if currencyOf(up) != c || currencyOf(down) != c {
			t.Fatalf("%v and %v in currency %s", up, down, c)
		}
		u, d := number(up), number(down)
		if cost(c, u).Cmp(amount) < 0 || cost(c, d).Cmp(amount) > 0 {
			t.Fatalf("%s: up %v, down %v", formatDecimal(amount), up, down)
		}
		if d > u || math.Nextafter(math.Nextafter(d, u), u) < u {
			t.Fatalf("%s: up %v and down %v are not neighbours", formatDecimal(amount), up, down)
		}
	})
	if got := guaranteeUp(GDP, new(big.Rat)); got != privacy.Guarantee(privacy.GDP(0)) {
		t.Errorf("nothing spent is %v", got)
	}
	if got := guaranteeDown(GDP, big.NewRat(-1, 2)); got != privacy.Guarantee(privacy.GDP(0)) {
		t.Errorf("of less than nothing fits %v", got)
	}
}

// What fits can be spent: an offer that is then refused would be a lie.
func TestFitsFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, err := limitOf(privacy.GDP(guarantees(t)))
		if err != nil {
			t.Fatal(err)
		}
		spent := new(big.Rat).Mul(limit, decimal(rapid.Float64Range(0, 1).Draw(t, "part")))
		left := new(big.Rat).Sub(limit, spent)
		fits := guaranteeDown(GDP, left)
		if fits == privacy.Guarantee(privacy.GDP(0)) {
			return
		}
		price, err := costOf(fits)
		if err != nil {
			t.Fatal(err)
		}
		if spent.Add(spent, price).Cmp(limit) > 0 {
			t.Fatalf("%v was said to fit", fits)
		}
	})
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "1", "0.01", "12.5", "00", "1.0", ".5", "5.", "-1", "1e3", "1/2", "0x10", "1_0", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseDecimal(s)
		if err != nil {
			return
		}
		if r.Sign() < 0 || formatDecimal(r) != s {
			t.Fatalf("%q was read as %s", s, formatDecimal(r))
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add(`{"adjacency":"replace-one","currency":"gdp","unit":"patient"}`, `{"definition":"gdp","mu":1}`, "0.25")
	f.Add(`{"currency":"geo","distance":"m","metric":"rms","unit":"track"}`, ``, "0")
	f.Add(`{"Currency":"geo"}`, `{"definition":"gdp","mu":-1}`, "-0")
	f.Fuzz(func(t *testing.T, terms, limit, spent string) {
		r := row{terms: terms, cap: limit, spent: spent}
		s, err := new(reader).state(&r)
		if err != nil {
			return
		}
		var again row
		if err := s.put(&again); err != nil || again != r {
			t.Fatalf("%+v was read and written as %+v (%v)", r, again, err)
		}
	})
}
