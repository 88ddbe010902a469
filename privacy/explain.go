package privacy

// The same guarantee in every other word for it, for a reader who knows one of them.

import "math"

// Row is one line of an explanation.
type Row struct {
	Name  string  // "μ", "ρ", "ε", "ε at δ = 1e-06", "ε per unit of distance"
	Value float64 // rounded up
	Note  string  // how it is known: "stated", "exact", "implied"
}

// Explain returns the guarantee as μ, ρ, and ε at each δ, as far as the guarantee alone implies them: zCDP implies
// no μ (a Gaussian release of it has μ = √(2ρ): explain that), (ε,δ)-DP neither μ nor ρ, and the geo definitions only
// each other. δs outside (0,1) are left out.
func Explain(g Guarantee, deltas ...float64) []Row {
	const stated, exact, implied = "stated", "exact", "implied"
	var rows []Row
	curve := func(note string, epsilon func(float64) float64) {
		for _, d := range deltas {
			if d > 0 && d < 1 {
				rows = append(rows, Row{"ε at δ = " + text(d), epsilon(d), note})
			}
		}
	}
	switch g := g.(type) {
	case GDP:
		rows = append(rows, Row{"μ", float64(g), stated}, Row{"ρ", float64(g.ZCDP()), exact})
		curve(exact, g.Epsilon)
	case ZCDP:
		rows = append(rows, Row{"ρ", float64(g), stated})
		curve(implied, g.Epsilon)
	case Pure:
		rows = append(rows, Row{"ε", float64(g), stated}, Row{"μ", float64(g.GDP()), exact}, Row{"ρ", float64(g.ZCDP()), implied})
		curve(exact, g.Epsilon)
	case Approx:
		rows = append(rows, Row{"ε at δ = " + text(g.Delta), g.Epsilon, stated})
		for _, d := range deltas {
			// (ε,δ)-DP alone says nothing at a smaller δ, and nothing sharper here at a larger one.
			if d > 0 && d < 1 && d != g.Delta {
				value := math.Inf(1)
				if d > g.Delta {
					value = g.Epsilon
				}
				rows = append(rows, Row{"ε at δ = " + text(d), value, implied})
			}
		}
	case Geo:
		rows = append(rows, Row{"ε per unit of distance", float64(g), stated},
			Row{"ρ per squared unit of distance", float64(g.Concentrated()), implied})
	case ConcentratedGeo:
		rows = append(rows, Row{"ρ per squared unit of distance", float64(g), stated})
	}
	return rows
}
