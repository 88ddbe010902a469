package ledger

// The verbs that write: open, debit, complete, cap. Each is one transaction that locks the data set, checks the end of its
// chain, and appends.

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/curveil/curveil/privacy"
)

// Ledger is an open ledger, for concurrent use.
type Ledger struct {
	b *backend
}

// Open opens the ledger in a SQLite file, created when absent, or in a PostgreSQL database given as postgres://…; the
// schema is created in an empty database. Close it after use.
func Open(ctx context.Context, where string) (*Ledger, error) {
	var b *backend
	var err error
	scheme, _, isURL := strings.Cut(where, "://")
	switch {
	case !isURL:
		b, err = openSQLite(where)
	case scheme == "postgres" || scheme == "postgresql":
		b, err = openPostgres(where)
	default:
		err = refused("ledger: %s:// is not a known kind of ledger: give a file or a postgres:// URL", scheme)
	}
	if err != nil {
		return nil, err
	}
	if err := b.prepare(ctx); err != nil {
		b.db.Close()
		return nil, fmt.Errorf("ledger: opening %s: %w", public(where), err)
	}
	return &Ledger{b}, nil
}

// OpenExisting opens like Open, and refuses a SQLite file that does not exist: for verbs that only read.
func OpenExisting(ctx context.Context, where string) (*Ledger, error) {
	if !strings.Contains(where, "://") {
		if _, err := os.Stat(where); err != nil {
			return nil, fmt.Errorf("ledger: no ledger at %q: the first release or cap creates one: %w", where, err)
		}
	}
	return Open(ctx, where)
}

