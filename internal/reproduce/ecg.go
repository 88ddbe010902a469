// [GEO] Figures 6, 13 and 17: project-and-privatize on electrocardiograms.

package reproduce

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/space"
)

// ecgScale turns 10 s into the paper's [0,800].
const ecgScale = 80

func curveECG(model string) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		budgets, symbol := budgetsOf(model, []float64{0.1, 0.2, 0.5, 1, 2}, []float64{8e-5, 3.2e-4, 2e-3, 8e-3, 3.2e-2})
		budgets = r.settings(budgets, 2)
		list, what, err := electrocardiograms(r.data)
		if err != nil {
			return nil, err
		}
		list = r.curves(list, 2)
		a := newArena(list, space.Interval{A: 0, B: 10 * ecgScale})
		sinc, err := space.Sinc(a.window, 1, 1, 800)
		if err != nil {
			return nil, err
		}
		projections := make([]fit.Projection, len(list))
		for i, c := range list {
			if projections[i], err = fit.Project(c, sinc); err != nil {
				return nil, err
			}
		}
		var all []contender
		for _, b := range budgets {
			o, err := a.projected("project", projections, model, b)
			if err != nil {
				return nil, err
			}
			ours, err := a.ours("denoise (ours)", curve.Config{Method: curve.Denoise}, model, b, false)
			if err != nil {
				return nil, err
			}
			all = append(append(all, o, ours), a.baselines(model, b, []int{100, 200, 800}, []int{100, 200, 800}, func(k int) []int { return []int{k / 20, k / 10} })...)
		}
		scores, err := r.compete(ctx, len(a.curves), all)
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: scoreColumns, Rows: rows(model, scores), Claim: "project-and-privatize on 800 sinc functions is better than the baselines, by up to an order of magnitude, and more so at larger budgets"}
		out.verdict(scores, budgets, "project")
		return out, out.pictures(scores, budgets, "privacy budget "+symbol+" (µV, time × 80)", fmt.Sprintf("%s, %d repetitions on each, best parameters of the baselines in hindsight", what, r.reps), "records")
	}
}

// electrocardiograms are windows of 10 s in µV, on [0,800]: lead II of the PTB record and six windows of the MIT-BIH
// record under dir, or simulated ones.
func electrocardiograms(dir string) ([]fit.Curve, string, error) {
	if dir == "" {
		return simulatedECG(), "12 simulated electrocardiograms of 10 s", nil
	}
	one, err := readSeries(filepath.Join(dir, "ptb_s0010_ii_100hz.csv"), 1)
	if err != nil {
		return nil, "", err
	}
	long, err := readSeries(filepath.Join(dir, "mitdb100_60s.csv"), 1000)
	if err != nil {
		return nil, "", err
	}
	list := cut(one, 1)
	return append(list, cut(long, 6)...), "7 windows of 10 s of two real records", nil
}

// cut is the first windows of 10 s.
func cut(s fit.Series, windows int) []fit.Curve {
	list := make([]fit.Curve, windows)
	for w := range list {
		c := fit.Series{}
		for i, t := range s.T {
			if u := (t - 10*float64(w)) * ecgScale; u >= 0 && u <= 10*ecgScale {
				c.T, c.X = append(c.T, u), append(c.X, s.X[i])
			}
		}
		list[w] = fit.Curve{c}
	}
	return list
}

func simulatedECG() []fit.Curve {
	list := make([]fit.Curve, 12)
	waves := []struct{ at, height, width float64 }{ // s from the R wave, µV, s: P, Q, R, S, T
		{-0.18, 120, 0.025}, {-0.035, -120, 0.010}, {0, 1000, 0.011}, {0.035, -220, 0.010}, {0.28, 250, 0.045},
	}
	for i := range list {
		rnd := simulate.New(uint64(900 + i))
		s := fit.Series{}
		var beats []float64
		rate := uniform(rnd, 0.7, 1.1)
		for t := -1.0; t < 11; t += rate * (1 + 0.03*rnd.NormFloat64()) {
			beats = append(beats, t+0.3)
		}
		gain, drift := uniform(rnd, 0.6, 1.2), 2*math.Pi*rnd.Float64()
		for k := range 1001 {
			t := float64(k) / 100
			v := 40 * math.Sin(2*math.Pi*0.25*t+drift)
			for _, b := range beats {
				for _, w := range waves {
					d := (t - b - w.at) / w.width
					v += gain * w.height * math.Exp(-d*d/2)
				}
			}
			s.T, s.X = append(s.T, t*ecgScale), append(s.X, v+8*rnd.NormFloat64())
		}
		list[i] = fit.Curve{s}
	}
	return list
}

// readSeries reads time and the next column of a CSV file, times the gain.
func readSeries(path string, gain float64) (s fit.Series, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	c := csv.NewReader(f)
	if _, err := c.Read(); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for {
		row, err := c.Read()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
		if len(row) < 2 {
			return s, fmt.Errorf("%s: one column, want a time and a value", path)
		}
		var v [2]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				return s, fmt.Errorf("%s: %w", path, err)
			}
		}
		s.T, s.X = append(s.T, v[0]), append(s.X, gain*v[1])
	}
}
