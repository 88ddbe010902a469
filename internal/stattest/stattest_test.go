package stattest

import (
	"math"
	"math/rand/v2"
	"testing"
)

func close(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Reference values summed term by term with mpmath 1.3 at 40 digits, and
// mpmath's gammainc for the χ² survival function.
func TestBinomialTails(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		p    float64
		want float64
	}{
		{50500, 100000, 0.5, 0.000791179939426},
		{51500, 100000, 0.5, 1.21921321567e-21},
		{10, 1000000, 1e-6, 1.11421423289e-7},
		{501000, 1000000, 0.5, 0.0228041499327},
		{505000, 1000000, 0.5, 7.69077752195e-24},
	} {
		if got := AtLeast(c.k, c.n, c.p); !close(got, c.want, 1e-8) {
			t.Errorf("AtLeast(%d, %d, %v) = %.12g, want %.12g", c.k, c.n, c.p, got, c.want)
		}
		if c.p == 0.5 {
			if got := AtMost(c.n-c.k, c.n, c.p); !close(got, c.want, 1e-8) {
				t.Errorf("AtMost(%d, %d, %v) = %.12g, want %.12g", c.n-c.k, c.n, c.p, got, c.want)
			}
		}
	}
	if AtLeast(0, 5, 0.3) != 1 || AtLeast(6, 5, 0.3) != 0 || AtMost(-1, 5, 0.3) != 0 || AtMost(5, 5, 0.3) != 1 {
		t.Error("a tail beyond the support is not 0 or 1")
	}
}

func TestClopperPearsonClosedForms(t *testing.T) {
	for _, n := range []int64{1, 10, 1000, 1e6, 1e9} {
		for _, alpha := range []float64{0.05, 1e-3, 1e-6, 1e-9, 1e-12} {
			want := -math.Expm1(math.Log(alpha) / float64(n))
			if got := UpperBound(0, n, alpha); !close(got, want, 1e-6) {
				t.Errorf("UpperBound(0, %d, %g) = %v, want %v", n, alpha, got, want)
			}
			if got, want := LowerBound(n, n, alpha), math.Exp(math.Log(alpha)/float64(n)); !close(got, want, 1e-6) {
				t.Errorf("LowerBound(%d, %d, %g) = %v, want %v", n, n, alpha, got, want)
			}
			want = -math.Expm1(math.Log1p(-alpha) / float64(n))
			if got := LowerBound(1, n, alpha); !close(got, want, 1e-5) {
				t.Errorf("LowerBound(1, %d, %g) = %v, want %v", n, alpha, got, want)
			}
		}
	}
	if lower, upper := ClopperPearson(0, 7, 0.95); lower != 0 || upper >= 1 {
		t.Errorf("ClopperPearson(0, 7) = %v, %v", lower, upper)
	}
	if lower, upper := ClopperPearson(7, 7, 0.95); lower <= 0 || upper != 1 {
		t.Errorf("ClopperPearson(7, 7) = %v, %v", lower, upper)
	}
	// Clopper and Pearson's own kind of table: 5 of 10 at 95 %.
	if lower, upper := ClopperPearson(5, 10, 0.95); !close(lower, 0.187086, 1e-5) || !close(upper, 0.812914, 1e-5) {
		t.Errorf("ClopperPearson(5, 10, 0.95) = %v, %v", lower, upper)
	}
}

func TestBoundsInvertTails(t *testing.T) {
	for _, c := range []struct{ k, n int64 }{{5, 1e5}, {50000, 1e5}, {200, 2e5}, {99999, 1e5}, {199900, 2e5}, {3, 1e9}} {
		for _, alpha := range []float64{0.025, 1e-6, 1e-9} {
			lower, upper := LowerBound(c.k, c.n, alpha), UpperBound(c.k, c.n, alpha)
			if got := AtLeast(c.k, c.n, lower); got > alpha*(1+1e-9) || got < alpha*(1-1e-5) {
				t.Errorf("%d of %d: P(X≥k) at the lower bound %v is %g, want %g", c.k, c.n, lower, got, alpha)
			}
			// 1−p has few digits left when p is within 1e-11 of 1.
			if got := AtMost(c.k, c.n, upper); got > alpha*(1+1e-9) || got < alpha*0.9 {
				t.Errorf("%d of %d: P(X≤k) at the upper bound %v is %g, want %g", c.k, c.n, upper, got, alpha)
			}
		}
	}
}

func TestChiSquareReference(t *testing.T) {
	// Ten times Mendel's peas, 315:101:108:32 for 9:3:3:1; p from mpmath.
	g := ChiSquare([]int64{3150, 1010, 1080, 320}, []float64{9. / 16, 3. / 16, 3. / 16, 1. / 16})
	if g.DF != 3 || !close(g.Statistic, 4.70024, 1e-5) || !close(g.P, 0.1951098, 1e-6) {
		t.Errorf("ten times Mendel's peas: %v", g)
	}
	if g := ChiSquare([]int64{99, 1, 0, 100}, []float64{0.495, 0.004, 0.001, 0.5}); g.DF != 1 {
		t.Errorf("small cells are not merged: %v", g)
	}
}

// Under the hypothesis p-values are uniform; under a shifted law they vanish.
// Seeded; the false-alarm rate of each bound below is under 1e-6.
func TestChiSquarePower(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const repeats, draws, cells = 400, 5000, 10
	probability := make([]float64, cells)
	for i := range probability {
		probability[i] = 1. / cells
	}
	var small int64
	for range repeats {
		counts := make([]int64, cells)
		for range draws {
			counts[r.IntN(cells)]++
		}
		if ChiSquare(counts, probability).P < 0.1 {
			small++
		}
	}
	Require(t, TwoSided(small, repeats, 0.1), "share of p-values below 0.1")

	counts := make([]int64, cells)
	for range 20 * draws {
		counts[min(r.IntN(cells+1), cells-1)]++
	}
	if g := ChiSquare(counts, probability); g.P > 1e-9 {
		t.Errorf("doubled last cell passes: %v", g)
	}
}

type recorder struct{ failed bool }

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestRequire(t *testing.T) {
	for p, fails := range map[float64]bool{1: false, 1e-6: false, 0.99e-6: true, 0: true, math.NaN(): true} {
		r := new(recorder)
		if Require(r, p, "x"); r.failed != fails {
			t.Errorf("Require at p=%v: failed is %v", p, r.failed)
		}
	}
}

func TestMistakesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"lengths":      func() { ChiSquare([]int64{1}, []float64{0.5, 0.5}) },
		"no law":       func() { ChiSquare([]int64{100, 100}, []float64{0.5, 0.4}) },
		"few draws":    func() { ChiSquare([]int64{1, 1}, []float64{0.5, 0.5}) },
		"probability":  func() { AtLeast(1, 2, math.NaN()) },
		"successes":    func() { LowerBound(3, 2, 0.1) },
		"error rate 0": func() { UpperBound(1, 2, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
