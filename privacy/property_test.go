package privacy

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func logUniform(t *rapid.T, name string, lo, hi float64) float64 {
	return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b)) }

// ε(δ) keeps its promise in δ(ε), and not by giving privacy away.
func TestEpsilonDeltaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := GDP(logUniform(t, "mu", 1e-6, 50))
		delta := logUniform(t, "delta", 1e-300, 0.999)
		eps := m.Epsilon(delta)
		if d := m.Delta(eps); d > delta*(1+1e-12) || eps > 0 && m.LogDelta(eps) > math.Log(delta)*(1-1e-14) {
			t.Fatalf("μ = %g: δ(ε = %g) = %g exceeds δ = %g", float64(m), eps, d, delta)
		}
		if eps > 0 && m.Delta(eps*(1-1e-9)) <= delta && m.Delta(math.Max(0, eps-1e-9*float64(m))) <= delta {
			t.Fatalf("μ = %g: ε(%g) = %g is not the smallest", float64(m), delta, eps)
		}
	})
}

func TestGaussianMuApprox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Approx{logUniform(t, "epsilon", 1e-6, 1e4), logUniform(t, "delta", 1e-300, 0.99)}
		if rapid.Bool().Draw(t, "no epsilon") {
			g.Epsilon = 0
		}
		mu, err := GaussianMu(g)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(float64(mu)) || mu <= 0 || mu.LogDelta(g.Epsilon) > math.Log(g.Delta)+1e-15*math.Abs(math.Log(g.Delta)) {
			t.Fatalf("%v: μ = %g has δ = %g", g, float64(mu), mu.Delta(g.Epsilon))
		}
		if more := mu * (1 + 1e-11); more.Delta(g.Epsilon) <= g.Delta {
			t.Fatalf("%v: μ = %g is not the largest", g, float64(mu))
		}
	})
}

func TestGaussianMuZCDP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ZCDP(magnitude(t, "rho"))
		mu, err := GaussianMu(r)
		if err != nil {
			t.Fatal(err)
		}
		square := exact(float64(mu))
		square.Mul(square, square)
		twice := exact(float64(r))
		twice.Mul(twice, exact(2))
		if square.Cmp(twice) > 0 {
			t.Fatalf("%v: μ = %g claims more than it has", r, float64(mu))
		}
		if f := float64(r); f > 1e-280 && f < 1e300 && !near(float64(mu.ZCDP()), f, 1e-15) {
			t.Fatalf("%v comes back as %v", r, mu.ZCDP())
		}
	})
}

func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := logUniform(t, "x", 1e-6, 50)
		y := x * (1 + logUniform(t, "gap", 1e-9, 10))
		eps, delta := logUniform(t, "epsilon", 1e-6, 1e3), logUniform(t, "delta", 1e-300, 0.9)
		alpha := logUniform(t, "alpha", 1e-300, 0.999)
		for _, c := range []struct {
			name        string
			small, more float64
		}{
			{"δ in μ", GDP(x).Delta(eps), GDP(y).Delta(eps)},
			{"log δ in μ", GDP(x).LogDelta(eps), GDP(y).LogDelta(eps)},
			{"ε in μ", GDP(x).Epsilon(delta), GDP(y).Epsilon(delta)},
			{"ρ in μ", float64(GDP(x).ZCDP()), float64(GDP(y).ZCDP())},
			{"power in μ", 1 - GDP(x).Tradeoff(alpha), 1 - GDP(y).Tradeoff(alpha)},
			{"μ in ε", float64(Pure(x).GDP()), float64(Pure(y).GDP())},
			{"ε in ρ", ZCDP(x).Epsilon(delta), ZCDP(y).Epsilon(delta)},
			{"δ in ρ", ZCDP(x).Delta(eps), ZCDP(y).Delta(eps)},
			{"δ in ε falling", -GDP(50).Delta(x), -GDP(50).Delta(y)},
			{"pure δ in ε₀", Pure(x).Delta(eps), Pure(y).Delta(eps)},
			{"pure ε in ε₀", Pure(x).Epsilon(delta), Pure(y).Epsilon(delta)},
			{"ρ in ε", float64(Geo(x).Concentrated()), float64(Geo(y).Concentrated())},
		} {
			if c.small > c.more+4e-14*math.Abs(c.more) || math.IsNaN(c.small) || math.IsNaN(c.more) {
				t.Fatalf("%s: %g at %g, %g at %g", c.name, c.small, x, c.more, y)
			}
		}
	})
}

