package ledger

// Money: what a guarantee costs and what a cap allows, as exact rational numbers (all of them finite decimals).

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/curveil/curveil/privacy"
)

// Currency is what a data set's spending is counted in.
type Currency string

// The currencies, and what they add up.
const (
	GDP             Currency = "gdp"              // μ²
	Geo             Currency = "geo"              // ε per unit of distance
	ConcentratedGeo Currency = "concentrated-geo" // ρ per squared unit of distance
)

// currencyOf returns the currency in which a guarantee is counted.
func currencyOf(g privacy.Guarantee) Currency {
	switch g.(type) {
	case privacy.Geo:
		return Geo
	case privacy.ConcentratedGeo:
		return ConcentratedGeo
	}
	return GDP
}

// maxCost bounds what one release may cost: beyond it a parameter is a mistake, not privacy.
const maxCost = 1e12

// costOf returns what a release with this guarantee costs, in the currency of currencyOf.
func costOf(g privacy.Guarantee) (*big.Rat, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	x, square := 0.0, true
	switch g := g.(type) {
	case privacy.GDP:
		x = float64(g)
	case privacy.Pure:
		// Raised by more than a unit in the last place, so that the decimal does not fall below the exact μ.
		x = float64(g.GDP())
	case privacy.Approx:
		mu, err := privacy.GaussianMu(g)
		if err != nil {
			return nil, err
		}
		x = float64(mu)
	case privacy.ZCDP:
		x, square = float64(g), false
	case privacy.Geo:
		x, square = float64(g), false
	case privacy.ConcentratedGeo:
		x, square = float64(g), false
	default:
		return nil, fmt.Errorf("ledger: guarantee of unknown type %T: use one of package privacy", g)
	}
	if !(x <= maxCost) || square && x > 1e6 {
		return nil, refused("ledger: %v is no privacy: choose a smaller parameter", g)
	}
	d := decimal(x)
	switch {
	case square:
		return squared(d), nil
	case g.Definition() == privacy.ZCDP(0).Definition():
		return d.Add(d, d), nil // μ² = 2ρ
	}
	return d, nil
}

// limitOf returns the spending that a cap allows. Pure DP is no cap in the currency of μ.
func limitOf(g privacy.Guarantee) (*big.Rat, error) {
	if _, ok := g.(privacy.Pure); ok {
		return nil, refused("ledger: cap %v: releases are composed in μ, which bounds no pure ε: give the cap as μ, ρ or (ε, δ)", g)
	}
	return costOf(g)
}

// decimal returns the number that x prints as, exactly.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic("ledger: no decimal for a number that is not finite") // callers validate
	}
	return r
}

func squared(r *big.Rat) *big.Rat { return r.Mul(r, r) }

// formatDecimal writes a finite decimal in full.
func formatDecimal(r *big.Rat) string {
	digits, exact := r.FloatPrec()
	if !exact {
		panic("ledger: spending is not a finite decimal") // sums and products of decimals are
	}
	return r.FloatString(digits)
}

// parseDecimal reads what formatDecimal writes and nothing else.
func parseDecimal(s string) (*big.Rat, error) {
	if len(s) > 10000 || strings.Trim(s, "0123456789.") != "" {
		return nil, fmt.Errorf("%q is not a decimal number", s)
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || formatDecimal(r) != s {
		return nil, fmt.Errorf("%q is not a decimal number", s)
	}
	return r, nil
}

// guaranteeUp returns the spending as a guarantee, rounded up: never below what was spent.
func guaranteeUp(c Currency, spent *big.Rat) privacy.Guarantee {
	// The decimal of a float is within half a unit of it, and so is the root of the exact one.
	x := math.Nextafter(math.Nextafter(root(c, spent), 0), 0)
	for cost(c, x).Cmp(spent) < 0 {
		x = math.Nextafter(x, math.MaxFloat64)
	}
	return inCurrency(c, x)
}

// guaranteeDown returns the largest guarantee that costs at most the amount, rounded down; zero when none does.
func guaranteeDown(c Currency, amount *big.Rat) privacy.Guarantee {
	if amount.Sign() <= 0 {
		return inCurrency(c, 0)
	}
	x := math.Nextafter(math.Nextafter(root(c, amount), math.MaxFloat64), math.MaxFloat64)
	for cost(c, x).Cmp(amount) > 0 {
		x = math.Nextafter(x, 0)
	}
	return inCurrency(c, x)
}

// root returns about the parameter that costs the amount.
func root(c Currency, amount *big.Rat) float64 {
	if c != GDP {
		x, _ := amount.Float64()
		return x
	}
	f := new(big.Float).SetPrec(200).SetRat(amount)
	x, _ := f.Sqrt(f).Float64()
	return x
}

func cost(c Currency, x float64) *big.Rat {
	d := decimal(x)
	if c == GDP {
		return squared(d)
	}
	return d
}

func inCurrency(c Currency, x float64) privacy.Guarantee {
	switch c {
	case Geo:
		return privacy.Geo(x)
	case ConcentratedGeo:
		return privacy.ConcentratedGeo(x)
	}
	return privacy.GDP(x)
}
