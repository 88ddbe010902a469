package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "curveil-test-")
	if err != nil {
		panic(err)
	}
	os.Setenv("CURVEIL_LEDGER", filepath.Join(dir, "ledger.db"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// call runs the command in this process.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// must fails the test unless the call succeeds.
func must(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := call(t, args...)
	if code != exitDone {
		t.Fatalf("curveil %s: exit %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout, stderr
}

// real returns the path of a file of ../shared/data, or skips.
func real(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no shared data here: %v", err)
	}
	return path
}

// cohort writes a small wide file.
func cohort(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cohort.csv")
	var b strings.Builder
	b.WriteString("id,0,0.25,0.5,0.75,1\n")
	for _, row := range []string{"a,1,2,3,2,1", "b,2,3,4,3,2", "c,0,1,2,1,0", "d,1,2,2,2,1"} {
		b.WriteString(row + "\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// write makes a file with the text.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A wrong number of people is found before anything is spent.
func TestWrongNumberSpendsNothing(t *testing.T) {
	points := write(t, "thrice.csv", "x\n0.1\n0.2\n0.3\n")
	pairs := write(t, "pairs.csv", "x,y\n0.1,1\n0.2,2\n")
	late := write(t, "late.csv", "x,y\n0.1,1\n0.2,two\n")
	curves := write(t, "twice.csv", "id,0,1\na,1,2\nb,1,2\n")
	for _, args := range [][]string{
		{"density", points, "--columns", "x", "--bounds", "0:1", "--mu", "1", "--n", "4"},
		{"mean", curves, "--bound", "5", "--mu", "1", "--space", "legendre:1", "--n", "3"},
		{"regress", pairs, "--x", "x", "--y", "y", "--domain", "0:1", "--tau", "1", "--epsilon", "1", "--delta", "1e-6", "--n", "9"},
		{"regress", late, "--x", "x", "--y", "y", "--domain", "0:1", "--tau", "1", "--epsilon", "1", "--delta", "1e-6", "--steps", "decaying"},
	} {
		if code, _, stderr := call(t, args...); code != exitFailed || strings.Contains(stderr, "spent") {
			t.Errorf("%v: exit %d\n%s", args, code, stderr)
		}
	}
	for _, name := range []string{"thrice", "twice", "pairs", "late"} {
		if code, stdout, _ := call(t, "ledger", "show", name); code == exitDone {
			t.Errorf("the ledger knows of %s:\n%s", name, stdout)
		}
	}
}

func TestMeanShowEvalPlot(t *testing.T) {
	dir := t.TempDir()
	rel, svg := filepath.Join(dir, "m.json"), filepath.Join(dir, "m.svg")
	stdout, _ := must(t, "mean", cohort(t), "--bound", "5", "--mu", "1", "--space", "legendre:3", "--unit-name", "child", "--dataset", "children",
		"-o", rel, "--plot", svg)
	for _, want := range []string{"private mean of n = 4", "per child", "which is"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("summary lacks %q:\n%s", want, stdout)
		}
	}
	for _, path := range []string{rel, svg} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s was not written", path)
		}
	}
	stdout, _ = must(t, "show", rel, "--delta", "1e-5")
	if !strings.Contains(stdout, "at δ = 1e-05") {
		t.Errorf("show does not state ε at the δ asked for:\n%s", stdout)
	}
	stdout, _ = must(t, "show", rel, "--json")
	var summary map[string]any
	if err := json.Unmarshal([]byte(stdout), &summary); err != nil {
		t.Errorf("show --json: %v", err)
	}
	stdout, _ = must(t, "eval", rel, "--at", "0,0.5,1")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 4 || lines[0] != "t,value,value_low,value_high" {
		t.Errorf("eval:\n%s", stdout)
	}
	must(t, "plot", rel, "-o", filepath.Join(dir, "again.png"))
}

func TestMeanToStandardOutput(t *testing.T) {
	stdout, stderr := must(t, "mean", cohort(t), "--bound", "5", "--epsilon", "1", "--space", "legendre:2")
	if !json.Valid([]byte(stdout)) {
		t.Error("standard output is not the release alone")
	}
	if !strings.Contains(stderr, "spherical") && !strings.Contains(stderr, "private mean") {
		t.Errorf("no summary on standard error:\n%s", stderr)
	}
}

func TestMeanMethods(t *testing.T) {
	for _, args := range [][]string{
		{"--method", "ptf", "--mu", "1"},
		{"--method", "auto", "--n", "4", "--rho", "0.5"},
		{"--epsilon", "1", "--delta", "1e-6", "--center", "const:1"},
		{"--space", "kernel:gauss:20%", "--mu", "2", "--raw"},
	} {
		must(t, append([]string{"mean", cohort(t), "--bound", "5"}, args...)...)
	}
}

func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	stdout, _ := must(t, "demo", "-o", dir)
	for _, name := range []string{"ftp.json", "ptf.json", "demo.svg", "demo.png", "density.json", "density.svg", "density.png"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(stdout, "recommended: fit-then-protect") {
		t.Errorf("the plan does not recommend the better method:\n%s", stdout)
	}
	smooth := regexp.MustCompile(`(?m)^  \S+ +yes +\S+ +\S+ +(\S+)`).FindAllStringSubmatch(stdout, -1)
	if len(smooth) != 4 {
		t.Errorf("the densities are not compared with histograms:\n%s", stdout)
	}
	for _, row := range smooth {
		if ratio, err := strconv.ParseFloat(row[1], 64); err != nil || ratio < 2 {
			t.Errorf("a histogram has %s times the error only (%v): %s", row[1], err, row[0])
		}
	}
}

func TestPlan(t *testing.T) {
	args := []string{"plan", "mean", "--n", "93", "--domain", "1:18", "--bound", "60", "--mu", "1", "--grid", "1:18:31"}
	first, _ := must(t, args...)
	second, _ := must(t, args...)
	if first != second {
		t.Error("the same plan printed twice differs")
	}
	stdout, _ := must(t, append(args, "--json")...)
	if !json.Valid([]byte(stdout)) {
		t.Error("plan --json is not JSON")
	}
}

func TestBound(t *testing.T) {
	file := cohort(t)
	stdout, _ := must(t, "bound", file, "--mu", "3", "--space", "legendre:2", "--dataset", "bought")
	for _, want := range []string{"private bound", "for 95 % of the noise", `first spending on data set "bought": μ = 3`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("bound lacks %q:\n%s", want, stdout)
		}
	}
	_, stderr := must(t, "mean", file, "--bound", "auto", "--bound-mu", "3", "--mu", "4", "--space", "legendre:2", "--dataset", "both")
	if !strings.Contains(stderr, "private bound") || !strings.Contains(stderr, "has spent μ = 5 ") {
		t.Errorf("the two expenses do not add up to μ = 5:\n%s", stderr)
	}
	stdout, _ = must(t, "plan", "mean", "--n", "5000", "--domain", "0:1", "--bound", "5", "--mu", "1", "--bound-mu", "0.3")
	if !strings.Contains(stdout, "buying the bound") {
		t.Errorf("no line about buying the bound:\n%s", stdout)
	}
}

func TestDensity(t *testing.T) {
	dir := t.TempDir()
	path, rel := filepath.Join(dir, "points.csv"), filepath.Join(dir, "d.json")
	var b strings.Builder
	b.WriteString("who,x,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "p%d,%g,%g\n", i/2, float64(i%20)/20, float64(i%7)/7)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	sample := filepath.Join(dir, "s.csv")
	stdout, _ := must(t, "density", path, "--columns", "x,y", "--bounds", "-1:1,0:1", "--rho", "0.5", "--unit", "who",
		"-o", rel, "--plot", filepath.Join(dir, "d.png"), "--sample", "7", "--sample-out", sample)
	if !strings.Contains(stdout, "private density of n = 200") || !strings.Contains(stdout, "per who") {
		t.Errorf("summary:\n%s", stdout)
	}
	text, err := os.ReadFile(sample)
	if err != nil || strings.Count(string(text), "\n") != 8 || !strings.HasPrefix(string(text), "x,y\n") {
		t.Errorf("sample: %v\n%s", err, text)
	}
	must(t, "show", rel)
	must(t, "show", rel, "--json")
	stdout, _ = must(t, "eval", rel, "--at", "0.5,0.5;0,0.1")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 3 || lines[0] != "x,y,density,density_low,density_high" {
		t.Errorf("eval:\n%s", stdout)
	}
	must(t, "plot", rel, "-o", filepath.Join(dir, "d.svg"))
	if code, _, _ := call(t, "sample", rel, "-n", "3", "-o", sample); code != exitUsage {
		t.Errorf("sample overwrote a file: exit %d", code)
	}
	must(t, "sample", rel, "-n", "3", "-o", sample, "--force")
	must(t, "density", path, "--columns", "x", "--bounds", "0:1", "--mu", "1", "--dataset", "one")
	must(t, "plan", "density", "--n", "1000", "--bounds", "0:1,0:1", "--rho", "0.5")
	stdout, _ = must(t, "plan", "density", "--n", "2000", "--bounds", "0:10", "--rho", "0.5", "--compare", "histogram")
	if !strings.Contains(stdout, "best bins in hindsight") {
		t.Errorf("no comparison:\n%s", stdout)
	}
}

func TestCurve(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ride.csv")
	var b strings.Builder
	b.WriteString("unix_time,lat,lon\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%d,%.5f,%.5f\n", 1211058000+60*i, 37.77+0.0003*float64(i), -122.42-0.0002*float64(i%30))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	gpx, rel := filepath.Join(dir, "private.gpx"), filepath.Join(dir, "private.json")
	public := []string{"--window", "1211058000:1211063940", "--every", "60", "--max-gap", "300", "--origin", "37.7,-122.4"}
	stdout, _ := must(t, append([]string{"curve", path, "--rho", "0.01", "-o", gpx, "--release", rel, "--plot", filepath.Join(dir, "p.png"), "--own"}, public...)...)
	for _, want := range []string{"private curve", "told apart", "concentrated geo-privacy"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("summary lacks %q:\n%s", want, stdout)
		}
	}
	must(t, "show", rel)
	must(t, "plot", rel, "-o", filepath.Join(dir, "again.svg"))
	must(t, "eval", rel, "--at", "1211058000,1211060000")
	text, err := os.ReadFile(gpx)
	if err != nil || strings.Count(string(text), "<trkpt") != 100 {
		t.Errorf("output: %v, %d points, want the 100 of the public grid", err, strings.Count(string(text), "<trkpt"))
	}
	for _, method := range []string{"segment", "select", "project"} {
		must(t, append([]string{"curve", path, "--epsilon", "0.1", "--method", method, "-o", filepath.Join(dir, method+".csv"), "--dataset", method}, public...)...)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--epsilon", "1"}, exitUsage, "-o FILE"},
		{[]string{"--epsilon", "1", "--rho", "1", "-o", "x.csv"}, exitUsage, "one budget"},
		{[]string{"--epsilon", "-1", "-o", "x.csv"}, exitUsage, "-1"},
		{[]string{"--epsilon", "1", "-o", gpx}, exitUsage, "exists"},
		{[]string{"--epsilon", "1", "-o", filepath.Join(dir, "x.gpx"), "--origin", "100,0"}, exitUsage, "latitude"},
		{[]string{"--epsilon", "1", "-o", filepath.Join(dir, "x.gpx"), "--window", "1211000000:1211063940"}, exitFailed, "ride.csv"},
		{[]string{"--epsilon", "1", "-o", filepath.Join(dir, "x.gpx"), "--origin", "10,10"}, exitFailed, "origin near the track"},
		{[]string{"--epsilon", "1", "-o", filepath.Join(dir, "x.gpx"), "--max-gap", "10"}, exitFailed, "ride.csv"},
	} {
		code, _, stderr := call(t, append(append([]string{"curve", path}, public...), c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("curve %v: exit %d, want %d with %q:\n%s", c.args, code, c.code, c.want, stderr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "x*")); len(left) > 0 {
		t.Errorf("errors left %v", left)
	}
}

func TestPlanCurve(t *testing.T) {
	stdout, _ := must(t, "plan", "curve", "--epsilon", "0.02", "--window", "0:43200", "--roughness", "500", "--size", "3000")
	for _, want := range []string{"a detour of 1000 m", "a stay of 3600 is located", "best", "blurred", "method: denoise"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("plan curve lacks %q:\n%s", want, stdout)
		}
	}
	stdout, _ = must(t, "plan", "curve", "--rho", "1", "--window", "0:10", "--components", "1", "--json")
	if !json.Valid([]byte(stdout)) {
		t.Error("plan curve --json is not JSON")
	}
}

// The lines of the README, on the real files.
func TestRealFiles(t *testing.T) {
	for _, args := range [][]string{
		{"growth.csv", "--bound", "60", "--center", "const:120", "--mu", "1"},
		{"growth_long.csv", "--domain", "1:18", "--bound", "60", "--center", "const:120", "--mu", "1"},
		{"gait.csv", "--domain", "0:1", "--space", "fourier:9", "--bound", "60", "--mu", "1"},
		{"weather_temp.csv", "--space", "fourier:5", "--bound", "30", "--mu", "1"},
	} {
		out := filepath.Join(t.TempDir(), "m.json")
		must(t, append([]string{"mean", real(t, args[0]), "-o", out}, args[1:]...)...)
		must(t, "show", out)
	}
}

func TestUsageErrors(t *testing.T) {
	file := cohort(t)
	visits := write(t, "visits.csv", "mrn,day,temp\n1,1,36.5\n1,2,37\n2,3,36\n2,4,36.2\n")
	stays := write(t, "stays.csv", "patient,los\na,1\na,2\nb,3\n")
	existing := filepath.Join(t.TempDir(), "there.json")
	if err := os.WriteFile(existing, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"mean"}, "one file"},
		{[]string{"mean", file}, "state one guarantee"},
		{[]string{"mean", file, "--mu", "1"}, "--bound is needed"},
		{[]string{"mean", file, "--mu", "-1", "--bound", "5"}, "-1"},
		{[]string{"mean", file, "--mu", "NaN", "--bound", "5"}, "NaN"},
		{[]string{"mean", file, "--mu", "1", "--rho", "2", "--bound", "5"}, "μ = 1 (GDP) and ρ = 2 (zCDP) are 2 guarantees"},
		{[]string{"mean", file, "--mu", "1", "--bound", "-5"}, "positive"},
		{[]string{"mean", file, "--mu", "1", "--bound", "Inf"}, "positive"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--domain", "3:1"}, "3"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--domain", "x"}, "a:b"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--space", "wavelet:3"}, "wavelet"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--space", "fourier:4"}, "odd"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--method", "both"}, "ftp, ptf or auto"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--method", "auto"}, "--n"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--center", "const:1,2"}, "2 curves for 1 component:"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "-o", existing}, "exists"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "-o", "no/such/dir/x.json"}, "folder"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--plot", "x.gif"}, ".svg"},
		{[]string{"mean", file, "--epsilon", "1", "--bound", "5", "--space", "kernel:gauss:0.2"}, "finite-dimensional"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "--method", "ptf", "--space", "kernel:brownian"}, "zero at time"},
		{[]string{"mean", file, "--mu", "1", "--bound", "auto"}, "--bound-mu"},
		{[]string{"mean", "-", "--mu", "1", "--bound", "auto", "--bound-mu", "1"}, ""},
		{[]string{"bound", file, "--epsilon", "1"}, ""},
		{[]string{"bound", file, "--mu", "1", "--bound-range", "5"}, "low:high"},
		{[]string{"density", file, "--mu", "1"}, "--bounds"},
		{[]string{"density", file, "--mu", "1", "--bounds", "0:1"}, "--columns"},
		{[]string{"density", file, "--mu", "1", "--bounds", "0:1", "--columns", "a,b"}, "2 variables"},
		{[]string{"density", file, "--epsilon", "1", "--bounds", "0:1", "--columns", "a"}, ""},
		{[]string{"density", file, "--mu", "1", "--bounds", "0:1", "--columns", "a", "--sample", "5"}, "--sample-out"},
		{[]string{"density", "-", "--mu", "1", "--bounds", "0:1", "--columns", "a"}, "--n"},
		{[]string{"mean", file, "--wrong"}, "--wrong"},
		{[]string{"meen"}, "unknown command"},
		{[]string{"plan", "mean", "--mu", "1"}, "--n is needed"},
		{[]string{"plan", "curve", "--window", "0:10"}, "one budget"},
		{[]string{"plan", "curve", "--epsilon", "1"}, "--window"},
		{[]string{"plan", "curve", "--epsilon", "1", "--window", "0:10", "--detour-time", "11"}, "within the window"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "-o", file, "--force"}, "what the call reads"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "-o", filepath.Dir(file), "--force"}, "no file that could be replaced"},
		{[]string{"mean", file, "--mu", "1", "--bound", "5", "-o", "x.png"}, "--plot"},
		{[]string{"mean", visits, "--mu", "1", "--bound", "5", "--domain", "0:9"}, "--id COLUMN"},
		{[]string{"density", visits, "--mu", "1", "--bounds", "0:9", "--columns", "day", "--sample", "5", "--sample-out", visits, "--force"}, "what the call reads"},
		{[]string{"mean", "partial", visits, "--mu", "1", "--bound", "5", "--domain", "0:9", "-o", "x.partial"}, "--id COLUMN"},
		{[]string{"density", stays, "--mu", "1", "--bounds", "0:9", "--columns", "los"}, "--unit patient"},
		{[]string{"density", "partial", stays, "--mu", "1", "--bounds", "0:9", "--columns", "los", "--n", "9", "-o", "x.partial"}, "--unit patient"},
		{[]string{"density", stays, "--mu", "1", "--bounds", "0:9", "--columns", "los", "--unit", "-", "--sample", "100000000000", "--sample-out", "x.csv"}, "at most"},
		{[]string{"plan", "nonsense"}, "nonsense"},
		{[]string{"ledger", "nonsense"}, "nonsense"},
		{[]string{"audit", "--releases", "0"}, "1000"},
		{[]string{"show"}, "one release"},
		{[]string{"plot", "x.json"}, "-o"},
		{[]string{"eval", "x.json", "--level", "2"}, "level"},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage {
			t.Errorf("curveil %s: exit %d, want %d\n%s", strings.Join(c.args, " "), code, exitUsage, stderr)
		}
		if !strings.Contains(stderr, c.want) {
			t.Errorf("curveil %s: message lacks %q:\n%s", strings.Join(c.args, " "), c.want, stderr)
		}
		if stdout != "" {
			t.Errorf("curveil %s printed to standard output: %s", strings.Join(c.args, " "), stdout)
		}
	}
}

func TestDataErrorsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, body string
		flags      []string
		want       string
	}{
		{"inf.csv", "id,0,1\na,1,2\nb,Inf,2\n", nil, ":3:2"},
		{"text.csv", "id,0,1\na,1,2\nb,1,two\n", nil, ":3:3"},
		{"twice.csv", "id,0,1\na,1,2\na,1,2\n", nil, ":3"},
		{"short.csv", "id,0,1\na,1\n", nil, ":2"},
		{"outside.csv", "id,t,value\na,0,1\na,9,1\n", []string{"--domain", "0:1"}, ":3:2"},
		{"empty.csv", "id,0,1\n", nil, "empty.csv: nobody was added"},
		{"nothing.csv", "", nil, ""},
		{"missing.csv", "id,0,1\na,1,\nb,1,2\n", []string{"--constant", "--method", "ptf"}, "fit-then-protect"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.body), 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out.json")
		code, _, stderr := call(t, append([]string{"mean", path, "--bound", "5", "--mu", "1", "--space", "legendre:2", "-o", out}, c.flags...)...)
		if code != exitFailed {
			t.Errorf("%s: exit %d, want %d\n%s", c.name, code, exitFailed, stderr)
		}
		if !strings.Contains(stderr, c.name+c.want) && !strings.Contains(stderr, c.want) {
			t.Errorf("%s: message lacks %q:\n%s", c.name, c.want, stderr)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("%s left %v", c.name, left)
		}
	}
}

