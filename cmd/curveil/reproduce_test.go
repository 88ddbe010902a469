package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReproduce(t *testing.T) {
	call := func(args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		code = run(context.Background(), append([]string{"reproduce"}, args...), strings.NewReader(""), &out, &errs)
		return code, out.String(), errs.String()
	}
	if code, out, _ := call("list"); code != exitDone || !strings.Contains(out, "curve-taxi-gp") {
		t.Errorf("list: %d %s", code, out)
	}
	var files [2][]byte
	for k := range files {
		dir := t.TempDir()
		code, out, errs := call("mean-pure", "--reps", "50", "--out", dir)
		if code != exitDone || !strings.Contains(out, "verdict: ") || !strings.Contains(out, "not private") || errs != "" {
			t.Fatalf("%d: %s%s", code, out, errs)
		}
		for _, suffix := range []string{".csv", ".json", ".svg", ".png"} {
			data, err := os.ReadFile(filepath.Join(dir, "mean-pure"+suffix))
			if err != nil {
				t.Fatal(err)
			}
			files[k] = append(files[k], data...)
			switch suffix {
			case ".csv":
				rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
				if err != nil || len(rows) != 7 || rows[0][len(rows[0])-1] != "private" || rows[1][len(rows[1])-1] != "false" {
					t.Errorf("numbers %v: %v", rows, err)
				}
			case ".json":
				var d reproduction
				if err := json.Unmarshal(data, &d); err != nil || d.Private || d.Reps != 50 || d.Verdict == "" {
					t.Errorf("%+v: %v", d, err)
				}
			}
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two runs differ")
	}
	_, first, _ := call("mean-pure", "--reps", "20")
	if _, other, _ := call("mean-pure", "--reps", "20", "--seed", "7"); other == first {
		t.Error("another seed, the same draws")
	}
	for _, args := range [][]string{{}, {"figure-7"}, {"mean-pure", "--reps", "1"}, {"mean-pure", "--out", "/no/such/folder"}} {
		if code, _, errs := call(args...); code != exitUsage || errs == "" {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
	if code, out, _ := call("mean-pure", "--reps", "20", "--json"); code != exitDone || !json.Valid([]byte(out)) {
		t.Errorf("JSON: %d %s", code, out)
	}
}

func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	bar := progressBar(&out, "mean-pure")
	for i := 1; i <= 1000; i++ {
		bar(i, 1000)
	}
	text := out.String()
	if !strings.Contains(text, "mean-pure ["+strings.Repeat("#", 20)+strings.Repeat("-", 20)+"] 50 %") {
		t.Errorf("no bar at half: %q", text)
	}
	if n := strings.Count(text, "\r"); n != 101 || !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("%d lines, the last %q: want one for each percent, and none left", n, text[max(0, len(text)-20):])
	}
}
