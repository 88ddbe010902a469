// Tables, verdicts and pictures of the scores of methods for private curves.

package reproduce

import (
	"slices"
	"strings"

	"github.com/curveil/curveil/plot"
)

var scoreColumns = []string{"model", "budget", "method", "detail", "error", "error_se", "squared", "squared_se", "median", "q25", "q75"}

func rows(model string, scores []score) (out [][]any) {
	for _, s := range scores {
		out = append(out, []any{model, s.budget, s.name, s.detail, s.mean.mean, s.mean.se, s.square.mean, s.square.se, s.median, s.q25, s.q75})
	}
	return out
}

func find(scores []score, name string, budget float64) score {
	for _, s := range scores {
		if s.name == name && s.budget == budget {
			return s
		}
	}
	panic("reproduce: no score of " + name)
}

// lines are the mean errors, the mean squares, and the medians with quartiles of the named methods. A label is the name
// up to its comma-separated suffix.
func lines(scores []score, budgets []float64, names []string, suffix string) (series [3][]plot.Series) {
	for _, name := range names {
		label := strings.TrimSuffix(name, suffix)
		var mean, square []estimate
		middle := plot.Series{Name: label, X: budgets, Marks: true}
		for _, b := range budgets {
			s := find(scores, name, b)
			mean, square = append(mean, s.mean), append(square, s.square)
			middle.Y, middle.Lo, middle.Hi = append(middle.Y, s.median), append(middle.Lo, s.q25), append(middle.Hi, s.q75)
		}
		for k, s := range []plot.Series{points(label, budgets, mean), points(label, budgets, square), middle} {
			if name == "best approximation" || name == "matched baseline" {
				s = plot.Series{Name: label, X: s.X, Y: s.Y, Theory: true}
			}
			series[k] = append(series[k], s)
		}
	}
	return series
}

// names of the methods, in order of their first score.
func namesOf(scores []score) (names []string) {
	for _, s := range scores {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

var errorKinds = []string{"relative error", "relative squared error", "median and quartiles of the relative error"}

// pictures are the paper's two panels, mean error and mean square with standard errors over curves of some kind, and one of
// the quartiles.
func (r *Result) pictures(scores []score, budgets []float64, xlabel, text, kind string) error {
	series := lines(scores, budgets, namesOf(scores), "")
	var all []*plot.Picture
	for k, what := range errorKinds {
		a := plot.Axes{Title: what, XLabel: xlabel, YLabel: what, LogX: true, LogY: true, Caption: caption("%s, bars of two standard errors over %s.", text, kind), Size: wide}
		if k == 2 {
			a.Size, a.YLabel = plot.Size{}, "relative error"
			a.Caption = caption("%s, bars from the first to the third quartile of all runs.", text)
		}
		p, err := plot.Lines(series[k], a)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := r.join(2, all[:2]...); err != nil {
		return err
	}
	r.Pictures = append(r.Pictures, Picture{"-quartiles", all[2]})
	return nil
}
