package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// shards writes one wide file, and its rows in two files.
func shards(t *testing.T, rows ...string) (whole string, parts []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, rows []string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("id,0,0.25,0.5,0.75,1\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	half := len(rows) / 2
	return write("whole.csv", rows), []string{write("north.csv", rows[:half]), write("south.csv", rows[half:])}
}

var people = []string{"a,1,2,3,2,1", "b,2,3,4,3,2", "c,0,1,2,1,0", "d,1,2,2,2,1", "e,3,2,1,2,3"}

func stateOf(t *testing.T, path, verb string) string {
	t.Helper()
	p, err := readPartial(path, verb, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.State)
}

// The sum of the shards is that of the whole, to the byte; the release decodes
// and the ledger knows of one debit.
func TestMeanPartialsMerge(t *testing.T) {
	whole, parts := shards(t, people...)
	for name, flags := range map[string][]string{
		"ftp":    {"--bound", "5", "--mu", "1", "--space", "legendre:3", "--n", "5"},
		"ptf":    {"--bound", "5", "--mu", "1", "--space", "legendre:3", "--method", "ptf"},
		"kernel": {"--bound", "5", "--rho", "1", "--space", "kernel:gauss:20%", "--center", "const:1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := func(name string) string { return filepath.Join(dir, name) }
			make := func(in, out string) {
				_, stderr := must(t, append([]string{"mean", "partial", in, "-o", out}, flags...)...)
				if !strings.Contains(stderr, "RAW PRIVATE DATA") {
					t.Errorf("no warning:\n%s", stderr)
				}
			}
			make(whole, out("whole"))
			make(parts[0], out("north"))
			make(parts[1], out("south"))
			text, err := os.ReadFile(out("north"))
			if err != nil || !strings.HasPrefix(string(text), "# CURVEIL PARTIAL SUM: RAW PRIVATE DATA") {
				t.Errorf("the file does not say what it is: %.80s (%v)", text, err)
			}
			if info, err := os.Stat(out("north")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			p, err := readPartial(out("whole"), "mean", os.Stderr)
			if err != nil {
				t.Fatal(err)
			}
			acc, err := mergePartials([]string{out("south"), out("north")}, "mean", os.Stderr, meanOf)
			if err != nil {
				t.Fatal(err)
			}
			if sum, err := acc.MarshalBinary(); err != nil || string(sum) != string(p.State) {
				t.Errorf("merged and whole sums differ (%v)", err)
			}
			data := "partials-" + name
			stdout, stderr := must(t, "mean", "merge", out("south"), out("north"), "--dataset", data, "-o", out("m.json"))
			if !strings.Contains(stdout, "private mean of n = 5") || !strings.Contains(stderr, "n = 5 people in all") {
				t.Errorf("n is not stated:\n%s%s", stdout, stderr)
			}
			must(t, "eval", out("m.json"), "--at", "0.5")
			history, _ := must(t, "ledger", "history", data)
			if n := len(regexp.MustCompile(`(?m)^\d+ .* mean .* released$`).FindAllString(history, -1)); n != 1 {
				t.Errorf("%d debits:\n%s", n, history)
			}
		})
	}
}

func TestDensityPartialsMerge(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	flags := []string{"--columns", "x", "--bounds", "0:1", "--rho", "0.5", "--n", "40"}
	var rows [2]strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows[i%2], "%g\n", float64(i)/40)
	}
	files := map[string]string{"a": rows[0].String(), "b": rows[1].String(), "whole": rows[0].String() + rows[1].String()}
	for name, text := range files {
		if err := os.WriteFile(path(name+".csv"), []byte("x\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, append([]string{"density", "partial", path(name + ".csv"), "-o", path(name)}, flags...)...)
	}
	acc, err := mergePartials([]string{path("b"), path("a")}, "density", os.Stderr, densityOf)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := acc.MarshalBinary(); err != nil || string(sum) != stateOf(t, path("whole"), "density") {
		t.Errorf("merged and whole sums differ (%v)", err)
	}
	stdout, _ := must(t, "density", "merge", path("a"), path("b"), "--dataset", "points-in-shards", "-o", path("d.json"))
	if !strings.Contains(stdout, "n = 40") {
		t.Errorf("n is not stated:\n%s", stdout)
	}
	if code, _, stderr := call(t, "density", "merge", path("a"), "--dataset", "points-short"); code != exitFailed || !strings.Contains(stderr, "stated as 40") {
		t.Errorf("a missing shard: %d %s", code, stderr)
	}
	if code, _, stderr := call(t, "density", "partial", path("a.csv"), "-o", path("n"), "--columns", "x", "--bounds", "0:1", "--rho", "1"); code != exitUsage || !strings.Contains(stderr, "--n") {
		t.Errorf("no rank: %d %s", code, stderr)
	}
	if code, _, stderr := call(t, "mean", "merge", path("a"), "--dataset", "x"); code != exitFailed || !strings.Contains(stderr, "curveil density merge") {
		t.Errorf("another verb's partial: %d %s", code, stderr)
	}
}

func TestMergeRefuses(t *testing.T) {
	_, parts := shards(t, people...)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	flags := []string{"--bound", "5", "--mu", "1", "--space", "legendre:3"}
	must(t, append([]string{"mean", "partial", parts[0], "-o", path("a")}, flags...)...)
	must(t, append([]string{"mean", "partial", parts[1], "-o", path("b")}, flags...)...)
	must(t, append([]string{"mean", "partial", parts[1], "-o", path("other")}, "--bound", "6", "--mu", "1", "--space", "legendre:3")...)
	text, err := os.ReadFile(path("a"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("copy", string(text))
	body := string(text[strings.Index(string(text), "{"):])
	var p partialFile
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	write("indented", string(again))
	write("cut", string(text[:len(text)-9]))
	write("more", string(text)+"{}")
	write("version", strings.Replace(string(text), `"version":1`, `"version":2`, 1))
	write("count", strings.Replace(string(text), `"people":2`, `"people":3`, 1))
	p.State[len(p.State)-12] ^= 1
	damaged, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	write("damaged", string(damaged))
	write("radius", strings.ReplaceAll(string(text), `"radius":5`, `"radius":6`))
	write("empty", "")
	write("nobody", strings.Replace(string(text), `"people":2`, `"people":0`, 1))
	must(t, append([]string{"mean", "partial", parts[0], "-o", path("again")}, flags...)...)
	must(t, "mean", "partial", parts[1], "-o", path("others"), "--bound", "5", "--mu", "2", "--space", "legendre:4", "--center", "const:1", "--n", "9")
	for _, c := range []struct {
		files, want string
		code        int
	}{
		{"a a", "count twice", exitFailed},
		{"a b copy", "count twice", exitFailed},
		{"a indented", "count twice", exitFailed},
		{"a other", "radius (--bound) is 6 here and 5 there", exitFailed},
		{"a again", "count twice", exitFailed}, // made anew from the same people
		{"a others", "n (--n) is 9 here and not given there; privacy (--mu, ", exitFailed},
		{"a others", "; reference (--center) is ", exitFailed},
		{"a others", "; space (--space and --domain) is ", exitFailed},
		{"nobody", "a partial of 0 people", exitFailed},
		{"a cut", "cut short", exitFailed},
		{"a more", "more text", exitFailed},
		{"version", "version 2", exitFailed},
		{"count", "altered", exitFailed},
		{"damaged", "checksum", exitFailed},
		{"radius", "another space, radius", exitFailed},
		{"empty", "not a partial", exitFailed},
		{"absent", "absent", exitFailed},
		{"", "no partials", exitUsage},
	} {
		args := []string{"mean", "merge", "--dataset", "refused", "-o", path("never.json")}
		for _, f := range strings.Fields(c.files) {
			args = append(args, path(f))
		}
		if code, _, stderr := call(t, args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("merge %s: exit %d, want %q:\n%s", c.files, code, c.want, stderr)
		}
	}
	if code, _, stderr := call(t, "mean", "merge", path("a")); code != exitUsage || !strings.Contains(stderr, "--dataset") {
		t.Errorf("no data set: %d %s", code, stderr)
	}
	if _, _, stderr := call(t, "ledger", "history", "refused"); !strings.Contains(stderr, "refused") {
		t.Errorf("something was spent: %s", stderr)
	}
	for name, args := range map[string][]string{
		"exists":           {parts[0], "-o", path("a"), "--bound", "5", "--mu", "1"},
		"-o FILE":          {parts[0], "--bound", "5", "--mu", "1"},
		"curveil bound":    {parts[0], "-o", path("x"), "--bound", "auto", "--mu", "1"},
		"folder":           {parts[0], "-o", path("no/x"), "--bound", "5", "--mu", "1"},
		"--bound is neede": {parts[0], "-o", path("x"), "--mu", "1"},
	} {
		if code, _, stderr := call(t, append([]string{"mean", "partial"}, args...)...); code != exitUsage || !strings.Contains(stderr, name) {
			t.Errorf("partial, want %q: exit %d %s", name, code, stderr)
		}
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(path("a"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, stderr := must(t, "mean", "merge", path("a"), path("b"), "--dataset", "open"); !strings.Contains(stderr, "chmod 600") {
			t.Errorf("no warning about a readable partial: %s", stderr)
		}
	}
}

// Whatever is there before, and whatever the umask: only the owner can read a partial.
func TestPartialMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	_, parts := shards(t, people...)
	dir := t.TempDir()
	flags := []string{"mean", "partial", parts[0], "--bound", "5", "--mu", "1"}
	check := func(path string) {
		t.Helper()
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	open, link, elsewhere := filepath.Join(dir, "open"), filepath.Join(dir, "link"), filepath.Join(dir, "elsewhere")
	for _, p := range []string{open, elsewhere} {
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{open, link} {
		if code, _, _ := call(t, append(flags, "-o", p)...); code != exitUsage {
			t.Errorf("%s was overwritten: exit %d", p, code)
		}
		must(t, append(flags, "-o", p, "--force")...)
		check(p)
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "x" {
		t.Errorf("written through the link: %.40q, %v", text, err)
	}
	for _, mask := range []string{"000", "777", "177"} {
		p := filepath.Join(dir, "umask"+mask)
		withUmask(t, mask, func() { must(t, append(flags, "-o", p)...) })
		check(p)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".curveil-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Nothing that a file says may crash the merge, and what is accepted is a sum of as many
// people as it says.
func FuzzPartialFile(f *testing.F) {
	config, err := meanExample()
	if err != nil {
		f.Fatal(err)
	}
	acc, err := meanOf(config)
	if err != nil {
		f.Fatal(err)
	}
	if err := acc.Add(fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 1}}}); err != nil {
		f.Fatal(err)
	}
	state, err := acc.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(partialFile{Curveil: "partial", Version: partialVersion, Verb: "mean", People: 1, Config: config, State: state})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(append([]byte("# warning\n"), good...))
	f.Add(good[:len(good)-7])
	f.Add([]byte("#"))
	f.Add([]byte("# \n# \n{}"))
	for _, old := range []string{`"people":1`, `"version":1`, `"mean"`, `"radius":`} {
		f.Add([]byte(strings.Replace(string(good), old, old+"0", 1)))
	}
	for i := 40; i < len(good); i += 97 {
		flipped := slices.Clone(good)
		flipped[i] ^= 4
		f.Add(flipped)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		acc, err := mergePartials([]string{path}, "mean", io.Discard, meanOf)
		if err != nil {
			return
		}
		p, err := decodePartial(data, path, "mean")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := acc.N(); err != nil || n != p.People {
			t.Errorf("a sum of %d people, said to be of %d: %v", n, p.People, err)
		}
	})
}

func meanExample() ([]byte, error) {
	sp, err := space.Parse("legendre:2", space.Interval{A: 0, B: 1})
	if err != nil {
		return nil, err
	}
	return mean.Config{Space: sp, Radius: 3, Guarantee: privacy.GDP(1), Unit: "person"}.Encode()
}
