package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/internal/unwritable"
)

// What keeps a release from being written is found before it is paid for, and what is found only afterwards loses nothing.

// ride is a track of 100 minutes that begins at the place, as rows "time,lat,lon" after the prefix.
func ride(prefix string, lat float64) string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "%s%d,%.5f,%.5f\n", prefix, 1211058000+60*i, lat+0.0003*float64(i), -122.42-0.0002*float64(i%30))
	}
	return b.String()
}

// asGPX is the track as a trk element.
func asGPX(name string, lat float64) string {
	var b strings.Builder
	b.WriteString("<trk>")
	if name != "" {
		b.WriteString("<name>" + name + "</name>")
	}
	b.WriteString("<trkseg>")
	for i := range 100 {
		fmt.Fprintf(&b, `<trkpt lat="%.5f" lon="-122.42"><time>2008-05-17T21:%02d:%02dZ</time></trkpt>`, lat+0.0003*float64(i), i*36/60, i*36%60)
	}
	return b.String() + "</trkseg></trk>"
}

func gpxFile(t *testing.T, path string, tracks ...string) string {
	t.Helper()
	text := `<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">` + strings.Join(tracks, "") + "</gpx>"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	rideFlags = []string{"--window", "1211058000:1211063940", "--every", "600", "--max-gap", "300", "--origin", "37.7,-122.4"}
	gpxFlags  = []string{"--window", "2008-05-17T21:00:00Z/2008-05-17T21:59:00Z", "--every", "600", "--max-gap", "300", "--origin", "37.7,-122.4"}
)

