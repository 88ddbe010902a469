package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a release, its picture and its page say of their own faults.

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// words undoes the line breaks of a picture's captions.
func words(svg string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(svg, " ")), " ")
}

// A bound that is far too small shows in the release: it is said in the summary, the picture, the page and by eval; a bound that
// holds everybody raises no such remark.
func TestBoundTooSmallIsSeen(t *testing.T) {
	growth, dir := real(t, "growth.csv"), t.TempDir()
	for bound, want := range map[string]bool{"10": true, "60": false} {
		rel, svg, page := filepath.Join(dir, bound+".json"), filepath.Join(dir, bound+".svg"), filepath.Join(dir, bound+".html")
		stdout, _ := must(t, "mean", growth, "--center", "120", "--bound", bound, "--mu", "2", "--unit-name", "child", "-o", rel, "--plot", svg, "--ledger", "none")
		must(t, "report", rel, "-o", page)
		values, stderr := must(t, "eval", rel)
		shown, _ := must(t, "show", rel, "--json")
		for place, s := range map[string]string{"summary": stdout, "picture": words(text(t, svg)), "page": text(t, page), "eval": stderr, "show": shown} {
			if strings.Contains(s, "bound was probably too small") != want {
				t.Errorf("bound %s, %s: want the remark: %v\n%s", bound, place, want, s)
			}
			if !strings.Contains(s, "not in it: curves beyond the radius") {
				t.Errorf("bound %s, %s: the band does not say what it does not hold", bound, place)
			}
		}
		if strings.Contains(values, "bound") {
			t.Error(values)
		}
	}
}

// The noise that is planned is that of the release, and no predicted error is below it while the ball is far.
func TestPlanAndReleaseAgree(t *testing.T) {
	growth := real(t, "growth.csv")
	plan, _ := must(t, "plan", "mean", "--n", "93", "--domain", "1:18", "--center", "120", "--bound", "60", "--mu", "1")
	m := regexp.MustCompile(`fit-then-protect +([0-9.]+) +([0-9.]+)`).FindStringSubmatch(plan)
	stdout, _ := must(t, "mean", growth, "--center", "120", "--bound", "60", "--mu", "1", "--unit-name", "child", "-o", filepath.Join(t.TempDir(), "x.json"), "--ledger", "none")
	if m == nil || !strings.Contains(stdout, "sd "+m[1]+" root-mean-square") {
		t.Fatalf("%s\n%s", plan, stdout)
	}
	noise, _ := strconv.ParseFloat(m[1], 64)
	if e, _ := strconv.ParseFloat(m[2], 64); e < noise {
		t.Errorf("predicted error %s below its noise %s", m[2], m[1])
	}
}

// Several components: what is together, what for each.
func TestComponentsTogether(t *testing.T) {
	plan, _ := must(t, "plan", "mean", "--n", "39", "--domain", "0:1", "--components", "2", "--space", "fourier:7", "--bound", "30", "--mu", "1")
	stdout, _ := must(t, "mean", real(t, "gait.csv"), "--domain", "0:1", "--center", "20,30", "--space", "fourier:7", "--bound", "30", "--mu", "1", "--unit-name", "boy", "-o", filepath.Join(t.TempDir(), "x.json"), "--ledger", "none")
	for _, want := range []string{"all components together", "in each component", fmt.Sprintf("%.3g", 2*30/39.0*3.7416573867739413)} { // 2B′√14/(nμ)
		if !strings.Contains(plan, want) || !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s\nor\n%s", want, plan, stdout)
		}
	}
}
