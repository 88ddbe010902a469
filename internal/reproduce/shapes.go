// The examples of [GEO] §2.3 and §3.3: three trajectories, and shapes with few coordinates.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// trajectories are (time, x, y) of Figure 1.
var trajectories = [][][3]float64{
	{{0, 0, 0}, {0.13, 1, 0.8}, {0.26, 2, 1.6}, {0.4, 3, 2.4}, {0.53, 4, 3.2}, {0.66, 5, 4}, {0.8, 6, 4.8}, {0.9, 7, 5.6}, {1, 8, 6.4}},
	{{0, 0, 0}, {0.12, 1, 0.8}, {0.24, 2, 1.6}, {0.35, 3, 2.4}, {0.45, 4, 3.2}, {0.52, 4.7, 2.8}, {0.54, 4.7, 2.8}, {0.6, 4, 3.2}, {0.7, 5, 4}, {0.8, 6, 4.8}, {0.9, 7, 5.6}, {1, 8, 6.4}},
	{{0, 0, 0}, {0.12, 1, 0.8}, {0.24, 2, 1.6}, {0.35, 3, 2.4}, {0.45, 4, 3.2}, {0.55, 5, 4}, {0.61, 4.8, 4.6}, {0.63, 4.8, 4.6}, {0.7, 5, 4}, {0.8, 6, 4.8}, {0.9, 7, 5.6}, {1, 8, 6.4}},
}

func curveDistances(context.Context, run) (*Result, error) {
	window := space.Interval{A: 0, B: 1}
	var list []fit.Curve
	var series []plot.Series
	for k, q := range trajectories {
		c := fit.Curve{{}, {}}
		for _, p := range q {
			for j := range c {
				c[j].T, c[j].X = append(c[j].T, p[0]), append(c[j].X, p[j+1])
			}
		}
		list = append(list, c)
		series = append(series, plot.Series{Name: []string{"q₁", "q₂, stops at D′", "q₃, stops at E′"}[k], X: c[0].X, Y: c[1].X, Marks: true})
	}
	out := &Result{Columns: []string{"pair", "dist2", "dist2_paper", "max", "max_paper"}, Claim: "the distances dist₂ of the three trajectories are 0.40, 0.48 and 0.50, their largest distances 0.85, 1.08 and 1.54", Verdict: Holds}
	for k, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		paper := [][2]float64{{0.40, 0.85}, {0.48, 1.08}, {0.50, 1.54}}[k]
		a, b := list[pair[0]], list[pair[1]]
		d := experiment.Distance(a, b, window)
		most := 0.0
		for _, c := range []fit.Curve{a, b} { // convex between knots: the largest is at one
			for _, t := range c[0].T {
				most = math.Max(most, math.Hypot(a[0].At(t)-b[0].At(t), a[1].At(t)-b[1].At(t)))
			}
		}
		if math.Abs(d-paper[0]) > 0.005 || math.Abs(most-paper[1]) > 0.005 {
			out.Verdict = Fails
		}
		out.Rows = append(out.Rows, []any{fmt.Sprintf("q%d-q%d", pair[0]+1, pair[1]+1), d, paper[0], most, paper[1]})
		out.Finding += fmt.Sprintf("%.4f and %.4f, ", d, most)
	}
	out.Finding = out.Finding[:len(out.Finding)-2] + " (exact, with the start and the end as knots)"
	p, err := plot.Lines(series, plot.Axes{XLabel: "x", YLabel: "y", Equal: true, Caption: caption("The three trajectories of the paper's Figure 1.")})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

// shape is an example of Figures 2 and 3.
type shape struct {
	name   string
	window space.Interval
	span   []func(dst []float64, t float64)
	at     func(t float64) (x, y float64)
}

func pair(x, y func(t float64) float64) func([]float64, float64) {
	return func(dst []float64, t float64) { dst[0], dst[1] = x(t), y(t) }
}

func zero(float64) float64 { return 0 }
func one(float64) float64  { return 1 }

