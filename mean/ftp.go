package mean

import (
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
)

// fitter is fit-then-protect: a person's vector is the coordinates of the
// constrained fit, which lie in the ball of the radius ([FTP] Algorithm 1).
type fitter struct {
	cfg     Config
	ball    lattice.Ball
	designs *fit.Designs
}

func newFitter(c Config, ball lattice.Ball) *fitter {
	return &fitter{cfg: c, ball: ball, designs: fit.NewDesigns(c.Space)}
}

func (f *fitter) grid(t []float64) (*grid, error) {
	d, err := f.designs.Get(t)
	if err != nil {
		return nil, err
	}
	return &grid{t: d.T(), design: d, reference: f.cfg.referenceAt(d.T())}, nil
}

func (f *fitter) block(w *worker, b *block) error {
	comps, dim := len(f.cfg.Components), f.ball.Dim()
	row := comps * len(b.grid.t)
	rows := len(b.x) / row
	subtract(b.x, b.grid.reference)
	w.coords = resize(w.coords, rows*dim)
	w.solver.Fit(b.grid.design, w.coords, b.x, comps, f.ball.Radius(), nil)
	for i := range rows {
		if err := w.add(f.ball, w.coords[i*dim:(i+1)*dim]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fitter) person(w *worker, curves []fit.Curve) error {
	w.coords = resize(w.coords, f.ball.Dim())
	return w.average(f.ball, len(curves), func(i int) ([]float64, error) {
		for k, s := range curves[i] {
			if f.cfg.Reference != nil {
				for j, t := range s.T {
					s.X[j] -= f.cfg.Reference[k].At(t)
				}
			}
		}
		return w.coords, f.designs.Curve(w.coords, curves[i], f.ball.Radius())
	})
}

// average puts one person with several vectors into the worker's sum: their
// integer vectors are averaged, toward zero, which stays in the ball and does
// not depend on their order.
func (w *worker) average(ball lattice.Ball, curves int, vector func(i int) ([]float64, error)) error {
	clear(w.total)
	for i := range curves {
		v, err := vector(i)
		if err != nil {
			return err
		}
		if err := ball.Round(w.ints, v); err != nil {
			return err
		}
		for j, k := range w.ints {
			w.total[j] += k
		}
	}
	for j, k := range w.total {
		w.total[j] = k / int64(curves)
	}
	return w.sum.Add(w.total)
}

// add puts one person's vector into the worker's sum.
func (w *worker) add(ball lattice.Ball, v []float64) error {
	if err := ball.Round(w.ints, v); err != nil {
		return err
	}
	return w.sum.Add(w.ints)
}

// referenceAt lays the reference curves out like a curve on the times.
func (c Config) referenceAt(t []float64) []float64 {
	if c.Reference == nil {
		return nil
	}
	out := make([]float64, 0, len(t)*len(c.Components))
	for _, r := range c.Reference {
		for _, tj := range t {
			out = append(out, r.At(tj))
		}
	}
	return out
}

// subtract takes the reference from each curve in x.
func subtract(x, reference []float64) {
	if reference == nil {
		return
	}
	for ; len(x) > 0; x = x[len(reference):] {
		for j, r := range reference {
			x[j] -= r
		}
	}
}

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
