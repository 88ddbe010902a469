// The three curves of the example pictures: [GEO] Figures 7, 9 and 11.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

var examplePanel = plot.Size{Width: 20 * 28.35, Height: 8 * 28.35, Font: 9}

// add gives the example the baselines of the paper and the ones that are missing from it: one that protects as much as
// the paper's method, and our default.
func (e *example) add(budget float64, points, smooth, matched int) error {
	g := privacy.Geo(budget)
	denoise, err := e.released(curve.Config{Method: curve.Denoise}, budget, e.asReleased)
	if err != nil {
		return err
	}
	last := len(e.panels)
	e.panels = append(e.panels, "the paper's baselines", "with the same protection")
	e.sketches = append(e.sketches,
		sketch{name: "baseline", panel: last, draw: e.sampled(points, 1, g)},
		sketch{name: "baseline smoothed", panel: last, draw: e.sampled(points, smooth, g)},
		sketch{name: "matched baseline", panel: last + 1, draw: e.sampled(matched, 1, experiment.Matched(g, e.window.Length()))},
		sketch{name: "denoise (ours)", panel: last + 1, draw: denoise})
	return nil
}

// peaks are the times of a curve's large local maxima: the R waves of an electrocardiogram. They stand above the middle
// between the median and the largest value, and are the largest within reach.
func peaks(grid, values []float64, reach float64) []int {
	sorted := slices.Sorted(slices.Values(values))
	level := (sorted[len(sorted)/2] + sorted[len(sorted)-1]) / 2
	var out []int
	for i, v := range values {
		if v < level {
			continue
		}
		largest := true
		for j := i - 1; j >= 0 && grid[i]-grid[j] <= reach; j-- {
			largest = largest && values[j] < v
		}
		for j := i + 1; j < len(grid) && grid[j]-grid[i] <= reach; j++ {
			largest = largest && values[j] <= v
		}
		if largest {
			out = append(out, i)
		}
	}
	return out
}

// found is the share of the true peaks where values have their largest value within reach, at least half as high above
// the median, no further than the tolerance from the true time.
func found(grid, truth, values []float64, at []int, reach, tolerance float64) float64 {
	middle := func(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }
	base, own := middle(truth), middle(values)
	n := 0
	for _, i := range at {
		top := i
		for j := range grid {
			if math.Abs(grid[j]-grid[i]) <= reach && values[j] > values[top] {
				top = j
			}
		}
		if math.Abs(grid[top]-grid[i]) <= tolerance && values[top]-own > (truth[i]-base)/2 {
			n++
		}
	}
	return float64(n) / float64(len(at))
}

func curveECGExample(ctx context.Context, r run) (*Result, error) {
	const epsilon = 1.0
	list, _, err := electrocardiograms(r.data)
	if err != nil {
		return nil, err
	}
	e := newExample(list[0], space.Interval{A: 0, B: 10 * ecgScale}, 1001)
	truth := e.truth()[0]
	at := peaks(e.grid, truth, 0.3*ecgScale)
	e.counted = "peaks_found"
	e.count = func(v [][]float64) float64 { return found(e.grid, truth, v[0], at, 0.3*ecgScale, 0.05*ecgScale) }
	e.clock, e.panels = ecgScale, []string{"project-and-privatize"}
	e.axes = plot.Axes{XLabel: "time (s)", YLabel: "amplitude (µV)", Size: examplePanel}
	e.text = fmt.Sprintf("One record of 10 s, ε = %g per unit of dist₂ (µV, time × 80), first of %d draws. Baselines: k = 100, s = 5, the same ε per unit of dist_∞; matched: k = 800, ε√T.", epsilon, r.reps)
	sinc, err := space.Sinc(e.window, 1, 1, 800)
	if err != nil {
		return nil, err
	}
	project, err := e.projected(sinc, epsilon)
	if err != nil {
		return nil, err
	}
	e.sketches = []sketch{{name: "project-and-privatize", draw: project}}
	if err := e.add(epsilon, 100, 5, 800); err != nil {
		return nil, err
	}
	out, errors, hits, err := e.run(ctx, r)
	if err != nil {
		return nil, err
	}
	out.Claim = "at ε = 1 project-and-privatize keeps all large and medium peaks; the baselines miss most of them"
	out.against(errors, "project-and-privatize")
	own, base := hits["project-and-privatize"], math.Max(hits["baseline"].mean, hits["baseline smoothed"].mean)
	out.Finding = fmt.Sprintf("of the %d R peaks project-and-privatize keeps %.0f %% in place, the baselines %.0f and %.0f %%, the matched one %.0f %%, denoise %.0f %%; %s",
		len(at), 100*own.mean, 100*hits["baseline"].mean, 100*hits["baseline smoothed"].mean, 100*hits["matched baseline"].mean, 100*hits["denoise (ours)"].mean, out.Finding)
	switch {
	case own.mean < base:
		out.Verdict = Fails
	case own.mean < 0.9 || base > 0.5:
		out.Verdict = Depends
	}
	return out, nil
}

