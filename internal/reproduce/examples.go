// The example pictures of [GEO] §5: one curve, what the paper's method makes of it, and what the baselines do.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// drawing is one draw of a method: its values on the grid by component, and its error relative to the curve's norm.
type drawing struct {
	values [][]float64
	error  float64
	count  float64 // what else is counted, see example.counted
}

// sketch is a method of an example and the panel that it is drawn in.
type sketch struct {
	name      string
	panel     int
	noiseless bool // given the private choices but no noise: drawn dashed
	draw      func(seed uint64) (drawing, error)
}

// example is one curve and methods on it. Repetition i gives every method the same seed, so that methods that share
// their first steps share the draws.
type example struct {
	arena
	grid     []float64
	panels   []string
	sketches []sketch
	// counted names the further number in the table; count takes it from the values, where a draw does not set it.
	counted string
	count   func(values [][]float64) float64
	unit    float64 // of the picture's values, in those of the curve
	clock   float64 // of the picture's time, in that of the curve
	track   bool    // drawn in the plane
	until   float64 // the end of what is drawn
	axes    plot.Axes
	text    string
}

func newExample(c fit.Curve, window space.Interval, points int) example {
	return example{arena: newArena([]fit.Curve{c}, window), grid: space.Uniform(window.A, window.B, points).T, unit: 1, clock: 1, until: window.B}
}

// truth is the curve on the grid.
func (e example) truth() [][]float64 { return e.onGrid(e.curves[0]) }

func (e example) onGrid(c fit.Curve) [][]float64 {
	out := make([][]float64, len(c))
	for k, s := range c {
		for _, t := range e.grid {
			out[k] = append(out[k], s.At(t))
		}
	}
	return out
}

// released is a method of package curve.
func (e example) released(config curve.Config, budget float64, draw func(*curve.Result) (drawing, error)) (func(uint64) (drawing, error), error) {
	p, err := e.privatizer(config, "gp", budget)
	if err != nil {
		return nil, err
	}
	return func(seed uint64) (drawing, error) {
		out, err := p.Privatize(e.curves[0], noise.Seeded(seed))
		if err != nil {
			return drawing{}, err
		}
		return draw(out)
	}, nil
}

// asReleased draws the release.
func (e example) asReleased(out *curve.Result) (d drawing, err error) {
	if d.error, err = experiment.Error(e.curves[0], out.Release); err != nil {
		return d, err
	}
	d.error /= e.norms[0]
	for j := range out.Release.Coefficients[0] {
		if slices.ContainsFunc(out.Release.Coefficients, func(row []float64) bool { return row[j] != 0 }) {
			d.count++
		}
	}
	values := make([]float64, len(out.Release.Components))
	d.values = make([][]float64, len(values))
	for _, t := range e.grid {
		if err := out.Release.Eval(values, t); err != nil {
			return d, err
		}
		for k, v := range values {
			d.values[k] = append(d.values[k], v)
		}
	}
	return d, nil
}

// approximation draws the best approximation on the released pieces, without noise.
func (e example) approximation(out *curve.Result) (drawing, error) {
	q, err := fit.Project(e.curves[0], out.Release.Space)
	if err != nil {
		return drawing{}, err
	}
	n := len(e.curves[0])
	for j := range out.Release.Coefficients[0] {
		for k := range n {
			out.Release.Coefficients[k][j] = q.Coordinates[j*n+k]
		}
	}
	return e.asReleased(out)
}

// projected is project-and-privatize on a space of functions of one component.
func (e example) projected(sp space.Space, budget float64) (func(uint64) (drawing, error), error) {
	q, err := fit.Project(e.curves[0], sp)
	if err != nil {
		return nil, err
	}
	local, err := mechanism.NewLocal(experiment.Matched(privacy.Geo(budget), e.window.Length()))
	if err != nil {
		return nil, err
	}
	basis := evaluate(sp, e.grid)
	return func(seed uint64) (drawing, error) {
		noisy, values := make([]float64, len(q.Coordinates)), make([]float64, len(e.grid))
		local.Release(noisy, q.Coordinates, noise.Seeded(seed))
		sum := q.Residual
		for j, v := range noisy {
			sum += (v - q.Coordinates[j]) * (v - q.Coordinates[j])
		}
		apply(values, basis, noisy)
		return drawing{values: [][]float64{values}, error: math.Sqrt(sum) / e.norms[0], count: float64(len(noisy))}, nil
	}, nil
}

