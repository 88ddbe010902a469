package privacy

// The closed set of guarantees. Each is its own type; a value is checked by Validate, never on construction,
// so that constants can be written as privacy.GDP(1).

import (
	"fmt"
	"math"
	"strconv"
)

// Guarantee is one of GDP, ZCDP, Pure, Approx, Geo, ConcentratedGeo.
type Guarantee interface {
	// Definition is the name used in JSON: "gdp", "zcdp", "pure", "approx", "geo", "concentrated-geo".
	Definition() string
	// Validate refuses parameters at which no release exists: zero, negative, NaN, infinite.
	Validate() error
	// String is the parameter with its definition, such as "μ = 1 (GDP)".
	String() string

	sealed()
}

// GDP is μ of Gaussian differential privacy: telling two neighbouring data sets apart is at least as hard as
// telling N(0,1) from N(μ,1). The zero value means that nothing was released; Validate refuses it.
type GDP float64

// ZCDP is ρ of zero-concentrated differential privacy: every Rényi divergence of order α is at most ρα.
// A Gaussian release of ρ is also √(2ρ)-GDP; zCDP alone implies no GDP.
type ZCDP float64

// Pure is ε of pure differential privacy.
type Pure float64

// Approx is (ε, δ)-differential privacy, with 0 ≤ Epsilon < ∞ and 0 < Delta < 1. For δ = 0 use Pure.
type Approx struct{ Epsilon, Delta float64 }

// Geo is ε of metric privacy, per unit of distance: Pr[M(q)∈S] ≤ e^{ε·dist(q,q′)}·Pr[M(q′)∈S].
type Geo float64

// ConcentratedGeo is ρ of concentrated metric privacy, per squared unit of distance: D_α ≤ αρ·dist(q,q′)².
type ConcentratedGeo float64

func (GDP) sealed()             {}
func (ZCDP) sealed()            {}
func (Pure) sealed()            {}
func (Approx) sealed()          {}
func (Geo) sealed()             {}
func (ConcentratedGeo) sealed() {}

// Definition returns "gdp".
func (GDP) Definition() string { return "gdp" }

// Definition returns "zcdp".
func (ZCDP) Definition() string { return "zcdp" }

// Definition returns "pure".
func (Pure) Definition() string { return "pure" }

// Definition returns "approx".
func (Approx) Definition() string { return "approx" }

// Definition returns "geo".
func (Geo) Definition() string { return "geo" }

// Definition returns "concentrated-geo".
func (ConcentratedGeo) Definition() string { return "concentrated-geo" }

// Validate wants 0 < μ < ∞.
func (m GDP) Validate() error { return positive("GDP", "μ", float64(m)) }

// Validate wants 0 < ρ < ∞.
func (r ZCDP) Validate() error { return positive("zCDP", "ρ", float64(r)) }

// Validate wants 0 < ε < ∞.
func (e Pure) Validate() error { return positive("pure DP", "ε", float64(e)) }

// Validate wants 0 ≤ ε < ∞ and 0 < δ < 1.
func (a Approx) Validate() error {
	if !(a.Epsilon >= 0) || math.IsInf(a.Epsilon, 1) {
		return fmt.Errorf("privacy: ε = %s of (ε,δ)-DP must be a finite number, zero or above", text(a.Epsilon))
	}
	if a.Delta == 0 {
		return fmt.Errorf("privacy: δ = 0 of (ε,δ)-DP is pure DP: give a δ strictly between 0 and 1, or use the definition %q", Pure(0).Definition())
	}
	if !(a.Delta > 0 && a.Delta < 1) {
		return fmt.Errorf("privacy: δ = %s of (ε,δ)-DP must be strictly between 0 and 1", text(a.Delta))
	}
	return nil
}

// Validate wants 0 < ε < ∞.
func (e Geo) Validate() error { return positive("geo-privacy", "ε", float64(e)) }

// Validate wants 0 < ρ < ∞.
func (r ConcentratedGeo) Validate() error {
	return positive("concentrated geo-privacy", "ρ", float64(r))
}

func positive(definition, symbol string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("privacy: %s = %s of %s must be a finite number above zero", symbol, text(x), definition)
	}
	return nil
}

// String returns for instance "μ = 1 (GDP)".
func (m GDP) String() string { return "μ = " + text(float64(m)) + " (GDP)" }

// String returns for instance "ρ = 0.5 (zCDP)".
func (r ZCDP) String() string { return "ρ = " + text(float64(r)) + " (zCDP)" }

// String returns for instance "ε = 1 (pure DP)".
func (e Pure) String() string { return "ε = " + text(float64(e)) + " (pure DP)" }

// String returns for instance "ε = 1, δ = 1e-06 (approximate DP)".
func (a Approx) String() string {
	return "ε = " + text(a.Epsilon) + ", δ = " + text(a.Delta) + " (approximate DP)"
}

// String returns for instance "ε = 0.1 per unit of distance (geo-privacy)".
func (e Geo) String() string {
	return "ε = " + text(float64(e)) + " per unit of distance (geo-privacy)"
}

// String returns for instance "ρ = 0.1 per squared unit of distance (concentrated geo-privacy)".
func (r ConcentratedGeo) String() string {
	return "ρ = " + text(float64(r)) + " per squared unit of distance (concentrated geo-privacy)"
}

// text is the shortest decimal that reads back as the same float64.
func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