// A weaker notion derived from a stronger one never claims more than the stronger one does directly.
func TestConversionsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := logUniform(t, "delta", 1e-300, 0.9)
		m := GDP(logUniform(t, "mu", 1e-6, 50))
		if direct, viaRho := m.Epsilon(delta), m.ZCDP().Epsilon(delta); viaRho < direct*(1-1e-12) {
			t.Fatalf("μ = %g, δ = %g: ε = %g through zCDP, %g exactly", float64(m), delta, viaRho, direct)
		}
		e := Pure(logUniform(t, "epsilon", 1e-6, 50))
		direct := e.Epsilon(delta)
		if viaMu := e.GDP().Epsilon(delta); viaMu < direct*(1-1e-11) {
			t.Fatalf("ε = %g, δ = %g: ε = %g through GDP, %g exactly", float64(e), delta, viaMu, direct)
		}
		// Randomised response attains both: the total variations are equal.
		if a, b := e.GDP().Delta(0), e.Delta(0); !near(a, b, 1e-12) {
			t.Fatalf("ε = %g: total variation %g through GDP, %g exactly", float64(e), a, b)
		}
		if direct > float64(e) {
			t.Fatalf("ε = %g grew to %g at δ = %g", float64(e), direct, delta)
		}
		if d := e.Delta(direct); d > delta*(1+1e-9)+1e-15 {
			t.Fatalf("ε = %g: δ(ε(%g)) = %g", float64(e), delta, d)
		}
	})
}

func TestTradeoff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := GDP(logUniform(t, "mu", 1e-3, 20))
		alpha := logUniform(t, "alpha", 1e-200, 0.999)
		beta := m.Tradeoff(alpha)
		if beta < 0 || beta > 1-alpha {
			t.Fatalf("G_%g(%g) = %g", float64(m), alpha, beta)
		}
		if beta > 1e-280 && beta < 0.999 {
			if back := m.Tradeoff(beta); back > alpha*(1+1e-9)+1e-12 && alpha < 0.99 || back < alpha*(1-1e-9) {
				t.Fatalf("G_%g(G(%g)) = %g", float64(m), alpha, back)
			}
			if through := MuThrough(alpha, beta); !near(float64(through), float64(m), 1e-9) {
				t.Fatalf("μ through (%g, %g) = %g, want %g", alpha, beta, float64(through), float64(m))
			}
		}
	})
	// Fixed points by symmetry: G_μ(Φ(−μ/2)) = Φ(−μ/2).
	for _, mu := range []float64{0.1, 1, 5} {
		a := math.Erfc(mu/2/math.Sqrt2) / 2
		if got := GDP(mu).Tradeoff(a); !near(got, a, 1e-13) {
			t.Errorf("G_%g(%g) = %g, want the fixed point", mu, a, got)
		}
	}
}

func TestComposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mus := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) GDP { return GDP(magnitude(t, "mu")) }), 1, 12).Draw(t, "mus")
		total := ComposeGDP(mus...)
		sum := exact(0)
		for _, m := range mus {
			sq := exact(float64(m))
			sum.Add(sum, sq.Mul(sq, sq))
		}
		square := exact(float64(total))
		square.Mul(square, square)
		if square.Cmp(sum) < 0 {
			t.Fatalf("composition %g of %v is below the exact root", float64(total), mus)
		}
		root := sum.Sqrt(sum)
		if r, _ := root.Float64(); r > 1e-290 && !near(float64(total), r, 1e-14) {
			t.Fatalf("composition %g of %v, want %g", float64(total), mus, r)
		}
		shuffled := slices.Clone(mus)
		slices.Reverse(shuffled)
		k := rapid.IntRange(0, len(mus)).Draw(t, "k")
		nested := ComposeGDP(ComposeGDP(shuffled[:k]...), ComposeGDP(shuffled[k:]...))
		if !near(float64(nested), float64(total), 1e-14) && float64(total) > 1e-290 {
			t.Fatalf("composition depends on the order: %g and %g", float64(nested), float64(total))
		}
	})
	if got := ComposeGDP(3, 4); got != 5 {
		t.Errorf("ComposeGDP(3, 4) = %g, want exactly 5", float64(got))
	}
	if got := ComposeZCDP(0.25, 0.25); got != 0.5 {
		t.Errorf("ComposeZCDP(1/4, 1/4) = %g", float64(got))
	}
	if got := ComposePure(0.1, 0.2); got < 0.3 {
		t.Errorf("ComposePure(0.1, 0.2) = %g", float64(got))
	}
	if ComposeGDP() != 0 || ComposePure() != 0 || ComposeGDP(0.1) != 0.1 {
		t.Error("no releases must cost 0, one release itself")
	}
	if !math.IsInf(float64(ComposeGDP(1, GDP(math.NaN()))), 1) || !math.IsInf(float64(ComposePure(1, -1)), 1) || !math.IsInf(float64(ComposeGeo(Geo(math.NaN()))), 1) {
		t.Error("an invalid summand must cost everything")
	}
	if ComposeGeo(1, 2) != 3 || ComposeConcentratedGeo(1, 2) != 3 {
		t.Error("geo guarantees add")
	}
}

