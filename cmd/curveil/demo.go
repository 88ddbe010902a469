package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// The demonstration's public parameters.
const (
	demoDataset  = "simulated boys"
	demoCap      = 0.8
	demoPeople   = 200
	demoFrom     = 2.0 // years
	demoTo       = 18.0
	demoVisits   = 33 // every half year
	demoError    = 0.5
	demoRadius   = 20.0 // cm root-mean-square from the reference
	demoMu       = 0.5
	demoSpace    = "legendre:8"
	demoSeed     = 20261130
	demoOverview = `A simulated cohort of %d boys (Preece-Baines growth curves), measured every half
year from %g to %g. The mean growth curve is to be published, protecting each child.
Public: n, the ages, a published reference curve, and that no boy is further than
%g cm root-mean-square from it.

`
)

func demoCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole story on a simulated cohort: plan, release, errors, picture",
		Args:  exactArgs(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), cmd.OutOrStdout(), dir)
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", "curveil-demo", "folder for the releases and the picture")
	return cmd
}

func demo(ctx context.Context, w io.Writer, dir string) (err error) {
	fmt.Fprintf(w, demoOverview, demoPeople, demoFrom, demoTo, demoRadius)
	ages := space.Uniform(demoFrom, demoTo, demoVisits).T
	cfg, err := demoConfig(ages)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "1. The plan, from public numbers alone (curveil plan mean)")
	rows, plan, err := planRows(mean.PlanConfig{Config: cfg, Noise: demoError})
	if err != nil {
		return err
	}
	printPlan(w, mean.PlanConfig{Config: cfg}, plan, rows)

	cohort := simulate.New(demoSeed)
	truth := make([]float64, len(ages))
	children := make([]fit.Curve, demoPeople)
	for i := range children {
		g := drawGrowth(cohort)
		for j, t := range ages {
			truth[j] += g.height(t) / demoPeople
		}
		children[i] = g.measured(ages, demoError, cohort)
	}
	fmt.Fprintf(w, "\n2. Two releases at μ = %g, and their errors against the known truth\n", demoMu)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	book, err := demoLedger(ctx, path("ledger.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	budget := publish.Budget{Who: "demo"}
	var made []*release.Release
	for k, method := range []mean.Method{mean.FitThenProtect, mean.ProtectThenFit} {
		cfg.Method = method
		acc, err := mean.New(cfg)
		if err != nil {
			return err
		}
		for _, c := range children {
			if err := acc.Add(c); err != nil {
				return err
			}
		}
		spent, err := budget.Debit(ctx, book, demoDataset, "mean", acc.Config().Statement(), flags.MeanParameters(acc.Config()))
		if err != nil {
			return err
		}
		r, err := acc.Release(noise.Seeded(demoSeed + uint64(k)))
		if err != nil {
			return err
		}
		out := publish.Output{Out: path([]string{"ftp.json", "ptf.json"}[k])}
		written, err := out.Write(r, w)
		if err != nil {
			return err
		}
		if err := spent.Complete(ctx, written, io.Discard); err != nil {
			return err
		}
		var sum, worst float64
		for j, t := range ages {
			e := r.At(t) - truth[j]
			sum += e * e / float64(len(ages))
			worst = max(worst, math.Abs(e))
		}
		fmt.Fprintf(w, "   %-17s  error %.2f cm root-mean-square, %.2f cm at worst\n", method, math.Sqrt(sum), worst)
		made = append(made, r)
	}
	fmt.Fprintf(w, "   The noise here is seeded, so that everybody sees the same demonstration: such\n   releases are marked not private. 'curveil mean' draws from the operating system.\n")

	picture, err := plot.Compare([]plot.Entry{
		{Name: "fit-then-protect", Release: made[0], Band: true},
		{Name: "protect-then-fit", Release: made[1]},
	}, plot.Options{
		Title:   fmt.Sprintf("Private mean growth curve of %d simulated boys", demoPeople),
		Overlay: []plot.Line{{Name: "truth (not private)", T: ages, X: truth}},
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"demo.svg", "demo.png"} {
		if err := picture.Save(path(name)); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\n3. The ledger: what the two have spent of a cap of μ = %g (curveil ledger show)\n", demoCap)
	stands, err := book.Show(ctx, demoDataset)
	if err != nil {
		return err
	}
	a, err := newAccount(stands, []float64{1e-6})
	if err != nil {
		return err
	}
	printAccount(w, stands, a)
	var over *ledger.OverspendError
	if _, err := budget.Debit(ctx, book, demoDataset, "mean", cfg.Statement(), nil); !errors.As(err, &over) {
		return fmt.Errorf("the ledger should have refused a third release: %w", err)
	}
	fmt.Fprintf(w, "   A third release is refused: %v\n", over)

	fmt.Fprintf(w, "\n4. Values from the release (curveil eval %s --at 5,10,14,18)\n", path("ftp.json"))
	points, err := evaluate(made[0], []float64{5, 10, 14, 18}, 0.95, false, nil)
	if err != nil {
		return err
	}
	if err := writePoints(w, made[0], points); err != nil {
		return err
	}
	if err := demoDensity(ctx, w, book, path); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe pictures are %s and density.svg beside it (and .png); the releases are ftp.json,\nptf.json and density.json.\n", path("demo.svg"))
	return nil
}

// demoLedger starts a fresh ledger: the cohort is new every time.
func demoLedger(ctx context.Context, path string) (*ledger.Ledger, error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	l, err := ledger.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return l, l.SetCap(ctx, ledger.CapChange{Dataset: demoDataset, Who: "demo", Unit: "child", Cap: privacy.GDP(demoCap)})
}

func demoConfig(ages []float64) (mean.Config, error) {
	sp, err := space.Parse(demoSpace, space.Interval{A: demoFrom, B: demoTo})
	if err != nil {
		return mean.Config{}, err
	}
	heights := make([]float64, len(ages))
	for j, t := range ages {
		heights[j] = meanGrowth.height(t)
	}
	reference, err := release.Table(ages, heights)
	if err != nil {
		return mean.Config{}, err
	}
	return mean.Config{
		Space: sp, Radius: demoRadius, Guarantee: privacy.GDP(demoMu), Unit: "child", Components: []string{"height"},
		Reference: []release.Reference{reference}, Grid: ages, N: demoPeople, XLabel: "age (years)", YLabel: "height (cm)",
	}, nil
}
