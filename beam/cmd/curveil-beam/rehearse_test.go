package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

// spoilt is a cohort in which a pipeline fails, with a first file that is right.
func spoilt(t *testing.T) (dir, pattern string) {
	t.Helper()
	dir, pattern = cohort(t)
	if err := os.WriteFile(filepath.Join(dir, "a-3.csv"), []byte("id,0,0.5,1\nd,1,2,secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, pattern
}

// spentAndCapped makes a ledger whose data set a has spent μ = 1 per person, of 1.2.
func spentAndCapped(t *testing.T, dir, book string) {
	t.Helper()
	_, good := cohort(t)
	if code, _, stderr := call(t, "mean", good, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", filepath.Join(dir, "first.json")); code != exitDone {
		t.Fatal(stderr)
	}
	l, err := ledger.Open(t.Context(), book)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.SetCap(t.Context(), ledger.CapChange{Dataset: "a", Who: "tester", Cap: privacy.GDP(1.2)}); err != nil {
		t.Fatal(err)
	}
}

// What the ledger refuses is refused before the pipeline, which would fail here, and by
// a dry run alike.
func TestLedgerIsAskedFirst(t *testing.T) {
	dir, pattern := spoilt(t)
	book, out := filepath.Join(dir, "l.db"), filepath.Join(dir, "a.json")
	spentAndCapped(t, dir, book)
	for _, more := range [][]string{nil, {"--dry-run"}, {"--release-name", "x"}, {"--release-name", "x", "--dry-run"}} {
		for _, c := range []struct {
			want string
			code int
			args []string
		}{
			{"1.2", exitBudget, []string{"--mu", "1"}},
			{`--unit-name "`, exitUsage, []string{"--mu", "0.1", "--unit-name", "school"}},
			{"protects almost nothing", exitUsage, []string{"--mu", "11"}},
		} {
			args := append(append([]string{"mean", pattern, "--bound", "5", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", out}, c.args...), more...)
			code, _, stderr := call(t, args...)
			if code != c.code || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "column 4") {
				t.Errorf("%v %v: exit %d: %s", c.args, more, code, stderr)
			}
		}
	}
	if n := debits(t, book, "a"); n != 1 {
		t.Errorf("%d debits", n)
	}
}

// A dry run runs no pipeline, makes no file and spends nothing, on any runner.
func TestDryRun(t *testing.T) {
	dir, pattern := spoilt(t)
	book, out := filepath.Join(dir, "l.db"), filepath.Join(dir, "a.json")
	mean := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", out, "--dry-run"}
	points := []string{"density", pattern, "--columns", "0", "--bounds", "0:9", "--rho", "0.5", "--rank", "2", "--unit", "id", "--dataset", "a", "--ledger", book, "-o", out, "--dry-run"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{mean, "needs --n"},
		{append(mean[:len(mean):len(mean)], "--n", "3"), "an error of about"},
		{append(mean[:len(mean):len(mean)], "--release-name", "x"), "needs --n"},
		{append(mean[:len(mean):len(mean)], "--runner", "flink", "--exchange", dir), "needs --n"},
		{append(mean[:len(mean):len(mean)], "--runner", "dataflow", "--exchange", "gs://b/tmp"), "needs --n"},
		{append(points[:len(points):len(points)], "--n", "4"), "mean integrated squared error"},
	} {
		code, stdout, stderr := call(t, c.args...)
		for _, want := range []string{"no pipeline ran, nothing was spent", "would spend", "l.db would be made", c.want} {
			if code != exitDone || !strings.Contains(stdout, want) {
				t.Errorf("%v: want %q: exit %d: %s%s", c.args, want, code, stdout, stderr)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 3 {
		t.Errorf("in the folder: %v", left)
	}
	if code, _, stderr := call(t, append(mean, filepath.Join(dir, "none.csv"))...); code == exitDone || !strings.Contains(stderr, "no such file") {
		t.Errorf("a file that is not there: exit %d: %s", code, stderr)
	}
}

// A dry run under the name of a release says how that stands, and leaves it there.
func TestDryRunOfANamedRelease(t *testing.T) {
	dir, pattern := cohort(t)
	book, out := filepath.Join(dir, "l.db"), filepath.Join(dir, "a.json")
	args := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", out, "--release-name", "x"}
	dry := append(args[:len(args):len(args)], "--dry-run")
	if code, text := process(t, "booked", args...); code != -1 {
		t.Fatalf("not killed: exit %d: %s", code, text)
	}
	for range 2 {
		if code, stdout, stderr := call(t, dry...); code != exitDone || !strings.Contains(stdout, "was made before") {
			t.Errorf("exit %d: %s%s", code, stdout, stderr)
		}
	}
	if _, err := os.Stat(out + ".pending"); err != nil {
		t.Error(err)
	}
	if n := debits(t, book, "a"); n != 1 {
		t.Errorf("%d debits", n)
	}
}
