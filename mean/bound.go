package mean

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// BoundConfig says how a radius is bought: a private quantile of the norms of
// the people's curves, from one noisy histogram over public geometric bins.
type BoundConfig struct {
	// Config gives Space, Guarantee (of the bound alone; not pure), Unit,
	// Components, Reference and N. Radius, Method, Grid and Raw play no part.
	Config
	// Quantile is the share of the people whose curves should lie within the
	// radius; 0 means 0.95.
	Quantile float64
	// Low and High are a public range that surely holds the radius, in its
	// units; 0 means 1e-3 and 1e6.
	Low, High float64
	// PerOctave is the number of bins between a norm and its double; 0 means 2.
	// More bins are finer, and noisier together.
	PerOctave int
}

const maxBins = 4096

func (c BoundConfig) withDefaults() BoundConfig {
	c.Config = c.Config.withDefaults()
	c.Method, c.Raw, c.Grid = FitThenProtect, false, nil
	c.Radius = lattice.MaxRadius // so that no constraint binds
	if c.Quantile == 0 {
		c.Quantile = 0.95
	}
	if c.Low == 0 && c.High == 0 {
		c.Low, c.High = 1e-3, 1e6
	}
	if c.PerOctave == 0 {
		c.PerOctave = 2
	}
	return c
}

// edges are the upper edges of all bins but the last, which is open.
func (c BoundConfig) edges() ([]float64, error) {
	switch {
	case !(c.Quantile > 0 && c.Quantile < 1):
		return nil, fmt.Errorf("mean: quantile %g must lie between 0 and 1, such as 0.95", c.Quantile)
	case !(c.Low >= lattice.MinRadius && c.Low < c.High && c.High <= lattice.MaxRadius):
		return nil, fmt.Errorf("mean: range %g:%g of the bound must be two positive numbers, the smaller first", c.Low, c.High)
	case c.PerOctave < 1 || c.PerOctave > 64:
		return nil, fmt.Errorf("mean: %d bins per octave must lie between 1 and 64", c.PerOctave)
	}
	octaves := math.Log2(c.High / c.Low)
	if octaves*float64(c.PerOctave) > maxBins {
		return nil, fmt.Errorf("mean: the range %g:%g takes more than %d bins: narrow it", c.Low, c.High, maxBins)
	}
	var out []float64
	for i := 0; ; i++ {
		e := c.Low * math.Exp2(float64(i)/float64(c.PerOctave))
		if e >= c.High*(1-1e-9) {
			return append(out, c.High), nil
		}
		out = append(out, e)
	}
}

// Bound accumulates people and releases a private quantile of their curves'
// norms once: the norm of the unconstrained fit of a curve less the reference,
// which is the radius from which on the constraint does not bind for it. A
// person with several curves counts with the largest.
type Bound struct {
	cfg    BoundConfig
	mech   *mechanism.Histogram
	people *Mean
	bins   *binner
}

// NewBound returns an empty accumulator. Everything is checked here, before any
// data is read.
func NewBound(c BoundConfig) (*Bound, error) {
	c = c.withDefaults()
	edges, err := c.edges()
	if err != nil {
		return nil, err
	}
	mech, err := mechanism.NewHistogram(c.Guarantee)
	if err != nil {
		return nil, err
	}
	people, err := New(c.Config)
	if err != nil {
		return nil, err
	}
	b := &Bound{cfg: c, mech: mech, people: people}
	b.bins = &binner{fitter: people.encode.(*fitter), edges: edges, counts: make([]int64, len(edges)+1)}
	people.encode = b.bins
	return b, nil
}

// Add adds one person with one or several curves.
func (b *Bound) Add(curves ...fit.Curve) error { return b.people.Add(curves...) }

// Ready reports whatever would keep Release from succeeding.
func (b *Bound) Ready() error { return b.people.Ready() }

// Statement is what the release guarantees, to whom.
func (b *Bound) Statement() privacy.Statement { return b.cfg.statement() }

// BoundRelease is a bought radius. All of it is private.
type BoundRelease struct {
	// Radius is an edge of the public bins. Beyond says that the quantile lies
	// above the public range, and Radius is only the range's end.
	Radius float64 `json:"radius"`
	Beyond bool    `json:"beyond,omitempty"`
	// Quantile is what was asked for; Within is an interval that holds the true
	// share of the people within Radius, for 95 % of the noise.
	Quantile float64           `json:"quantile"`
	Within   [2]float64        `json:"within"`
	N        int64             `json:"n"`
	Privacy  privacy.Statement `json:"privacy"`
	Private  bool              `json:"private"`
	// Edges are the upper edges of the bins, the last of which is open; Counts
	// the noisy counts.
	Edges  []float64 `json:"edges"`
	Counts []int64   `json:"counts"`
}

// Encode returns the release as JSON.
func (r *BoundRelease) Encode() ([]byte, error) { return json.Marshal(r) }

