package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with the call exits with 2, whoever finds it, and reads as a sentence
// for whoever made it.
func TestErrorsOfTheCall(t *testing.T) {
	wide, long := manyPeople(t, 20)
	dir := t.TempDir()
	book := filepath.Join(dir, "l.db")
	mean := []string{"mean", wide, "--space", "legendre:3", "--ledger", book}
	must(t, append(mean, "--bound", "5", "--mu", "1", "--dataset", "growth", "--unit-name", "child")...)
	with := func(args []string, more ...string) []string { return append(append([]string{}, args...), more...) }
	ride := write(t, "ride.gpx", "<gpx/>")
	points := scatter(t, 20, 0)
	for _, c := range []struct {
		args []string
		want string
	}{
		{with(mean, "--bound", "5", "--mu", "1", "--id", "idd"), "no column 'idd', which --id names"},
		{with(mean, "--bound", "5", "--mu", "1", "--unit", "rider"), "no column 'rider', which --unit names"},
		{with(mean, "--bound", "5", "--mu", "1", "--ignore", "sex"), "no column 'sex', which --ignore names"},
		{[]string{"mean", long, "--domain", "0:1", "--values", "y", "--bound", "5", "--mu", "1"}, "no column 'y', which --values names"},
		{[]string{"mean", long, "--domain", "0:1", "--time", "when", "--bound", "5", "--mu", "1"}, "no column 'when', which --time names"},
		{[]string{"density", points, "--columns", "lon,lap", "--bounds", "0:1,0:1", "--mu", "1"}, "no column 'lap', which --columns names"},
		{[]string{"density", points, "--columns", "lon", "--unit", "who", "--bounds", "0:1", "--mu", "1"}, "no column 'who', which --unit names"},
		{with(mean, "--bound", "5", "--mu", "1", "--separator", "7"), "separator"},
		{with(mean, "--bound", "5", "--mu", "1e9", "--weak"), "is no privacy"},
		{with(mean, "--bound", "5", "--mu", "1", "--dataset", "growth", "--unit-name", "visit"), `--unit-name "child"`},
		{with(mean, "--bound", "5", "--mu", "1", "--dataset", " x"), "begins or ends with a space"},
		{[]string{"mean", ride, "--bound", "5", "--mu", "1"}, "'curveil curve'"},
		{[]string{"density", ride, "--columns", "x", "--bounds", "0:1", "--mu", "1"}, "unknown kind of file"},
		{[]string{"ledger", "cap", "weather", "--mu", "1", "--ledger", book}, "--unit-name"},
		{[]string{"ledger", "cap", "grwth", "--mu", "1", "--ledger", book}, `is "growth" meant?`},
		{[]string{"ledger", "show", "grwth", "--ledger", book}, `is "growth" meant?`},
		{[]string{"ledger", "history", "weather", "--ledger", book}, `no data set "weather"`},
		{[]string{"ledger", "cap", "growth", "--epsilon", "1", "--ledger", book}, "which bounds no pure ε"},
		{[]string{"ledger", "shw"}, "is show meant?"},
		{[]string{"plan", "tea"}, "it has curve, density, mean, regression"},
		{with(mean, "--bound", "5", "--mu", "1", "--space", "legendre:x"), "--space: "},
		{with(mean, "--boud", "5"), "is --bound meant?"},
		{with(mean, "--bound", "5", "--mu", "one"), `--mu "one"`},
		{with(mean, "--bound", "5", "--mu", "1", "--n", "3.5"), `--n "3.5"`},
		{with(mean, "--bound", "five", "--mu", "1"), `--bound "five"`},
	} {
		code, _, stderr := call(t, c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, want %d and %q\n%s", c.args, code, exitUsage, c.want, stderr)
		}
		for _, leak := range []string{"curveil: dataset: ", "curveil: ledger: ", ": dataset: ", ": ledger: ", ": mean: ", ": space: ", "strconv", " option"} {
			if strings.Contains(stderr, leak) {
				t.Errorf("%v: %q in\n%s", c.args, leak, stderr)
			}
		}
	}
	// What is wrong with an input is said before what is wrong with an output, and is no usage.
	missing := filepath.Join(dir, "missing.csv")
	for _, args := range [][]string{
		{"mean", missing, "--bound", "5", "--mu", "1", "-o", "no/such/folder/x.json"},
		{"density", missing, "--columns", "x", "--bounds", "0:1", "--mu", "1", "-o", wide},
		{"curve", missing, "--rho", "1", "--window", "0:1", "--every", "0.1", "--max-gap", "inf", "-o", wide},
		{"sample", missing, "-n", "3", "-o", wide},
	} {
		if code, _, stderr := call(t, args...); code != exitFailed || !strings.Contains(stderr, "missing.csv: no such file") {
			t.Errorf("%v: exit %d\n%s", args, code, stderr)
		}
	}
}