var shapes = []shape{
	{"circle with shift (2a)", space.Interval{A: 0, B: 2 * math.Pi}, []func([]float64, float64){pair(math.Cos, math.Sin), pair(one, zero), pair(zero, one)},
		func(t float64) (float64, float64) { return 4.8*math.Cos(t) - 2, 4.8*math.Sin(t) - 1 }},
	{"two circles (2b)", space.Interval{A: 0, B: 4 * math.Pi}, []func([]float64, float64){pair(math.Cos, math.Sin), pair(func(t float64) float64 { return math.Cos(t / 2) }, func(t float64) float64 { return math.Sin(t / 2) })},
		func(t float64) (float64, float64) {
			return 2*math.Cos(t) + math.Cos(t/2), 2*math.Sin(t) + math.Sin(t/2)
		}},
	{"ellipse (3a)", space.Interval{A: 0, B: 2 * math.Pi}, []func([]float64, float64){pair(math.Cos, zero), pair(zero, math.Cos), pair(math.Sin, zero), pair(zero, math.Sin)},
		func(t float64) (float64, float64) {
			return 3*math.Cos(t) + 5*math.Sin(t), -math.Cos(t) + 3.5*math.Sin(t)
		}},
	{"line (3b)", space.Interval{A: 0, B: 4}, []func([]float64, float64){pair(func(t float64) float64 { return t }, zero), pair(zero, func(t float64) float64 { return t }), pair(one, zero), pair(zero, one)},
		func(t float64) (float64, float64) { return 3*t + 5, -t + 3.5 }},
}

// curveShapes checks that the released function is as far from the true one as the law of the noise says: the
// dimension over ε on average, in dist₂.
func curveShapes(ctx context.Context, r run) (*Result, error) {
	const epsilon = 1.0
	out := &Result{Columns: []string{"shape", "dimension", "error", "error_se", "theory"}, Claim: "the private shape is in the family of the true one, at a mean distance of its dimension over ε", Verdict: Holds}
	pictures := make([]*plot.Picture, len(shapes))
	errors := make([]estimate, len(shapes))
	err := r.each(ctx, len(shapes), func(k int) error {
		s := shapes[k]
		basis, err := space.Span(s.window, 2, s.span...)
		if err != nil {
			return err
		}
		c := fit.Curve{{}, {}}
		for i := range 401 {
			t := s.window.A + s.window.Length()*float64(i)/400
			x, y := s.at(t)
			for j, v := range []float64{x, y} {
				c[j].T, c[j].X = append(c[j].T, t), append(c[j].X, v)
			}
		}
		q, err := fit.ProjectVector(c, basis)
		if err != nil {
			return err
		}
		config := curve.Config{Window: s.window, Guarantee: privacy.Geo(epsilon), Metric: privacy.L2, Components: []string{"x", "y"}}
		src := noise.Seeded(r.seed(uint64(40000 + k)))
		distances := make([]float64, r.reps)
		var drawn []plot.Series
		truth := plot.Series{Name: "true", Theory: true}
		for i := range 201 {
			x, y := s.at(s.window.A + s.window.Length()*float64(i)/200)
			truth.X, truth.Y = append(truth.X, x), append(truth.Y, y)
		}
		for rep := range distances {
			v, err := curve.ProjectVector(config, basis, c, src)
			if err != nil {
				return err
			}
			sum := 0.0
			for j, a := range v.Coordinates {
				sum += (a - q.Coordinates[j]) * (a - q.Coordinates[j])
			}
			distances[rep] = math.Sqrt(sum * s.window.Length()) // from root mean square to dist₂
			if rep < 3 {
				p := plot.Series{Name: fmt.Sprintf("private, draw %d", rep+1)}
				dst := make([]float64, 2)
				for i := range 201 {
					v.Eval(dst, s.window.A+s.window.Length()*float64(i)/200)
					p.X, p.Y = append(p.X, dst[0]), append(p.Y, dst[1])
				}
				drawn = append(drawn, p)
			}
		}
		errors[k] = estimateOf(distances)
		pictures[k], err = plot.Lines(append(drawn, truth), plot.Axes{Title: s.name, XLabel: "x", YLabel: "y", Equal: true, Caption: caption("ε = %g per unit of dist₂.", epsilon), Size: plot.Size{Width: 18 * 28.35, Height: 10 * 28.35, Font: 9}})
		return err
	})
	if err != nil {
		return nil, err
	}
	for k, s := range shapes {
		dim := float64(len(s.span))
		if math.Abs(errors[k].mean-dim/epsilon) > z*errors[k].se {
			out.Verdict = Fails
		}
		out.Rows = append(out.Rows, []any{s.name, len(s.span), errors[k].mean, errors[k].se, dim / epsilon})
		out.Finding += fmt.Sprintf("%s %.3f (%.3f), ", s.name, errors[k].mean, errors[k].se)
	}
	out.Finding = "mean distances: " + out.Finding[:len(out.Finding)-2] + " against 3, 2, 4, 4"
	return out, out.join(2, pictures...)
}