// Release draws the noise and returns the radius. It can be called once.
//
// The claim: one unit is in one bin, so that [mechanism.Histogram] applies; the
// quantile and its accuracy are post-processing of the noisy counts. Proof note:
// docs/privacy.md#histogram.
func (b *Bound) Release(src *noise.Source) (*BoundRelease, error) {
	if err := b.Ready(); err != nil {
		return nil, err
	}
	b.people.done = true
	n := b.people.n
	noisy := b.mech.Release(b.bins.counts, src)
	shares := denoise(asFloats(noisy), b.mech.Scale(), float64(n))
	at := quantileBin(shares, b.cfg.Quantile)
	r := &BoundRelease{
		Quantile: b.cfg.Quantile, N: n, Privacy: b.cfg.statement(), Private: src.Private(),
		Edges: b.bins.edges, Counts: noisy,
	}
	r.Beyond = at == len(r.Edges)
	r.Radius = r.Edges[min(at, len(r.Edges)-1)]
	r.Within = within(noisy, n, b.mech.Scale(), at)
	return r, nil
}

func asFloats(k []int64) []float64 {
	out := make([]float64, len(k))
	for i, v := range k {
		out[i] = float64(v)
	}
	return out
}

// denoise estimates the counts from noisy ones, given the sd of the noise and the
// public sum n. People's norms fill one run of neighbouring bins, so that it takes the
// run in which the counts exceed the noise by most (Σ(c−sd) is largest) and projects
// it onto counts ≥ 0 of sum n. Without the run, a few high draws among many empty bins
// would pass for the people above the quantile.
func denoise(c []float64, sd, n float64) []float64 {
	best, sum := math.Inf(-1), 0.0
	from, first, last := 0, 0, 0
	for i, v := range c {
		if sum <= 0 {
			sum, from = 0, i
		}
		if sum += v - sd; sum > best {
			best, first, last = sum, from, i
		}
	}
	clear(c[:first])
	clear(c[last+1:])
	simplex(c[first:last+1], n)
	return c
}

// simplex projects the counts, in place, onto non-negative counts of sum n: the
// nearest in ℓ₂, max(c−τ, 0).
func simplex(c []float64, n float64) {
	sorted := slices.Clone(c)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, tau float64
	for i, v := range sorted {
		sum += v
		if t := (sum - n) / float64(i+1); i == 0 || v > t {
			tau = t
		}
	}
	for i, v := range c {
		c[i] = max(v-tau, 0)
	}
}

// quantileBin is the first bin up to which the share q lies.
func quantileBin(counts []float64, q float64) int {
	var total, sum float64
	for _, c := range counts {
		total += c
	}
	for i, c := range counts {
		if sum += c; sum >= q*total*(1-1e-12) {
			return i
		}
	}
	return len(counts) - 1
}

// within returns an interval that holds, for 95 % of the noise, the true share of
// the people in the bins up to at: whichever bin was chosen, since it holds for
// all of them at once. The count is read off the side with fewer bins, whose
// noise has the sd scale·√k.
func within(noisy []int64, n int64, scale float64, at int) [2]float64 {
	var below, above float64
	for i, c := range noisy {
		if i <= at {
			below += float64(c)
		} else {
			above += float64(c)
		}
	}
	if at+1 > len(noisy)-at-1 {
		below = float64(n) - above
	}
	return withinCount(float64(n), below, len(noisy), scale, at)
}

func withinCount(n, below float64, bins int, scale float64, at int) [2]float64 {
	slack := simultaneous(bins) * scale * math.Sqrt(float64(min(at+1, bins-at-1)))
	return [2]float64{max(0, (below-slack)/n), min(1, (below+slack)/n)}
}

// simultaneous is the 95 % quantile, over the noise, of the largest |sum of the
// noise on one side of an edge|/√k over all edges, on the side with fewer bins.
func simultaneous(bins int) float64 {
	const draws = 2000
	r := simulate.New(2)
	top := make([]float64, draws)
	for d := range top {
		for range 2 { // both halves
			var sum float64
			for k := 1; k <= bins/2; k++ {
				sum += r.NormFloat64()
				top[d] = max(top[d], math.Abs(sum)/math.Sqrt(float64(k)))
			}
		}
	}
	slices.Sort(top)
	return top[draws*95/100]
}

// PlanBound predicts Within for n people, when the quantile lies in the middle of
// the public range.
func PlanBound(c BoundConfig) ([2]float64, error) {
	b, err := NewBound(c)
	if err != nil {
		return [2]float64{}, err
	}
	c = b.cfg
	if c.N < 1 {
		return [2]float64{}, errors.New("mean: a plan needs the public number of people")
	}
	bins := len(b.bins.counts)
	// In the middle of the range, where the noise on either side is largest.
	return withinCount(float64(c.N), c.Quantile*float64(c.N), bins, b.mech.Scale(), bins/2), nil
}

// binner counts the people by their norms; it is an encoder without a sum.
type binner struct {
	*fitter
	edges  []float64
	mu     sync.Mutex
	counts []int64 // under mu
}

func (b *binner) count(norms []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, v := range norms {
		at, _ := slices.BinarySearch(b.edges, v) // the first edge ≥ v
		b.counts[at]++
	}
}

func (b *binner) block(w *worker, blk *block) error {
	dim := b.ball.Dim()
	rows := b.fitBlock(w, blk)
	norms := make([]float64, rows)
	for i := range norms {
		norms[i] = norm2(w.coords[i*dim : (i+1)*dim])
	}
	b.count(norms)
	return nil
}

func (b *binner) person(w *worker, curves []fit.Curve) error {
	var largest float64
	for _, c := range curves {
		if err := b.fitCurve(w, c); err != nil {
			return err
		}
		largest = max(largest, norm2(w.coords))
	}
	b.count([]float64{largest})
	return nil
}
