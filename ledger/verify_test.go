package ledger

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
)

// history builds nine events on data set d, two on e, and returns the anchor at d's head.
func someHistory(t *testing.T, l *Ledger) Anchor {
	t.Helper()
	mustCap(t, l, "d", privacy.GDP(2)) // 1 created, 2 capped
	for i, g := range []privacy.Guarantee{privacy.GDP(0.5), privacy.Pure(0.3), privacy.ZCDP(0.1)} {
		r := mustDebit(t, l, entry("d", g)) // 3, 5, 7
		if err := r.Complete(t.Context(), sha256.Sum256(fmt.Append(nil, i))); err != nil {
			t.Fatal(err)
		}
	}
	r := mustDebit(t, l, entry("d", privacy.Approx{Epsilon: 0.5, Delta: 1e-6})) // 9
	mustDebit(t, l, entry("e", privacy.GDP(1)))
	return r.Anchor()
}

func run(t *testing.T, db *sql.DB, statements string, args ...any) {
	t.Helper()
	for s := range strings.SplitSeq(statements, ";") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if _, err := db.Exec(s, args...); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// forge replaces one event of d by an altered copy with a hash that fits its content and its predecessor.
func forge(t *testing.T, db *sql.DB, seq int64, alter func(*row)) {
	t.Helper()
	var r row
	var previous string
	if err := db.QueryRow(`SELECT hash FROM curveil_event WHERE dataset = 'd' AND seq = $1`, seq-1).Scan(&previous); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(`SELECT `+columns+` FROM curveil_event WHERE dataset = 'd' AND seq = $1`, seq).Scan(r.fields()...); err != nil {
		t.Fatal(err)
	}
	alter(&r)
	r.hash = r.chain(previous)
	_, err := db.Exec(`UPDATE curveil_event SET kind = $1, at = $2, who = $3, verb = $4, parameters = $5, statement = $6, debit = $7, release = $8,
		terms = $9, cap = $10, spent = $11, hash = $12 WHERE dataset = 'd' AND seq = $13`,
		r.kind, r.at, r.who, r.verb, r.parameters, r.statement, r.debit, r.release, r.terms, r.cap, r.spent, r.hash, seq)
	if err != nil {
		t.Fatal(err)
	}
}

// rehash recomputes all hashes of d and its head, as one who can write the database can.
func rehash(t *testing.T, db *sql.DB) {
	t.Helper()
	var n int64
	if err := db.QueryRow(`SELECT max(seq) FROM curveil_event WHERE dataset = 'd'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	for seq := int64(2); seq <= n; seq++ {
		forge(t, db, seq, func(*row) {})
	}
	run(t, db, `UPDATE curveil_dataset SET events = (SELECT max(seq) FROM curveil_event WHERE dataset = 'd'),
		head = (SELECT hash FROM curveil_event WHERE dataset = 'd' ORDER BY seq DESC LIMIT 1) WHERE name = 'd'`)
}

var tampering = []struct {
	name  string
	do    func(t *testing.T, db *sql.DB)
	want  string // in some problem
	stops bool   // whether a debit notices too
}{
	{"who altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET who = 'bob' WHERE dataset = 'd' AND seq = 3`)
	}, "event 3: its hash", false},
	{"time altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET at = '2020-01-01T00:00:00.000000000Z' WHERE dataset = 'd' AND seq = 4`)
	}, "event 4: its hash", false},
	{"parameters altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET parameters = '{}' WHERE dataset = 'd' AND seq = 5`)
	}, "event 5: its hash", false},
	{"guarantee altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET statement = replace(statement, '0.5', '0.4') WHERE dataset = 'd' AND seq = 3`)
	}, "event 3: its hash", false},
	{"release altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET release = 'ff' WHERE dataset = 'd' AND seq = 6`)
	}, "event 6: its hash", false},
	{"spending of the last event altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET spent = '0' WHERE dataset = 'd' AND seq = 9`)
	}, "event 9: its hash", true},
	{"cap of the last event raised", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET cap = '{"definition":"gdp","mu":9}' WHERE dataset = 'd' AND seq = 9`)
	}, "event 9: its hash", true},
	{"event deleted", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq = 4`)
	}, "event 4: the event is missing", false},
	{"several events deleted", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq BETWEEN 4 AND 6`)
	}, "events 4 to 6 are missing", false},
	{"first event deleted", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq = 1`)
	}, "event 1: the event is missing", false},
	{"event deleted and the rest moved up", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq = 4`)
		for seq := 5; seq <= 9; seq++ {
			run(t, db, `UPDATE curveil_event SET seq = $1 WHERE dataset = 'd' AND seq = $2`, seq-1, seq)
		}
	}, "event 4: its hash", true},
	{"bytes moved between columns", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET who = 'adam', verb = 'ean' WHERE dataset = 'd' AND seq = 5`)
	}, "event 5: its hash", false},
	{"events swapped", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_event SET seq = -1 WHERE dataset = 'd' AND seq = 3;
			UPDATE curveil_event SET seq = 3 WHERE dataset = 'd' AND seq = 5; UPDATE curveil_event SET seq = 5 WHERE dataset = 'd' AND seq = -1`)
	}, "event 3: its hash", false},
	{"tail truncated", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq >= 8`)
	}, "the last ones were deleted", true},
	{"tail truncated and recounted", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq >= 8; UPDATE curveil_dataset SET events = 7 WHERE name = 'd'`)
	}, "the end was rewritten", true},
	{"history emptied", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd'`)
	}, "the history is empty", true},
	{"event appended", func(t *testing.T, db *sql.DB) {
		run(t, db, `INSERT INTO curveil_event SELECT dataset, 10, kind, at, who, verb, parameters, statement, debit, release, terms, cap, spent, hash FROM curveil_event WHERE dataset = 'd' AND seq = 9`)
	}, "appended by hand", true},
	{"data set's row put back", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_dataset SET events = 7, head = (SELECT hash FROM curveil_event WHERE dataset = 'd' AND seq = 7) WHERE name = 'd'`)
	}, "goes on after the 7 events", true},
	{"head altered", func(t *testing.T, db *sql.DB) {
		run(t, db, `UPDATE curveil_dataset SET head = 'ff' WHERE name = 'd'`)
	}, "the end was rewritten", true},
	{"event taken from another data set", func(t *testing.T, db *sql.DB) {
		run(t, db, `DELETE FROM curveil_event WHERE dataset = 'd' AND seq = 2; UPDATE curveil_event SET dataset = 'd' WHERE dataset = 'e' AND seq = 2`)
	}, "event 2: its hash", false},
	{"one event forged with its hash", func(t *testing.T, db *sql.DB) {
		forge(t, db, 5, func(r *row) { r.who = "bob" })
	}, "event 6: its hash", false},
	{"last event forged with its hash", func(t *testing.T, db *sql.DB) {
		forge(t, db, 9, func(r *row) { r.spent = "0" })
	}, "the end was rewritten", true},
	// From here on the whole chain is recomputed: what does not add up is still found.
	{"a debit made cheaper, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 3, func(r *row) { r.spent = "0.01" })
		rehash(t, db)
	}, "event 3: the spending grew from 0 to 0.01, which is not the cost of μ = 0.5", false},
	{"a debit above the cap, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 2, func(r *row) { r.cap = `{"definition":"gdp","mu":0.1}` })
		forge(t, db, 3, func(r *row) { r.cap = `{"definition":"gdp","mu":0.1}` })
		rehash(t, db)
	}, "exceeds the cap", false},
	{"a cap changed in passing, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 6, func(r *row) { r.cap = `{"definition":"gdp","mu":9}` })
		rehash(t, db)
	}, "event 6: the cap changed without a cap event", false},
	{"spending reset by a cap event, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 9, func(r *row) { r.kind, r.spent = "capped", "0" })
		rehash(t, db)
	}, "a cap changed the spending", false},
	{"a release of a release, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 8, func(r *row) { r.debit = 6 })
		rehash(t, db)
	}, "no debit", false},
	{"terms changed, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 4, func(r *row) { r.terms = strings.Replace(r.terms, "patient", "visit", 1) })
		rehash(t, db)
	}, "the terms changed", false},
	{"an unknown kind, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 4, func(r *row) { r.kind = "refunded" })
		rehash(t, db)
	}, `kind "refunded"`, false},
	{"created twice, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 4, func(r *row) { r.kind = "created" })
		rehash(t, db)
	}, "created event cannot stand here", false},
	{"a state nobody writes, rehashed", func(t *testing.T, db *sql.DB) {
		forge(t, db, 9, func(r *row) { r.spent = "1e-3" })
		rehash(t, db)
	}, "not a decimal", true},
}

func TestTampering(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		template := open(t, where)
		sqlite := template.b.name == "sqlite"
		for _, c := range tampering {
			t.Run(c.name, func(t *testing.T) {
				l := template
				run(t, raw(t, l), `DELETE FROM curveil_event; DELETE FROM curveil_dataset`)
				anchor := someHistory(t, l)
				mustVerify(t, l, anchor)
				if sqlite {
					run(t, raw(t, l), `PRAGMA foreign_keys = 0`)
				}
				c.do(t, raw(t, l))
				v, err := l.Verify(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, p := range v.Problems {
					found = found || strings.Contains(p.String(), c.want)
				}
				if !found {
					t.Errorf("verify found %v, want %q", v.Problems, c.want)
				}
				_, err = l.Debit(t.Context(), entry("d", privacy.GDP(1e-3)))
				var d *DamageError
				if c.stops && !errors.As(err, &d) {
					t.Errorf("a debit on the damaged history gave %v", err)
				}
			})
		}
	})
}

// Against whoever can recompute everything only an anchor helps.
func TestAnchors(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		anchor := someHistory(t, l)
		forge(t, raw(t, l), 4, func(r *row) { r.who = "bob" })
		rehash(t, raw(t, l))
		mustVerify(t, l) // a consistent lie
		expect := func(want string, anchors ...Anchor) {
			t.Helper()
			v, err := l.Verify(t.Context(), anchors...)
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Problems) != 1 || !strings.Contains(v.Problems[0].String(), want) {
				t.Errorf("verify found %v, want %q", v.Problems, want)
			}
		}
		expect("rewritten", anchor)
		expect("event 12: the event is missing", Anchor{"d", 12, "ff"})
		expect(`data set "gone": the data set is missing`, Anchor{"gone", 1, "ff"})
		run(t, raw(t, l), `DELETE FROM curveil_event WHERE dataset = 'e'; DELETE FROM curveil_dataset WHERE name = 'e'`)
		mustVerify(t, l)
		expect(`data set "e": the data set is missing`, Anchor{"e", 2, "ff"})
	})
}

func TestOrphans(t *testing.T) {
	l := open(t, t.TempDir()+"/l.db")
	someHistory(t, l)
	run(t, raw(t, l), `PRAGMA foreign_keys = 0; DELETE FROM curveil_dataset WHERE name = 'd'`)
	v, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Reason, "9 events belong to no data set") {
		t.Errorf("problems %v", v.Problems)
	}
	var d *DamageError
	if _, err := l.Debit(t.Context(), entry("d", privacy.GDP(1))); !errors.As(err, &d) {
		t.Errorf("a debit on a data set whose row was deleted: %v", err)
	}
}

// The layout of the hash is a stored format: computed with Python's hashlib from the package documentation.
func TestHashLayout(t *testing.T) {
	r := row{
		dataset: "growth", seq: 2, kind: "debited", at: "2026-03-01T11:00:00.123456789Z", who: "ada", verb: "mean", parameters: `{"bound":2.5}`,
		statement: `{"adjacency":"replace-one","definition":"gdp","mu":0.5,"unit":"kön"}`,
		terms:     `{"adjacency":"replace-one","currency":"gdp","unit":"kön"}`, spent: "0.25",
	}
	const want = "9d343042e1d299e0f443df2b96b78403ca031cedb39e86c72c8d12bb894a2815"
	if got := r.chain(strings.Repeat("ab", 32)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}
