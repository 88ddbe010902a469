// Package audit tries to break mechanisms: it runs a real release path many
// times on two neighbouring data sets, lets an attacker tell them apart, and
// reports the privacy loss that the attacker's success proves. A bound above
// the claim refutes the claim; a bound below it proves nothing, but one close
// below shows that the audit would have seen a smaller noise.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/internal/stattest"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
)

// Subject is a mechanism under audit, with its worst case.
type Subject struct {
	Name  string
	About string // the worst case in one line
	// Claim is what the mechanism promises for the two neighbours.
	Claim privacy.Guarantee
	// Release makes one release from neighbour 0 or 1 with the source, and
	// returns the attacker's statistic: large values speak for neighbour 1. It is
	// called from several goroutines.
	Release func(neighbour int, src *noise.Source) (float64, error)
}

// Options of an audit.
type Options struct {
	// Releases is the number of releases for each neighbour; 0 means 100,000.
	Releases int
	// Confidence that the bound holds; 0 means 1 − 1e-6.
	Confidence float64
	// Source of the releases' noise; nil means the operating system's.
	Source *noise.Source
}

// Report is what an audit found.
type Report struct {
	Subject    Subject
	Releases   int
	Confidence float64
	// Alpha and Beta bound the attacker's errors from above, at the confidence
	// jointly: of type I (says 1, was 0) and of type II.
	Alpha, Beta float64
	// Mu and Epsilon are the largest μ (of GDP) and ε (of pure DP) that the errors
	// refute: the true loss is at least that, at the confidence.
	Mu, Epsilon float64
	// Claimed is the claim in the currency of the bound to compare it with: Mu
	// for Gaussian claims, Epsilon for pure ones.
	Claimed float64
	// Points are the attacker's errors over the thresholds, for a picture.
	Points []plot.TradeoffPoint
}

// Bound is the proven loss in the currency of the claim.
func (r *Report) Bound() float64 {
	if _, pure := r.Subject.Claim.(privacy.Pure); pure {
		return r.Epsilon
	}
	return r.Mu
}

// Refuted reports whether the audit proved more loss than was claimed.
func (r *Report) Refuted() bool { return r.Bound() > r.Claimed }

// thresholds is the number of candidate thresholds, and of points drawn.
const thresholds = 48

// few is the number of errors below which a point is not drawn.
const few = 30

// Run audits the subject. The first half of the releases chooses the attack,
// the second half measures it, so that the Clopper–Pearson bounds are valid for
// the one attack chosen.
func Run(ctx context.Context, s Subject, o Options) (*Report, error) {
	if o.Releases == 0 {
		o.Releases = 100_000
	}
	if o.Confidence == 0 {
		o.Confidence = 1 - 1e-6
	}
	if o.Releases < 1000 {
		return nil, fmt.Errorf("audit: %d releases prove next to nothing: take 1000 or more", o.Releases)
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return nil, fmt.Errorf("audit: confidence %g must lie between 0 and 1", o.Confidence)
	}
	r := &Report{Subject: s, Releases: o.Releases, Confidence: o.Confidence}
	switch claim := s.Claim.(type) {
	case privacy.Pure:
		r.Claimed = float64(claim)
	default:
		mu, err := privacy.GaussianMu(claim)
		if err != nil {
			return nil, fmt.Errorf("audit: %s: %w", s.Name, err)
		}
		r.Claimed = float64(mu)
	}
	var stat [2][]float64
	for neighbour := range stat {
		var err error
		if stat[neighbour], err = sample(ctx, s, neighbour, o); err != nil {
			return nil, fmt.Errorf("audit: %s: %w", s.Name, err)
		}
	}
	r.measure(stat[0], stat[1])
	return r, nil
}

// sample makes the releases of one neighbour on all cores. The partition over
// the goroutines' sources is fixed, so that a seeded audit repeats.
func sample(ctx context.Context, s Subject, neighbour int, o Options) ([]float64, error) {
	const chunks = 16
	out := make([]float64, o.Releases)
	errs := make([]error, chunks)
	root := o.Source
	if root == nil {
		root = noise.Crypto()
	}
	sources := make([]*noise.Source, chunks)
	for c := range sources {
		sources[c] = root.Split()
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := range next {
				for i := c * len(out) / chunks; i < (c+1)*len(out)/chunks && errs[c] == nil; i++ {
					if i%256 == 0 && ctx.Err() != nil {
						errs[c] = ctx.Err()
						break
					}
					out[i], errs[c] = s.Release(neighbour, sources[c])
				}
			}
		})
	}
	for c := range chunks {
		next <- c
	}
	close(next)
	wg.Wait()
	return out, errors.Join(errs...)
}

// measure chooses the threshold on the first halves and bounds its errors on
// the second halves.
func (r *Report) measure(zero, one []float64) {
	half := len(zero) / 2
	pilot := slices.Concat(zero[:half], one[:half])
	slices.Sort(pilot)
	failure := 1 - r.Confidence
	bounds := func(zero, one []float64, c, fail float64) (alpha, beta float64) {
		return stattest.UpperBound(count(zero, c), int64(len(zero)), fail/2),
			stattest.UpperBound(int64(len(one))-count(one, c), int64(len(one)), fail/2)
	}
	best, at := math.Inf(-1), pilot[half]
	for i := range thresholds {
		// Candidates crowd at the ends, where a small error is worth most.
		u := (1 - math.Cos(math.Pi*(float64(i)+0.5)/thresholds)) / 2
		c := pilot[int(u*float64(len(pilot)))]
		a, b := bounds(zero[:half], one[:half], c, failure)
		mu, epsilon := loss(a, b)
		if _, pure := r.Subject.Claim.(privacy.Pure); pure {
			mu = epsilon
		}
		if mu > best {
			best, at = mu, c
		}
		k0, k1 := count(zero[half:], c), count(one[half:], c)
		n0, n1 := int64(len(zero)-half), int64(len(one)-half)
		if k0 < few || n1-k1 < few {
			continue // a rate this small has an interval of its own that the picture cannot show
		}
		lo, hi := stattest.ClopperPearson(n1-k1, n1, 1-failure/thresholds)
		beta := float64(n1-k1) / float64(n1)
		r.Points = append(r.Points, plot.TradeoffPoint{Alpha: float64(k0) / float64(n0), Beta: beta, Lo: min(lo, beta), Hi: max(hi, beta)})
	}
	r.Alpha, r.Beta = bounds(zero[half:], one[half:], at, failure)
	r.Mu, r.Epsilon = loss(r.Alpha, r.Beta)
}

// count is the number of values above c.
func count(x []float64, c float64) (k int64) {
	for _, v := range x {
		if v > c {
			k++
		}
	}
	return k
}

// loss is the smallest μ and ε that allow a test with errors α and β:
// μ = Φ⁻¹(1−α) − Φ⁻¹(β) (Dong, Roth, Su 2022), and ε with
// α + e^ε β ≥ 1 and β + e^ε α ≥ 1 (Wasserman, Zhou 2010).
func loss(alpha, beta float64) (mu, epsilon float64) {
	if alpha+beta >= 1 {
		return 0, 0
	}
	q := distuv.UnitNormal.Quantile
	return -q(alpha) - q(beta), max(math.Log((1-alpha)/beta), math.Log((1-beta)/alpha))
}