func TestUnwritableOutputsSpendNothing(t *testing.T) {
	wide, long := manyPeople(t, 50)
	points := scatter(t, 200, 0)
	track := write(t, "ride.csv", "unix_time,lat,lon\n"+ride("", 37.77))
	dir, bad := t.TempDir(), unwritable.Folder(t)
	good := func(name string) string { return filepath.Join(dir, name) }
	partial := good("p.partial")
	must(t, "mean", "partial", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1", "-o", partial)
	mean := []string{"mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1"}
	auto := []string{"mean", wide, "--space", "legendre:3", "--bound", "auto", "--bound-mu", "0.3", "--mu", "1"}
	density := []string{"density", points, "--columns", "lon,lat", "--bounds=-122.52:-122.25,37.60:37.82", "--rho", "0.5"}
	regress := []string{"regress", long, "--unit", "id", "--x", "t", "--y", "x", "--domain", "0:1", "--tau", "1", "--epsilon", "1", "--delta", "1e-6"}
	curve := append([]string{"curve", track, "--rho", "0.01"}, rideFlags...)
	for name, args := range map[string][]string{
		"mean":            append(mean, "-o", bad+"/x.json"),
		"mean, picture":   append(mean, "-o", good("a.json"), "--plot", bad+"/x.svg"),
		"mean, auto":      append(auto, "-o", bad+"/x.json"),
		"mean, long name": append(mean, "-o", good(strings.Repeat("x", 300)+".json")),
		"merge":           {"mean", "merge", partial, "-o", bad + "/x.json"},
		"density":         append(density, "-o", bad+"/x.json"),
		"density, sample": append(density, "-o", good("b.json"), "--sample", "3", "--sample-out", bad+"/x.csv"),
		"regress":         append(regress, "-o", bad+"/x.json"),
		"curve":           append(curve, "-o", bad+"/x.gpx"),
		"curve, folder":   append(curve, "-o", bad+"/x"),
		"curve, release":  append(curve, "-o", good("c.gpx"), "--release", bad+"/x.json"),
		"curve, picture":  append(curve, "-o", good("d.gpx"), "--plot", bad+"/x.svg"),
		"curve, no place": append(curve, "-o", good("e.gpx"), "--plot", good("missing/x.svg")),
	} {
		for _, more := range [][]string{{"--dry-run"}, nil} {
			book := good(name + ".db")
			code, stdout, stderr := call(t, append(append(args, "--dataset", "d", "--ledger", book), more...)...)
			if code == exitDone || strings.Contains(stdout, "nothing was spent") || strings.Contains(stderr, "is spent") {
				t.Errorf("%s %v: exit %d\n%s%s", name, more, code, stdout, stderr)
			}
			if exists(book) {
				if code, stdout, _ := call(t, "ledger", "show", "d", "--ledger", book); code == exitDone {
					t.Errorf("%s %v: spent\n%s", name, more, stdout)
				}
			}
		}
	}
	left, _ := os.ReadDir(dir)
	for _, f := range left {
		if strings.HasPrefix(f.Name(), ".curveil") || strings.HasSuffix(f.Name(), ".json") || strings.HasSuffix(f.Name(), ".gpx") {
			t.Errorf("left: %s", f.Name())
		}
	}
	// With its places, each of them goes through, also as a rehearsal, which leaves nothing.
	for i, args := range [][]string{mean, auto, density, regress} {
		out := good(fmt.Sprint(i, ".json"))
		all := append(args, "-o", out, "--dataset", fmt.Sprint("ok", i), "--ledger", good("ok.db"))
		if stdout, _ := must(t, append(all, "--dry-run")...); !strings.Contains(stdout, "nothing was spent") || exists(out) {
			t.Errorf("%v: %s", args, stdout)
		}
		must(t, all...)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// What cannot be printed after it was paid for is kept beside the ledger and recorded.
func TestFullStandardOutput(t *testing.T) {
	wide, _ := manyPeople(t, 50)
	for _, args := range [][]string{
		{"mean", wide, "--space", "legendre:3", "--bound", "5", "--mu", "1"},
		{"bound", wide, "--space", "legendre:3", "--mu", "1"},
		{"bound", wide, "--space", "legendre:3", "--mu", "1", "--json"},
	} {
		dir := t.TempDir()
		book := filepath.Join(dir, "l.db")
		var stderr bytes.Buffer
		code := run(context.Background(), append(args, "--ledger", book, "--dataset", "d"), strings.NewReader(""), broken{}, &stderr)
		kept, _ := filepath.Glob(filepath.Join(dir, "curveil-rescued-*.json"))
		if code != exitFailed || len(kept) != 1 || !strings.Contains(stderr.String(), kept[0]) {
			t.Fatalf("%v: exit %d, kept %v\n%s", args, code, kept, &stderr)
		}
		if stdout, _ := must(t, "ledger", "history", "d", "--ledger", book); !strings.Contains(stdout, "released") || strings.Contains(stdout, "not released") {
			t.Errorf("%v:\n%s", args, stdout)
		}
		if args[0] == "mean" {
			must(t, "eval", kept[0])
		}
	}
}

// The bound is not bought where the mean would then not fit.
func TestAutoBoundSpendsBothOrNothing(t *testing.T) {
	wide, _ := manyPeople(t, 50)
	book := filepath.Join(t.TempDir(), "l.db")
	common := []string{"mean", wide, "--space", "legendre:3", "--ledger", book}
	must(t, append(common, "--bound", "5", "--mu", "1")...)
	must(t, "ledger", "cap", "wide", "--mu", "1.2", "--ledger", book)
	auto := append(common, "--bound", "auto", "--bound-mu", "0.5", "--mu")
	for _, more := range [][]string{nil, {"--dry-run"}} {
		code, _, stderr := call(t, append(append(auto, "0.6"), more...)...)
		if code != exitBudget || !strings.Contains(stderr, "asked 2 debits of μ = 0.78102") || !strings.Contains(stderr, "spent μ = 1 (GDP) in 1 release") {
			t.Errorf("%v: exit %d: %s", more, code, stderr)
		}
	}
	if stdout, _ := must(t, "ledger", "show", "wide", "--ledger", book); !strings.Contains(stdout, "μ = 1 (GDP), in 1 debit") {
		t.Error(stdout)
	}
	must(t, append(auto, "0.4")...) // 1 + 0.25 + 0.16 < 1.44
}

// No track is debited where another one of the call is refused.
func TestTracksSpendAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "l.db")
	table := write(t, "cabs.csv", "cab,unix_time,lat,lon\n"+ride("a,", 37.77)+ride("b,", 37.75)+ride("c,", 37.73))
	args := append([]string{"curve", table, "--rho", "0.01", "--ledger", book}, rideFlags...)
	must(t, append(args, "-o", filepath.Join(dir, "1.csv"))...)
	must(t, "ledger", "cap", "cabs/b", "--rho", "0.015", "--ledger", book)
	for _, more := range [][]string{nil, {"--dry-run"}} {
		if code, _, stderr := call(t, append(append(args, "-o", filepath.Join(dir, "2.csv")), more...)...); code != exitBudget {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	for _, cab := range []string{"a", "b", "c"} {
		if stdout, _ := must(t, "ledger", "show", "cabs/"+cab, "--ledger", book); !strings.Contains(stdout, "in 1 debit") || strings.Contains(stdout, "not released") {
			t.Error(stdout)
		}
	}
}

// A track has one name in the ledger: alone, in a folder, and whatever else is in its file.
func TestTracksKeepTheirNames(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "fo")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	gpxFile(t, filepath.Join(folder, "cab_038.gpx"), asGPX("cab 38", 37.77))
	gpxFile(t, filepath.Join(folder, "cab_349.gpx"), asGPX("", 37.75))
	book := filepath.Join(dir, "l.db")
	n := 0
	release := func(public []string, in string, more ...string) (code int, stdout, stderr string) {
		n++
		return call(t, append(append(append([]string{"curve", in, "--rho", "0.01", "--ledger", book}, public...), "-o", filepath.Join(dir, fmt.Sprint("out", n, ".csv"))), more...)...)
	}
	debits := func(dataset string, want int) {
		t.Helper()
		code, stdout, stderr := call(t, "ledger", "show", dataset, "--ledger", book)
		if got := strings.Contains(stdout, "in "+plural(int64(want), "debit")+"\n"); got != (want > 0) || want == 0 && code == exitDone {
			t.Errorf("%s has not %d debits: %s%s", dataset, want, stdout, stderr)
		}
	}
	done := func(code int, stdout, stderr string) string {
		t.Helper()
		if code != exitDone {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		return stdout
	}
	if stdout := done(release(gpxFlags, folder)); !strings.Contains(stdout, `2 debits on 2 data sets, ["cab_038" "cab_349"]`) {
		t.Error(stdout)
	}
	done(release(gpxFlags, filepath.Join(folder, "cab_349.gpx")))
	// Another number is another track, another letter may be a slip.
	for name, want := range map[string]bool{"cab_350": false, "cap_349": true} {
		if _, _, stderr := release(gpxFlags, gpxFile(t, filepath.Join(dir, name+".gpx"), asGPX("", 37.75)), "--dry-run"); strings.Contains(stderr, "is new to the ledger") != want {
			t.Errorf("%s: %s", name, stderr)
		}
	}
	if err := os.Remove(filepath.Join(folder, "cab_038.gpx")); err != nil {
		t.Fatal(err)
	}
	done(release(gpxFlags, folder))
	debits("cab_038", 1)
	debits("cab_349", 3)
	for _, old := range []string{"fo", "fo/1", "fo/2"} {
		debits(old, 0)
	}
	// A table's tracks go by their ids, also when one is left.
	table := func(cabs ...string) string {
		text := "cab,unix_time,lat,lon\n"
		for _, c := range cabs {
			text += ride(c+",", 37.77)
		}
		return write(t, "cabs.csv", text)
	}
	if stdout := done(release(rideFlags, table("7", "8", "9", "10"))); !strings.Contains(stdout, `4 debits on 4 data sets, from "cabs/10" to "cabs/9"`) {
		t.Error(stdout)
	}
	done(release(rideFlags, table("9", "7")))
	done(release(rideFlags, table("9")))
	debits("cabs/8", 1)
	debits("cabs/7", 2)
	debits("cabs/9", 3)
	debits("cabs", 0)
	// Without names the ledger is not written into.
	nameless := gpxFile(t, filepath.Join(dir, "two.gpx"), asGPX("", 37.77), asGPX("", 37.75))
	if code, _, stderr := release(gpxFlags, nameless); code != exitUsage || !strings.Contains(stderr, "--dataset NAME") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if stdout := done(release(gpxFlags, nameless, "--dataset", "mine")); !strings.Contains(stdout, `data set "mine" has spent ρ = 0.02 `) {
		t.Error(stdout)
	}
	debits("mine", 2)
	// One track, then several: which of them was it?
	one := gpxFile(t, filepath.Join(dir, "tour.gpx"), asGPX("monday", 37.77))
	done(release(gpxFlags, one))
	gpxFile(t, one, asGPX("monday", 37.77), asGPX("tuesday", 37.75))
	if code, _, stderr := release(gpxFlags, one); code != exitUsage || !strings.Contains(stderr, `data set "tour"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	debits("tour", 1)
}

// Several curves and no suffix make a folder, whose files tell no names.
func TestFolderOfCurves(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "fo")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	gpxFile(t, filepath.Join(folder, "ann.gpx"), asGPX("ann", 37.77))
	gpxFile(t, filepath.Join(folder, "bob.gpx"), asGPX("bob", 37.75))
	args := append([]string{"curve", folder, "--rho", "0.01", "--ledger", filepath.Join(dir, "l.db"), "-o"}, filepath.Join(dir, "out"))
	args = append(args, gpxFlags...)
	must(t, append(args, "--dry-run")...)
	if exists(filepath.Join(dir, "out")) {
		t.Error("a rehearsal made the folder")
	}
	must(t, args...)
	for _, name := range []string{"track-1.gpx", "track-2.gpx"} {
		text, err := os.ReadFile(filepath.Join(dir, "out", name))
		if err != nil || strings.Count(string(text), "<trkpt") != 6 || strings.Contains(string(text), "ann") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if files, _ := os.ReadDir(filepath.Join(dir, "out")); len(files) != 2 {
		t.Errorf("%v", files)
	}
	if code, _, stderr := call(t, args...); code != exitUsage || !strings.Contains(stderr, "a folder with files in it") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".curveil-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A budget that hides hardly anything of a track is spent only where that is meant.
func TestWeakTracks(t *testing.T) {
	dir := t.TempDir()
	track := write(t, "ride.csv", "unix_time,lat,lon\n"+ride("", 37.77))
	signal := write(t, "ecg.csv", "t,mV\n0,1\n1,2\n2,1\n")
	args := append([]string{"curve", track, "--ledger", filepath.Join(dir, "l.db"), "-o", filepath.Join(dir, "x.gpx")}, rideFlags...)
	for _, c := range []struct {
		budget  []string
		refused bool
	}{
		{[]string{"--rho", "500"}, true}, {[]string{"--rho", "0.6"}, true}, {[]string{"--epsilon", "2"}, true},
		{[]string{"--rho", "0.001", "--metric", "l2"}, true},
		{[]string{"--rho", "0.4"}, false}, {[]string{"--epsilon", "1"}, false},
	} {
		all := append(append(args, c.budget...), "--force", "--dry-run")
		code, _, stderr := call(t, all...)
		if refused := code == exitUsage && strings.Contains(stderr, "--weak"); refused != c.refused || !refused && code != exitDone {
			t.Errorf("%v: exit %d: %s", c.budget, code, stderr)
		}
		if _, stderr := must(t, append(all, "--weak")...); strings.Contains(stderr, "hides hardly anything") != c.refused {
			t.Errorf("%v: %s", c.budget, stderr)
		}
	}
	must(t, "curve", signal, "--rho", "500", "--window", "0:2", "--every", "1", "--max-gap", "2", "-o", filepath.Join(dir, "x.csv"))
	if stdout, _ := must(t, "curve", "--help"); strings.Contains(stdout, "ρ ≥ 50") || !strings.Contains(stdout, "10 m apart") {
		t.Error(stdout)
	}
}

// Curves and tracks are capped in what they are counted in, before the first release and after.
func TestCapsOfCurves(t *testing.T) {
	dir := t.TempDir()
	book := filepath.Join(dir, "l.db")
	track := write(t, "ride.csv", "unix_time,lat,lon\n"+ride("", 37.77))
	signal := write(t, "ecg.csv", "t,mV\n0,1\n1,2\n2,1\n")
	n := 0
	release := func(dataset, in string, budget ...string) (int, string) {
		n++
		args := append([]string{"curve", in, "--dataset", dataset, "--ledger", book, "-o", filepath.Join(dir, fmt.Sprint(n, ".csv"))}, budget...)
		if in == track {
			args = append(args, rideFlags...)
		} else {
			args = append(args, "--window", "0:2", "--every", "1", "--max-gap", "2")
		}
		code, stdout, stderr := call(t, args...)
		return code, stdout + stderr
	}
	limit := func(args ...string) (int, string) {
		code, stdout, stderr := call(t, append([]string{"ledger", "cap", "--ledger", book}, args...)...)
		return code, stdout + stderr
	}
	for _, c := range []struct {
		dataset, in string
		cap         []string
		small, more []string
	}{
		{"track rho", track, []string{"--rho", "0.02", "--per", "m"}, []string{"--rho", "0.01"}, []string{"--rho", "0.015"}},
		{"track epsilon", track, []string{"--epsilon", "0.2", "--per", "m"}, []string{"--epsilon", "0.1"}, []string{"--epsilon", "0.15"}},
		{"track l2", track, []string{"--rho", "0.00002", "--per", "m", "--metric", "l2"}, []string{"--rho", "0.00001", "--metric", "l2"}, []string{"--rho", "0.000015", "--metric", "l2"}},
		{"signal", signal, []string{"--rho", "2", "--per", "units"}, []string{"--rho", "1"}, []string{"--rho", "1.5"}},
	} {
		for _, before := range []bool{true, false} {
			name := fmt.Sprint(c.dataset, before)
			if before {
				if code, out := limit(append([]string{name}, c.cap...)...); code != exitDone {
					t.Fatalf("%s: exit %d: %s", name, code, out)
				}
			}
			if code, out := release(name, c.in, c.small...); code != exitDone || before != strings.Contains(out, "still fits") {
				t.Fatalf("%s: exit %d: %s", name, code, out)
			}
			if !before {
				if code, out := limit(name, c.cap[0], c.cap[1]); code != exitDone || !strings.Contains(out, "still fits") { // the currency is known
					t.Fatalf("%s: exit %d: %s", name, code, out)
				}
			}
			if code, out := release(name, c.in, c.more...); code != exitBudget {
				t.Errorf("%s: exit %d: %s", name, code, out)
			}
			if code, out := release(name, c.in, c.small...); code != exitDone || !strings.Contains(out, "nothing more fits") {
				t.Errorf("%s: exit %d: %s", name, code, out)
			}
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"track rhotrue", "--epsilon", "0.1"}, "its cap is a --rho, per squared unit"},
		{[]string{"track rhotrue", "--mu", "1"}, "caps no curve"},
		{[]string{"track rhotrue", "--rho", "1", "--per", "mV"}, "unit of distance"},
		{[]string{"track rhotrue", "--rho", "1", "--metric", "l2"}, "metric"},
		{[]string{"entirely different", "--rho", "1", "--per", "m", "--unit-name", "cab"}, "protects a track per m"},
		{[]string{"entirely different", "--rho", "1", "--per", "m", "--local"}, "--local"},
	} {
		if code, out := limit(c.args...); code != exitUsage || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, out)
		}
	}
	if code, out := limit("entirely different", "--rho", "0.1", "--unit-name", "track"); code != exitDone || !strings.Contains(out, "--per m") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := release("entirely different", track, "--rho", "0.01"); code != exitUsage || !strings.Contains(out, "--per") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := limit("track rhotrue", "--none"); code != exitDone {
		t.Errorf("exit %d: %s", code, out)
	}
	if stdout, _ := must(t, "ledger", "verify", "--ledger", book); !strings.Contains(stdout, "sound") {
		t.Error(stdout)
	}
}

// What pure ε is counted as is not said to be what it is.
func TestPureEpsilonIsAtMost(t *testing.T) {
	wide, _ := manyPeople(t, 50)
	book := filepath.Join(t.TempDir(), "l.db")
	args := []string{"mean", wide, "--space", "legendre:3", "--bound", "5", "--ledger", book, "-o"}
	dir := t.TempDir()
	rehearsed, _ := must(t, append(args, filepath.Join(dir, "1.json"), "--epsilon", "2", "--dry-run")...)
	stdout, _ := must(t, append(args, filepath.Join(dir, "1.json"), "--epsilon", "2")...)
	if want := "ε = 2 (pure DP), counted as the μ that it implies, so that it adds up with others: μ ≤ 2.35797"; !strings.Contains(stdout, want) || strings.Contains(rehearsed, "13.4") {
		t.Errorf("%s\n%s", rehearsed, stdout)
	}
	if stdout, _ := must(t, append(args, filepath.Join(dir, "2.json"), "--mu", "1")...); !strings.Contains(stdout, "has spent μ ≤ 2.5612") || !strings.Contains(stdout, "ε ≤") {
		t.Error(stdout)
	}
	for _, verb := range []string{"show", "history"} {
		if stdout, _ := must(t, "ledger", verb, "wide", "--ledger", book); !strings.Contains(stdout, "μ ≤ 2.56") {
			t.Error(stdout)
		}
	}
}

// A report that cannot be kept is not paid for; one that is paid for is kept elsewhere and sent.
func TestContributeKeepsTheReport(t *testing.T) {
	t.Chdir(t.TempDir())
	address, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, address, token, "")
	dir := t.TempDir()
	book := filepath.Join(dir, "me.db")
	contribute := func(address string, more ...string) (int, string, string) {
		return call(t, append([]string{"contribute", address, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book}, more...)...)
	}
	for _, more := range [][]string{{"--dry-run"}, nil} {
		code, stdout, stderr := contribute(address, append(more, "--report", filepath.Join(unwritable.Folder(t), "r.json"))...)
		if code != exitFailed || !strings.Contains(stderr, "nothing can be written into that folder") || exists(book) {
			t.Errorf("exit %d\n%s%s", code, stdout, stderr)
		}
	}
	if code, stdout, stderr := contribute(address, "--dry-run"); code != exitDone || !strings.Contains(stdout, "would spend") || !strings.Contains(stdout, "ε = 1, δ = 1e-06") || exists(book) {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	// The folder goes away between the trial and the report, which does not arrive either.
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "reports")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	bad := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		os.RemoveAll(folder)
		if strings.HasSuffix(r.URL.Path, "/reports") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	code, _, stderr := contribute(bad, "--report", filepath.Join(folder, "r.json"), "--patience", "1s")
	kept, _ := filepath.Glob(filepath.Join(dir, "curveil-rescued-*.report.json"))
	if code != exitFailed || len(kept) != 1 || !strings.Contains(stderr, "--report "+kept[0]) {
		t.Fatalf("exit %d, kept %v\n%s", code, kept, stderr)
	}
	if code, stdout, stderr := contribute(address, "--report", kept[0], "--dry-run"); code != exitDone || !strings.Contains(stdout, "at no cost") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := contribute(address, "--report", kept[0]); code != exitDone || exists(kept[0]) {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	debits(t, book, 1)
	if code, _, stderr := contribute(address, "--dry-run"); code != exitUsage || !strings.Contains(stderr, "--again") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, stdout, stderr := contribute(address, "--dry-run", "--again"); code != exitDone || !strings.Contains(stdout, "would have spent") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	debits(t, book, 1)
}