// sampled is the sampled-points baseline.
func (e example) sampled(points, smooth int, g privacy.Guarantee) func(uint64) (drawing, error) {
	b := experiment.Baseline{Points: points, Smooth: smooth, Budget: g}
	return func(seed uint64) (drawing, error) {
		out, err := b.Curve(e.curves[0], e.window, noise.Seeded(seed))
		if err != nil {
			return drawing{}, err
		}
		return drawing{values: e.onGrid(out), error: experiment.Distance(e.curves[0], out, e.window) / e.norms[0], count: float64(points)}, nil
	}
}

// run gives the table, the picture of the first draws, and the errors and counts by name.
func (e example) run(ctx context.Context, r run) (*Result, map[string]estimate, map[string]estimate, error) {
	first := make([]drawing, len(e.sketches))
	errors, counts := make([][]float64, len(e.sketches)), make([][]float64, len(e.sketches))
	for k := range errors {
		errors[k], counts[k] = make([]float64, r.reps), make([]float64, r.reps)
	}
	err := r.each(ctx, len(e.sketches)*r.reps, func(job int) error {
		k, rep := job/r.reps, job%r.reps
		d, err := e.sketches[k].draw(r.seed(uint64(50000 + rep)))
		if err != nil {
			return err
		}
		errors[k][rep], counts[k][rep] = d.error, d.count
		if e.count != nil {
			counts[k][rep] = e.count(d.values)
		}
		if rep == 0 {
			first[k] = d
		}
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	out := &Result{Columns: []string{"method", "error", "error_se", e.counted, e.counted + "_se"}}
	panels := make([][]plot.Series, len(e.panels))
	truth := e.series("true", e.truth())
	truth.Theory = true
	byName, counted := map[string]estimate{}, map[string]estimate{}
	color := 0
	for k, s := range e.sketches {
		err, n := estimateOf(errors[k]), estimateOf(counts[k])
		byName[s.name], counted[s.name] = err, n
		out.Rows = append(out.Rows, []any{s.name, err.mean, err.se, n.mean, n.se})
		line := e.series(s.name, first[k].values)
		if line.Theory = s.noiseless; !line.Theory {
			color++
			line.Color = color
		}
		panels[s.panel] = append(panels[s.panel], line)
	}
	columns := 1
	if e.track {
		columns = 2
	}
	var pictures []*plot.Picture
	for k, lines := range panels {
		axes := e.axes
		axes.Title, axes.Equal = e.panels[k], e.track
		axes.Caption = caption("%s", e.text)
		p, err := plot.Lines(append([]plot.Series{truth}, lines...), axes)
		if err != nil {
			return nil, nil, nil, err
		}
		pictures = append(pictures, p)
	}
	return out, byName, counted, out.join(columns, pictures...)
}

// series draws the first part of the grid.
func (e example) series(name string, values [][]float64) plot.Series {
	s := plot.Series{Name: name}
	for i, t := range e.grid {
		if t > e.until {
			break
		}
		if e.track {
			s.X, s.Y = append(s.X, values[0][i]/e.unit), append(s.Y, values[1][i]/e.unit)
		} else {
			s.X, s.Y = append(s.X, t/e.clock), append(s.Y, values[0][i]/e.unit)
		}
	}
	return s
}

// against compares the paper's method with its baselines and with the matched one: it fails when it is worse beyond
// chance than one of the former, and is in doubt when not better than both beyond chance, or worse than the latter.
func (r *Result) against(errors map[string]estimate, method string) {
	r.Verdict = Holds
	if errors["matched baseline"].mean < errors[method].mean {
		r.Verdict = Depends
	}
	best, worse := math.Inf(1), false
	for _, name := range []string{"baseline", "baseline smoothed"} {
		lead, se := errors[name].mean-errors[method].mean, math.Hypot(errors[name].se, errors[method].se)
		if lead < z*se {
			r.Verdict = Depends
		}
		if lead < -z*se {
			worse = true
		}
		best = math.Min(best, errors[name].mean)
	}
	if worse {
		r.Verdict = Fails
	}
	r.Finding = fmt.Sprintf("mean relative error %.3f (%.3f) against %.3f for the better of the paper's baselines, %.3f (%.3f) for a baseline that protects as much (matched), and %.3f (%.3f) for denoise",
		errors[method].mean, errors[method].se, best, errors["matched baseline"].mean, errors["matched baseline"].se, errors["denoise (ours)"].mean, errors["denoise (ours)"].se)
}
