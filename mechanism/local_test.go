package mechanism

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

func TestLocalOnLattice(t *testing.T) {
	for _, g := range []privacy.Guarantee{privacy.Geo(0.01), privacy.Geo(3e7), privacy.ConcentratedGeo(1e-8), privacy.ConcentratedGeo(2)} {
		l, err := NewLocal(g)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := l.Scale() / l.Step(); !(ratio >= 1<<24 && ratio < 1<<25) {
			t.Errorf("%v: step %g is 1/%g of the scale %g", g, l.Step(), ratio, l.Scale())
		}
		want := 1 / math.Sqrt(2*numberOf(g))
		if _, pure := g.(privacy.Geo); pure {
			want = 1 / numberOf(g)
		}
		if !(l.Scale() >= want && l.Scale() <= want*(1+1e-15)) {
			t.Errorf("%v: scale %.17g, want %.17g rounded up", g, l.Scale(), want)
		}
		x := []float64{0, 12345.678, -1e-9, 7 * l.Scale()}
		noisy := make([]float64, len(x))
		l.Release(noisy, x, noise.Seeded(1))
		for i, v := range noisy {
			if k := v / l.Step(); k != math.Trunc(k) {
				t.Errorf("%v: %g is not on the lattice", g, v)
			}
			if math.Abs(v-x[i]) > 60*l.Scale() {
				t.Errorf("%v: %g became %g", g, x[i], v)
			}
		}
	}
}

func numberOf(g privacy.Guarantee) float64 {
	switch g := g.(type) {
	case privacy.Geo:
		return float64(g)
	case privacy.ConcentratedGeo:
		return float64(g)
	}
	panic("neither")
}

// The noise vector is drawn once for all coordinates: its norm over ε is
// Gamma(m), not a sum of m independent Laplace draws, and 1/√(2ρ) per coordinate
// otherwise.
func TestLocalLaw(t *testing.T) {
	const draws, cells, m = 4000, 20, 6
	x, noisy := []float64{1, 2, 3, -4, 5e3, 0.1}, make([]float64, m)
	for _, g := range []privacy.Guarantee{privacy.Geo(0.5), privacy.ConcentratedGeo(0.5)} {
		l, err := NewLocal(g)
		if err != nil {
			t.Fatal(err)
		}
		src := noise.Seeded(11)
		counts := make([]int64, cells)
		for range draws {
			l.Release(noisy, x, src)
			var sum float64
			for i := range x {
				d := (noisy[i] - x[i]) / l.Scale()
				sum += d * d
			}
			u := mathext.GammaIncReg(m, math.Sqrt(sum))
			if l.Law() == "gaussian" {
				u = mathext.GammaIncReg(m/2., sum/2)
			}
			counts[min(int(u*cells), cells-1)]++
		}
		uniform := make([]float64, cells)
		for i := range uniform {
			uniform[i] = 1. / cells
		}
		stattest.Require(t, stattest.ChiSquare(counts, uniform).P, g.String())
	}
}

func TestLocalRefused(t *testing.T) {
	for _, g := range []privacy.Guarantee{nil, privacy.GDP(1), privacy.Pure(1), privacy.Geo(0), privacy.Geo(math.NaN()), privacy.ConcentratedGeo(-1), privacy.Geo(1e-300)} {
		if _, err := NewLocal(g); err == nil || !strings.HasPrefix(err.Error(), "mechanism") {
			t.Errorf("%v: error %v", g, err)
		}
	}
	if _, err := NewFilter(privacy.ZCDP(1)); err == nil {
		t.Error("a filter over zCDP is accepted")
	}
	if _, err := NewSparseVector(1, 1, 0, 0, noise.Seeded(1)); err == nil {
		t.Error("a Lipschitz constant of 0 is accepted")
	}
	if _, err := NewSparseVector(1, 0, 1, 0, noise.Seeded(1)); err == nil {
		t.Error("an ε of 0 is accepted")
	}
}

