package mean

import (
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
)

// clipper is protect-then-fit: a person's vector is the samples on the common
// grid, clipped at c_j = B′‖e(t_j)‖ and divided by it, so that each coordinate
// lies in [−1,1] and one isotropic noise serves ([FTP] Algorithm 2; there
// Δ_j = 2c_j/n per time and σ_j = √T·Δ_j/μ, here the same through the ball of
// radius √T).
type clipper struct {
	cfg  Config
	ball lattice.Ball
	clip []float64 // c_j, one per grid time
	only *grid
}

func newClipper(c Config, ball lattice.Ball) *clipper {
	p := &clipper{cfg: c, ball: ball, clip: make([]float64, len(c.Grid))}
	for j, t := range c.Grid {
		p.clip[j] = c.Radius * c.Space.Bound(t)
	}
	p.only = &grid{t: c.Grid, reference: c.referenceAt(c.Grid)}
	return p
}

func (p *clipper) grid([]float64) (*grid, error) { return p.only, nil }

func (p *clipper) block(w *worker, b *block) error {
	dim := p.ball.Dim()
	subtract(b.x, p.only.reference)
	for x := b.x; len(x) > 0; x = x[dim:] {
		p.scale(x[:dim])
		if err := w.add(p.ball, x[:dim]); err != nil {
			return err
		}
	}
	return nil
}

func (p *clipper) person(w *worker, curves []fit.Curve) error {
	w.coords = resize(w.coords, p.ball.Dim())
	return w.average(p.ball, len(curves), func(i int) ([]float64, error) {
		for k, s := range curves[i] {
			copy(w.coords[k*len(p.clip):], s.X)
		}
		subtract(w.coords, p.only.reference)
		p.scale(w.coords)
		return w.coords, nil
	})
}

// scale clips the samples of curves and divides them by their bounds.
func (p *clipper) scale(x []float64) {
	for ; len(x) > 0; x = x[len(p.clip):] {
		for j, c := range p.clip {
			x[j] = max(-c, min(c, x[j])) / c
		}
	}
}

// noisyDesign is the problem that protect-then-fit solves after the noise: the
// weights ‖e(t_j)‖⁻² make the noise of the weighted samples isotropic.
func (c Config) noisyDesign() (*fit.Design, error) {
	weights := make([]float64, len(c.Grid))
	for j, t := range c.Grid {
		a := c.Space.Bound(t)
		weights[j] = 1 / (a * a)
	}
	return fit.NewDesign(c.Space, c.Grid, weights)
}

// fitNoisy fits the noisy mean y of the scaled samples (components × grid). It
// returns the coordinates, components × Dim, of norm at most the radius, and
// the multiplier.
func (c Config) fitNoisy(d *fit.Design, y []float64) (coords []float64, lambda float64) {
	x := make([]float64, len(y))
	for i := range y {
		x[i] = y[i] * c.Radius * c.Space.Bound(c.Grid[i%len(c.Grid)])
	}
	var s fit.Solver
	var l [1]float64
	coords = make([]float64, c.Space.Dim()*len(c.Components))
	s.Fit(d, coords, x, len(c.Components), c.Radius, l[:])
	return coords, l[0]
}