func TestSigma(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, delta := logUniform(t, "mu", 1e-6, 50), logUniform(t, "sensitivity", 1e-100, 1e100)
		sigma := GDP(m).Sigma(delta)
		// σ·μ ≥ Δ(1+2⁻⁵³): the decimal that μ prints as is covered too.
		lhs := exact(sigma)
		lhs.Mul(lhs, exact(m))
		if lhs.Cmp(exact(delta).Mul(exact(delta), exact(1).Add(exact(1), exact(0x1p-53)))) < 0 {
			t.Fatalf("σ = %g is too small for Δ = %g, μ = %g", sigma, delta, m)
		}
		if got := Pure(m).Scale(delta); got != sigma {
			t.Fatalf("scale %g of the same quotient %g", got, sigma)
		}
		if got := Geo(m).Scale(); got != GDP(m).Sigma(1) {
			t.Fatalf("geo scale %g", got)
		}
		if !near(sigma, delta/m, 2e-15) {
			t.Fatalf("σ = %g, want %g", sigma, delta/m)
		}
	})
	if got := ConcentratedGeo(0.5).Sigma(); got < 1 || got > 1+1e-14 {
		t.Errorf("σ of ρ = 1/2 is %g, want 1", got)
	}
}

// Out of the domain: the statement that is always true, never a panic, never NaN.
func TestVacuous(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, got := range map[string]float64{
		"δ at NaN": GDP(1).Delta(nan), "δ at −1": GDP(1).Delta(-1), "δ of NaN": GDP(nan).Delta(1), "δ of ∞": GDP(inf).Delta(1),
		"zCDP δ of NaN": ZCDP(nan).Delta(1), "zCDP δ of ∞": ZCDP(inf).Delta(1), "pure δ of NaN": Pure(nan).Delta(0), "δ of 1e200": GDP(1e200).Delta(1),
	} {
		if got != 1 {
			t.Errorf("%s = %g, want 1", name, got)
		}
	}
	for name, got := range map[string]float64{
		"ε at 0": GDP(1).Epsilon(0), "ε at NaN": GDP(1).Epsilon(nan), "ε of NaN": GDP(nan).Epsilon(0.1), "ε of ∞": GDP(inf).Epsilon(0.1),
		"zCDP ε at 0": ZCDP(1).Epsilon(0), "zCDP ε of NaN": ZCDP(nan).Epsilon(0.1), "pure ε of NaN": Pure(nan).Epsilon(0.1), "μ of ε = ∞": float64(Pure(inf).GDP()),
		"μ of ε = −1": float64(Pure(-1).GDP()), "ε of 1e200": GDP(1e200).Epsilon(0.1),
	} {
		if !math.IsInf(got, 1) {
			t.Errorf("%s = %g, want +Inf", name, got)
		}
	}
	for name, got := range map[string]float64{
		"δ of nothing": GDP(0).Delta(1), "ε of nothing": GDP(0).Epsilon(1e-300), "ε at δ = 1": GDP(1).Epsilon(1), "ρ of nothing": ZCDP(0).Epsilon(0.1),
		"G at NaN": GDP(1).Tradeoff(nan), "G at 1": GDP(1).Tradeoff(1), "μ through the diagonal": float64(MuThrough(0.5, 0.5)),
	} {
		if got != 0 {
			t.Errorf("%s = %g, want 0", name, got)
		}
	}
}

func TestSumsRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pure []Pure
		var rho []ZCDP
		sum := exact(0)
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			x := logUniform(t, "x", 1e-3, 1e3)
			pure, rho = append(pure, Pure(x)), append(rho, ZCDP(x))
			sum.Add(sum, exact(x))
		}
		e, r := float64(ComposePure(pure...)), float64(ComposeZCDP(rho...))
		if exact(e).Cmp(sum) < 0 || e != r {
			t.Fatalf("Σ%v = %g, exactly %g", pure, e, sum)
		}
	})
}
