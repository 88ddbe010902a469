package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/release"
)

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	// The SDK's flags are variables of the process, and prism leaves its own there.
	resetRunners()
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// debits counts the debits of a data set.
func debits(t *testing.T, where, dataset string) (n int) {
	t.Helper()
	l, err := ledger.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	events, err := l.History(t.Context(), dataset)
	if err != nil {
		return 0
	}
	for _, e := range events {
		if e.Kind == ledger.Debited {
			n++
		}
	}
	return n
}

func TestReleases(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a-1.csv", "id,0,0.5,1\na,1,2,3\nb,2,2,2\n")
	write("a-2.csv", "id,0,0.5,1\nc,1,0,3\n")
	write("bad-1.csv", "id,0,0.5,1\na,1,2,secret\n")
	write("p-1.csv", "who,x\na,0.1\na,0.3\nb,0.9\n")
	write("p-2.csv", "who,x\na,0.2\nc,0.5\n")
	book := path("ledger.db")
	for _, c := range []struct {
		data string
		args []string
		n    int64
	}{
		{"curves", []string{"mean", path("a-*.csv"), "--bound", "5", "--mu", "1", "--space", "legendre:3"}, 3},
		{"curves-ptf", []string{"mean", path("a-*.csv"), "--bound", "5", "--rho", "1", "--space", "legendre:2", "--method", "ptf", "--n", "3", "--chunk", "20"}, 3},
		{"points", []string{"density", path("p-*.csv"), "--columns", "x", "--unit", "who", "--bounds", "0:1", "--rho", "0.5", "--n", "3"}, 3},
		{"rows", []string{"density", path("p-*.csv"), "--columns", "x", "--bounds", "0:1", "--rho", "0.5", "--rank", "2"}, 5},
	} {
		out := path(c.data + ".json")
		args := append(c.args, "--dataset", c.data, "--ledger", book, "-o", out)
		if code, _, stderr := call(t, args...); code != exitDone {
			t.Errorf("%s: exit %d: %s", c.data, code, stderr)
			continue
		}
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if r, err := release.Decode(f); err != nil || r.N != c.n || !r.Private {
			t.Errorf("%s: %v, %+v", c.data, err, r)
		}
		if n := debits(t, book, c.data); n != 1 {
			t.Errorf("%s: %d debits", c.data, n)
		}
		if code, _, _ := call(t, args...); code != exitUsage {
			t.Errorf("%s: an existing release was overwritten: %d", c.data, code)
		}
	}
	mean := []string{"mean", "--dataset", "refused", "--ledger", book, "-o", path("never.json")}
	for want, args := range map[string][]string{
		"line 2, column 4: ":   {path("bad-*.csv"), "--bound", "5", "--mu", "1"},
		"--bound is needed":    {path("a-*.csv"), "--mu", "1"},
		"state one guarantee":  {path("a-*.csv"), "--bound", "5"},
		"no such file":         {path("none-*.csv"), "--bound", "5", "--mu", "1"},
		"no files":             {"--bound", "5", "--mu", "1"},
		"--exchange is needed": {path("a-*.csv"), "--bound", "5", "--mu", "1", "--runner", "flink"},
		"stated as 4":          {path("a-*.csv"), "--bound", "5", "--mu", "1", "--n", "4"},
	} {
		// --runner is one variable of the process: say it each time.
		all := append(append(mean, "--runner", "prism"), args...)
		if code, _, stderr := call(t, all...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("want %q: exit %d: %s", want, code, stderr)
		} else if strings.Contains(stderr, "secret") {
			t.Errorf("the error quotes the data: %s", stderr)
		}
	}
	if n := debits(t, book, "refused"); n != 0 {
		t.Errorf("%d debits of runs that failed", n)
	}
}
