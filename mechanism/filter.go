package mechanism

import (
	"fmt"

	"github.com/curveil/curveil/privacy"
)

// Share is a part of a budget in units of 2^-40: an integer, so that the parts
// of any adaptive path add up exactly.
type Share uint64

// Whole is the share that is all of the budget; Whole/4 is a quarter.
const Whole Share = 1 << 40

// Filter is a privacy filter: it hands out parts of one budget to steps that may
// be chosen adaptively, each from the answers of the steps before, and refuses
// what would exceed the total.
//
// Pure and concentrated metric privacy compose by addition, also when the
// budget of each step depends on earlier answers, as long as the sum never
// exceeds the total on any path ([GEO] §4.2, a filter in the sense of Feldman
// and Zrnic 2021): the logarithms of the likelihood ratios of the steps add
// up, and the bound holds path by path (for the Rényi divergences, by induction
// from the last step). Proof note: docs/privacy.md#privacy-filter.
type Filter struct {
	total privacy.Guarantee
	left  Share
	trace []Spending
}

// Spending is one line of a budget trace: what a step was given. It is public:
// which steps ran follows from answers that were already private.
type Spending struct {
	Step      string
	Share     Share             // of the total
	Guarantee privacy.Guarantee // the same as Geo or ConcentratedGeo, rounded down
}

// NewFilter returns a filter over a total of privacy.Geo or
// privacy.ConcentratedGeo; others are refused.
func NewFilter(total privacy.Guarantee) (*Filter, error) {
	if total == nil {
		return nil, fmt.Errorf("mechanism: no budget given: state one, such as privacy.Geo(0.01)")
	}
	if err := total.Validate(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	if _, err := part(total, Whole); err != nil {
		return nil, err
	}
	return &Filter{total: total, left: Whole}, nil
}

// part is the given share of a guarantee, rounded down.
func part(total privacy.Guarantee, share Share) (privacy.Guarantee, error) {
	fraction := float64(share) / float64(Whole) // exact: shares have 41 bits
	switch g := total.(type) {
	case privacy.Geo:
		return privacy.Geo(privacy.MulDown(float64(g), fraction)), nil
	case privacy.ConcentratedGeo:
		return privacy.ConcentratedGeo(privacy.MulDown(float64(g), fraction)), nil
	}
	return nil, fmt.Errorf("mechanism: %v is not per unit of distance: a filter takes privacy.Geo or privacy.ConcentratedGeo", total)
}

// Spend gives the step a share of the total and returns it as a guarantee of
// the total's kind. An empty share, or more than is left, is refused and nothing
// is spent.
func (f *Filter) Spend(step string, share Share) (privacy.Guarantee, error) {
	if share == 0 || share > f.left {
		return nil, fmt.Errorf("mechanism: step %q asks for %g of the budget, %g is left", step, float64(share)/float64(Whole), float64(f.left)/float64(Whole))
	}
	g, err := part(f.total, share)
	if err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("mechanism: step %q: %w", step, err)
	}
	f.left -= share
	f.trace = append(f.trace, Spending{step, share, g})
	return g, nil
}

// Left is the share not spent yet.
func (f *Filter) Left() Share { return f.left }

// Total is the whole budget.
func (f *Filter) Total() privacy.Guarantee { return f.total }

// Trace is what was spent so far, in order. It must not be changed.
func (f *Filter) Trace() []Spending { return f.trace }
