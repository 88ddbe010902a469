package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// notHere are the core command's flags that make no sense on an engine; docs/beam.md says why.
var notHere = map[string][]string{
	"mean":    {"bound-mu", "bound-range", "per-octave", "quantile", "unsorted"},
	"density": {"sample", "sample-out"},
}

// otherwise are the flags whose meaning differs in what the text says.
var otherwise = map[string]bool{"bound": true, "dataset": true, "dry-run": true, "n": true, "out": true, "unit": true}

// The flags are those of the core command, one by one, in name and text.
func TestFlagsOfTheCoreCommand(t *testing.T) {
	core := filepath.Join(t.TempDir(), "curveil")
	build := exec.Command("go", "build", "-o", core, "./cmd/curveil")
	build.Dir = filepath.Join("..", "..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "beam.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ +(?:-\w, +)?--([a-z-]+) (.*)$`)
	for verb, missing := range notHere {
		text, err := exec.Command(core, verb, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd, _, err := newRoot().Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		help := line.FindAllStringSubmatch(cmd.LocalNonPersistentFlags().FlagUsages(), -1)
		here := map[string]string{}
		for _, m := range help {
			here[m[1]] = m[2]
		}
		found := 0
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			found++
			if name == "help" {
				continue
			}
			left := false
			for _, n := range missing {
				left = left || n == name
			}
			usage, ok := here[name]
			switch {
			case left && ok:
				t.Errorf("%s --%s is offered and listed as missing", verb, name)
			case left && !strings.Contains(string(manual), "--"+name):
				t.Errorf("docs/beam.md does not say why there is no --%s", name)
			case !left && !ok:
				t.Errorf("%s --%s is missing", verb, name)
			case ok && !otherwise[name] && words(usage) != words(m[2]):
				t.Errorf("%s --%s:\n%s\n%s", verb, name, usage, m[2])
			}
		}
		if found < 20 {
			t.Errorf("%s: only %d flags found:\n%s", verb, found, text)
		}
	}
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// A runner's flag must reach the standard flag set: Dataflow looks there for what was given.
func TestRunnersFlagsAreMarkedAsGiven(t *testing.T) {
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.AddGoFlagSet(flag.CommandLine)
	if err := f.Parse([]string{"--dataflow_kms_key", "k", "--no_use_public_ips"}); err != nil {
		t.Fatal(err)
	}
	if err := passOn(f); err != nil {
		t.Fatal(err)
	}
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["dataflow_kms_key"] || !given["no_use_public_ips"] {
		t.Errorf("given: %v", given)
	}
	flag.Set("dataflow_kms_key", "")
	flag.Set("no_use_public_ips", "false")
}

// Unnamed people are refused as by the core command, before anything runs.
func TestUnnamedPeopleAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	long := path("long.csv", "nummer,t,x\n1,0,1\n1,1,2\n2,0,1\n2,1,3\n")
	points := path("points.csv", "user_id,x\na,0.1\na,0.3\nb,0.9\n")
	book := filepath.Join(dir, "ledger.db")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no column was recognised that tells people apart: name it with --id COLUMN", []string{"mean", long, "--domain", "0:1", "--bound", "5", "--mu", "1"}},
		{"no mean of one: name the column that tells people apart in --id", []string{"mean", long, "--id", "-", "--domain", "0:1", "--bound", "5", "--mu", "1"}},
		{`column "user_id" looks as if it tells people apart: --unit user_id`, []string{"density", points, "--columns", "x", "--bounds", "0:1", "--rho", "1", "--rank", "2"}},
		{"--columns is needed", []string{"density", points, "--bounds", "0:1", "--rho", "1", "--rank", "2"}},
		{"give --n", []string{"density", points, "--columns", "x", "--bounds", "0:1", "--rho", "1"}},
		{"'curveil bound' buys one", []string{"mean", long, "--id", "nummer", "--domain", "0:1", "--bound", "auto", "--mu", "1"}},
		{"--release-name is looked up", []string{"mean", long, "--id", "nummer", "--domain", "0:1", "--bound", "5", "--mu", "1", "--ledger", "none", "--release-name", "x"}},
	} {
		args := append(c.args, "--dataset", "refused", "-o", filepath.Join(dir, "never.json"), "--runner", "prism")
		if c.args[len(c.args)-1] != "x" {
			args = append(args, "--ledger", book)
		}
		var out, stderr bytes.Buffer
		if code := run(t.Context(), args, &out, &stderr); code != exitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("want %q: exit %d: %s", c.want, code, stderr.String())
		}
	}
	if n := debits(t, book, "refused"); n != 0 {
		t.Errorf("%d debits", n)
	}
	if code, _, stderr := call(t, "density", points, "--unit", "-", "--columns", "x", "--bounds", "0:1", "--rho", "60", "--weak", "--rank", "2", "--dataset", "rows", "--ledger", book, "-o", filepath.Join(dir, "rows.json"), "--runner", "prism"); code != exitDone || !strings.Contains(stderr, "protects almost nothing") {
		t.Errorf("each row a person, at ρ = 60: exit %d: %s", code, stderr)
	}
}
