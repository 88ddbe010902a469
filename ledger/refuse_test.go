package ledger

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/curveil/curveil/privacy"
)

func TestRefusedEntries(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "l.db"))
	for name, spoil := range map[string]func(*Entry){
		"data set name is empty":  func(e *Entry) { e.Dataset = "" },
		"who is empty":            func(e *Entry) { e.Who = "" },
		"verb is empty":           func(e *Entry) { e.Verb = "" },
		"control character":       func(e *Entry) { e.Dataset = "a\x00b" },
		"not UTF-8":               func(e *Entry) { e.Who = "\xff" },
		"too long":                func(e *Entry) { e.Verb = strings.Repeat("x", 201) },
		"space":                   func(e *Entry) { e.Dataset = "a " },
		"without a guarantee":     func(e *Entry) { e.Statement.Guarantee = nil },
		"above zero":              func(e *Entry) { e.Statement.Guarantee = privacy.GDP(-1) },
		"without a unit":          func(e *Entry) { e.Statement.Unit = "" },
		"not a JSON object":       func(e *Entry) { e.Parameters = []int{1} },
		"cannot be written":       func(e *Entry) { e.Parameters = map[string]any{"f": func() {}} },
		"parameters of":           func(e *Entry) { e.Parameters = map[string]string{"data": strings.Repeat("x", 1<<17)} },
		"no privacy":              func(e *Entry) { e.Statement.Guarantee = privacy.GDP(1e7) },
		"ε = 1e+300 (pure DP) is": func(e *Entry) { e.Statement.Guarantee = privacy.Pure(1e300) },
	} {
		e := entry("d", privacy.GDP(1))
		spoil(&e)
		if _, err := l.Debit(t.Context(), e); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
	if names, _ := l.Datasets(t.Context()); len(names) != 0 {
		t.Errorf("refused entries left %q", names)
	}
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE things (a TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for where, want := range map[string]string{
		"":                                 "no file",
		":memory:":                         "outlive",
		dir:                                "is a folder",
		filepath.Join(dir, "none", "l.db"): "create it first",
		text:                               "not a database",
		other:                              "another program",
		"mysql://host/db":                  "not a known kind",
		"postgres://u:secret@127.0.0.1:1/db?connect_timeout=1": "127.0.0.1",
		"postgres://u:secret@h:port/db":                        "not usable",
	} {
		l, err := Open(ctx, where)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", where, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the password: %v", where, err)
		}
	}
	missing := filepath.Join(dir, "missing.db")
	if _, err := OpenExisting(ctx, missing); err == nil {
		t.Error("a missing ledger was opened")
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a missing ledger was created")
	}
}

func TestSchemaVersion(t *testing.T) {
	onBoth(t, func(t *testing.T, where string) {
		l := open(t, where)
		if _, err := raw(t, l).Exec(`UPDATE curveil_schema SET version = 2`); err != nil {
			t.Fatal(err)
		}
		l.Close()
		var s *SchemaError
		if _, err := Open(t.Context(), where); !errors.As(err, &s) || s.Have != 2 || s.Want != 1 {
			t.Errorf("another version: %v", err)
		}
	})
}
