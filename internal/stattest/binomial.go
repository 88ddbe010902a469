// Exact binomial tails and the confidence bounds that invert them.

package stattest

import (
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// AtLeast returns P(X ≥ k) for X binomial with n trials of probability p.
func AtLeast(k, n int64, p float64) float64 {
	switch checkBinomial(n, p); {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k)+1, p)
}

// AtMost returns P(X ≤ k) for X binomial with n trials of probability p.
func AtMost(k, n int64, p float64) float64 {
	switch checkBinomial(n, p); {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k)+1, 1-p)
}

// TwoSided returns twice the smaller tail at k, at most 1: a p-value for the
// hypothesis that n trials with k successes have probability p.
func TwoSided(k, n int64, p float64) float64 {
	return min(1, 2*min(AtLeast(k, n, p), AtMost(k, n, p)))
}

func checkBinomial(n int64, p float64) {
	if n < 0 || !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("stattest: no binomial law with n=%d, p=%v", n, p))
	}
}

// ClopperPearson returns the two-sided exact confidence interval for the
// probability of success after k successes in n trials: it covers with
// probability at least confidence, each side failing with at most
// (1−confidence)/2.
func ClopperPearson(k, n int64, confidence float64) (lower, upper float64) {
	alpha := (1 - confidence) / 2
	return LowerBound(k, n, alpha), UpperBound(k, n, alpha)
}

// LowerBound returns the Clopper–Pearson bound that is above the probability of
// success with probability at most alpha: the p with P(X ≥ k) = alpha, rounded
// down. Clopper and Pearson, Biometrika 26 (1934).
//
// It brackets the regularised incomplete beta function; the beta quantile of
// gonum v0.17 is off by orders of magnitude for tails below 1e-6.
func LowerBound(k, n int64, alpha float64) float64 {
	checkBound(k, n, alpha)
	if k == 0 {
		return 0
	}
	lower, _ := bracket(0, float64(k)/float64(n), func(p float64) bool { return AtLeast(k, n, p) <= alpha })
	return lower
}

// UpperBound returns the Clopper–Pearson bound that is below the probability of
// success with probability at most alpha: the p with P(X ≤ k) = alpha, rounded
// up.
func UpperBound(k, n int64, alpha float64) float64 {
	checkBound(k, n, alpha)
	if k == n {
		return 1
	}
	_, upper := bracket(float64(k)/float64(n), 1, func(p float64) bool { return AtMost(k, n, p) > alpha })
	return upper
}

func checkBound(k, n int64, alpha float64) {
	if k < 0 || k > n || n == 0 || !(alpha > 0 && alpha < 0.5) {
		panic(fmt.Sprintf("stattest: no bound for %d of %d successes at error probability %v", k, n, alpha))
	}
}

// bracket narrows [low, high] to the place where below turns from true to false,
// to a relative width of 1e-14.
func bracket(low, high float64, below func(p float64) bool) (float64, float64) {
	for high-low > 1e-14*high {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}
