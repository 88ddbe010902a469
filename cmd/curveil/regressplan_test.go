package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// A plan prints every guess that it rests on, given or not.
func TestPlanRegressionGuesses(t *testing.T) {
	flags := []string{"plan", "regression", "--n", "5000", "--domain", "0:3", "--center", "4000", "--tau", "1000", "--epsilon", "1", "--delta", "1e-6"}
	for _, c := range []struct {
		more []string
		want []string
	}{
		{nil, []string{"where one is wrong, so is the prediction", "1500 from the center 4000", "--signal, by default 1.5 τ", "sd 743.5", "--noise, by default τ/1.345",
			"uniform over the domain (--x-density)", "r = 1 (--smoothness)", "far from the center", "3 times as far"}},
		{[]string{"--signal", "9000", "--noise", "50", "--smoothness", "0.5"}, []string{"9000 from the center 4000, root-mean-square (--signal)", "sd 50", "(--noise)", "r = 0.5"}},
		{[]string{"--truth", "0:9000,3:9000", "--x-density", "0:1,1:1,3:0"}, []string{"that of --truth, 5000 from the center", "as in --x-density", "much of the error is bias"}},
	} {
		stdout, _ := must(t, append(flags, c.more...)...)
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v: %q is missing in\n%s", c.more, want, stdout)
			}
		}
	}
	for _, more := range [][]string{
		{"--truth", "0:1,2:3"}, {"--truth", "0:1,3:x"}, {"--truth", "3:1,0:1"}, {"--truth", "0:1;3:1"}, {"--truth", "0:1,3:2", "--signal", "4"},
		{"--x-density", "0:-1,3:1"}, {"--x-density", "0:0,3:0"}, {"--signal", "0"}, {"--noise", "-1"}, {"--signal", "NaN"},
	} {
		if code, _, stderr := call(t, append(flags, more...)...); code != exitUsage {
			t.Errorf("%v: exit %d, %s", more, code, stderr)
		}
	}
	// A curve ten times as far is predicted to be missed by far more: the people are too few to move the estimate there.
	read := func(more ...string) float64 {
		stdout, _ := must(t, append(append(flags, "--json"), more...)...)
		var out struct{ Predictions []struct{ Default float64 } }
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		return out.Predictions[0].Default
	}
	if near, far := read(), read("--signal", "15000"); far < 10*near {
		t.Errorf("error %v with a signal of 1.5 τ, %v with 15 τ", near, far)
	}
}
