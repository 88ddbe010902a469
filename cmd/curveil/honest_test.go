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

// A density may be negative: said where it is, and --nonnegative gives what a density can be.
func TestNegativeDensity(t *testing.T) {
	dir := t.TempDir()
	two, one := filepath.Join(dir, "2.json"), filepath.Join(dir, "1.json")
	points := scatter(t, 500, 0)
	must(t, "density", points, "--columns", "lon,lat", "--bounds", "-122.52:-122.25,37.60:37.82", "--rho", "1", "--rank", "8", "-o", two, "--ledger", "none")
	must(t, "density", points, "--columns", "lon", "--bounds", "-123:-122", "--rho", "1", "--rank", "16", "-o", one, "--ledger", "none")
	for _, c := range []struct{ rel, at string }{
		{two, "-122.5,37.61;-122.49,37.81;-122.45,37.65;-122.3,37.7;-122.28,37.8;-122.44,37.62;-122.36,37.79"}, {one, ""},
	} {
		args := []string{"eval", c.rel}
		if c.at != "" {
			args = append(args, "--at", c.at)
		}
		stdout, stderr := must(t, args...)
		if !strings.Contains(stdout, ",-") || !strings.Contains(stderr, "--nonnegative gives the nearest proper density") {
			t.Errorf("%s\n%s", stdout, stderr)
		}
		stdout, stderr = must(t, append(args, "--nonnegative")...)
		for line := range strings.Lines(stdout) {
			cells := strings.Split(strings.TrimSpace(line), ",")
			if v := cells[len(cells)-1]; strings.HasPrefix(v, "-") || strings.HasSuffix(v, "high") {
				t.Errorf("%s\n%s", stdout, stderr)
			}
		}
		if strings.Contains(stderr, "negative values") || strings.Contains(stderr, "the band") {
			t.Error(stderr)
		}
	}
}

// A plan of a density says what it takes the density for, and takes another guess.
func TestDensityPlanSaysItsGuess(t *testing.T) {
	args := []string{"plan", "density", "--n", "50000", "--bounds=-122.52:-122.35,37.60:37.82", "--rho", "0.5"}
	smooth, _ := must(t, args...)
	peaky, _ := must(t, append(args, "--peaks", "0.015")...)
	for want, s := range map[string]string{"as smooth as one wave across the box": smooth, "--peaks W": smooth, "0.015 of the box's side wide": peaky, "a larger --rank": peaky} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if _, _, stderr := call(t, append(args, "--peaks", "0.1", "--smoothness", "2")...); !strings.Contains(stderr, "leave one of them out") {
		t.Error(stderr)
	}
}

// A picture that shows the original says first that it must not be published, and so does the call; one that shows only the release says nothing of the kind.
func TestOwnPicture(t *testing.T) {
	dir := t.TempDir()
	track := write(t, "track.csv", "t,x\n0,1\n1,2\n2,5\n3,3\n4,1\n")
	for _, own := range []bool{true, false} {
		svg := filepath.Join(dir, fmt.Sprint(own, ".svg"))
		args := []string{"curve", track, "--rho", "1", "--window", "0:4", "--every", "1", "--max-gap", "inf", "-o", filepath.Join(dir, fmt.Sprint(own, ".csv")), "--plot", svg, "--ledger", "none"}
		if own {
			args = append(args, "--own")
		}
		_, stderr := must(t, args...)
		caption := words(text(t, svg))
		if strings.Contains(caption, "Not private: it shows the original. Do not publish. ρ = 1") != own || strings.Contains(stderr, "Do not publish") != own {
			t.Errorf("--own %v: %s\n%s", own, caption, stderr)
		}
	}
}

// A call whose guesses say that nothing can survive is warned of before it spends; the help's example is one that works.
func TestCurveWarnsOfNoise(t *testing.T) {
	ecg, dir := real(t, filepath.Join("ecg", "ptb_s0010_ii_100hz.csv")), t.TempDir()
	run := func(more ...string) (stdout, stderr string) {
		args := []string{"curve", ecg, "--window", "0:10", "--every", "0.01", "--max-gap", "0.1", "-o", filepath.Join(dir, "x.csv"), "--force", "--ledger", "none"}
		return must(t, append(args, more...)...)
	}
	const warning, remark = "too small for any shape to survive", "hardly any shape rose above the noise"
	// In microvolts ρ = 1e-6 is what ρ = 1 would be in millivolts.
	if stdout, stderr := run("--rho", "1e-6", "--size", "130", "--roughness", "200"); !strings.Contains(stderr, warning) || !strings.Contains(stdout, remark) {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if _, stderr := run("--rho", "1e-6", "--size", "130", "--dry-run"); !strings.Contains(stderr, warning) {
		t.Error(stderr)
	}
	example := regexp.MustCompile(`microvolts.csv --rho (\S+) --window 0:10`).FindStringSubmatch(curveCommand().Example)
	if example == nil {
		t.Fatal(curveCommand().Example)
	}
	stdout, stderr := run("--rho", example[1], "--size", "130", "--roughness", "200")
	if strings.Contains(stderr, warning) || strings.Contains(stdout, remark) {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if !strings.Contains(stdout, "an estimate and no bound") || strings.Contains(stdout, "at most about") {
		t.Error(stdout)
	}
}

// The page of a curve says what is known of its error.
func TestReportOfACurveSaysItsAccuracy(t *testing.T) {
	dir := t.TempDir()
	track := write(t, "track.csv", "t,x\n0,1\n1,2\n2,5\n3,3\n4,1\n")
	for method, want := range map[string]string{"denoise": "does not know its own error", "project": "Detail that the functions cannot follow is lost besides"} {
		rel, page := filepath.Join(dir, method+".json"), filepath.Join(dir, method+".html")
		must(t, "curve", track, "--rho", "1", "--method", method, "--window", "0:4", "--every", "1", "--max-gap", "inf", "-o", filepath.Join(dir, method+".csv"), "--release", rel, "--ledger", "none")
		must(t, "report", rel, "-o", page)
		if !strings.Contains(text(t, page), want) {
			t.Errorf("%s: no %q", method, want)
		}
	}
}