// A bare number is a constant center.
func TestBareCenter(t *testing.T) {
	wide, _ := manyPeople(t, 20)
	for _, center := range []string{"2", "const:2", "-1.5"} {
		stdout, _ := must(t, "mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "--center", center, "--dataset", "c "+center, "-o", filepath.Join(t.TempDir(), "x.json"))
		if want := strings.TrimPrefix(center, "const:"); !strings.Contains(stdout, "center      "+want) {
			t.Errorf("%s: %s", center, stdout)
		}
	}
}

// A data set that is new to the ledger is said to be, and loudly where another one is
// called nearly so.
func TestNewDatasets(t *testing.T) {
	wide, _ := manyPeople(t, 20)
	book := filepath.Join(t.TempDir(), "l.db")
	spend := func(name string) (string, string) {
		return must(t, "mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "--ledger", book, "--dataset", name, "-o", filepath.Join(t.TempDir(), "x.json"))
	}
	for _, c := range []struct {
		name        string
		first, near bool
	}{{"growth", true, false}, {"growth", false, false}, {"grwoth", true, true}, {"weather", true, false}} {
		stdout, stderr := spend(c.name)
		if strings.Contains(stdout, "first spending on") != c.first || strings.Contains(stderr, "under two names") != c.near {
			t.Errorf("%s: %s%s", c.name, stdout, stderr)
		}
	}
	if _, stderr := must(t, "ledger", "cap", "grwth", "--unit-name", "child", "--mu", "3", "--ledger", book); !strings.Contains(stderr, "under two names") {
		t.Error(stderr)
	}
	must(t, "ledger", "cap", "other", "--unit", "child", "--mu", "3", "--ledger", book) // as it was called once
}

// Samples can be had again: they are not called a release.
func TestSampleOverAFile(t *testing.T) {
	points := scatter(t, 200, 0)
	dir := t.TempDir()
	rel := filepath.Join(dir, "d.json")
	must(t, "density", points, "--columns", "lon", "--bounds", "-122.6:-122.2", "--mu", "1", "--rank", "3", "-o", rel)
	code, _, stderr := call(t, "sample", rel, "-n", "5", "-o", points)
	if code != exitUsage || strings.Contains(stderr, "spending") || !strings.Contains(stderr, "--force") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Many data sets are a table, a few are told in words.
func TestLedgerTable(t *testing.T) {
	wide, _ := manyPeople(t, 20)
	book := filepath.Join(t.TempDir(), "l.db")
	names := []string{"growth", "weather", "gait", "taxi"}
	for i, name := range names {
		must(t, "mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "--ledger", book, "--dataset", name, "-o", filepath.Join(t.TempDir(), "x.json"))
		stdout, _ := must(t, "ledger", "show", "--ledger", book)
		if table := strings.HasPrefix(stdout, "data set"); table != (i >= mostAccounts) {
			t.Errorf("%d data sets: %s", i+1, stdout)
		}
	}
	must(t, "ledger", "cap", "gait", "--mu", "2", "--ledger", book)
	stdout, _ := must(t, "ledger", "show", "--ledger", book)
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 1+len(names) || !strings.Contains(stdout, "4.887") || !strings.Contains(stdout, "μ = 2 (GDP)  μ = 1.73205 (GDP)") {
		t.Error(stdout)
	}
	if stdout, _ := must(t, "ledger", "show", "growth", "gait", "--ledger", book); strings.HasPrefix(stdout, "data set") {
		t.Error(stdout)
	}
}

// A plan over dates speaks of dates.
func TestPlansOfDates(t *testing.T) {
	stdout, _ := must(t, "plan", "mean", "--n", "90", "--domain", "2025-01-06/2025-01-08", "--bound", "3", "--mu", "1")
	if !strings.Contains(stdout, "on [2025-01-06, 2025-01-08]") {
		t.Error(stdout)
	}
	stdout, _ = must(t, "plan", "curve", "--rho", "0.001", "--window", "2025-01-06/2025-01-07")
	if !strings.Contains(stdout, "2025-01-06 to 2025-01-07") {
		t.Error(stdout)
	}
}

// The page says around which curve a release was made.
func TestReportSaysTheCenter(t *testing.T) {
	wide, _ := manyPeople(t, 20)
	dir := t.TempDir()
	rel, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "m.html")
	must(t, "mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "--center", "2.5", "--ledger", "none", "-o", rel)
	must(t, "report", rel, "-o", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "center") || !strings.Contains(string(text), ">2.5<") {
		t.Errorf("no center in the page (%v)", err)
	}
}
