package curve

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

const (
	// linear is the number of polynomials per piece of the noisy release, cubics
	// that of the smoothed one.
	linear, cubics = 2, 4
	// coarsest is the level below which smoothing has nothing to go on.
	coarsest = 2
	// levelShare of the budget finds the level under GP where no public guess does.
	levelShare = 16
	// balance is how many times the expected noise of the whole release the
	// distance from the curve may be at the level found. Above 1, because a coarser
	// level loses detail once and smoothing fills in some of it. Between 1 and 3
	// the error on the taxi curves changes by less than 10 %.
	balance = 2
)

// denoise releases the projection on piecewise lines on 2^level equal pieces with
// all of the budget, then replaces it by the posterior mean of a Gaussian
// process fitted to the noisy coordinates (methods §4).
//
// Under concentrated privacy the noise of a coordinate does not grow with their
// number, so the level is the finest. Under pure privacy it does: the level is
// planned from the public Roughness, or found by a sparse vector run on a
// sixteenth of the budget.
func (p *Privatizer) denoise(c fit.Curve, b *budget, d draws) (*Result, error) {
	n := len(p.config.Components)
	pyramid, err := p.pyramid(c, linear)
	if err != nil {
		return nil, err
	}
	defer p.pyramids.Put(pyramid)
	level, err := p.level(pyramid, b, d)
	if err != nil {
		return nil, err
	}
	given, err := b.rest("release")
	if err != nil {
		return nil, err
	}
	noisy := make([]float64, len(pyramid.Coordinates(level)))
	if err := d.vector(given, noisy, pyramid.Coordinates(level)); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	// From here on there are only noisy and public numbers.
	law, err := noiseOf(given)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	cells := 1 << level
	sd := law.Scale
	if _, pure := given.(privacy.Geo); pure {
		sd *= math.Sqrt(float64(len(noisy) + 1)) // E‖Z‖² = m(m+1) over m coordinates
	}
	f := smooth(noisy, cells, n, sd, p.priors(cells))
	sp, err := p.equalPieces(level)
	if err != nil {
		return nil, err
	}
	smoothed := f.coordinates()
	// The posterior mean is continuous, its best cubics nearly so.
	if err := Continuous(sp, smoothed, n); err != nil {
		return nil, err
	}
	r, err := p.release(sp, smoothed, Denoise, law, d)
	return &Result{Release: r, Deviation: f.deviation()}, err
}

// priors are the same for all curves.
func (p *Privatizer) priors(cells int) []*motion {
	if list, ok := p.motions.Load(cells); ok {
		return list.([]*motion)
	}
	list, _ := p.motions.LoadOrStore(cells, motionsOver(cells))
	return list.([]*motion)
}

// level chooses the number 2^level of pieces.
func (p *Privatizer) level(pyramid *fit.Pyramid, b *budget, d draws) (int, error) {
	finest := pyramid.Levels()
	total, pure := b.config.perRMS(b.config.Guarantee).(privacy.Geo)
	if !pure || finest <= coarsest {
		return finest, nil
	}
	dim := linear * len(p.config.Components)
	if p.config.Roughness > 0 {
		return p.config.planLevel(finest), nil
	}
	given, err := b.spend("number of pieces (sparse vector)", b.base/levelShare)
	if err != nil {
		return 0, err
	}
	left := float64(total) * float64(b.Left()) / float64(mechanism.Whole)
	j, err := d.first(given, 0, finest-coarsest+1, func(j int) float64 {
		return balance*float64(dim<<(coarsest+j))/left - pyramid.Residual(coarsest+j)
	})
	if err != nil {
		return 0, fmt.Errorf("curve: %w", err)
	}
	return coarsest + j, nil
}

// planLevel balances, for a Brownian path of the public Roughness, what lines on
// 2^j pieces leave of it against the noise. A Brownian path whose increment over
// a piece has variance Q is Q/15 (mean square) away from the best line.
func (c Config) planLevel(finest int) int {
	epsilon := value(c.perRMS(c.Guarantee))
	n := float64(len(c.Components))
	best, least := coarsest, math.Inf(1)
	for j := coarsest; j <= finest; j++ {
		pieces := math.Ldexp(1, j)
		bias := n * c.Roughness * c.Roughness * 64 / pieces / 15
		noise := linear * n * pieces / epsilon
		if total := bias + noise*noise; total < least {
			best, least = j, total
		}
	}
	return best
}

// equalPieces is the space of cubics on 2^level pieces.
func (p *Privatizer) equalPieces(level int) (space.Space, error) {
	base, err := space.Legendre(space.Interval{A: 0, B: 1}, cubics)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	sp, err := space.Piecewise(base, space.EqualPieces(p.config.Window, 1<<level))
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return sp, nil
}

// coordinates are those of the posterior mean by piece, degree, component, in
// the basis of the whole window.
func (f *field) coordinates() []float64 {
	n := len(f.paths)
	out := make([]float64, len(f.q)*cubics*n)
	for k, p := range f.paths {
		for i := range f.q {
			for j, v := range p.cubic(f.motion, i) {
				out[(i*cubics+j)*n+k] = v * f.sd
			}
			out[i*cubics*n+k] += f.offset[k]
		}
	}
	return out
}

// deviation is the posterior standard deviation at the ends of the cells.
func (f *field) deviation() [][]float64 {
	unit := f.sd * math.Sqrt(float64(len(f.q)))
	out := make([][]float64, len(f.paths))
	for k, p := range f.paths {
		out[k] = make([]float64, len(p.variance))
		for i, v := range p.variance {
			out[k][i] = math.Sqrt(v[0]) * unit
		}
	}
	return out
}