// twoBumps is a mixture of two Gaussian functions like that of Figure 9; the paper does not state it.
func twoBumps() fit.Curve {
	s := fit.Series{}
	for i := range 501 {
		t := float64(i) / 5
		bump := func(height, centre, width float64) float64 {
			d := (t - centre) / width
			return height * math.Exp(-d*d/2)
		}
		s.T, s.X = append(s.T, t), append(s.X, bump(200, 35, 12)+bump(120, 75, 10))
	}
	return fit.Curve{s}
}

func curveSelectExample(ctx context.Context, r run) (*Result, error) {
	const epsilon = 0.1
	e := newExample(twoBumps(), space.Interval{A: 0, B: 100}, 401)
	e.counted = "functions"
	e.panels = []string{"select"}
	e.axes = plot.Axes{XLabel: "t", YLabel: "value", Size: examplePanel}
	e.text = fmt.Sprintf("A mixture of two Gaussian functions, ε = %g per unit of dist₂, first of %d draws. Baselines: k = 10, s = 3, the same ε per unit of dist_∞; matched: k = 10, ε√T.", epsilon, r.reps)
	sp, err := space.Legendre(e.window, 33)
	if err != nil {
		return nil, err
	}
	chosen, err := e.released(curve.Config{Method: curve.Select, Space: sp}, epsilon, e.asReleased)
	if err != nil {
		return nil, err
	}
	e.sketches = []sketch{{name: "select", draw: chosen}}
	if err := e.add(epsilon, 10, 3, 10); err != nil {
		return nil, err
	}
	out, errors, functions, err := e.run(ctx, r)
	if err != nil {
		return nil, err
	}
	out.Claim = "at ε = 0.1 select takes 8 of 33 polynomials and follows the curve, which the baselines do not"
	out.against(errors, "select")
	n := functions["select"]
	out.Finding = fmt.Sprintf("select takes %.1f (%.1f) functions on average; %s", n.mean, n.se, out.Finding)
	if out.Verdict == Holds && (n.mean < 4 || n.mean > 16) {
		out.Verdict = Depends
	}
	return out, nil
}

func curveTaxiExample(ctx context.Context, r run) (*Result, error) {
	const epsilon = 0.01
	tracks, what := simulatedTracks(), "A simulated track"
	if r.data != "" {
		var err error
		if tracks, err = experiment.Taxi(r.data); err != nil {
			return nil, err
		}
		what = "Cab 38"
	}
	e := newExample(tracks[0], experiment.TaxiWindow, 1501)
	e.counted, e.unit, e.track = "numbers", 1000, true
	e.until = e.window.A + 3*3600
	e.panels = []string{"segment", "segment, continuous"}
	e.axes = plot.Axes{XLabel: "east (km)", YLabel: "north (km)", Size: plot.Size{Width: 20 * 28.35, Height: 11 * 28.35, Font: 9}}
	e.text = fmt.Sprintf("%s, the first 3 of 12 h, ε = %g per unit of dist₂ (seconds and metres), first of %d draws. Baselines: k = 10, s = 3, the same ε per unit of dist_∞; matched: k = 384, ε√T.", what, epsilon, r.reps)
	config := curve.Config{Method: curve.Segment, Reduce: curve.ReduceAlways}
	for _, s := range []struct {
		name       string
		continuous bool
		draw       func(*curve.Result) (drawing, error)
	}{{"segment", false, e.asReleased}, {"segment, continuous", true, e.asReleased}, {"best approximation", false, e.approximation}} {
		config.Continuous = s.continuous
		draw, err := e.released(config, epsilon, s.draw)
		if err != nil {
			return nil, err
		}
		panel := 0
		if s.continuous {
			panel = 1
		}
		e.sketches = append(e.sketches, sketch{name: s.name, panel: panel, noiseless: s.name == "best approximation", draw: draw})
	}
	if err := e.add(epsilon, 10, 3, 384); err != nil {
		return nil, err
	}
	out, errors, _, err := e.run(ctx, r)
	if err != nil {
		return nil, err
	}
	out.Claim = "at ε = 0.01 segment keeps the shape and the major turns of a track, continuous or not; the baselines keep a likeness at most"
	out.against(errors, "segment")
	out.Finding += fmt.Sprintf("; %.3f (%.3f) for the continuous form, %.3f for the best approximation on its pieces", errors["segment, continuous"].mean, errors["segment, continuous"].se, errors["best approximation"].mean)
	return out, nil
}
