package ledger

// The two back ends behind database/sql. They differ in how a data set is locked, in what counts as a passing
// failure, and in how durability is switched on; every statement is shared.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// patience is how long an operation whose context has no deadline waits for other writers.
const patience = time.Minute

// backend is what the shared code needs to know about a database.
type backend struct {
	name    string
	db      *sql.DB
	lock    string // suffix of a SELECT that locks its rows until the transaction ends
	read    sql.IsolationLevel
	passing func(error) bool // whether the same transaction may succeed when tried again
	schema  func(ctx context.Context, tx *sql.Tx) (exists, foreign bool, err error)
}

// openSQLite opens or creates one file. Transactions that write begin immediately, so that a check and the write that
// depends on it cannot be separated.
func openSQLite(path string) (*backend, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return nil, refused("ledger: %q is no file: a ledger must outlive the process; give a path or a postgres:// URL", path)
	}
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, refused("ledger: %s is a folder: give a file in it, such as %s", path, filepath.Join(path, "curveil.db"))
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("ledger: folder of %s cannot be used: create it first: %w", path, err)
	}
	// SQLite's own waiting backs off to 100 ms, which leaves the lock idle among many processes: it waits shortly, retry goes on.
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(25)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "trusted_schema(0)",
	}}
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("ledger: opening %s: %w", path, err)
	}
	// One writer at a time is SQLite's rule; waiting for it in the pool is fairer than in the busy handler.
	db.SetMaxOpenConns(1)
	return &backend{
		name: "sqlite", db: db,
		passing: func(err error) bool {
			var e *sqlite.Error
			const busy, locked = 5, 6 // SQLITE_BUSY, SQLITE_LOCKED; the low byte of the extended codes
			return errors.As(err, &e) && (e.Code()&0xff == busy || e.Code()&0xff == locked)
		},
		schema: func(ctx context.Context, tx *sql.Tx) (exists, foreign bool, err error) {
			var ours, all int
			err = tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(name = 'curveil_schema'), 0) FROM sqlite_master WHERE type = 'table'`).Scan(&all, &ours)
			return ours > 0, all > 0 && ours == 0, err
		},
	}, nil
}

// openPostgres connects by URL. The data set's row lock serialises writers; reads are one snapshot.
func openPostgres(rawURL string) (*backend, error) {
	config, err := pgx.ParseConfig(rawURL)
	if err != nil {
		return nil, fmt.Errorf("ledger: postgres URL is not usable (postgres://user@host:port/database): %w", err)
	}
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = "curveil"
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		// A commit that is not on disk is no debit; a stopped process must not hold the lock for ever.
		_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
			UNION ALL SELECT set_config('idle_in_transaction_session_timeout', '60s', false)`)
		return err
	}))
	db.SetMaxOpenConns(8)
	return &backend{
		name: "postgres", db: db, lock: " FOR UPDATE", read: sql.LevelRepeatableRead,
		passing: func(err error) bool {
			var e *pgconn.PgError
			if errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01") { // serialization_failure, deadlock_detected
				return true
			}
			// A connection of the pool that died while idle: nothing was begun on it, and a new one may do.
			var begin *beginError
			var connect *pgconn.ConnectError
			return errors.As(err, &begin) && !errors.As(err, &connect) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
		},
		schema: func(ctx context.Context, tx *sql.Tx) (exists, foreign bool, err error) {
			err = tx.QueryRowContext(ctx, `SELECT to_regclass('curveil_schema') IS NOT NULL`).Scan(&exists)
			return exists, false, err
		},
	}, nil
}

// prepare creates the schema in an empty database, and checks version and durability.
func (b *backend) prepare(ctx context.Context) error {
	if err := b.durable(ctx); err != nil {
		return err
	}
	return b.transact(ctx, false, func(tx *sql.Tx) error {
		if b.name == "postgres" {
			// CREATE TABLE IF NOT EXISTS can fail when two sessions create at once; an arbitrary lock of ours.
			if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(7163914028417)`); err != nil {
				return err
			}
		}
		exists, foreign, err := b.schema(ctx, tx)
		if err != nil {
			return err
		}
		if foreign {
			return errors.New("it holds the tables of another program: give another file")
		}
		if !exists {
			for stmt := range strings.SplitSeq(withoutComments(schemaSQL), ";") {
				if stmt = strings.TrimSpace(stmt); stmt == "" {
					continue
				}
				if _, err := tx.ExecContext(ctx, stmt); err != nil {
					return err
				}
			}
		}
		var version, rows int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0), count(*) FROM curveil_schema`).Scan(&version, &rows); err != nil {
			return err
		}
		if rows != 1 || version != schemaVersion {
			return &SchemaError{Have: version, Want: schemaVersion}
		}
		return nil
	})
}

func withoutComments(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(strings.TrimRight(code, " \t\n") + "\n")
	}
	return b.String()
}

// durable refuses a database that would forget a committed debit.
func (b *backend) durable(ctx context.Context) error {
	return b.retry(ctx, func() error {
		if b.name == "sqlite" {
			var mode string
			if err := b.db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
				return err
			}
			if mode != "wal" {
				return fmt.Errorf("its journal mode is %q, not wal: put the file on a local disk", mode)
			}
			return nil
		}
		var fsync string
		if err := b.db.QueryRowContext(ctx, `SHOW fsync`).Scan(&fsync); err != nil {
			return err
		}
		if fsync != "on" {
			return fmt.Errorf("the server runs with fsync = %s and can lose debits: switch it on", fsync)
		}
		return nil
	})
}

// beginError marks a transaction that never began.
type beginError struct{ err error }

func (e *beginError) Error() string { return e.err.Error() }
func (e *beginError) Unwrap() error { return e.err }

// transact runs one transaction, and again as long as it fails for a passing reason.
func (b *backend) transact(ctx context.Context, readOnly bool, body func(*sql.Tx) error) error {
	return b.retry(ctx, func() error {
		options := &sql.TxOptions{ReadOnly: readOnly}
		if readOnly {
			options.Isolation = b.read
		}
		tx, err := b.db.BeginTx(ctx, options)
		if err != nil {
			return &beginError{err}
		}
		defer tx.Rollback() // after Commit: no effect
		if err := body(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func (b *backend) retry(ctx context.Context, try func() error) error {
	give, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait := time.Millisecond
	for {
		err := try()
		if err == nil || !b.passing(err) {
			return err
		}
		select {
		case <-give.Done():
			return fmt.Errorf("other writers did not leave a turn in time: %w", err)
		case <-time.After(wait):
		}
		wait = min(2*wait, 10*time.Millisecond)
	}
}
