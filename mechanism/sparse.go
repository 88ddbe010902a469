package mechanism

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// SparseVector is the sparse vector technique: it answers whether a query
// reaches a threshold, until the first one that does ([GEO] Algorithm 1;
// methods §4).
//
// Who changes: the person's curve becomes another. By how much: each query
// g_j(q) moves by at most K·dist. Noise: θ + Lap(K/ε₁) once, g_j + Lap(2K/ε₂)
// for each query. If the curve changes, shift the noise of the threshold by
// K·dist and that of the query that stops by 2K·dist: every earlier answer stays
// below, the last stays above, and the densities change by factors of at most
// e^{ε₁·dist} and e^{ε₂·dist}. So the answers together are (ε₁+ε₂)-geo-private,
// however many precede the stop. The argument needs the comparison of the real
// numbers, which package noise decides exactly from lazily drawn digits.
// Proof note: docs/privacy.md#sparse-vector.
type SparseVector struct {
	src            *noise.Source
	threshold      float64
	scaleW, scaleV float64
	w              *noise.Laplace
	halted         bool
}

// NewSparseVector starts a run with budget ε₁ for the threshold and ε₂ for the
// queries, per unit of distance, K the Lipschitz constant of every query. Proof
// note: docs/privacy.md#sparse-vector.
func NewSparseVector(epsilon1, epsilon2 privacy.Geo, lipschitz, threshold float64, src *noise.Source) (*SparseVector, error) {
	for _, e := range []privacy.Geo{epsilon1, epsilon2} {
		if err := e.Validate(); err != nil {
			return nil, fmt.Errorf("mechanism: sparse vector: %w", err)
		}
	}
	v := &SparseVector{src: src, threshold: threshold,
		scaleW: privacy.DivUp(lipschitz, float64(epsilon1)), scaleV: privacy.DivUp(2*lipschitz, float64(epsilon2))}
	if !finite(threshold) || !(lipschitz > 0) || !finite(v.scaleW) || !finite(v.scaleV) {
		return nil, fmt.Errorf("mechanism: sparse vector with threshold %g, Lipschitz constant %g and noise %g, %g: all must be finite, the constant positive", threshold, lipschitz, v.scaleW, v.scaleV)
	}
	v.w = src.Laplace()
	return v, nil
}

// Reached asks the next query, of value g (finite), and reports whether it
// reaches the threshold. The first true ends the run: asking on would spend
// more than was given, and panics.
func (v *SparseVector) Reached(g float64) bool {
	if v.halted {
		panic("mechanism: sparse vector asked on after it stopped: start another with its own budget")
	}
	v.halted = v.src.Reaches(g, v.scaleV, v.src.Laplace(), v.threshold, v.scaleW, v.w)
	return v.halted
}

// First asks g(0), g(1), … g(n−1) and returns the index of the first that
// reaches the threshold, or n−1 if none does: the list is public and finite, so
// its end is a public answer. g is not called beyond the stop.
func (v *SparseVector) First(n int, g func(j int) float64) int {
	for j := range n {
		if v.Reached(g(j)) {
			return j
		}
	}
	v.halted = true
	return n - 1
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
