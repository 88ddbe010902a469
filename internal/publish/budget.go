// Package publish spends, draws, writes and reports a release, in this order, for
// curveil and curveil-beam alike: the budget is on disk before noise is drawn, the
// release is written whole or not at all, and the ledger learns of it last.
package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/internal/nearest"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

// Budget says which ledger a release is debited to.
type Budget struct {
	Where, Dataset, Who string
	Weak                bool // spend also what protects almost nothing
	Dry                 bool // spend and release nothing, and say what would be
	Merges              bool // the verb merges partials, which have their flags already
	Tracks              bool // data sets are called after tracks, of which others are called alike but for a number

	flags  *pflag.FlagSet // of the verb
	stderr io.Writer      // for warnings
	warned bool
	looked bool // whether the data set is new
	spent  bool // by a person without a ledger
}

// DefaultLedger is where the ledger is when no flag says so.
func DefaultLedger() string { return cmp.Or(os.Getenv("CURVEIL_LEDGER"), "curveil.db") }

// Register adds the flags.
func (b *Budget) Register(f *pflag.FlagSet) {
	b.flags = f
	f.StringVar(&b.Where, "ledger", DefaultLedger(), "ledger to debit before any noise is drawn: a SQLite file, postgres://…, or none (environment: CURVEIL_LEDGER)")
	f.StringVar(&b.Dataset, "dataset", "", "name of the data set in the ledger (default: the file's name without suffix)")
	f.StringVar(&b.Who, "who", "", "who spends (default: the user of this machine)")
	f.BoolVar(&b.Weak, "weak", false, "spend also a budget that protects almost nothing (μ ≥ 10, ρ ≥ 50, ε ≥ 15, δ > 0.01)")
}

// RegisterDry adds the flag of verbs that can be rehearsed.
func (b *Budget) RegisterDry(f *pflag.FlagSet) {
	f.BoolVar(&b.Dry, "dry-run", false, "read and check everything, say what would be spent and the error to expect; spend and release nothing")
}

// Open opens the ledger, so that one that cannot be reached stops the verb before the
// data are read; it is nil for none.
func (b *Budget) Open(ctx context.Context, stderr io.Writer) (*ledger.Ledger, error) {
	b.stderr = stderr
	if b.Where == "none" {
		fmt.Fprintln(stderr, "curveil: WARNING: --ledger none: this expense is recorded nowhere. Nobody will refuse the next release, and nobody can say what has been spent in all.")
		return nil, nil
	}
	if b.Dry && !strings.Contains(b.Where, "://") {
		if _, err := os.Stat(b.Where); errors.Is(err, os.ErrNotExist) {
			return nil, Try(b.Where) // the first spending makes it; a rehearsal does not
		}
	}
	return ledger.Open(ctx, b.Where)
}

