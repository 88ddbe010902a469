package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// visits writes a table of (age, height) with a row for each age.
func visits(t *testing.T, head string, ages ...float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(head + "\n")
	for i, age := range ages {
		fmt.Fprintf(&b, "%d,%g,%g\n", i/2, age, 80+5*age)
	}
	return write(t, "visits.csv", b.String())
}

func regressFlags(more ...string) []string {
	return append([]string{"--x", "age", "--y", "height", "--domain", "1:18", "--tau", "8", "--epsilon", "1", "--delta", "1e-6", "--center", "120"}, more...)
}

// x outside the domain is refused where it stands, before anything is spent, unless it is to count as the nearest point.
func TestRegressOutside(t *testing.T) {
	book := filepath.Join(t.TempDir(), "l.db")
	path := visits(t, "visit,age,height", 3, 18, 18.5, 0.5, 4, 5)
	refused := append([]string{"regress", path}, regressFlags("--ledger", book)...)
	code, stdout, stderr := call(t, refused...)
	if code != exitFailed || stdout != "" {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"visits.csv:4", `"age"`, "18.5", "1:18", "1 more row", "not to be published", "--outside clamp", "nothing was spent"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the refusal lacks %q:\n%s", want, stderr)
		}
	}
	if exists(book) {
		t.Error("a ledger was opened")
	}
	stdout, stderr = must(t, append(refused, "--outside", "clamp", "-o", filepath.Join(t.TempDir(), "c.json"))...)
	if !strings.Contains(stderr, "2 rows with x outside") || !strings.Contains(stderr, "must not be published") || strings.Contains(stdout, "outside") || !strings.Contains(stdout, "n = 6,") {
		t.Errorf("clamped:\n%s%s", stdout, stderr)
	}
	if code, _, stderr := call(t, append(refused, "--outside", "drop")...); code != exitUsage || !strings.Contains(stderr, "clamp") {
		t.Errorf("drop: exit %d, %s", code, stderr)
	}
	// The second row of a person.
	if _, _, stderr := call(t, append(refused, "--unit", "visit", "--domain", "1:18.2")...); !strings.Contains(stderr, "visits.csv:4") {
		t.Error(stderr)
	}
	if _, _, stderr := call(t, append(refused, "--unit", "visit", "--domain", "1:17")...); !strings.Contains(stderr, "visits.csv:2, row 2 of the person") {
		t.Error(stderr)
	}
}

// What is wrong with the words of a call is said in the call's words, before anything is read or spent.
func TestRegressWords(t *testing.T) {
	path := visits(t, "visit,age,height", 3, 4, 5)
	rider := visits(t, "rider,age,height", 3, 4, 5)
	with := func(path string, more ...string) []string {
		return append([]string{"regress", path}, regressFlags(more...)...)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{with(rider), []string{`"rider"`, "--unit rider", "--unit -"}},
		{with(path, "--y", "heigth"), []string{"--y", "heigth", "did you mean --y height?"}},
		{with(path, "--y", "kWh"), []string{"--y names", "kWh", "age"}},
		{[]string{"regress", path, "--x", "Age", "--y", "height", "--domain", "1:18", "--tau", "8", "--epsilon", "1", "--delta", "1e-6"}, []string{"did you mean --x age?"}},
		{with(path, "--y", "age"), []string{"twice"}},
		{with(path, "--tau", "8s"), []string{"--tau", "a number", "without a unit"}},
		{with(path, "--tau", "NaN"), []string{"τ"}},
		{with(path, "--epsilon", "NaN"), []string{"NaN"}},
		{with(path, "--center", "Inf"), []string{"center"}},
		{with(path, "--delay", "-1"), []string{"--delay"}},
		{with(path, "--n", "-5"), []string{"--n"}},
		{with(path, "--epsilon", "300"), []string{"--weak"}},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage || stdout != "" || strings.Contains(stderr, "columns option") || strings.Contains(stderr, "strconv") || strings.Contains(stderr, "regression: ") {
			t.Errorf("%v: exit %d\n%s%s", c.args, code, stdout, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: %q is missing in\n%s", c.args[2:], want, stderr)
			}
		}
	}
}

