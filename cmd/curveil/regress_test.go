package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The band of a regression is for the most noise that can be left; how much is likely to be is said before anything is spent, and
// is what there is: twelve releases of one table differ by it.
func TestRegressSaysHowMuchNoiseIsLikely(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("x,y\n")
	for range 3000 {
		x := rnd.Float64()
		fmt.Fprintf(&b, "%.4f,%.4f\n", x, 2*x-1+.3*rnd.NormFloat64())
	}
	path := write(t, "table.csv", b.String())
	args := []string{"regress", path, "--x", "x", "--y", "y", "--domain", "0:1", "--tau", "1", "--epsilon", "4", "--delta", "1e-5", "--unit", "-", "--ledger", "none", "--force"}
	const runs, points = 12, 21
	var likely float64
	values := make([][]float64, runs)
	for i := range runs {
		out := filepath.Join(t.TempDir(), "r.json")
		_, said := must(t, append(args, "-o", out)...)
		m := regexp.MustCompile(`an sd of about (\S+) of the privacy noise is likely`).FindStringSubmatch(said)
		if m == nil {
			t.Fatal(said)
		}
		likely, _ = strconv.ParseFloat(m[1], 64)
		text, _ := must(t, "eval", out)
		for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
			v, err := strconv.ParseFloat(strings.Split(line, ",")[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			values[i] = append(values[i], v)
		}
	}
	var found float64
	for k := range points {
		var sum, square float64
		for i := range runs {
			sum += values[i][k]
			square += values[i][k] * values[i][k]
		}
		found += (square - sum*sum/runs) / (runs - 1) / points
	}
	// The variance has some fifty degrees of freedom: a factor of three on it is beyond one in a million.
	if ratio := found / (likely * likely); ratio < 1./3 || ratio > 3 {
		t.Errorf("variance %g, likely %g", found, likely*likely)
	}
}

func TestRegressRefusesBeforeSpending(t *testing.T) {
	path := write(t, "table.csv", "a,b,c,y\n.1,.2,.3,1\n.2,.3,.4,2\n")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"has no picture", []string{"--x", "a,b,c", "--domain", "0:1,0:1,0:1", "--plot", filepath.Join(t.TempDir(), "p.png")}},
		{"all but zero", []string{"--x", "a", "--domain", "0:1", "--space", "kernel:gauss:0.1%"}},
	} {
		out, ledger := filepath.Join(t.TempDir(), "r.json"), filepath.Join(t.TempDir(), "l.db")
		code, _, said := call(t, append([]string{"regress", path, "--y", "y", "--tau", "1", "--epsilon", "1", "--delta", "1e-6", "--unit", "-", "-o", out, "--ledger", ledger}, c.args...)...)
		if code != exitUsage || !strings.Contains(said, c.says) {
			t.Errorf("exit %d, %s, want %q", code, said, c.says)
		}
		for _, name := range []string{out, ledger} {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%q: %s is there", c.says, name)
			}
		}
	}
}
