package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func densityCommand() *cobra.Command {
	var d flags.Density
	var out publish.Output
	var budget publish.Budget
	var points flags.Points
	var samplePath string
	var sample int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "density FILE",
		Short: "Private smooth density of points in a box",
		Long: `Releases the density of the points in FILE (CSV or Parquet, one point per row; - for
standard input) in a public box. The number of coefficients is chosen from the noisy
ones. --sample draws synthetic points from the release, which costs nothing.`,
		Example: `  curveil density pickups.csv --columns lon,lat --bounds -122.52:-122.35,37.60:37.82 --rho 0.5 -o pickups.json --plot pickups.png
  curveil density trips.csv --columns duration_s --bounds 60:3600 --mu 1 --sample 1000 --sample-out synthetic.csv`,
		Args: exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := d.Config(cmd.Flags())
			if err != nil {
				return err
			}
			if err := budget.Accept(c.Guarantee); err != nil {
				return err
			}
			if len(d.Columns) == 0 {
				return usagef("--columns is needed: the variables, in the order of --bounds")
			}
			if (sample > 0) != (samplePath != "") || sample < 0 || sample > maxSample {
				return usagef("--sample N, at most %d, and --sample-out FILE go together", maxSample)
			}
			if err := out.Check(args[0]); err != nil {
				return err
			}
			if samplePath != "" {
				if err := publish.CheckCopy(samplePath, out.Force, args[0]); err != nil {
					return err
				}
			}
			o, err := points.Options(d.Columns)
			if err != nil {
				return err
			}
			c.Unit = points.Name()
			if err := preview(c); err != nil {
				return err
			}
			if err := checkPoints(&points, args[0], o); err != nil {
				return err
			}
			book, err := budget.Open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			if c.N == 0 && c.Rank == nil {
				if args[0] == "-" {
					return usagef("standard input cannot be read twice: give --n, the public number of people, or --rank")
				}
				if c.N, err = countPeople(args[0], o); err != nil {
					return err
				}
				if c.N == 0 {
					return fmt.Errorf("%s: no rows: there is nothing to release", args[0])
				}
			}
			acc, err := density.New(c)
			if err != nil {
				return usageError{err}
			}
			if err := addPoints(cmd, args[0], o, acc); err != nil {
				return err
			}
			n, err := acc.N()
			switch {
			case err != nil:
				return err
			case n == 0:
				return fmt.Errorf("%s: nobody to release a density of", args[0])
			case c.N != 0 && n != c.N:
				return fmt.Errorf("%s has %d people, but the public number was stated as %d", args[0], n, c.N)
			}
			warn(cmd.ErrOrStderr(), flags.DensityRemarks(acc.Config(), n)...)
			var made *release.Release
			err = publish.Release(cmd, publish.Expenditure{
				Budget: &budget, Book: book, Dataset: budget.Name(args[0]), Verb: "density",
				Statement: acc.Config().Statement(), Parameters: flags.DensityParameters(acc),
				Predicted: func() string { return flags.PredictDensity(acc.Config(), n) },
			}, &out, asJSON, func() (r *release.Release, err error) {
				made, err = acc.Release(noise.Crypto())
				return made, err
			})
			if err != nil || sample == 0 || budget.Dry {
				return err
			}
			if err := writeSample(samplePath, made, sample); err != nil {
				return out.Afterwards("the sample", "sample", err)
			}
			return nil
		},
	}
	d.Register(cmd.Flags())
	out.Register(cmd.Flags())
	budget.Register(cmd.Flags())
	budget.RegisterDry(cmd.Flags())
	points.Register(cmd.Flags())
	cmd.AddCommand(densityPartialCommand(), densityMergeCommand())
	f := cmd.Flags()
	f.IntVar(&sample, "sample", 0, "number of synthetic points to draw from the release")
	f.StringVar(&samplePath, "sample-out", "", "CSV file for the synthetic points")
	addJSON(cmd, &asJSON)
	return cmd
}

// preview refuses what makes no sense before the data are read; a rank that is
// still to come from the number of people is stood in for.
func preview(c density.Config) error {
	if c.N == 0 && c.Rank == nil {
		c.Rank = []int{1}
	}
	if _, err := density.New(c); err != nil {
		return usageError{err}
	}
	return nil
}

// checkPoints refuses a table with a column that looks as if it told people apart,
// when nobody said whether a row is a person.
func checkPoints(p *flags.Points, path string, o dataset.PointOptions) error {
	if p.O.Unit != "" || path == "-" {
		return nil
	}
	file, err := dataset.OpenPoints(path, o)
	if err != nil {
		return err
	}
	defer file.Close()
	return p.CheckPeople(file.PersonColumn())
}

