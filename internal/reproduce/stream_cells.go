// Box plots and fits as in [REG] §5: errors by truth, law, n and method.

package reproduce

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/regression"
)

// streamCell is one box of a box plot.
type streamCell struct {
	truth
	law
	n      int
	errors [][]float64 // method × repetition
	fits   [][]float64 // of the first repetition
}

func (c streamCell) box(k int) (median, q25, q75, se float64) {
	v := slices.Clone(c.errors[k])
	logs := make([]float64, len(v))
	for i, e := range v {
		logs[i] = math.Log(e)
	}
	slices.Sort(v)
	at := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, v, nil) }
	// 1.2533·sd/√N for the median of the logarithms, were they normal; quartiles stand for the sd, as means of such
	// errors need not exist.
	sd := (math.Log(at(0.75)) - math.Log(at(0.25))) / 1.349
	return at(0.5), at(0.25), at(0.75), at(0.5) * 1.2533 * sd / math.Sqrt(float64(len(v)))
}

// boxOf is a box plot as is usual: whiskers end at the last value that is no further from the box than 1.5 times its
// length; what is beyond is not drawn.
func boxOf(errors []float64) plot.Box {
	v := slices.Clone(errors)
	slices.Sort(v)
	at := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, v, nil) }
	b := plot.Box{at(0.25), at(0.25), at(0.5), at(0.75), at(0.75)}
	reach := 1.5 * (b[3] - b[1])
	for _, e := range v {
		if e >= b[1]-reach {
			b[0] = math.Min(b[0], e)
		}
		if e <= b[3]+reach {
			b[4] = math.Max(b[4], e)
		}
	}
	return b
}

// sizes are n of the boxes.
func (r run) sizes() []int {
	if r.small {
		return []int{500, 2000}
	}
	return streamSizes
}

func (r run) stream(ctx context.Context, cells []streamCell, methods []method, seed uint64) error {
	basis, err := streamBasis()
	if err != nil {
		return err
	}
	for i := range cells {
		cells[i].errors, cells[i].fits = make([][]float64, len(methods)), make([][]float64, len(methods))
		for k := range methods {
			cells[i].errors[k] = make([]float64, r.reps)
		}
	}
	return r.each(ctx, len(cells)*r.reps, func(job int) error {
		c, rep := &cells[job/r.reps], job%r.reps
		own := r.seed(seed<<32 | uint64(job))
		rnd := simulate.New(own)
		want := onGrid(c.truth.at)
		tau, err := regression.PilotTau(basis, c.points(rnd, c.law, 200))
		if err != nil {
			return err
		}
		points := c.points(rnd, c.law, c.n)
		for k, m := range methods {
			estimate, err := m.fit(ctx, basis, c.truth, c.law, points, tau, own)
			if err != nil {
				return err
			}
			values := onGrid(func(x float64) float64 { return estimate([]float64{x}) })
			c.errors[k][rep] = meanSquare(values, want)
			if rep == 0 {
				c.fits[k] = values
			}
		}
		return nil
	})
}

var streamColumns = []string{"truth", "errors", "method", "n", "median", "median_se", "q25", "q75"}

// streamResult has a panel for each truth and law, and one of the fits.
func streamResult(cells []streamCell, methods []method, sizes []int, text string) (*Result, error) {
	out := &Result{Columns: streamColumns}
	var boxes, fits []*plot.Picture
	var grid []float64
	for i := range 201 {
		grid = append(grid, float64(i)/200)
	}
	size := plot.Size{Width: 20 * 28.35, Height: 10 * 28.35, Font: 9}
	for i := 0; i < len(cells); i += len(sizes) {
		title := cells[i].truth.name + ", " + cells[i].law.name
		var series, lines []plot.Series
		for k, m := range methods {
			s := plot.Series{Name: m.name}
			for j, n := range sizes {
				median, q25, q75, se := cells[i+j].box(k)
				out.Rows = append(out.Rows, []any{cells[i].truth.name, cells[i].law.name, m.name, n, median, se, q25, q75})
				shift := math.Pow(1.07, float64(k)-float64(len(methods)-1)/2) // so that boxes stand beside each other
				s.X, s.Boxes = append(s.X, float64(n)*shift), append(s.Boxes, boxOf(cells[i+j].errors[k]))
			}
			series = append(series, s)
			lines = append(lines, plot.Series{Name: m.name, X: grid, Y: cells[i+len(sizes)-1].fits[k]})
		}
		lines = append(lines, plot.Series{Name: "truth", X: grid, Y: onGrid(cells[i].truth.at), Theory: true})
		p, err := plot.Lines(series, plot.Axes{Title: title, XLabel: "n", YLabel: "mean squared error", LogX: true, LogY: true, Caption: caption("Boxes of the quartiles, whiskers to the last value within 1.5 times their length. %s", text), Size: size})
		if err != nil {
			return nil, err
		}
		q, err := plot.Lines(lines, plot.Axes{Title: title, XLabel: "x", YLabel: "y", Caption: caption("Fits of the first repetition at n = %d.", sizes[len(sizes)-1]), Size: size})
		if err != nil {
			return nil, err
		}
		boxes, fits = append(boxes, p), append(fits, q)
	}
	columns := 2
	if len(boxes) == 3 || len(boxes) == 6 {
		columns = 3
	}
	if err := out.join(columns, boxes...); err != nil {
		return nil, err
	}
	p, err := plot.Panels("", columns, fits...)
	out.Pictures = append(out.Pictures, Picture{"-fits", p})
	return out, err
}

func streamCells(laws []law, sizes []int) (cells []streamCell) {
	for _, t := range truths {
		for _, l := range laws {
			for _, n := range sizes {
				cells = append(cells, streamCell{truth: t, law: l, n: n})
			}
		}
	}
	return cells
}
