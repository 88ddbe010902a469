package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A box that most points lie outside of is refused before anything is spent, whether
// rows are people or are put together to people, unless it is said to be meant.
func TestMostPointsOutside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p-1.csv": "who,x\na,0.1\na,7\nb,8\n", "p-2.csv": "who,x\na,9\nc,0.5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	book := filepath.Join(dir, "l.db")
	for _, unit := range []string{"who", "-"} {
		out := filepath.Join(dir, unit+".json")
		args := []string{"density", filepath.Join(dir, "p-*.csv"), "--columns", "x", "--unit", unit, "--rho", "0.5", "--rank", "2", "--dataset", "p" + unit, "--ledger", book, "-o", out, "--runner", "prism"}
		args = args[:len(args):len(args)]
		for _, chunk := range []string{"0", "7"} {
			code, _, stderr := call(t, append(args, "--bounds", "0:1", "--chunk", chunk)...)
			if code != exitUsage || !strings.Contains(stderr, "most of the points lie outside the box") {
				t.Errorf("unit %s: exit %d: %s", unit, code, stderr)
			}
		}
		if n := debits(t, book, "p"+unit); n != 0 {
			t.Errorf("unit %s: %d debits", unit, n)
		}
		for _, c := range []struct{ bounds, outside, want string }{
			{"0:1", "zero", "most points lie outside the box; they count in n only"},
			{"0:7", "", "some points lie outside the box; they count in n only"},
			{"0:1", "clamp", "most points lie outside the box; they count as points on its edge"},
			{"0:9", "", ""},
		} {
			more := []string{"--bounds", c.bounds, "--force"}
			if c.outside != "" {
				more = append(more, "--outside", c.outside)
			}
			code, _, stderr := call(t, append(args, more...)...)
			if code != exitDone || !strings.Contains(stderr, c.want) || c.want == "" && strings.Contains(stderr, "outside") {
				t.Errorf("unit %s, %+v: exit %d: %s", unit, c, code, stderr)
			}
		}
	}
}
