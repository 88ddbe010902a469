package privacy_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/curveil/curveil/privacy"
)

// What is said to fit does, and a little more does not.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := privacy.GDP(math.Exp(rapid.Float64Range(math.Log(1e-4), math.Log(20)).Draw(t, "log μ")))
		delta := math.Pow(10, rapid.Float64Range(-15, -1).Draw(t, "log δ"))
		a, ok := m.Within(delta)
		if !ok {
			// Even (0, δ) is more than m implies.
			if m.Delta(1e-9) > delta*(1+1e-6) {
				t.Fatalf("%v at δ = %g: nothing, though ε = 1e-9 is less", m, delta)
			}
			return
		}
		mu, err := privacy.GaussianMu(a)
		if err != nil || mu > m || a.Delta != delta {
			t.Fatalf("%v: %v costs %v, %v", m, a, mu, err)
		}
		a.Epsilon *= 1 + 3e-5
		if mu, err = privacy.GaussianMu(a); err != nil || mu <= m {
			t.Fatalf("%v: %v fits too, at %v, %v", m, a, mu, err)
		}
	})
	if a, ok := privacy.GDP(0.22135).Within(1e-6); !ok || math.Abs(a.Epsilon-0.93) > 0.01 {
		t.Errorf("μ = 0.22135 at δ = 1e-6: %v", a)
	}
	for _, delta := range []float64{0, 1, -1, math.NaN(), 0.5} {
		if a, ok := privacy.GDP(0.2).Within(delta); ok {
			t.Errorf("δ = %g: %v", delta, a)
		}
	}
}
