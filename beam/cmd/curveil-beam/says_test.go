package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A bad cell is one line of the program's; the runner's are printed if asked for.
func TestRunnerIsQuiet(t *testing.T) {
	dir, pattern := cohort(t)
	if err := os.WriteFile(filepath.Join(dir, "a-3.csv"), []byte("id,0,0.5,1\nd,1,2,3\ne,1,2,secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", filepath.Join(dir, "l.db"), "-o", filepath.Join(dir, "a.json")}
	code, text := process(t, "", args...)
	want := "curveil-beam: " + filepath.Join(dir, "a-3.csv") + ": line 3, column 4: this cell is refused: mend it, or run the core command on this file to see why; workers quote no data; nothing was released and nothing spent\n"
	if code != exitFailed || text != want {
		t.Errorf("exit %d: %s", code, text)
	}
	code, text = process(t, "", append(args, "--verbose")...)
	if code != exitFailed || !strings.HasSuffix(text, want) || !strings.Contains(text, "DoFn[") || !strings.Contains(text, "level=INFO") || strings.Contains(text, "secret") {
		t.Errorf("--verbose: exit %d: %s", code, text)
	}
	if err := os.Remove(filepath.Join(dir, "a-3.csv")); err != nil {
		t.Fatal(err)
	}
	if code, text = process(t, "", args...); code != exitDone || strings.Contains(text, "level=") {
		t.Errorf("exit %d: %s", code, text)
	}
}

// Messages of a runner elsewhere are a line each.
func TestBriefMessages(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newBrief(&out)).With("worker", 1)
	log.Info("Job state: RUNNING", "job", 7)
	log.Debug("nothing")
	log.Error("bundle failed: DoFn\n\tcaused by:\nbeam: a.csv: line 2: this line is refused")
	log.Error("job failed\nbeam: a.csv: line 2: this line is refused")
	log.Error("lost\nstack")
	if want := "curveil-beam: runner: Job state: RUNNING\ncurveil-beam: runner: a.csv: line 2: this line is refused\ncurveil-beam: runner: lost\n"; out.String() != want {
		t.Errorf("%s", out.String())
	}
}
