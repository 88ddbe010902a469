package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/internal/reproduce"
)

func reproduceCommand() *cobra.Command {
	var o reproduce.Options
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reproduce list | NAME",
		Short: "A figure or table of the papers: numbers with errors, a picture, and whether the claim holds",
		Long: `Re-runs a figure or table of the papers that curveil implements. It writes NAME.csv (numbers with
Monte-Carlo standard errors), NAME.svg and NAME.json (all of it, with the claim and the verdict) and prints whether the
paper's claim holds in this run. Everything is seeded, so that two runs agree to the byte, and NOT private.

  curveil reproduce list
  curveil reproduce mean-ratio-rkhs --reps 1000 --out figures
  curveil reproduce curve-taxi-gp --data ../shared/data`,
		Args: exactArgs(1, "'list' or the name of a figure"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "list" {
				return listExperiments(cmd.OutOrStdout(), asJSON)
			}
			e, err := reproduce.Named(args[0])
			if err != nil {
				return usageError{err}
			}
			if info, err := os.Stat(out); out != "" && (err != nil || !info.IsDir()) {
				return usagef("%s: the folder does not exist: make it first", out)
			}
			if o.Reps < 0 || o.Reps == 1 {
				return usagef("%d repetitions: give 2 or more, a Monte-Carlo error needs two", o.Reps)
			}
			if isTerminal(cmd.ErrOrStderr()) {
				o.Progress = progressBar(cmd.ErrOrStderr(), e.Name)
			}
			r, err := e.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			document := newReproduction(e, o, r)
			if out != "" {
				if err := document.write(filepath.Join(out, e.Name), r); err != nil {
					return err
				}
			}
			return document.print(cmd.OutOrStdout(), r, out == "", asJSON)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Reps, "reps", 0, "Monte-Carlo repetitions; default: the experiment's, see 'curveil reproduce list'")
	f.StringVarP(&out, "out", "o", "", "folder for the numbers (CSV, JSON) and the picture (SVG, PNG); default: numbers to standard output only")
	f.StringVar(&o.Data, "data", "", "folder of the real data sets; default: simulated data")
	f.Uint64Var(&o.Seed, "seed", 0, "other draws than those of docs/results.md")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// progressBar draws over its own line, and wipes it at the end.
func progressBar(w io.Writer, name string) func(done, total int) {
	const width = 40
	start, last := time.Now(), -1
	return func(done, total int) {
		if done == total {
			fmt.Fprint(w, "\r\x1b[K")
			return
		}
		percent := 100 * done / total
		if percent == last {
			return
		}
		last = percent
		left := ""
		if spent := time.Since(start); done > 0 && spent > time.Second {
			left = fmt.Sprintf(", about %v left", (spent * time.Duration(total-done) / time.Duration(done)).Round(time.Second))
		}
		full := width * done / total
		fmt.Fprintf(w, "\r%s [%s%s] %d %%%s\x1b[K", name, strings.Repeat("#", full), strings.Repeat("-", width-full), percent, left)
	}
}

// isTerminal says whether somebody is watching.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// reproduction is the JSON form of a run.
type reproduction struct {
	Name    string            `json:"name"`
	Paper   string            `json:"paper"`
	Source  string            `json:"source"`
	Title   string            `json:"title"`
	Private bool              `json:"private"` // always false: seeded
	Reps    int               `json:"reps"`
	Seed    uint64            `json:"seed"`
	Data    bool              `json:"data"` // real data were used
	Claim   string            `json:"claim"`
	Verdict reproduce.Verdict `json:"verdict"`
	Finding string            `json:"finding"`
	Columns []string          `json:"columns"`
	Rows    [][]any           `json:"rows"`
}

func newReproduction(e reproduce.Experiment, o reproduce.Options, r *reproduce.Result) reproduction {
	reps := o.Reps
	if reps == 0 {
		reps = e.Reps
	}
	return reproduction{Name: e.Name, Paper: e.Paper, Source: e.Source, Title: e.Title, Reps: reps, Seed: o.Seed, Data: o.Data != "" && e.Dataset != "",
		Claim: r.Claim, Verdict: r.Verdict, Finding: r.Finding, Columns: r.Columns, Rows: r.Rows}
}

func (d reproduction) write(base string, r *reproduce.Result) error {
	var table bytes.Buffer
	if err := r.CSV(&table); err != nil {
		return err
	}
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	if err := errors.Join(publish.File(base+".csv", table.Bytes()), publish.File(base+".json", append(text, '\n'))); err != nil {
		return err
	}
	for _, p := range r.Pictures {
		for _, format := range []string{".svg", ".png"} {
			if err := p.Save(base + p.Suffix + format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d reproduction) print(w io.Writer, r *reproduce.Result, numbers, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(d)
	}
	if numbers {
		if err := r.CSV(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s, %s (%s), %d repetitions, not private\nclaim:   %s\nverdict: %s\nfinding: %s\n", d.Name, d.Source, d.Paper, d.Reps, d.Claim, d.Verdict, d.Finding)
	return nil
}

func listExperiments(w io.Writer, asJSON bool) error {
	if asJSON {
		type entry struct {
			Name      string `json:"name"`
			Paper     string `json:"paper"`
			Source    string `json:"source"`
			Title     string `json:"title"`
			Reps      int    `json:"reps"`
			PaperReps int    `json:"paper_reps,omitempty"`
			Dataset   string `json:"dataset,omitempty"`
			Timed     bool   `json:"timed,omitempty"`
		}
		var list []entry
		for _, e := range reproduce.All() {
			list = append(list, entry{e.Name, e.Paper, e.Source, e.Title, e.Reps, e.PaperReps, e.Dataset, e.Timed})
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(list)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "name\tpaper\treps\tpaper's\tdata\ttitle")
	for _, e := range reproduce.All() {
		paper, data := "-", e.Dataset
		if e.PaperReps > 0 {
			paper = strconv.Itoa(e.PaperReps)
		}
		if data == "" {
			data = "-"
		}
		fmt.Fprintf(t, "%s\t%s %s\t%d\t%s\t%s\t%s\n", e.Name, e.Paper, e.Source, e.Reps, paper, data, e.Title)
	}
	return t.Flush()
}
