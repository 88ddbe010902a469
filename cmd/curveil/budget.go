package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

// budgetFlags say which ledger a release is debited to.
type budgetFlags struct{ where, dataset, who string }

// defaultLedger is where the ledger is when no flag says so.
func defaultLedger() string {
	if where := os.Getenv("CURVEIL_LEDGER"); where != "" {
		return where
	}
	return "curveil.db"
}

func (b *budgetFlags) register(f *pflag.FlagSet) {
	f.StringVar(&b.where, "ledger", defaultLedger(), "ledger to debit before any noise is drawn: a SQLite file, postgres://…, or none (environment: CURVEIL_LEDGER)")
	f.StringVar(&b.dataset, "dataset", "", "name of the data set in the ledger (default: the file's name without suffix)")
	f.StringVar(&b.who, "who", "", "who spends (default: the user of this machine)")
}

// expense is a debit that a release will complete; nil-safe for no ledger.
type expense struct {
	ledger  *ledger.Ledger
	receipt *ledger.Receipt
}

// open opens the ledger, so that one that cannot be reached stops the verb
// before the data are read.
func (b *budgetFlags) open(ctx context.Context, stderr io.Writer) (*ledger.Ledger, error) {
	if b.where == "none" {
		fmt.Fprintln(stderr, "curveil: WARNING: --ledger none: this expense is recorded nowhere. Nobody will refuse the next release, and nobody can say what has been spent in all.")
		return nil, nil
	}
	return ledger.Open(ctx, b.where)
}

// name is the data set's name in the ledger.
func (b *budgetFlags) name(file string) string {
	if b.dataset != "" {
		return b.dataset
	}
	if file == "-" {
		return "standard input"
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (b *budgetFlags) spender() string {
	if b.who != "" {
		return b.who
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// debit spends on the data set; the release must complete it.
func (b *budgetFlags) debit(ctx context.Context, l *ledger.Ledger, dataset, verb string, s privacy.Statement, parameters any) (*expense, error) {
	if l == nil {
		return nil, nil
	}
	r, err := l.Debit(ctx, ledger.Entry{Dataset: dataset, Who: b.spender(), Verb: verb, Parameters: parameters, Statement: s})
	if err != nil {
		return nil, err
	}
	return &expense{l, r}, nil
}

// wasted explains an error that came after the debit.
func (e *expense) wasted(err error) error {
	if e == nil {
		return err
	}
	return fmt.Errorf("%w; the budget of debit %d on data set %q is spent, not released", err, e.receipt.Seq, e.receipt.Dataset)
}

// complete records that the release with these bytes exists, and says where
// the data set stands.
func (e *expense) complete(ctx context.Context, release []byte, w io.Writer) error {
	if e == nil {
		return nil
	}
	// The release exists: an interrupt now must not leave it unrecorded.
	if err := e.receipt.Complete(context.WithoutCancel(ctx), sha256.Sum256(release)); err != nil {
		return fmt.Errorf("the release was written, but the ledger could not record it: %w", err)
	}
	fmt.Fprintf(w, "  ledger     data set %q has spent %v", e.receipt.Dataset, e.receipt.Spent)
	if mu, ok := e.receipt.Spent.(privacy.GDP); ok {
		fmt.Fprintf(w, " = ρ %.4g, ε %.4g at δ = 1e-6", float64(mu.ZCDP()), mu.Epsilon(1e-6))
	}
	switch {
	case e.receipt.Cap == nil:
		fmt.Fprint(w, "; no cap ('curveil ledger cap' sets one)")
	case e.receipt.Fits.Validate() != nil:
		fmt.Fprintf(w, " of a cap of %v; nothing more fits", e.receipt.Cap)
	default:
		fmt.Fprintf(w, " of a cap of %v; %v still fits", e.receipt.Cap, e.receipt.Fits)
	}
	fmt.Fprintln(w)
	return nil
}
