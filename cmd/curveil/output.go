package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// outputFlags say where a release goes.
type outputFlags struct {
	out, picture string
	force        bool
}

func (o *outputFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "file for the release (JSON); default: standard output")
	f.StringVar(&o.picture, "plot", "", "picture of the release with its bands (.svg, .png, .pdf)")
	f.BoolVar(&o.force, "force", false, "overwrite an existing release, which cannot be had again without spending again")
}

// check refuses outputs that could not be written, before anything is spent.
// inputs are the files that the call reads.
func (o *outputFlags) check(inputs ...string) error {
	if o.picture != "" {
		if err := plot.CheckPath(o.picture); err != nil {
			return usageError{err}
		}
		if err := checkOutput(o.picture, true, inputs...); err != nil {
			return err
		}
	}
	switch strings.ToLower(filepath.Ext(o.out)) {
	case ".png", ".svg", ".pdf":
		return usagef("-o %s: the release is JSON; --plot draws the picture", o.out)
	}
	if o.out == "" {
		return nil
	}
	return checkOutput(o.out, o.force, inputs...)
}

// checkOutput refuses a path that cannot be written, is one of the inputs, or,
// unless forced, exists.
func checkOutput(path string, force bool, inputs ...string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return usagef("%s: the folder does not exist: make it first", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // not there yet
	}
	for _, in := range inputs {
		if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
			return usagef("%s is what the call reads: give the output another name", path)
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return usagef("%s is no file that could be replaced: give another name", path)
	case !force:
		return usagef("%s exists: a release cannot be had again without spending again; give another name, or --force", path)
	}
	return nil
}

// write stores the release and returns its bytes.
func (o *outputFlags) write(r *release.Release, stdout io.Writer) ([]byte, error) {
	text, err := encode(r)
	if err != nil {
		return nil, err
	}
	if o.out != "" {
		return text, writeFile(o.out, text)
	}
	return text, second(stdout.Write(text))
}

func encode(r *release.Release) ([]byte, error) {
	var buf bytes.Buffer
	err := r.Encode(&buf)
	return buf.Bytes(), err
}

func savePicture(path string, r *release.Release, o plot.Options) error {
	draw := plot.Release
	if r.Verb == release.Density {
		draw = plot.Density
	}
	if r.Method == release.Denoised {
		o.NoBand = true // smoothing left no band
	}
	p, err := draw(r, o)
	if err != nil {
		return err
	}
	return p.Save(path)
}

// writeFile writes all of the file or nothing.
func writeFile(path string, data []byte) error {
	return writeWith(path, func(w io.Writer) error { return second(w.Write(data)) })
}

// writeWith writes what do writes, all of it or nothing.
func writeWith(path string, do func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Chmod(0o644), do(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func second(_ int, err error) error { return err }

// expenditure is what a release debits, to which ledger.
type expenditure struct {
	budget     *budgetFlags
	book       *ledger.Ledger // nil for none
	dataset    string
	verb       string
	statement  privacy.Statement
	parameters any
}

// publish debits, releases, writes and reports, in this order: the budget is spent
// before noise is drawn, and the ledger learns of the release once it is written.
func publish(cmd *cobra.Command, e expenditure, out *outputFlags, asJSON bool, draw func() (*release.Release, error)) error {
	spent, err := e.budget.debit(cmd.Context(), e.book, e.dataset, e.verb, e.statement, e.parameters)
	if err != nil {
		return err
	}
	r, err := draw()
	if err != nil {
		return spent.wasted(err)
	}
	written, err := out.write(r, cmd.OutOrStdout())
	if err != nil {
		return spent.wasted(err)
	}
	to := cmd.OutOrStdout()
	if out.out == "" {
		to = cmd.ErrOrStderr()
	}
	if asJSON {
		if err := printSummaryJSON(to, r); err != nil {
			return err
		}
		to = cmd.ErrOrStderr()
	} else {
		printSummary(to, r)
	}
	if err := spent.complete(cmd.Context(), written, to); err != nil {
		return err
	}
	if out.picture != "" { // last: it can be drawn again from the release
		return savePicture(out.picture, r, plot.Options{})
	}
	return nil
}
