package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/privacy"
)

// Guarantee is the ways to state a guarantee.
type Guarantee struct{ mu, rho, epsilon, delta float64 }

// Register adds the flags.
func (g *Guarantee) Register(f *pflag.FlagSet) {
	f.Float64Var(&g.mu, "mu", 0, "guarantee as μ-GDP")
	f.Float64Var(&g.rho, "rho", 0, "guarantee as ρ-zCDP")
	f.Float64Var(&g.epsilon, "epsilon", 0, "guarantee as ε-DP, or as (ε,δ)-DP with --delta")
	f.Float64Var(&g.delta, "delta", 0, "δ of an (ε,δ)-DP guarantee")
}

// Stated returns the one guarantee that was stated.
func (g *Guarantee) Stated(f *pflag.FlagSet) (privacy.Guarantee, error) {
	var out []privacy.Guarantee
	if f.Changed("mu") {
		out = append(out, privacy.GDP(g.mu))
	}
	if f.Changed("rho") {
		out = append(out, privacy.ZCDP(g.rho))
	}
	switch {
	case f.Changed("epsilon") && f.Changed("delta"):
		out = append(out, privacy.Approx{Epsilon: g.epsilon, Delta: g.delta})
	case f.Changed("epsilon"):
		out = append(out, privacy.Pure(g.epsilon))
	case f.Changed("delta"):
		return nil, Usagef("--delta needs --epsilon beside it")
	}
	if len(out) > 1 {
		var words []string
		for _, g := range out {
			words = append(words, fmt.Sprint(g))
		}
		return nil, Usagef("%s are %d guarantees: state one of them; the ledger adds up several releases, each under its own", strings.Join(words, " and "), len(out))
	}
	if len(out) == 0 {
		return nil, Usagef("state one guarantee: --mu M, --rho R, --epsilon E, or --epsilon E --delta D (μ = 1 is a common choice: about ε = 4.9 at δ = 1e-6)")
	}
	if err := out[0].Validate(); err != nil {
		return nil, Usage(err)
	}
	return out[0], nil
}
