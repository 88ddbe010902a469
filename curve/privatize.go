package curve

import (
	"fmt"
	"sync"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Result is a release and how its budget was spent. All of it is private: the
// steps that ran follow from answers that were released with noise.
type Result struct {
	Release *release.Release
	// Trace lists what each step was given; the shares sum to mechanism.Whole.
	Trace []mechanism.Spending
	// Deviation is, for Denoise, the posterior standard deviation of the
	// released function, under its model, at the ends of its pieces, by
	// component; nil otherwise.
	Deviation [][]float64
}

// Privatizer releases curves of one public configuration. It is safe for
// concurrent use.
type Privatizer struct {
	config   Config
	motions  sync.Map  // []*motion by the number of cells: public, computed once
	pyramids sync.Pool // of *fit.Pyramid: the memory of projections, not their contents, is shared
}

// New checks the configuration.
func New(config Config) (*Privatizer, error) {
	config = config.defaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Method == Auto {
		config.Method = config.choose()
	}
	if config.Space == nil && (config.Method == Project || config.Method == Select) {
		sp, err := space.Legendre(config.Window, 13)
		if err != nil {
			return nil, fmt.Errorf("curve: %w", err)
		}
		config.Space = sp
	}
	p := &Privatizer{config: config}
	if _, err := mechanism.NewLocal(config.perRMS(config.Guarantee)); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return p, nil
}

// Privatize is New and one release. Proof notes: docs/privacy.md#privacy-filter and
// those that it names.
func Privatize(config Config, c fit.Curve, src *noise.Source) (*Result, error) {
	p, err := New(config)
	if err != nil {
		return nil, err
	}
	return p.Privatize(c, src)
}

// Config is the configuration with all defaults and the chosen method filled
// in.
func (p *Privatizer) Config() Config { return p.config }

// Privatize releases one curve. Nothing is spent when it returns an error about
// the curve: too few samples, times outside the window, gaps longer than
// MaxGap, values that are not finite. Such an error is for the person who holds
// the curve, not for the public. Each step goes through a mechanism of its own
// (docs/privacy.md#local-spherical-laplace, docs/privacy.md#local-gaussian,
// docs/privacy.md#sparse-vector) under one budget (docs/privacy.md#privacy-filter).
func (p *Privatizer) Privatize(c fit.Curve, src *noise.Source) (*Result, error) {
	return p.privatize(c, exact{src})
}

func (p *Privatizer) privatize(c fit.Curve, d draws) (*Result, error) {
	if err := p.check(c); err != nil {
		return nil, err
	}
	b, err := p.fresh()
	if err != nil {
		return nil, err
	}
	return p.run(c, b, d)
}

// fresh is the whole budget, unspent.
func (p *Privatizer) fresh() (*budget, error) {
	f, err := mechanism.NewFilter(p.config.Guarantee)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return &budget{Filter: f, config: p.config, base: mechanism.Whole}, nil
}

func (p *Privatizer) run(c fit.Curve, b *budget, d draws) (*Result, error) {
	var result *Result
	var err error
	switch p.config.Method {
	case Project:
		result, err = p.project(c, b, d)
	case Select:
		result, err = p.selectBasis(c, b, d)
	case Segment:
		result, err = p.segment(c, b, d)
	default:
		result, err = p.denoise(c, b, d)
	}
	if err != nil {
		return nil, err
	}
	result.Trace = b.Trace()
	return result, nil
}

// pyramid projects the curve on m polynomials per piece, m the same in all calls.
// The caller gives it back to p.pyramids when done.
func (p *Privatizer) pyramid(c fit.Curve, m int) (*fit.Pyramid, error) {
	if pyramid, ok := p.pyramids.Get().(*fit.Pyramid); ok {
		pyramid.Project(c)
		return pyramid, nil
	}
	pyramid, err := fit.NewPyramid(c, p.config.Window, m, p.config.MaxLevel)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return pyramid, nil
}

func (p *Privatizer) check(c fit.Curve) error {
	if err := c.Check(p.config.Window, len(p.config.Components)); err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	for k, s := range c {
		if len(s.T) < 2 {
			return fmt.Errorf("curve: component %d has a single sample: a curve needs two, or there is nothing to interpolate", k+1)
		}
	}
	if p.config.MaxGap > 0 {
		if err := c.CheckGaps(p.config.Window, p.config.MaxGap); err != nil {
			return fmt.Errorf("curve: %w", err)
		}
	}
	return nil
}

// release puts noisy coordinates, by basis function and component, together.
func (p *Privatizer) release(sp space.Space, coordinates []float64, method Method, noise release.Noise, d draws) (*release.Release, error) {
	n := len(p.config.Components)
	rows := make([][]float64, n)
	for k := range rows {
		rows[k] = make([]float64, sp.Dim())
		for j := range rows[k] {
			rows[k][j] = coordinates[j*n+k]
		}
	}
	r := &release.Release{Verb: release.Curve, Method: string(method), Space: sp, Components: p.config.Components, Coefficients: rows,
		Noise: noise, Privacy: p.config.statement(), N: 1, Private: d.private(), XLabel: p.config.XLabel, YLabel: p.config.YLabel, UnixTime: p.config.UnixTime}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return r, nil
}

// budget is a filter in the user's metric whose parts come per unit of root
// mean square distance, in which all coordinates are.
type budget struct {
	*mechanism.Filter
	config Config
	base   mechanism.Share // what the method was given: its steps are parts of it
}

func (b *budget) spend(step string, share mechanism.Share) (privacy.Guarantee, error) {
	g, err := b.Spend(step, share)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return b.config.perRMS(g), nil
}

// rest spends all that is left.
func (b *budget) rest(step string) (privacy.Guarantee, error) { return b.spend(step, b.Left()) }

// leftValue is the number behind what is left: ε or ρ.
func (b *budget) leftValue() float64 {
	return value(b.config.perRMS(b.config.Guarantee)) * float64(b.Left()) / float64(mechanism.Whole)
}

// value is the number of a guarantee.
func value(g privacy.Guarantee) float64 {
	switch g := g.(type) {
	case privacy.Geo:
		return float64(g)
	case privacy.ConcentratedGeo:
		return float64(g)
	}
	panic("curve: guarantee of another kind")
}