func TestMessyFiles(t *testing.T) {
	entries, err := os.ReadDir(filepath.Dir(real(t, "messy/bom.csv")))
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{
		"duplicate_timestamp.csv": ":42", "one_sample_curve.csv": ":188", "infinite_value.csv": ":101",
		"nonnumeric_header.csv": ":1:19", "uneven_row_short.csv": ":4", "uneven_row_long.csv": ":6",
		"latlon_swapped_values.csv": ":2",
	}
	tracks := []string{"clean_track.csv", "gps_jumps.csv", "iso8601_time_zones.csv", "latlon_swapped_values.csv", "lonlat_column_order.csv"}
	for _, e := range entries {
		domain := "1:18"
		if slices.Contains(tracks, e.Name()) {
			domain = "1211058000:1211101200"
		}
		code, _, stderr := call(t, "mean", real(t, "messy/"+e.Name()), "--bound", "200", "--mu", "1", "--domain", domain, "--id", idOf(e.Name(), tracks))
		if at, bad := refused[e.Name()]; bad {
			if code != exitFailed || !strings.Contains(stderr, e.Name()+at) {
				t.Errorf("%s: exit %d, want %d at %s\n%s", e.Name(), code, exitFailed, at, stderr)
			}
		} else if code != exitDone {
			t.Errorf("%s: exit %d\n%s", e.Name(), code, stderr)
		}
	}
}

