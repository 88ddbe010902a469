package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What would waste a budget is refused, or said, before it is spent.

// scatter writes n points at (lon, lat) about San Francisco, the first far of them far away.
func scatter(t *testing.T, n, far int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("lon,lat\n")
	for i := range n {
		lon := -122.4
		if i < far {
			lon = 10
		}
		fmt.Fprintf(&b, "%g,%g\n", lon+float64(i%10)/100, 37.7+float64(i%7)/100)
	}
	return write(t, "scatter.csv", b.String())
}

func TestPointsOutsideTheBox(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "l.db")
	for _, c := range []struct {
		name    string
		far     int
		columns string
		more    []string
		code    int
		want    string // on standard error, "" for nothing about the box
	}{
		{"inside", 0, "lon,lat", nil, exitDone, ""},
		{"some", 100, "lon,lat", nil, exitDone, "some points lie outside the box; they count in n only"},
		{"most", 101, "lon,lat", nil, exitUsage, "most of the points lie outside the box"},
		{"swapped", 0, "lat,lon", nil, exitUsage, "in the order of --bounds"},
		{"meant", 101, "lon,lat", []string{"--outside", "zero"}, exitDone, "most points lie outside the box"},
		{"clamped", 101, "lon,lat", []string{"--outside", "clamp"}, exitDone, "on its edge"},
	} {
		args := []string{scatter(t, 200, c.far), "--columns", c.columns, "--bounds", "-122.52:-122.25,37.60:37.82", "--rho", "0.5", "--rank", "4"}
		args = append(args, c.more...)
		for _, verb := range [][]string{
			{"density", "--ledger", book, "--dataset", c.name, "-o", filepath.Join(dir, c.name+".json")},
			{"density", "partial", "-o", filepath.Join(dir, c.name+".partial")},
		} {
			code, stdout, stderr := call(t, append(verb, args...)...)
			if code != c.code || !strings.Contains(stderr, c.want) || c.want == "" && strings.Contains(stderr, "outside") || strings.Contains(stdout, "outside") {
				t.Errorf("%s: exit %d\n%s%s", c.name, code, stdout, stderr)
			}
			if out := verb[len(verb)-1]; exists(out) != (c.code == exitDone) {
				t.Errorf("%s: %s", c.name, out)
			}
		}
		if _, err := os.Stat(book); err == nil {
			if code, _, _ := call(t, "ledger", "show", c.name, "--ledger", book); (code == exitDone) != (c.code == exitDone) {
				t.Errorf("%s: known to the ledger: %v", c.name, code == exitDone)
			}
		}
	}
}

// People of a wide and a long file, whose times are 0 … 1.
func manyPeople(t *testing.T, n int) (wide, long string) {
	t.Helper()
	var w, l strings.Builder
	w.WriteString("id,0,0.25,0.5,0.75,1\n")
	l.WriteString("id,t,x\n")
	for i := range n {
		fmt.Fprintf(&w, "p%d,1,2,3,2,1\n", i)
		for k := range 5 {
			fmt.Fprintf(&l, "p%d,%g,%d\n", i, float64(k)/4, i%3)
		}
	}
	return write(t, "wide.csv", w.String()), write(t, "long.csv", l.String())
}

