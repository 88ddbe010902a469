package ledger

// Appending to one chain under its lock.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// writer is a data set under lock, within one transaction.
type writer struct {
	tx      *sql.Tx
	dataset string
	events  int64
	head    string
	state   *state // nil before the first event
}

// write runs the body with the data set locked and its last event checked, and moves the data set's head when the body added
// events. The body may run several times.
func (l *Ledger) write(ctx context.Context, dataset string, body func(*writer) error) error {
	return l.b.transact(ctx, false, func(tx *sql.Tx) error {
		w := &writer{tx: tx, dataset: dataset}
		if _, err := tx.ExecContext(ctx, `INSERT INTO curveil_dataset (name, events, head) VALUES ($1, 0, '') ON CONFLICT (name) DO NOTHING`, dataset); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx, `SELECT events, head FROM curveil_dataset WHERE name = $1`+l.b.lock, dataset).Scan(&w.events, &w.head)
		if err != nil {
			return err
		}
		if err := w.checkEnd(ctx); err != nil {
			return err
		}
		before := w.events
		if err := body(w); err != nil {
			return err
		}
		if w.events == before {
			if before == 0 {
				return fmt.Errorf("nothing to record for data set %q", dataset)
			}
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE curveil_dataset SET events = $1, head = $2 WHERE name = $3`, w.events, w.head, dataset)
		return err
	})
}

// checkEnd reads the last event, which must be the one that the data set's row vouches for.
func (w *writer) checkEnd(ctx context.Context) error {
	var last []row
	err := eachOf(ctx, w.tx, `WHERE dataset = $1 ORDER BY seq DESC LIMIT 2`, []any{w.dataset}, func(r row) error {
		last = append(last, r)
		return nil
	})
	if err != nil {
		return err
	}
	if len(last) == 0 {
		last = []row{{}}
	}
	r := last[0]
	if r.seq != w.events {
		return damaged(w.dataset, w.events, fmt.Errorf("the data set counts %d events and the history ends at %d", w.events, r.seq))
	}
	if w.events == 0 {
		return nil
	}
	previous := ""
	if w.events > 1 {
		if len(last) < 2 || last[1].seq != w.events-1 {
			return damaged(w.dataset, w.events-1, errors.New("the event is missing"))
		}
		previous = last[1].hash
	}
	if r.hash != w.head || r.chain(previous) != r.hash {
		return damaged(w.dataset, w.events, errors.New("the last event does not have the hash that the data set vouches for"))
	}
	if w.state, err = new(reader).state(&r); err != nil {
		return damaged(w.dataset, w.events, err)
	}
	return nil
}

// create records the first event.
func (w *writer) create(ctx context.Context, terms Terms, who, at string) error {
	_, err := w.add(ctx, row{kind: string(Created), at: at, who: who}, &state{terms: terms, spent: new(big.Rat)})
	return err
}

// add appends one event that leaves the given state.
func (w *writer) add(ctx context.Context, r row, after *state) (row, error) {
	if err := after.put(&r); err != nil {
		return row{}, err
	}
	r.dataset, r.seq = w.dataset, w.events+1
	r.hash = r.chain(w.head)
	_, err := w.tx.ExecContext(ctx, `INSERT INTO curveil_event (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		r.dataset, r.seq, r.kind, r.at, r.who, r.verb, r.parameters, r.statement, r.debit, r.release, r.terms, r.cap, r.spent, r.hash)
	if err != nil {
		return row{}, err
	}
	w.events, w.head, w.state = r.seq, r.hash, after
	return r, nil
}

func (w *writer) unknown(ctx context.Context) error {
	known, err := datasets(ctx, w.tx)
	if err != nil {
		return err
	}
	// The row that holds the lock is rolled back with this error.
	known = slices.DeleteFunc(known, func(name string) bool { return name == w.dataset })
	return &UnknownError{Dataset: w.dataset, Known: known}
}

func readRow(ctx context.Context, tx *sql.Tx, dataset string, seq int64) (row, error) {
	var r row
	err := tx.QueryRowContext(ctx, `SELECT `+columns+` FROM curveil_event WHERE dataset = $1 AND seq = $2`, dataset, seq).Scan(r.fields()...)
	return r, err
}

// eachRow calls f with the events of a data set in order.
func eachRow(ctx context.Context, tx *sql.Tx, dataset string, f func(row) error) error {
	return eachOf(ctx, tx, `WHERE dataset = $1 ORDER BY seq`, []any{dataset}, f)
}

// eachOf calls f with the events that a condition selects. f must not use the transaction.
func eachOf(ctx context.Context, tx *sql.Tx, condition string, args []any, f func(row) error) error {
	rows, err := tx.QueryContext(ctx, `SELECT `+columns+` FROM curveil_event `+condition, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(r.fields()...); err != nil {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// datasets returns the names, sorted bytewise whatever the database's collation.
func datasets(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM curveil_dataset`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, rows.Err()
}
