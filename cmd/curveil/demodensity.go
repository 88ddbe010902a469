package main

import (
	"context"
	"fmt"
	"io"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// The second half of the demonstration: a density, and what a histogram would have given.
const (
	demoPoints        = 10_000
	demoRho           = 0.1 // ρ
	demoTruth         = "two-bumps"
	demoPointsDataset = "simulated points"
)

// demoDensity releases a density of simulated points, draws it beside a private histogram with the best number of bins
// in hindsight, and compares the two on all simulated truths of one variable. path names a file in the folder.
func demoDensity(ctx context.Context, w io.Writer, book *ledger.Ledger, path func(string) string) error {
	fmt.Fprintf(w, "\n5. A density: where %d simulated people are on [0, 1], at ρ = %g (curveil density)\n", demoPoints, demoRho)
	c := density.Config{Box: []space.Interval{{A: 0, B: 1}}, Names: []string{"place"}, Guarantee: privacy.ZCDP(demoRho), Unit: "person", N: demoPoints}
	truth, err := densities.Named(demoTruth)
	if err != nil {
		return err
	}
	random := simulate.New(demoSeed)
	points := truth.Points(random, demoPoints)
	acc, err := density.New(c)
	if err != nil {
		return err
	}
	if err := acc.AddPoints(points); err != nil {
		return err
	}
	if err := book.SetCap(ctx, ledger.CapChange{Dataset: demoPointsDataset, Who: "demo", Unit: "person", Cap: privacy.ZCDP(demoRho)}); err != nil {
		return err
	}
	budget := publish.Budget{Who: "demo"}
	spent, err := budget.Debit(ctx, book, demoPointsDataset, "density", acc.Config().Statement(), flags.DensityParameters(acc))
	if err != nil {
		return err
	}
	r, err := acc.Release(noise.Seeded(demoSeed))
	if err != nil {
		return err
	}
	out := publish.Output{Out: path("density.json")}
	written, err := out.Write(r, w)
	if err != nil {
		return err
	}
	if err := spent.Complete(ctx, written, io.Discard); err != nil {
		return err
	}
	fmt.Fprintf(w, "   rank %g of up to %g, chosen from the noisy coefficients\n", r.Selection.Rank, r.Noise.Ranks[len(r.Noise.Ranks)-1])

	rows, err := compareHistogram(c)
	if err != nil {
		return err
	}
	printComparison(w, rows)
	fmt.Fprint(w, "  (mean integrated squared errors, known because the truths are; curveil plan density --compare histogram)\n")
	return saveDemoDensity(r, truth, random, points, path)
}

func saveDemoDensity(r *release.Release, truth densities.Truth, random *simulate.Rand, points []float64, path func(string) string) error {
	_, bins := densities.HistogramRisk(truth, demoPoints, demoRho)
	var shape, steps plot.Line
	shape.Name, steps.Name = "truth (not private)", fmt.Sprintf("private histogram, %d bins", bins)
	const fine = 400
	for i, v := range truth.Grid(fine) {
		shape.T, shape.X = append(shape.T, (float64(i)+0.5)/fine), append(shape.X, v)
	}
	width := 1 / float64(bins)
	for i, v := range densities.Histogram(random, points, 1, bins, demoRho) {
		steps.T, steps.X = append(steps.T, width*(float64(i)+1e-9), width*float64(i+1)), append(steps.X, v, v)
	}
	picture, err := plot.Compare([]plot.Entry{{Name: "density", Release: r, Band: true}}, plot.Options{
		Title:   fmt.Sprintf("Private density of %d simulated people", demoPoints),
		Overlay: []plot.Line{shape, steps},
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"density.svg", "density.png"} {
		if err := picture.Save(path(name)); err != nil {
			return err
		}
	}
	return nil
}
