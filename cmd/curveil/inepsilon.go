package main

import (
	"errors"
	"fmt"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

// inEpsilon adds to a debit's refusal the ε that still fits at this δ, for verbs that are asked in (ε, δ): the ledger speaks of μ, which
// they cannot be asked for. then says what to do with it. Other errors, and refusals where nothing fits, stay as they are.
func inEpsilon(err error, delta float64, then string) error {
	var over *ledger.OverspendError
	if !errors.As(err, &over) {
		return err
	}
	mu, ok := over.Fits.(privacy.GDP)
	if !ok || mu.Validate() != nil {
		return err
	}
	if fits, ok := mu.Within(delta); ok {
		return fmt.Errorf("%w; at δ = %g that is ε = %g%s", err, delta, fits.Epsilon, then)
	}
	return fmt.Errorf("%w; at δ = %g no ε fits into that", err, delta)
}
