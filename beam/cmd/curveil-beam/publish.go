package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// outputFlags say where the release goes and which ledger pays.
type outputFlags struct {
	out, where, dataset, who string
	force                    bool
}

func (o *outputFlags) register(cmd *cobra.Command) {
	where := os.Getenv("CURVEIL_LEDGER")
	if where == "" {
		where = "curveil.db"
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "file for the release (JSON), on this machine")
	f.BoolVar(&o.force, "force", false, "overwrite an existing release, which cannot be had again without spending again")
	f.StringVar(&o.where, "ledger", where, "ledger to debit before any noise is drawn: a SQLite file, postgres://…, or none (environment: CURVEIL_LEDGER)")
	f.StringVar(&o.dataset, "dataset", "", "name of the data set in the ledger")
	f.StringVar(&o.who, "who", "", "who spends (default: the user of this machine)")
}

func (o *outputFlags) check() error {
	switch {
	case o.out == "":
		return usagef("-o FILE is needed: runners write to standard output")
	case o.where != "none" && o.dataset == "":
		return usagef("--dataset is needed: the name under which the ledger knows the people of these files")
	}
	if info, err := os.Stat(filepath.Dir(o.out)); err != nil || !info.IsDir() {
		return usagef("%s: the folder does not exist: make it first", o.out)
	}
	if _, err := os.Stat(o.out); err == nil && !o.force {
		return usagef("%s exists: a release cannot be had again without spending again; give another name, or --force", o.out)
	}
	return nil
}

func (o *outputFlags) open(ctx context.Context, stderr io.Writer) (*ledger.Ledger, error) {
	if o.where == "none" {
		fmt.Fprintln(stderr, "curveil-beam: WARNING: --ledger none: this expense is recorded nowhere.")
		return nil, nil
	}
	return ledger.Open(ctx, o.where)
}

// publish debits, draws, writes and completes, in this order, once per run: bundles
// that were retried before have no part in it.
func (o *outputFlags) publish(cmd *cobra.Command, book *ledger.Ledger, verb string, s privacy.Statement, parameters any, draw func() (*release.Release, error)) error {
	ctx := cmd.Context()
	var receipt *ledger.Receipt
	if book != nil {
		who := o.who
		if u, err := user.Current(); who == "" && err == nil {
			who = u.Username
		}
		if who == "" {
			who = "unknown"
		}
		var err error
		if receipt, err = book.Debit(ctx, ledger.Entry{Dataset: o.dataset, Who: who, Verb: verb, Parameters: parameters, Statement: s}); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	r, err := draw()
	if err == nil {
		err = r.Encode(&text)
	}
	if err == nil {
		err = writeFile(o.out, text.Bytes())
	}
	if err != nil {
		if receipt != nil {
			err = fmt.Errorf("%w; the budget of debit %d on data set %q is spent, not released", err, receipt.Seq, receipt.Dataset)
		}
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "private %s of n = %d, %v; 'curveil show %s' says more\n", r.Verb, r.N, r.Privacy, o.out)
	if receipt == nil {
		return nil
	}
	if err := receipt.Complete(context.WithoutCancel(ctx), sha256.Sum256(text.Bytes())); err != nil {
		return fmt.Errorf("the release was written, but the ledger could not record it: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "ledger: data set %q has spent %v\n", receipt.Dataset, receipt.Spent)
	return nil
}

// writeFile writes all of the file or nothing.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
