// Quantiles behind the bands: exact for one point, simulated for the maximum
// over many points and components.

package release

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/internal/simulate"
)

const (
	draws = 20_000 // per simultaneous band
	block = 250    // draws per matrix product
	seed  = 0x62616e64
)

// laplaceQuantile returns the q with Pr(|Z₁| ≤ q) = level for one coordinate of
// the spherical Laplace vector Z ∈ R^m. Z = S·ξ with S chi-distributed with m+1
// degrees of freedom and ξ standard normal, so the tail is
//
//	Pr(|Z₁| > q) = ∫ erfc(q/(s√2)) p_{m+1}(s) ds,
//
// a smooth one-dimensional integral; m = 1 is the Laplace law.
func laplaceQuantile(m int, level float64) float64 {
	s, w := chiNodes(m + 1)
	tail := func(q float64) float64 {
		var p float64
		for i := range s {
			p += w[i] * math.Erfc(q/(s[i]*math.Sqrt2))
		}
		return p
	}
	target := 1 - level
	// Pr(|Z₁|>q) ≤ Pr(‖Z‖>q) and ‖Z‖ ~ Gamma(m): the doubling stops early.
	lo, hi := 0.0, math.Sqrt(float64(m+1))
	for tail(hi) > target {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-13*hi {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if tail(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// chiNodes returns nodes and weights (summing to one) for expectations under
// the chi law with k degrees of freedom: the midpoint rule in x = log s, where
// the integrand decays at both ends and the rule converges geometrically, on an
// interval that holds all but 1e-15 of the mass.
func chiNodes(k int) (s, w []float64) {
	const n = 400
	mode := math.Sqrt(float64(k))
	lo, hi := math.Log(mode)-75/float64(k), math.Log(mode+12)
	if k > 60 { // the law is close to N(√k, 1/2), and e^{−75} at lo no longer the density's decay
		lo = math.Log(mode - 7)
	}
	s, w = make([]float64, n), make([]float64, n)
	lg, _ := math.Lgamma(float64(k) / 2)
	var sum float64
	for i := range s {
		x := lo + (hi-lo)*(float64(i)+0.5)/n
		s[i] = math.Exp(x)
		w[i] = math.Exp(float64(k)*x - s[i]*s[i]/2 - (float64(k)/2-1)*math.Ln2 - lg)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return s, w
}

// supQuantile returns an upper level-quantile of
//
//	max over components k and rows d of dirs of |d·ζ_k|,
//
// dirs being unit vectors (rows × r, row-major) and ζ_k the unit noise of
// component k; m is the number of coordinates over all components. The order
// statistic ⌈level·(draws+1)⌉ covers a further draw with probability at least
// level; Bonferroni's bound caps it, and alone serves levels beyond the draws.
func (n Noise) supQuantile(dirs []float64, r, components, m int, level float64) float64 {
	rows := len(dirs) / r
	bonferroni := n.unitQuantile(m, 1-(1-level)/float64(rows*components))
	rank := int(math.Ceil(level * (draws + 1)))
	if rank > draws {
		return bonferroni
	}
	sup := n.simulateSup(dirs, r, components, m)
	slices.Sort(sup)
	q := math.Min(sup[rank-1], bonferroni)
	return math.Max(q, n.unitQuantile(m, level))
}

// simulateSup draws the maximum. Two goroutines with a generator each share the
// blocks by parity, so the result does not depend on the machine.
func (n Noise) simulateSup(dirs []float64, r, components, m int) []float64 {
	sup := make([]float64, draws)
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			rng := simulate.New(seed + uint64(g))
			chi2 := distuv.ChiSquared{K: float64(m + 1), Src: rng}
			rows := len(dirs) / r
			d := blas64.General{Rows: rows, Cols: r, Stride: r, Data: dirs}
			xi := blas64.General{Rows: block, Cols: r, Stride: r, Data: make([]float64, block*r)}
			v := blas64.General{Rows: block, Cols: rows, Stride: rows, Data: make([]float64, block*rows)}
			for at := g * block; at < draws; at += 2 * block {
				out := sup[at : at+block]
				for range components {
					for i := range xi.Data {
						xi.Data[i] = rng.NormFloat64()
					}
					blas64.Gemm(blas.NoTrans, blas.Trans, 1, xi, d, 0, v)
					for i := range out {
						for _, x := range v.Data[i*rows : (i+1)*rows] {
							out[i] = math.Max(out[i], math.Abs(x))
						}
					}
				}
				if n.Law == SphericalLaplace {
					for i := range out {
						out[i] *= math.Sqrt(chi2.Rand())
					}
				}
			}
		})
	}
	wg.Wait()
	return sup
}