// addPoints adds everybody in the file, and looks at how many points lie outside the
// box: a point outside is no fault, but most of them there is a slip of the call.
func addPoints(cmd *cobra.Command, path string, o dataset.PointOptions, acc *density.Density) error {
	file, err := dataset.OpenPoints(path, o)
	if err != nil {
		return err
	}
	defer file.Close()
	side := outside{box: acc.Config().Box}
	for x := file.NextRows(); x != nil; x = file.NextRows() {
		side.count(x)
		if err := acc.AddPoints(x); err != nil {
			return err
		}
	}
	for file.Next() {
		x, _, line := file.Person()
		side.count(x)
		if err := acc.Add(slices.Collect(slices.Chunk(x, len(o.Columns)))...); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	if err := file.Err(); err != nil {
		return err
	}
	return side.judge(cmd.ErrOrStderr(), acc.Config().Outside, cmd.Flags().Changed("outside"))
}

// outside counts the points outside the public box. The counts are private: they are
// not printed, and decide only between going on, a remark and a refusal, all of them
// for the curator (docs/privacy.md, "Refusals").
type outside struct {
	box        []space.Interval
	points, of int64
}

func (s *outside) count(x []float64) {
	d := len(s.box)
	s.of += int64(len(x) / d)
	for ; len(x) > 0; x = x[d:] {
		for i, side := range s.box {
			if x[i] < side.A || x[i] > side.B {
				s.points++
				break
			}
		}
	}
}

// judge refuses a box that most points lie outside of, unless it was said what should
// become of these.
func (s *outside) judge(w io.Writer, becomes density.Outside, said bool) error {
	if 2*s.points > s.of && !said {
		return usagef("most of the points lie outside the box: are --columns in the order of --bounds, and in its units? Nothing was spent. Where it is meant, --outside zero (points outside count in n only) or --outside clamp says so")
	}
	if s.points == 0 {
		return nil
	}
	some := "some"
	if 2*s.points > s.of {
		some = "most"
	}
	words := map[density.Outside]string{density.Zero: "count in n only", density.Clamp: "count as points on its edge"}[becomes]
	fmt.Fprintf(w, "curveil: %s points lie outside the box; they %s (this is for the curator: a box that is chosen by it is read off the data)\n", some, words)
	return nil
}

func countPeople(path string, o dataset.PointOptions) (int64, error) {
	file, err := dataset.OpenPoints(path, o)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.Count()
}

func writeSample(path string, r *release.Release, n int) error {
	t, err := density.Of(r)
	if err != nil {
		return err
	}
	x := t.Points(noise.Crypto(), n)
	return publish.FileWith(path, func(w io.Writer) error {
		c := csv.NewWriter(w)
		d := len(t.Cells)
		head := t.Names
		if head == nil {
			head = []string{"x", "y", "z", "w"}[:d]
		}
		if err := c.Write(head); err != nil {
			return err
		}
		row := make([]string, d)
		for ; len(x) >= d; x = x[d:] {
			for i, v := range x[:d] {
				row[i] = strconv.FormatFloat(v, 'g', 10, 64)
			}
			if err := c.Write(row); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}

func planDensityCommand() *cobra.Command {
	var d flags.Density
	var p density.PlanConfig
	var compare string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "density",
		Short:   "Predicted error of a private density; reads no data",
		Example: `  curveil plan density --n 50000 --bounds -122.52:-122.35,37.60:37.82 --rho 0.5`,
		Args:    exactArgs(0, "none: a plan reads no data"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.N < 1 {
				return usagef("--n is needed: the public number of people")
			}
			c, err := d.Config(cmd.Flags())
			if err != nil {
				return err
			}
			p.Config = c
			plan, err := density.NewPlan(p)
			if err != nil {
				return usageError{err}
			}
			var compared []comparison
			switch compare {
			case "":
			case "histogram":
				if compared, err = compareHistogram(c); err != nil {
					return err
				}
			default:
				return usagef("--compare %q: there is histogram", compare)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					*density.Plan
					Compared []comparison `json:"compared,omitempty"`
				}{plan, compared})
			}
			printDensityPlan(cmd.OutOrStdout(), p, plan)
			if compared != nil {
				printComparison(cmd.OutOrStdout(), compared)
			}
			return nil
		},
	}
	d.Register(cmd.Flags())
	cmd.Flags().StringVar(&compare, "compare", "", "histogram: simulate what a private histogram at the same budget would give")
	cmd.Flags().Float64Var(&p.Peaks, "peaks", 0, "guessed width (standard deviation) of the narrowest peaks, as a share of the box's side, such as 0.03; instead of --smoothness and --energy")
	cmd.Flags().Float64Var(&p.Smoothness, "smoothness", 0, "guessed number of square-integrable derivatives (default 2)")
	cmd.Flags().Float64Var(&p.Energy, "energy", 0, "guessed norm of those derivatives, relative to the uniform density on the unit cube (default: that of one wave across the box)")
	addJSON(cmd, &asJSON)
	return cmd
}

// sampleCommand draws points from a density that was released before.
func sampleCommand() *cobra.Command {
	var out string
	var n int
	var force bool
	cmd := &cobra.Command{
		Use:     "sample RELEASE -n N -o POINTS.csv",
		Short:   "Synthetic points from a released density",
		Example: `  curveil sample pickups.json -n 1000 -o synthetic.csv`,
		Args:    exactArgs(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 1 || n > maxSample || out == "" {
				return usagef("-n N, from 1 to %d, and -o FILE are needed", maxSample)
			}
			if err := publish.CheckCopy(out, force, args[0]); err != nil {
				return err
			}
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			if r.Verb != release.Density {
				return usagef("%s is a %s; points can be drawn from a density only", args[0], r.Verb)
			}
			return writeSample(out, r, n)
		},
	}
	cmd.Flags().IntVarP(&n, "n", "n", 0, "number of points")
	cmd.Flags().StringVarP(&out, "out", "o", "", "CSV file to write")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// maxSample is the most synthetic points that one call draws.
const maxSample = 10_000_000
