// Package reproduce re-runs the figures and tables of the four papers behind curveil: numbers with Monte-Carlo
// errors, a picture drawn like the paper's, and a verdict on the paper's claim in our run. Everything is seeded
// and simulated or run on public data: nothing here protects anybody.
package reproduce

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/plot"
)

// The papers.
const (
	FTP = "FTP" // Fit-Then-Protect functional mean estimation
	GEO = "GEO" // function privatization in the local model, arXiv 2607.27164
	REG = "REG" // online robust locally private nonparametric regression
	DEN = "DEN" // privately learning smooth distributions, arXiv 2409.10083
)

// Options of a run.
type Options struct {
	Reps     int    // Monte-Carlo repetitions; 0 for the experiment's default
	Data     string // folder of the real data sets; "" for simulated stand-ins
	Progress func(done, total int)
	// Small leaves out most curves, budgets and sizes, so that a run takes a second: for tests.
	Small bool
	// Seed of all that is drawn at random, but for simulated data sets, which are the same for all seeds. The figures of
	// docs/results.md have seed 0.
	Seed uint64
}

// Verdict says whether the paper's claim holds in a run.
type Verdict string

// The verdicts. Depends is for claims that hold or not according to a choice that the paper leaves open, or that
// holds in part: the finding says which.
const (
	Holds   Verdict = "holds"
	Fails   Verdict = "does not hold"
	Depends Verdict = "depends"
)

// Picture is one of the pictures of a result.
type Picture struct {
	Suffix string // of the file's name; "" for the only one
	*plot.Picture
}

// Result is what a run gives.
type Result struct {
	Columns  []string
	Rows     [][]any // string, int or float64
	Pictures []Picture
	Claim    string // the paper's, in a sentence
	Verdict  Verdict
	Finding  string // our figures on it, in a sentence
}

// CSV writes the numbers, with a last column that says of each row that it is not private.
func (r *Result) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(append(r.Columns[:len(r.Columns):len(r.Columns)], "private")); err != nil {
		return err
	}
	for _, row := range r.Rows {
		fields := make([]string, len(row), len(row)+1)
		for i, v := range row {
			if x, ok := v.(float64); ok {
				fields[i] = strconv.FormatFloat(x, 'g', 6, 64)
			} else {
				fields[i] = fmt.Sprint(v)
			}
		}
		if err := c.Write(append(fields, "false")); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// Experiment is a figure or table.
type Experiment struct {
	Name      string
	Paper     string // one of FTP, GEO, REG, DEN
	Source    string // figure, table or section
	Title     string
	Reps      int // default repetitions
	PaperReps int // the paper's; 0 where it has none
	// Dataset is the file or folder under Options.Data that the experiment runs on; "" for none. Without data the
	// run is simulated.
	Dataset string
	Timed   bool // measures time: the only numbers that differ from run to run
	run     func(context.Context, run) (*Result, error)
}

// run is a call of an experiment.
type run struct {
	reps     int
	data     string // the data set's path, or ""
	progress func(done, total int)
	small    bool
	from     uint64
}

// seed is the i-th seed of a run: i itself for Options.Seed 0.
func (r run) seed(i uint64) uint64 { return i + r.from*0x9E3779B97F4A7C15 }

// settings are all, or n of them from the first to the last for a small run.
func (r run) settings(all []float64, n int) []float64 {
	if !r.small || n >= len(all) {
		return all
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(n-1)]
	}
	return out
}

// curves are all, or the first n for a small run.
func (r run) curves(all []fit.Curve, n int) []fit.Curve {
	if !r.small || n >= len(all) {
		return all
	}
	return all[:n]
}

// Run runs it.
func (e Experiment) Run(ctx context.Context, o Options) (*Result, error) {
	r := run{reps: o.Reps, progress: o.Progress, small: o.Small, from: o.Seed}
	if r.reps == 0 {
		r.reps = e.Reps
	}
	if r.reps < 2 || r.reps > 1e6 {
		return nil, fmt.Errorf("reproduce: %d repetitions of %s: give 2 to 1000000, a Monte-Carlo error needs two", r.reps, e.Name)
	}
	if o.Data != "" && e.Dataset != "" {
		r.data = filepath.Join(o.Data, e.Dataset)
	}
	result, err := e.run(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("reproduce: %s: %w", e.Name, err)
	}
	return result, nil
}

// All lists the experiments by paper.
func All() []Experiment {
	var all []Experiment
	for _, list := range [][]Experiment{means, curves, streams, densityRisks} {
		all = append(all, list...)
	}
	return all
}

// Named returns the experiment of the name.
func Named(name string) (Experiment, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Experiment{}, fmt.Errorf("reproduce: no figure or table is called %q; there are %s", name, strings.Join(names, ", "))
}

// each runs n independent jobs on all processors. What a job draws must depend on its number alone, so that
// results do not depend on the order.
func (r run) each(ctx context.Context, n int, job func(i int) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var first error
	next, done := 0, 0
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || first != nil
				mu.Unlock()
				if stop {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = job(i)
				}
				mu.Lock()
				done++
				if err != nil && first == nil {
					first = err
				}
				if r.progress != nil {
					r.progress(done, n)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return first
}

// z is the number of standard errors that a check leaves for chance: 4e-8 on one side if normal, so that a
// dozen checks together stay below a false alarm of 1e-6.
const z = 5.4

// estimate is a Monte-Carlo mean and its standard error.
type estimate struct{ mean, se float64 }

func estimateOf(v []float64) estimate {
	m, sd := stat.MeanStdDev(v, nil)
	return estimate{m, sd / math.Sqrt(float64(len(v)))}
}

// over is the ratio of two independent estimates, with the first-order standard error.
func (e estimate) over(f estimate) estimate {
	q := e.mean / f.mean
	return estimate{q, math.Abs(q) * math.Hypot(e.se/e.mean, f.se/f.mean)}
}

// points collects a series of a picture with bars of two standard errors, which on a logarithmic axis end above 0.
func points(name string, x []float64, y []estimate) plot.Series {
	s := plot.Series{Name: name, X: x, Marks: true}
	for _, e := range y {
		s.Y = append(s.Y, e.mean)
		s.Lo = append(s.Lo, math.Max(e.mean-2*e.se, e.mean/10))
		s.Hi = append(s.Hi, e.mean+2*e.se)
	}
	return s
}

func level(name string, x []float64, y float64) plot.Series {
	return plot.Series{Name: name, X: []float64{x[0], x[len(x)-1]}, Y: []float64{y, y}, Theory: true}
}

const notPrivate = "Seeded reproduction: not private."

func caption(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " " + notPrivate
}
