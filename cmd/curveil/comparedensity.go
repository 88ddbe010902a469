package main

import (
	"fmt"
	"io"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// comparison is one simulated truth: the mean integrated squared error of what
// 'curveil density' would release, and of a private histogram with the best
// number of bins in hindsight, at the same n and ρ, on the unit box.
type comparison struct {
	Truth     string  `json:"truth"`
	Smooth    bool    `json:"smooth"`
	Error     float64 `json:"error"`
	Histogram float64 `json:"histogram"`
	Bins      int     `json:"bins"`
}

// compareDraws releases are simulated for each truth, of at most comparePeople people.
const compareDraws, comparePeople = 4, 200_000

func compareHistogram(c density.Config) ([]comparison, error) {
	if c.N > comparePeople {
		return nil, usagef("--compare simulates cohorts: give an --n of at most %d", comparePeople)
	}
	mu, err := privacy.GaussianMu(c.Guarantee)
	if err != nil {
		return nil, usageError{err}
	}
	rho, d := float64(mu.ZCDP()), len(c.Box)
	for i := range c.Box {
		c.Box[i] = space.Interval{A: 0, B: 1}
	}
	cells := 512
	if d == 2 {
		cells = 96
	}
	random, src := simulate.New(5), noise.Seeded(5)
	var out []comparison
	for _, t := range densities.All() {
		if t.D != d {
			continue
		}
		row := comparison{Truth: t.Name, Smooth: t.Smooth}
		row.Histogram, row.Bins = densities.HistogramRisk(t, c.N, rho)
		truth := t.Grid(cells)
		for range compareDraws {
			acc, err := density.New(c)
			if err != nil {
				return nil, usageError{err}
			}
			if err := acc.AddPoints(t.Points(random, int(c.N))); err != nil {
				return nil, err
			}
			r, err := acc.Release(src)
			if err != nil {
				return nil, err
			}
			table, err := density.Of(r, cells)
			if err != nil {
				return nil, err
			}
			for i, v := range table.Density {
				row.Error += (v - truth[i]) * (v - truth[i]) / float64(len(truth)*compareDraws)
			}
		}
		out = append(out, row)
	}
	if out == nil {
		return nil, usagef("--compare knows simulated truths of one and two variables, not of %d", d)
	}
	return out, nil
}

func printComparison(w io.Writer, rows []comparison) {
	fmt.Fprintf(w, "\nagainst a private histogram at the same budget, with the best bins in hindsight, on simulated truths\n")
	t := newTable(w)
	fmt.Fprintln(t, "  truth\tsmooth\tdensity\thistogram\thistogram/density\tbins")
	for _, r := range rows {
		smooth := ""
		if r.Smooth {
			smooth = "yes"
		}
		fmt.Fprintf(t, "  %s\t%s\t%.3g\t%.3g\t%.2g\t%d\n", r.Truth, smooth, r.Error, r.Histogram, r.Histogram/r.Error, r.Bins)
	}
	t.Flush()
}