// Any sequence of shares adds up to the total exactly, in integers; the
// guarantees handed out never exceed it and miss it by rounding only.
func TestFilterExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Float64Range(1e-12, 1e6).Draw(t, "total")
		var g privacy.Guarantee = privacy.Geo(total)
		if rapid.Bool().Draw(t, "concentrated") {
			g = privacy.ConcentratedGeo(total)
		}
		f, err := NewFilter(g)
		if err != nil {
			t.Fatal(err)
		}
		for f.Left() > 1 && rapid.Bool().Draw(t, "more") {
			share := Share(rapid.Uint64Range(1, uint64(f.Left())-1).Draw(t, "share"))
			if _, err := f.Spend("step", share); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Spend("too much", f.Left()+1); err == nil {
			t.Fatal("more than is left is handed out")
		}
		if _, err := f.Spend("rest", f.Left()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Spend("beyond", 1); err == nil {
			t.Fatal("an empty filter hands out")
		}
		var shares Share
		sum := new(big.Rat)
		for _, s := range f.Trace() {
			shares += s.Share
			sum.Add(sum, new(big.Rat).SetFloat64(numberOf(s.Guarantee)))
		}
		if shares != Whole || f.Left() != 0 {
			t.Fatalf("shares add up to %d, not %d", shares, Whole)
		}
		whole := new(big.Rat).SetFloat64(total)
		if sum.Cmp(whole) > 0 {
			t.Fatal("the guarantees exceed the total")
		}
		missing, _ := new(big.Rat).Sub(whole, sum).Float64()
		if missing > 1e-15*total*float64(len(f.Trace())) {
			t.Fatalf("%g of %g is lost to rounding", missing, total)
		}
	})
}

func TestSparseVectorStops(t *testing.T) {
	v, err := NewSparseVector(1e6, 1e6, 1, 10, noise.Seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	g := []float64{1, 9.9, 10.1, 50}
	asked := 0
	if got := v.First(len(g), func(j int) float64 { asked++; return g[j] }); got != 2 || asked != 3 {
		t.Errorf("stopped at %d after %d queries, want 2 after 3", got, asked)
	}
	defer func() {
		if recover() == nil {
			t.Error("asking on after the stop does not panic")
		}
	}()
	v.Reached(0)
}

func TestSparseVectorEnds(t *testing.T) {
	v, err := NewSparseVector(1e6, 1e6, 1, 10, noise.Seeded(5))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.First(3, func(int) float64 { return 0 }); got != 2 {
		t.Errorf("the end of the list gives %d, want its last index 2", got)
	}
}

// Audit of the sparse vector technique on inputs that differ by distance d in
// every query in the worst way: the probability of stopping at an index may
// differ by e^{εd} at most. With half the noise it does differ by more.
func TestSparseVectorAudit(t *testing.T) {
	const d, runs, n, alpha = 1.0, 60_000, 6, 1e-7
	epsilon := privacy.Geo(2)
	// Stopping at n−2 after n−2 refusals: queries low on q and high on q′.
	loss := func(claimed float64) float64 {
		src := func(values func(j int) float64, seed uint64) int64 {
			s := noise.Seeded(seed)
			var hits int64
			for range runs {
				v, err := NewSparseVector(privacy.Geo(float64(epsilon)/3*claimed), privacy.Geo(float64(epsilon)*2/3*claimed), 1, 0, s)
				if err != nil {
					t.Fatal(err)
				}
				if v.First(n, values) == n-2 {
					hits++
				}
			}
			return hits
		}
		low := src(func(j int) float64 {
			if j == n-2 {
				return d / 2
			}
			return -d / 2
		}, 21)
		high := src(func(j int) float64 {
			if j == n-2 {
				return -d / 2
			}
			return d / 2
		}, 22)
		return math.Log(stattest.LowerBound(low, runs, alpha)) - math.Log(stattest.UpperBound(high, runs, alpha))
	}
	if got := loss(1); got > float64(epsilon)*d {
		t.Errorf("loss of at least %g, claimed %g", got, float64(epsilon)*d)
	}
	if got := loss(2); got <= float64(epsilon)*d {
		t.Errorf("with half the noise the audit finds only %g: it could not see a fault", got)
	}
}