// idOf names the id column of a messy file; a track has none, and is one curve.
func idOf(name string, tracks []string) string {
	if slices.Contains(tracks, name) {
		return "-"
	}
	return ""
}

// The columns of eval are called alike for one variable and for several, and points need not be named.
func TestEvalOfSeveralVariables(t *testing.T) {
	points := scatter(t, 200, 0)
	out := filepath.Join(t.TempDir(), "d.json")
	must(t, "density", points, "--columns", "lon,lat", "--bounds=-122.52:-122.25,37.60:37.82", "--rho", "0.5", "--rank", "2", "--dataset", "evaluated", "-o", out)
	stdout, _ := must(t, "eval", out)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if lines[0] != "lon,lat,density,density_low,density_high" || len(lines) != 1+21*21 || !strings.HasPrefix(lines[1], "-122.52,37.6,") || !strings.HasPrefix(lines[441], "-122.25,37.82,") {
		t.Errorf("%d lines: %s … %s", len(lines), lines[0], lines[len(lines)-1])
	}
	if code, _, stderr := call(t, "eval", out, "--at", "1"); code != exitUsage || !strings.Contains(stderr, "has 1 coordinate, want 2") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if stdout, _ := must(t, "plan", "curve", "--rho", "1", "--window", "0:10", "--roughness", "1"); regexp.MustCompile(`\d\.\d{8}`).MatchString(stdout) {
		t.Error(stdout)
	}
}