// public is the address without a password.
func public(where string) string {
	if !strings.Contains(where, "://") {
		return where
	}
	u, err := url.Parse(where)
	if err != nil {
		return "the given URL"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Close releases the connections.
func (l *Ledger) Close() error { return l.b.db.Close() }

// Entry is what a debit records.
type Entry struct {
	Dataset    string
	Who        string
	Verb       string            // "mean", "density", …
	Parameters any               // public parameters, a JSON object: a struct, a map, a json.RawMessage; nil for none
	Statement  privacy.Statement // what the release guarantees to whom; fixes the terms of a new data set
	At         time.Time         // zero for now
}

// Receipt is a committed debit.
type Receipt struct {
	Dataset string
	Seq     int64             // the debit's number in the history of the data set
	Hash    string            // its hash, which vouches for the history up to it
	Spent   privacy.Guarantee // with this debit, in the data set's currency, rounded up
	Cap     privacy.Guarantee // nil without one
	Fits    privacy.Guarantee // what is left under the cap, rounded down; nil without one

	l   *Ledger
	who string
}

// Debit spends, before noise is drawn: on return the debit is on disk. It refuses with an *OverspendError what the cap does not
// hold, with a *MismatchError what the data set's terms do not allow, with a *DamageError on a damaged history; then
// nothing is spent. On any other error (a lost connection) the debit may have been committed.
func (l *Ledger) Debit(ctx context.Context, e Entry) (*Receipt, error) {
	receipts, err := l.debit(ctx, false, []Entry{e})
	if err != nil {
		return nil, err
	}
	return receipts[0], nil
}

// Rehearse answers as Debit would now, and leaves the ledger as it is: nothing is spent, and the receipt cannot be
// completed.
func (l *Ledger) Rehearse(ctx context.Context, e Entry) (*Receipt, error) {
	receipts, err := l.debit(ctx, true, []Entry{e})
	if err != nil {
		return nil, err
	}
	return receipts[0], nil
}

// RehearseAll rehearses several debits, each after those before it, so that the first of them is not spent in vain. What
// does not fit on one data set is refused in one error for all of its debits.
func (l *Ledger) RehearseAll(ctx context.Context, entries []Entry) ([]*Receipt, error) {
	receipts := make([]*Receipt, len(entries))
	of := map[string][]int{}
	for i, e := range entries {
		of[e.Dataset] = append(of[e.Dataset], i)
	}
	for i, e := range entries {
		if of[e.Dataset][0] != i {
			continue
		}
		var together []Entry
		for _, k := range of[e.Dataset] {
			together = append(together, entries[k])
		}
		some, err := l.debit(ctx, true, together)
		if err != nil {
			return nil, err
		}
		for k, r := range some {
			receipts[of[e.Dataset][k]] = r
		}
	}
	return receipts, nil
}

// errRehearsed rolls a rehearsal back.
var errRehearsed = errors.New("ledger: a rehearsal")

// debit makes debits on one data set: all or none of them.
func (l *Ledger) debit(ctx context.Context, rehearse bool, entries []Entry) ([]*Receipt, error) {
	rows := make([]row, len(entries))
	prices := make([]*big.Rat, len(entries))
	all := new(big.Rat)
	for i, e := range entries {
		if err := checkEntry(e); err != nil {
			return nil, err
		}
		parameters, err := canonicalParameters(e.Parameters)
		if err != nil {
			return nil, err
		}
		statement, err := canonical(e.Statement)
		if err != nil {
			return nil, err
		}
		if prices[i], err = costOf(e.Statement.Guarantee); err != nil {
			return nil, err
		}
		all.Add(all, prices[i])
		rows[i] = row{kind: string(Debited), who: e.Who, verb: e.Verb, parameters: parameters, statement: statement}
	}
	dataset := entries[0].Dataset
	var receipts []*Receipt
	var over *OverspendError
	var upTo int64
	err := l.write(ctx, dataset, func(w *writer) error {
		receipts, over = nil, nil
		for i, e := range entries {
			terms := termsOf(e.Statement)
			rows[i].at = stamp(e.At)
			if w.state == nil {
				if err := w.create(ctx, terms, e.Who, rows[i].at); err != nil {
					return err
				}
			}
			if err := agree(dataset, w.state.terms, terms); err != nil {
				return err
			}
			next := &state{terms: terms, cap: w.state.cap, spent: new(big.Rat).Add(w.state.spent, prices[i])}
			receipt := &Receipt{Dataset: dataset, Spent: guaranteeUp(terms.Currency, next.spent), Cap: next.cap, l: l, who: e.Who}
			if next.cap != nil {
				limit, err := limitOf(next.cap)
				if err != nil {
					return err
				}
				left := new(big.Rat).Sub(limit, w.state.spent)
				if i == 0 && all.Cmp(left) > 0 {
					over = &OverspendError{
						Dataset: dataset, Asked: e.Statement.Guarantee, Cost: guaranteeUp(terms.Currency, all), Debits: len(entries),
						Spent: guaranteeUp(terms.Currency, w.state.spent), Cap: next.cap, Fits: guaranteeDown(terms.Currency, left),
					}
					upTo = w.events
					return over
				}
				receipt.Fits = guaranteeDown(terms.Currency, left.Sub(left, prices[i]))
			}
			r, err := w.add(ctx, rows[i], next)
			if err != nil {
				return err
			}
			receipt.Seq, receipt.Hash = r.seq, r.hash
			receipts = append(receipts, receipt)
		}
		if rehearse {
			return errRehearsed
		}
		return nil
	})
	if errors.Is(err, errRehearsed) {
		return receipts, nil
	}
	if over != nil {
		// The lock is released: others need not wait while the entries are read.
		if over.Entries, err = l.debits(ctx, dataset, upTo); err == nil {
			err = over
		}
	}
	if err != nil {
		return nil, wrap("debiting", dataset, err)
	}
	return receipts, nil
}

func checkEntry(e Entry) error {
	for _, f := range [][2]string{{"data set name", e.Dataset}, {"who", e.Who}, {"verb", e.Verb}} {
		if err := checkName(f[0], f[1]); err != nil {
			return err
		}
	}
	return e.Statement.Validate()
}

// Complete records that the release of this debit was written: the SHA-256 of its bytes.
func (r *Receipt) Complete(ctx context.Context, release [sha256.Size]byte) error {
	return r.l.Complete(ctx, r.Dataset, r.Seq, r.who, release)
}

// Complete records that the release of the debit with this number was written. To do so again with the same release has no
// effect; with another one it is refused.
func (l *Ledger) Complete(ctx context.Context, dataset string, debit int64, who string, release [sha256.Size]byte) error {
	if err := checkName("data set name", dataset); err != nil {
		return err
	}
	if err := checkName("who", who); err != nil {
		return err
	}
	sum := hex.EncodeToString(release[:])
	err := l.write(ctx, dataset, func(w *writer) error {
		if w.state == nil {
			return w.unknown(ctx)
		}
		of, err := readRow(ctx, w.tx, dataset, debit)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err != nil || of.kind != string(Debited) {
			return fmt.Errorf("ledger: event %d of data set %q is no debit: complete the debit that was made for the release", debit, dataset)
		}
		var before string
		err = w.tx.QueryRowContext(ctx, `SELECT release FROM curveil_event WHERE dataset = $1 AND debit = $2 AND debit > 0`, dataset, debit).Scan(&before)
		switch {
		case err == nil && before == sum:
			return nil
		case err == nil:
			return fmt.Errorf("ledger: debit %d of data set %q has released %s already: a second release needs a second debit", debit, dataset, before)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		_, err = w.add(ctx, row{kind: string(Released), at: stamp(time.Time{}), who: who, debit: debit, release: sum}, w.state)
		return err
	})
	return wrap("completing a release of", dataset, err)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		t = time.Now()
	}
	return t.UTC().Format(timeLayout)
}

// wrap adds context to errors of the database; the ledger's own speak for themselves.
func wrap(doing, dataset string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "ledger: ") || strings.HasPrefix(err.Error(), "privacy: ") {
		return err
	}
	return fmt.Errorf("ledger: %s data set %q: %w", doing, dataset, err)
}