func TestWarningsBeforeSpending(t *testing.T) {
	wide, long := manyPeople(t, 50)
	one, _ := manyPeople(t, 1)
	many, _ := manyPeople(t, 200)
	points := write(t, "points.csv", "x\n0.5\n0.2\n")
	const noise, domain = "the expected noise is", "of the domain"
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"sound", []string{"mean", wide, "--bound", "5", "--mu", "1", "--space", "legendre:3"}, ""},
		{"sound, long", []string{"mean", long, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--domain", "0:1.5"}, ""},
		{"one person", []string{"mean", one, "--bound", "5", "--mu", "1", "--space", "legendre:3"}, "one person's curve"},
		{"all noise", []string{"mean", wide, "--bound", "5", "--mu", "0.05", "--space", "legendre:3"}, noise},
		{"all noise, pure", []string{"mean", wide, "--bound", "5", "--epsilon", "0.2", "--space", "legendre:3"}, noise},
		{"all noise, ptf", []string{"mean", wide, "--bound", "5", "--mu", "0.2", "--space", "legendre:3", "--method", "ptf"}, noise},
		{"all noise, kernel", []string{"mean", wide, "--bound", "5", "--mu", "0.05", "--space", "kernel:gauss:20%"}, noise},
		{"dimension", []string{"mean", wide, "--bound", "5", "--mu", "8", "--space", "legendre:90"}, "90 basis functions"},
		{"tiny bound", []string{"mean", wide, "--bound", "0.01", "--center", "const:120", "--mu", "1", "--space", "legendre:3"}, "less than a thousandth of the center"},
		{"wide domain", []string{"mean", wide, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--domain", "0:100"}, domain},
		{"wide domain, long", []string{"mean", long, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--domain", "0:100"}, domain},
		{"wide domain, grid", []string{"mean", long, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--domain", "0:100", "--grid", "0:1:5"}, domain},
		{"wide domain, bound", []string{"bound", wide, "--mu", "3", "--space", "legendre:3", "--domain", "0:100"}, domain},
		{"wide domain, long, bound", []string{"bound", long, "--mu", "3", "--space", "legendre:3", "--domain", "0:100"}, domain},
		{"bound of one", []string{"bound", one, "--mu", "0.5"}, "with n = 1 and this budget"},
		{"large δ", []string{"mean", many, "--bound", "5", "--epsilon", "1", "--delta", "0.01", "--space", "legendre:3"}, "above one over the number of people, 1/200"},
		{"few points", []string{"density", points, "--columns", "x", "--bounds", "0:1", "--mu", "1"}, "hardly anything will rise above"},
	} {
		_, stderr := must(t, append(c.args, "--dataset", c.name)...)
		if !strings.Contains(stderr, c.want) || (c.want == "") == strings.Contains(stderr, "WARNING") {
			t.Errorf("%s: %s", c.name, stderr)
		}
	}
}

// A budget that protects almost nothing is spent only where that is meant.
func TestWeakBudgets(t *testing.T) {
	wide, _ := manyPeople(t, 20)
	points := scatter(t, 20, 0)
	for _, args := range [][]string{
		{"mean", wide, "--bound", "5", "--space", "legendre:3"},
		{"bound", wide, "--space", "legendre:3"},
		{"density", points, "--columns", "lon", "--bounds", "-123:-122"},
	} {
		for _, budget := range [][]string{{"--mu", "1000"}, {"--mu", "1e9"}, {"--rho", "60"}, {"--epsilon", "1", "--delta", "0.1"}} {
			all := append(append(args, budget...), "--dataset", "weak "+args[0])
			if code, _, stderr := call(t, all...); code != exitUsage || !strings.Contains(stderr, "--weak") {
				t.Errorf("%v: exit %d\n%s", all, code, stderr)
			}
		}
		if code, _, _ := call(t, "ledger", "show", "weak "+args[0]); code == exitDone {
			t.Errorf("%s: the ledger knows of a refused budget", args[0])
		}
		if _, stderr := must(t, append(args, "--mu", "1000", "--weak", "--dataset", "weak "+args[0])...); !strings.Contains(stderr, "protects almost nothing") || strings.Contains(stderr, "million") {
			t.Error(stderr)
		}
	}
}

// A column of people beside the one that tells curves apart must get a role: who has
// several curves would be protected one curve at a time.
func TestSecondPersonColumn(t *testing.T) {
	wide := func(head string) string {
		return write(t, "rides.csv", head+",0,0.5,1\nr1,ann,1,2,3\nr2,ann,2,3,4\nr3,bob,1,2,1\n")
	}
	long := write(t, "long.csv", "track,rider,t,x\nr1,1,0,1\nr1,1,1,2\nr2,1,0,1\nr2,1,1,2\nr3,2,0,1\nr3,2,1,5\n")
	common := []string{"--bound", "5", "--mu", "1", "--space", "legendre:2"}
	book := filepath.Join(t.TempDir(), "l.db")
	for _, c := range []struct {
		head string
		asks bool
	}{
		{"ride,rider", true}, {"id,rider", true}, {"id,patient_id", true}, {"id,household", true}, {"id,device", true}, {"child,household", true},
		{"id,name", false}, {"id,sex", false}, {"patient,device", false}, {"rider,sex", false}, {"station,region", false},
	} {
		first, second, _ := strings.Cut(c.head, ",")
		for _, verb := range [][]string{{"mean"}, {"bound"}, {"mean", "partial", "-o", filepath.Join(t.TempDir(), "p")}} {
			args := append(append(verb, wide(c.head), "--mu", "1", "--space", "legendre:2"), map[bool][]string{true: {"--bound", "5"}}[verb[0] == "mean"]...)
			if len(verb) == 1 {
				args = append(args, "--ledger", book, "--dataset", c.head)
			}
			code, _, stderr := call(t, args...)
			if asked := code == exitUsage && strings.Contains(stderr, "--unit "+second); asked != c.asks || !asked && code != exitDone {
				t.Errorf("%v, %s: exit %d\n%s", verb, c.head, code, stderr)
			}
		}
		stdout, _ := must(t, append([]string{"mean", wide(c.head), "--unit", second, "--ledger", "none"}, common...)...)
		if !strings.Contains(stdout, `"n": 2`) && !strings.Contains(stdout, `"n":2`) {
			t.Errorf("%s: not two people: %s", c.head, stdout)
		}
		must(t, append([]string{"mean", wide(c.head), "--ignore", second, "--id", first, "--ledger", "none"}, common...)...)
	}
	if code, _, stderr := call(t, append([]string{"mean", long, "--domain", "0:1", "--ledger", book}, common...)...); code != exitUsage || !strings.Contains(stderr, "--unit rider") {
		t.Errorf("long: exit %d\n%s", code, stderr)
	}
	must(t, append([]string{"mean", long, "--domain", "0:1", "--unit", "rider", "--ledger", "none"}, common...)...)
}

// A rehearsal checks all that the call would, and leaves no trace.
func TestDryRun(t *testing.T) {
	wide, _ := manyPeople(t, 50)
	points := scatter(t, 200, 0)
	far := scatter(t, 200, 150)
	dir := t.TempDir()
	book, out := filepath.Join(dir, "l.db"), filepath.Join(dir, "out.json")
	mean := []string{"mean", wide, "--space", "legendre:3", "--bound", "5", "-o", out}
	partial := filepath.Join(dir, "p.partial")
	must(t, "mean", "partial", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "-o", partial)
	density := []string{"density", "--columns", "lon,lat", "--bounds", "-122.52:-122.25,37.60:37.82", "--rho", "0.5", "-o", out}
	rehearse := func(args ...string) (int, string, string) {
		return call(t, append(args, "--dry-run", "--ledger", book)...)
	}
	all := func(ledger string) {
		for _, args := range [][]string{
			append(mean, "--mu", "1"),
			{"mean", wide, "--space", "legendre:3", "--bound", "auto", "--bound-mu", "0.3", "--mu", "0.5", "-o", out},
			{"bound", wide, "--space", "legendre:3", "--mu", "0.5"},
			{"mean", "merge", partial, "--dataset", "wide", "-o", out},
			append(density, points, "--sample", "10", "--sample-out", filepath.Join(dir, "s.csv")),
			{"curve", wide, "--rho", "1", "--window", "0:1", "--every", "0.1", "--max-gap", "inf", "-o", filepath.Join(dir, "out.csv")},
		} {
			code, stdout, stderr := rehearse(args...)
			if code != exitDone || !strings.Contains(stdout, "nothing was spent") || !strings.Contains(stdout, ledger) || args[0] != "curve" && !strings.Contains(stdout, "predicted") {
				t.Errorf("%v: exit %d\n%s%s", args, code, stdout, stderr)
			}
		}
	}
	all("would be made")
	if exists(book) {
		t.Error("a rehearsal made a ledger")
	}
	must(t, append(mean, "--mu", "1", "--ledger", book)...)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	before, _ := must(t, "ledger", "history", "wide", "--ledger", book)
	all("spen")
	must(t, "ledger", "cap", "wide", "--mu", "1.2", "--ledger", book)
	for _, c := range []struct {
		args []string
		code int
	}{
		{append(mean, "--mu", "1"), exitBudget},
		{append(mean, "--mu", "1000"), exitUsage},
		{append(mean, "--mu", "0.1", "--unit-name", "child"), exitUsage},
		{append(density, far), exitUsage},
		{append(mean, "--mu", "0.1", "--n", "3"), exitFailed},
	} {
		if code, _, stderr := rehearse(c.args...); code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s", c.args, code, c.code, stderr)
		}
	}
	must(t, "ledger", "cap", "wide", "--none", "--ledger", book)
	after, _ := must(t, "ledger", "history", "wide", "--ledger", book)
	if strings.Count(after, " mean ") != 1 || strings.Count(after, "released") != strings.Count(before, "released") {
		t.Errorf("the ledger changed from\n%s\nto\n%s", before, after)
	}
	if stdout, _ := must(t, "ledger", "verify", "--ledger", book); !strings.Contains(stdout, "sound: 1 data sets") {
		t.Error(stdout)
	}
	for _, path := range []string{out, filepath.Join(dir, "s.csv"), filepath.Join(dir, "out.csv")} {
		if exists(path) {
			t.Errorf("a rehearsal wrote %s", path)
		}
	}
}
