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

// fitBlock fits the block's curves into w.coords and returns how many they are.
func (f *fitter) fitBlock(w *worker, b *block) (rows int) {
	rows = len(b.x) / b.row
	subtract(b.x, b.grid.reference)
	w.coords = resize(w.coords, rows*f.ball.Dim())
	w.solver.Fit(b.grid.design, w.coords, b.x, len(f.cfg.Components), f.ball.Radius(), nil)
	return rows
}

// fitCurve fits one curve, in place, into w.coords.
func (f *fitter) fitCurve(w *worker, c fit.Curve) error {
	w.coords = resize(w.coords, f.ball.Dim())
	if f.cfg.Reference != nil {
		for k, s := range c {
			for j, t := range s.T {
				s.X[j] -= f.cfg.Reference[k].At(t)
			}
		}
	}
	return f.designs.Curve(&w.solver, w.coords, c, f.ball.Radius())
}

func (f *fitter) block(w *worker, b *block) error {
	dim := f.ball.Dim()
	for i := range f.fitBlock(w, b) {
		if err := w.add(f.ball, w.coords[i*dim:(i+1)*dim]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fitter) person(w *worker, curves []fit.Curve) error {
	return w.average(f.ball, len(curves), func(i int) ([]float64, error) {
		err := f.fitCurve(w, curves[i])
		return w.coords, err
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
