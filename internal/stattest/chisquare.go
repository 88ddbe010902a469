// Package stattest holds the statistics by which samplers and mechanisms are
// tested and audited: χ² goodness of fit, binomial tails, Clopper–Pearson
// bounds. Probabilities are computed from the tail that is asked for, so that
// values of 1e-9 and below keep their digits.
package stattest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// FalseAlarm is the largest probability with which a test that calls [Require]
// once fails on correct code.
const FalseAlarm = 1e-6

// minExpected is the smallest expected count of a cell of a χ² test. It is more
// than the usual 5 because p-values are trusted down to FalseAlarm.
const minExpected = 50

// GoodnessOfFit is the outcome of Pearson's χ² test.
type GoodnessOfFit struct {
	Statistic float64
	DF        int     // cells after merging, less one
	P         float64 // probability of a statistic at least this large
}

// String gives statistic, degrees of freedom and p-value.
func (g GoodnessOfFit) String() string {
	return fmt.Sprintf("χ²=%.1f on %d degrees of freedom, p=%.3g", g.Statistic, g.DF, g.P)
}

// ChiSquare tests counts of independent draws against the probabilities of
// their cells, which must add up to 1 within 1e-9. Runs of neighbouring cells
// are merged until each is expected at least 50 times, so cells should be in
// their natural order. It panics if the lengths differ, the probabilities do not
// add up, or fewer than two cells remain.
func ChiSquare(counts []int64, probability []float64) GoodnessOfFit {
	if len(counts) != len(probability) {
		panic(fmt.Sprintf("stattest: %d counts for %d probabilities", len(counts), len(probability)))
	}
	var draws int64
	total := 0.0
	for i, p := range probability {
		draws += counts[i]
		total += p
	}
	if !(math.Abs(total-1) <= 1e-9) {
		panic(fmt.Sprintf("stattest: probabilities add up to %v, not to 1", total))
	}

	type cell struct{ observed, expected float64 }
	var cells []cell
	var open cell
	for i, p := range probability {
		open.observed += float64(counts[i])
		open.expected += p * float64(draws)
		if open.expected >= minExpected {
			cells = append(cells, open)
			open = cell{}
		}
	}
	if len(cells) > 0 {
		cells[len(cells)-1].observed += open.observed
		cells[len(cells)-1].expected += open.expected
	}
	if len(cells) < 2 {
		panic(fmt.Sprintf("stattest: %d draws fill fewer than two cells of expectation %d", draws, minExpected))
	}

	g := GoodnessOfFit{DF: len(cells) - 1}
	for _, c := range cells {
		d := c.observed - c.expected
		g.Statistic += d * d / c.expected
	}
	g.P = mathext.GammaIncRegComp(float64(g.DF)/2, g.Statistic/2)
	return g
}

// T is the part of testing.TB that Require needs; the audit command has no
// testing.TB.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Require fails the test if p < FalseAlarm or p is NaN. The subject says what
// was tested.
func Require(t T, p float64, subject string) {
	t.Helper()
	if !(p >= FalseAlarm) {
		t.Errorf("%s: p=%.3g is below the false-alarm rate %g", subject, p, FalseAlarm)
	}
}