// Name is the data set's name in the ledger.
func (b *Budget) Name(file string) string {
	if b.Dataset != "" {
		return b.Dataset
	}
	if file == "-" {
		return "standard input"
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Spender is who spends.
func (b *Budget) Spender() string {
	if b.Who != "" {
		return b.Who
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// Expense is a debit that a release will complete; its methods take nil for no ledger.
type Expense struct {
	ledger    *ledger.Ledger
	receipt   *ledger.Receipt
	guarantee privacy.Guarantee
}

// Debit spends on the data set; the release must complete it. A budget that protects
// almost nothing is refused; see Accept.
func (b *Budget) Debit(ctx context.Context, l *ledger.Ledger, dataset, verb string, s privacy.Statement, parameters any) (*Expense, error) {
	if err := b.Accept(s.Guarantee); err != nil {
		return nil, err
	}
	if l == nil {
		return nil, nil
	}
	b.look(ctx, l, dataset)
	if b.Dry {
		return nil, errors.New("a rehearsal spends nothing") // a verb that forgot to rehearse
	}
	// From here on a reader who closes the pipe must not end the process: what is paid for would be lost.
	signal.Ignore(syscall.SIGPIPE)
	r, err := l.Debit(ctx, ledger.Entry{Dataset: dataset, Who: b.Spender(), Verb: verb, Parameters: parameters, Statement: s})
	if err != nil {
		return nil, b.explain(err)
	}
	return &Expense{l, r, s.Guarantee}, nil
}

// look warns, once, of a data set that is new to the ledger and called nearly as another.
func (b *Budget) look(ctx context.Context, l *ledger.Ledger, dataset string) {
	if b.looked || b.stderr == nil {
		return
	}
	b.looked = true
	if near, err := NewName(ctx, l, dataset); err == nil && near != "" && !(b.Tracks && butForDigits(near) == butForDigits(dataset)) {
		fmt.Fprintf(b.stderr, "curveil: WARNING: data set %q is new to the ledger, which has %q: the same people under two names are spent on twice; --dataset says which it is\n", dataset, near)
	}
}

// butForDigits is a name without its digits.
func butForDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}

// NewName returns, for a data set that the ledger does not know, the one that is called nearly
// so; "" where there is none, and for one that it knows.
func NewName(ctx context.Context, l *ledger.Ledger, dataset string) (near string, err error) {
	names, err := l.Datasets(ctx)
	if err != nil || slices.Contains(names, dataset) {
		return "", err
	}
	return nearest.Of(dataset, names), nil
}

// explain says which flags settle a mismatch with the ledger; only those that the verb has.
func (b *Budget) explain(err error) error {
	var m *ledger.MismatchError
	if !errors.As(err, &m) {
		return err
	}
	has := func(flag string) bool { return b.flags == nil || b.flags.Lookup(flag) != nil }
	switch {
	case m.Field == "unit of privacy" && has("unit-name"):
		return fmt.Errorf("%w (--unit-name %q, or --dataset NAME)", err, m.Have)
	case m.Field == "unit of privacy" && b.Merges:
		return fmt.Errorf("%w (make the partials with --unit-name %q, or --dataset NAME)", err, m.Have)
	case m.Field == "currency" && m.Have == string(ledger.GDP):
		return fmt.Errorf("%w (--dataset NAME; a cap for curves is set with --per: 'curveil ledger cap NAME --rho R --per m')", err)
	}
	return fmt.Errorf("%w (--dataset NAME)", err)
}

// Wasted explains an error that came after the debit.
func (e *Expense) Wasted(err error) error {
	if e == nil {
		return err
	}
	return fmt.Errorf("%w; the budget of debit %d on data set %q is spent, not released", err, e.receipt.Seq, e.receipt.Dataset)
}

// Record records that the release with these bytes exists.
func (e *Expense) Record(ctx context.Context, release []byte) error {
	if e == nil {
		return nil
	}
	// The release exists: an interrupt now must not leave it unrecorded.
	if err := e.receipt.Complete(context.WithoutCancel(ctx), sha256.Sum256(release)); err != nil {
		return fmt.Errorf("the release was written, but the ledger could not record it: %w", err)
	}
	return nil
}

// Complete records and says where the data set stands.
func (e *Expense) Complete(ctx context.Context, release []byte, w io.Writer) error {
	if err := e.Record(ctx, release); err != nil {
		return err
	}
	e.Standing(w)
	return nil
}

// Standing says where the data set stands.
func (e *Expense) Standing(w io.Writer) {
	if e == nil {
		return
	}
	Label(w, "ledger")
	fmt.Fprintln(w, standing(e.receipt, "has spent", e.guarantee, atMost(e.ledger, e.receipt.Dataset)))
}

// atMost tells whether pure ε was counted among a data set's debits; the words only depend on it.
func atMost(l *ledger.Ledger, dataset string) bool {
	s, err := l.Show(context.Background(), dataset)
	return err == nil && s.AtMost
}

// standing says where a data set stands after a debit, and what is counted of pure ε.
func standing(r *ledger.Receipt, has string, g privacy.Guarantee, atMost bool) string {
	const firstDebit = 2 // event 1 made the data set
	text := fmt.Sprintf("data set %q %s", r.Dataset, has)
	if r.Seq == firstDebit {
		text = fmt.Sprintf("first spending on data set %q:", r.Dataset)
	}
	spent := privacy.Shorten(r.Spent, true)
	pure, isPure := g.(privacy.Pure)
	mu, isMu := r.Spent.(privacy.GDP)
	switch {
	case isPure && r.Seq == firstDebit:
		text += fmt.Sprintf(" %v, counted as the μ that it implies, so that it adds up with others: %s", pure, AtMost(spent))
	case isMu && (atMost || isPure):
		text += fmt.Sprintf(" %s, so ε ≤ %.4g at δ = 1e-6 (pure ε counts as the μ that it implies)", AtMost(spent), mu.Epsilon(1e-6))
	default:
		text += fmt.Sprintf(" %v", spent)
		if isMu {
			text += fmt.Sprintf(" = ρ %.4g, ε %.4g at δ = 1e-6", float64(mu.ZCDP()), mu.Epsilon(1e-6))
		}
	}
	switch {
	case r.Cap == nil:
		text += "; no cap ('curveil ledger cap' sets one)"
	case r.Fits.Validate() != nil:
		text += fmt.Sprintf(" of a cap of %v; nothing more fits", r.Cap)
	default:
		text += fmt.Sprintf(" of a cap of %v; %v still fits", r.Cap, privacy.Shorten(r.Fits, false))
	}
	return text
}

// AtMost is the text of a guarantee that holds, and may not be the least one.
func AtMost(g privacy.Guarantee) string { return strings.Replace(fmt.Sprint(g), "=", "≤", 1) }
