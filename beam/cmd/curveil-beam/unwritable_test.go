package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder that takes no file is found before the pipeline runs; one that goes away after the debit costs no second one.
func TestUnwritableOutputs(t *testing.T) {
	dir, pattern := cohort(t)
	book := filepath.Join(dir, "ledger.db")
	args := []string{"mean", pattern, "--space", "legendre:3", "--bound", "5", "--mu", "1", "--dataset", "d", "--ledger", book, "--runner", "prism"}
	if f, err := os.CreateTemp("/proc/self", "try-*"); err != nil && exists("/proc/self") {
		for _, more := range [][]string{{"-o", "/proc/self/x.json"}, {"-o", filepath.Join(dir, "x.json"), "--plot", "/proc/self/x.svg"}} {
			if code, _, stderr := call(t, append(args, more...)...); code != exitFailed || !strings.Contains(stderr, "nothing can be written into that folder") {
				t.Errorf("%v: exit %d: %s", more, code, stderr)
			}
		}
		if exists(book) && debits(t, book, "d") != 0 {
			t.Error("spent")
		}
	} else if err == nil {
		f.Close()
	}
	out := filepath.Join(dir, "gone", "x.json")
	named := append(args, "-o", out, "--release-name", "r")
	if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	crash = func(place string) {
		if place == "debited" {
			os.RemoveAll(filepath.Dir(out))
		}
	}
	defer func() { crash = func(string) {} }()
	if code, _, stderr := call(t, named...); code != exitFailed || !strings.Contains(stderr, "call again with this --release-name") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	crash = func(string) {}
	if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, named...); code != exitDone || debits(t, book, "d") != 1 {
		t.Errorf("exit %d, %d debits: %s", code, debits(t, book, "d"), stderr)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