// Standard input is checked like a file, without its number of people being given.
func TestRegressStandardInput(t *testing.T) {
	book := filepath.Join(t.TempDir(), "l.db")
	play := func(text string) (int, string) {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"regress", "-"}, regressFlags("--ledger", book, "-o", filepath.Join(t.TempDir(), "c.json"))...), strings.NewReader(text), &out, &errs)
		return code, out.String() + errs.String()
	}
	for text, want := range map[string]string{
		"rider,age,height\n1,3,90\n":      "--unit rider",
		"age,height\n3,90\n4,tall\n":      "standard input:3",
		"age,height\n3,90\n40,100\n":      "standard input:3",
		"age,height\n":                    "no rows",
		"":                                "empty",
		"years,height\n3,90\n":            "--x names",
		"age,height,age\n3,90,4\n4,9,9\n": "twice",
	} {
		if code, said := play(text); code == exitDone || !strings.Contains(said, want) || exists(book) {
			t.Errorf("%q: exit %d, %s", text, code, said)
		}
	}
	// Two people can take the curve nowhere, which is said.
	if code, said := play("age,height\n3,90\n4,100\n"); code != exitDone || !strings.Contains(said, "n = 2,") || !strings.Contains(said, "the reports of 2 people can take the curve") {
		t.Errorf("exit %d, %s", code, said)
	}
}

// Wherever a band of a regression is shown, it is said that it bounds the privacy noise and holds nothing else.
func TestBandOfARegression(t *testing.T) {
	dir := t.TempDir()
	release, svg, page := filepath.Join(dir, "c.json"), filepath.Join(dir, "c.svg"), filepath.Join(dir, "c.html")
	ages := make([]float64, 100)
	for i := range ages {
		ages[i] = 1 + float64(i%17)
	}
	stdout, _ := must(t, append([]string{"regress", visits(t, "visit,age,height", ages...)}, regressFlags("--ledger", "none", "-o", release)...)...)
	shown, _ := must(t, "show", release)
	for name, text := range map[string]string{"regress": stdout, "show": shown} {
		for _, want := range []string{"at most, root-mean-square", "an upper bound of the privacy noise", "center      120: the curve began there", "pull toward the center"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, text)
			}
		}
	}
	text, _ := must(t, "show", release, "--json")
	var summary struct{ Band string }
	if err := json.Unmarshal([]byte(text), &summary); err != nil || !strings.Contains(summary.Band, "upper bound") {
		t.Errorf("show --json: %v, %s", err, text)
	}
	must(t, "plot", release, "-o", svg)
	must(t, "report", release, "-o", page)
	for _, path := range []string{svg, page} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(data); !strings.Contains(strings.Join(strings.Fields(text), " "), "upper") || !strings.Contains(text, "center") {
			t.Errorf("%s does not say what its band is", filepath.Base(path))
		}
	}
	for _, args := range [][]string{{"eval", release, "--at", "3,5"}, {"eval", release, "--at", "3,5", "--json"}} {
		stdout, stderr := must(t, args...)
		if !strings.Contains(stderr, "an upper bound of the privacy noise") || strings.Contains(stdout, "upper") {
			t.Errorf("%v: %s%s", args, stdout, stderr)
		}
	}
	// Others have their own.
	mean := filepath.Join(dir, "m.json")
	must(t, "mean", cohort(t), "--bound", "5", "--mu", "1", "--space", "legendre:3", "--ledger", "none", "-o", mean)
	if _, stderr := must(t, "eval", mean); !strings.HasPrefix(stderr, "curveil: the band is privacy noise only; not in it: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("eval of a mean: %s", stderr)
	}
}
