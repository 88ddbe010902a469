// Methods against each other on a set of curves at several budgets, as in all experiments of [GEO] §5: the mean of the
// relative error and of its square, quartiles, the best baseline in hindsight.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// contender is a method at one budget: its error relative to the norm of curve i.
type contender struct {
	name   string
	detail string // of the parameters, for the best of several of one name
	budget float64
	trial  func(i int, seed uint64) ([]float64, error) // one error for each of the names
	also   []string                                    // names of further errors of the same run
}

// score is a contender's errors.
type score struct {
	name, detail     string
	budget           float64
	mean, square     estimate // standard errors over curves: repetitions on one curve are not independent evidence
	median, q25, q75 float64
}

// compete runs all contenders on all curves, and keeps the best of those with the same name and budget.
func (r run) compete(ctx context.Context, curves int, list []contender) ([]score, error) {
	errors := make([][][]float64, len(list)) // contender, name, curve × repetition
	for k, c := range list {
		errors[k] = make([][]float64, 1+len(c.also))
		for j := range errors[k] {
			errors[k][j] = make([]float64, curves*r.reps)
		}
	}
	err := r.each(ctx, len(list)*curves, func(job int) error {
		k, i := job/curves, job%curves
		for rep := range r.reps {
			e, err := list[k].trial(i, r.seed(uint64(k)<<40|uint64(i)<<20|uint64(rep)))
			if err != nil {
				return err
			}
			for j, v := range e {
				errors[k][j][i*r.reps+rep] = v
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []score
	for k, c := range list {
		for j, name := range append([]string{c.name}, c.also...) {
			s := r.score(errors[k][j])
			s.name, s.detail, s.budget = name, c.detail, c.budget
			at := slices.IndexFunc(out, func(o score) bool { return o.name == s.name && o.budget == s.budget })
			if at < 0 {
				out = append(out, s)
			} else if s.mean.mean < out[at].mean.mean {
				out[at] = s
			}
		}
	}
	return out, nil
}

func (r run) score(e []float64) score {
	var means, squares []float64
	for i := 0; i < len(e); i += r.reps {
		m, q := 0.0, 0.0
		for _, v := range e[i : i+r.reps] {
			m += v / float64(r.reps)
			q += v * v / float64(r.reps)
		}
		means, squares = append(means, m), append(squares, q)
	}
	sorted := slices.Clone(e)
	slices.Sort(sorted)
	at := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, sorted, nil) }
	return score{mean: estimateOf(means), square: estimateOf(squares), median: at(0.5), q25: at(0.25), q75: at(0.75)}
}

// arena is a set of curves and the metric in which budgets are meant.
type arena struct {
	curves []fit.Curve
	window space.Interval
	norms  []float64
}

func newArena(curves []fit.Curve, window space.Interval) arena {
	a := arena{curves: curves, window: window}
	for _, c := range curves {
		a.norms = append(a.norms, experiment.Norm(c, window))
	}
	return a
}

// guarantee is the budget in the model.
func guarantee(model string, budget float64) privacy.Guarantee {
	if model == "cgp" {
		return privacy.ConcentratedGeo(budget)
	}
	return privacy.Geo(budget)
}

// privatizer is a method of package curve with a budget per unit of dist₂.
func (a arena) privatizer(config curve.Config, model string, budget float64) (*curve.Privatizer, error) {
	config.Window, config.Metric, config.Guarantee = a.window, privacy.L2, guarantee(model, budget)
	for k := range a.curves[0] {
		config.Components = append(config.Components, fmt.Sprintf("x%d", k+1))
	}
	return curve.New(config)
}

// ours is a method of package curve. With approximation, the error of the best approximation on the released pieces
// comes along, without noise.
func (a arena) ours(name string, config curve.Config, model string, budget float64, approximation bool) (contender, error) {
	p, err := a.privatizer(config, model, budget)
	if err != nil {
		return contender{}, err
	}
	c := contender{name: name, budget: budget}
	if approximation {
		c.also = []string{"best approximation"}
	}
	c.trial = func(i int, seed uint64) ([]float64, error) {
		out, err := p.Privatize(a.curves[i], noise.Seeded(seed))
		if err != nil {
			return nil, err
		}
		e, err := experiment.Error(a.curves[i], out.Release)
		if err != nil {
			return nil, err
		}
		errs := []float64{e / a.norms[i]}
		if approximation {
			q, err := fit.Project(a.curves[i], out.Release.Space)
			if err != nil {
				return nil, err
			}
			errs = append(errs, math.Sqrt(math.Max(q.Residual, 0))/a.norms[i])
		}
		return errs, nil
	}
	return c, nil
}

// projected is project-and-privatize from projections made once for all draws: the last step of curve.Project, from
// the same source.
func (a arena) projected(name string, projections []fit.Projection, model string, budget float64) (contender, error) {
	local, err := mechanism.NewLocal(experiment.Matched(guarantee(model, budget), a.window.Length())) // from dist₂ to root mean square
	if err != nil {
		return contender{}, err
	}
	return contender{name: name, budget: budget, trial: func(i int, seed uint64) ([]float64, error) {
		q := projections[i]
		noisy := make([]float64, len(q.Coordinates))
		local.Release(noisy, q.Coordinates, noise.Seeded(seed))
		sum := q.Residual
		for j, v := range noisy {
			sum += (v - q.Coordinates[j]) * (v - q.Coordinates[j])
		}
		return []float64{math.Sqrt(sum) / a.norms[i]}, nil
	}}, nil
}

// baselines are sampled points at the budget per unit of dist_∞, as in the paper, plain and smoothed; matched ones
// get the budget that protects as much as dist₂ does.
func (a arena) baselines(model string, budget float64, points, matched []int, smooth func(k int) []int) []contender {
	var list []contender
	add := func(name string, k, s int, g privacy.Guarantee) {
		b := experiment.Baseline{Points: k, Smooth: min(max(s, 1), k), Budget: g}
		list = append(list, contender{name: name, detail: fmt.Sprintf("k=%d s=%d", k, b.Smooth), budget: budget, trial: func(i int, seed uint64) ([]float64, error) {
			out, err := b.Curve(a.curves[i], a.window, noise.Seeded(seed))
			if err != nil {
				return nil, err
			}
			return []float64{experiment.Distance(a.curves[i], out, a.window) / a.norms[i]}, nil
		}})
	}
	g := guarantee(model, budget)
	for _, k := range points {
		add("baseline", k, 1, g)
		for _, s := range smooth(k) {
			add("baseline smoothed", k, s, g)
		}
	}
	for _, k := range matched {
		for _, s := range append([]int{1}, smooth(k)...) {
			add("matched baseline", k, s, experiment.Matched(g, a.window.Length()))
		}
	}
	return list
}
