package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	defer func(v string) { version = v }(version)
	version = "1.2.3-test"
	if out, _ := must(t, "version"); !strings.HasPrefix(out, "curveil 1.2.3-test (go") || !strings.Contains(out, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("%q", out)
	}
	out, _ := must(t, "version", "--json")
	var v versionInfo
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.Version != version {
		t.Errorf("%s: %v", out, err)
	}
	version = ""
	if v := thisVersion(); v.Version == "" {
		t.Error("an unstamped binary has no version")
	}
}

// Every verb has a page, and the pages are the same each time.
func TestGenerate(t *testing.T) {
	var sizes [2]int
	for i := range sizes {
		dir := t.TempDir()
		must(t, "generate", dir)
		pages, err := filepath.Glob(filepath.Join(dir, "man1", "*.1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			text, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			sizes[i] += len(text)
		}
		for _, c := range newRoot().Commands() {
			if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, "man1", "curveil-"+c.Name()+".1")); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"curveil.bash", "_curveil", "curveil.fish", "curveil.ps1"} {
			if text, err := os.ReadFile(filepath.Join(dir, "completions", name)); err != nil || !strings.Contains(string(text), "curveil") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if sizes[0] == 0 || sizes[0] != sizes[1] {
		t.Errorf("pages of %d and %d bytes", sizes[0], sizes[1])
	}
}
