package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

// hardlyMu is where a guarantee hardly protects: whoever knows two candidates for a
// person's data, and everybody else's, errs in Φ(-μ/2), less than one case in a million, when
// telling which is true. It is ρ = 50, and ε about 15 of pure DP.
const hardlyMu = 10

// Hardly returns how often somebody errs who tells two candidates for a person's data
// apart as well as the guarantee allows, and whether that is so seldom that the guarantee
// protects almost nothing. A guarantee per unit of distance depends on the unit
// and is never called so.
func Hardly(g privacy.Guarantee) (errs float64, hardly bool) {
	var mu privacy.GDP
	switch g := g.(type) {
	case privacy.GDP, privacy.ZCDP, privacy.Approx:
		m, err := privacy.GaussianMu(g)
		if err != nil {
			return 0, false
		}
		mu = m
	case privacy.Pure:
		mu = g.GDP()
	default:
		return 0, false
	}
	// The conversion of a round ρ rounds to more privacy, by less than this.
	return math.Erfc(float64(mu)/2/math.Sqrt2) / 2, float64(mu) >= hardlyMu*(1-1e-9)
}

// mostDelta is the largest δ that is not called weak: a mechanism that now and then publishes somebody's
// data in full, once in 1/δ people, is (0, δ)-DP.
const mostDelta = 0.01

// Accept refuses a guarantee that protects almost nothing, unless Weak says that it is
// meant; then it warns, once.
func (b *Budget) Accept(g privacy.Guarantee) error {
	words := weakness(g)
	switch {
	case words == "":
		return nil
	case !b.Weak:
		return flags.Usagef("%v protects almost nothing: %s; μ = 1, or ρ = 0.5, is a common choice; --weak spends it all the same", g, words)
	case !b.warned && b.stderr != nil:
		b.warned = true
		fmt.Fprintf(b.stderr, "curveil: WARNING: %v protects almost nothing: %s. μ = 1, or ρ = 0.5, is a common choice.\n", g, words)
	}
	return nil
}

// AcceptApart is Accept for a guarantee per unit of distance, which is judged by two curves that many metres apart all along
// the window, at the given distance in the guarantee's metric.
func (b *Budget) AcceptApart(g privacy.Guarantee, distance, metres float64) error {
	var at privacy.Guarantee
	switch g := g.(type) {
	case privacy.Geo:
		at = privacy.Pure(float64(g) * distance)
	case privacy.ConcentratedGeo:
		at = privacy.GDP(math.Sqrt(2*float64(g)) * distance)
	default:
		return nil
	}
	errs, hardly := Hardly(at)
	if !hardly {
		return nil
	}
	words := fmt.Sprintf("%v hides hardly anything: who knows two tracks that are %g m apart all along the window may tell from the release which is true, and %s", g, metres, errsIn(errs))
	if !b.Weak {
		return flags.Usagef("%s; 'curveil plan curve' says what a budget protects and costs; --weak spends it all the same", words)
	}
	if b.stderr != nil && !b.warned {
		b.warned = true
		fmt.Fprintf(b.stderr, "curveil: WARNING: %s.\n", words)
	}
	return nil
}

// errsIn says how seldom somebody errs.
func errsIn(errs float64) string {
	if errs < 1e-12 {
		return "practically never err"
	}
	return fmt.Sprintf("err in one case of %d million", int64(math.Round(1e-6/errs)))
}

// weakness says why a guarantee protects almost nothing; "" for others.
func weakness(g privacy.Guarantee) string {
	if a, ok := g.(privacy.Approx); ok && a.Delta > mostDelta {
		return fmt.Sprintf("δ = %g also allows what publishes the data of one person in %.0f in full; δ should be far below 1/n, such as 1e-6", a.Delta, 1/a.Delta)
	}
	errs, hardly := Hardly(g)
	if !hardly {
		return ""
	}
	return "whoever knows two candidates for a person's data may tell from the release which is true, and " + errsIn(errs)
}

// Person is one person's own ledger, which a client on that person's device spends
// from; without a book nothing is recorded.
type Person struct {
	budget *Budget
	book   *ledger.Ledger
}

// Person returns the ledger of the budget's data set.
func (b *Budget) Person(book *ledger.Ledger) Person { return Person{b, book} }

// Spend debits the person's data set; see ledger.Person.
func (p Person) Spend(ctx context.Context, verb string, parameters any, s privacy.Statement) (complete func(ctx context.Context, release [sha256.Size]byte) error, err error) {
	if err := p.budget.Accept(s.Guarantee); err != nil {
		return nil, err
	}
	if p.book == nil {
		if p.budget.spent {
			return nil, errors.New("a second report without a ledger: one call makes one")
		}
		p.budget.spent = true
		return func(context.Context, [sha256.Size]byte) error { return nil }, nil
	}
	complete, err = ledger.Person{Ledger: p.book, Dataset: p.budget.Dataset, Who: p.budget.Spender()}.Spend(ctx, verb, parameters, s)
	return complete, p.budget.explain(err)
}
