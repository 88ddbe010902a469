package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Flags after which no pipeline runs end the call before the ledger exists, on every runner.
func TestNoPipelineNoRelease(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "beam.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ := call(t, "mean", "--help")
	for _, runner := range append([]string{""}, running...) {
		for _, given := range [][]string{
			{"--dry_run"}, {"--template_location", "gs://b/t"}, {"--async"}, {"--execute_async"}, {"--dot_file", "p.dot"},
			{"--runner", "dot"}, {"--runner", "vet"}, {"--runner", "flnk"}, {"--experiments", "a,graph_validate_only"},
		} {
			dir, pattern := cohort(t)
			out, book := filepath.Join(dir, "a.json"), filepath.Join(dir, "ledger.db")
			args := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--dataset", "a", "--ledger", book, "-o", out, "--exchange", dir}
			if given[0] != "--runner" {
				args = append(args, "--runner", runner)
			} else if runner != "" {
				continue
			}
			code, stdout, stderr := call(t, append(args, given...)...)
			if code != exitUsage || stdout != "" || !strings.Contains(stderr, given[0]+" ") || !strings.Contains(stderr, "refused") {
				t.Errorf("%s %v: exit %d: %s%s", runner, given, code, stdout, stderr)
			}
			for _, path := range []string{out, book} {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s %v: %s was made", runner, given, path)
				}
			}
		}
	}
	for name := range refused {
		if !strings.Contains(string(manual), "`--"+name+"`") {
			t.Errorf("docs/beam.md does not speak of --%s", name)
		}
		line := ""
		for _, l := range strings.Split(help, "\n") {
			if strings.Contains(l, "--"+name+" ") {
				line = l
			}
		}
		if !strings.Contains(line, "refused") {
			t.Errorf("the help of --%s: %q", name, line)
		}
	}
	// What is set to nothing was not given.
	dir, pattern := cohort(t)
	if code, _, stderr := call(t, "mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", filepath.Join(dir, "ledger.db"), "-o", filepath.Join(dir, "a.json"), "--runner", "prism", "--async=false", "--dry_run=false", "--template_location="); code != exitDone {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestVersion(t *testing.T) {
	defer func(v string) { version = v }(version)
	version = "1.2.3-test"
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if code, out, stderr := call(t, args...); code != exitDone || !strings.HasPrefix(out, "curveil-beam 1.2.3-test (Beam 2.") || !strings.Contains(out, runtime.GOOS+"/"+runtime.GOARCH) {
			t.Errorf("%v: exit %d: %q %s", args, code, out, stderr)
		}
	}
	var v versionInfo
	if _, out, _ := call(t, "version", "--json"); json.Unmarshal([]byte(out), &v) != nil || v.Version != version {
		t.Errorf("%+v", v)
	}
	version = ""
	if v := thisVersion(); v.Version == "" {
		t.Error("an unstamped binary has no version")
	}
	if code, _, _ := call(t, "version", "x"); code != exitUsage {
		t.Errorf("an argument: exit %d", code)
	}
}

// resetRunners takes back what earlier calls in this process gave to the runners' flags.
func resetRunners() {
	for _, name := range []string{"async", "dry_run"} {
		flag.Set(name, "false")
	}
	for _, name := range []string{"template_location", "dot_file", "experiments", "runner", "endpoint", "environment_type", "worker_binary"} {
		flag.Set(name, "")
	}
}
