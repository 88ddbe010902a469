package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's console blocks are run as they stand, in order and in one
// folder, and must print what the README says. With UPDATE_README=1 the test
// writes what they print into the README instead.
//
// What the noise decides is compared in shape only.
func TestReadme(t *testing.T) {
	data := filepath.Dir(real(t, "growth.csv"))
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("CURVEIL_LEDGER", "curveil.db")
	if err := os.Symlink(data, "data"); err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```console\n(.*?)```")
	blocks := 0
	updated := block.ReplaceAllStringFunc(string(text), func(old string) string {
		blocks++
		body := block.FindStringSubmatch(old)[1]
		var out strings.Builder
		for line := range strings.Lines(body) {
			words, isCall := strings.CutPrefix(line, "$ curveil ")
			if !isCall {
				continue
			}
			code, stdout, stderr := call(t, append(strings.Fields(words), "--who", "ada")[:len(strings.Fields(words))+who(words)]...)
			if code != exitDone && code != exitBudget {
				t.Errorf("%s: exit %d\n%s", line, code, stderr)
			}
			out.WriteString(line + stdout + stderr)
		}
		if vague(out.String()) != vague(body) {
			t.Errorf("the README says\n%s\nbut it is\n%s\n(UPDATE_README=1 go test ./cmd/curveil -run Readme writes it)", body, out.String())
		}
		return "```console\n" + out.String() + "```"
	})
	if blocks < 10 {
		t.Errorf("only %d console blocks found", blocks)
	}
	if os.Getenv("UPDATE_README") != "" {
		if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// who is 2 for the verbs that take --who, whose default is the user of the machine.
func who(words string) int {
	if strings.HasPrefix(words, "regress ") || strings.HasPrefix(words, "density ") || strings.HasPrefix(words, "curve ") || strings.HasPrefix(words, "mean ") || strings.HasPrefix(words, "bound ") || strings.HasPrefix(words, "ledger cap") {
		return 2
	}
	return 0
}

var noisy = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^[0-9].*,.*$`),                                 // values of a release
	regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ?[^ ]*`),           // times in a history
	regexp.MustCompile(`private bound [0-9.]+`),                            // an edge, by the noise
	regexp.MustCompile(`between \d+% and \d+%`),                            // its accuracy
	regexp.MustCompile(`rank +\d+`),                                        // by the noisy coefficients
	regexp.MustCompile(`noise +sd [0-9.e+]+.*`),                            // a curve's level, chosen privately
	regexp.MustCompile(`piecewise:\d+`),                                    // likewise
	regexp.MustCompile(`μ 0\.\d+`),                                         // what an audit proved
	regexp.MustCompile(`, before the projection onto the ball reduced it`), // whether the noise left the ball
}

// vague blanks what the noise or the clock decides.
func vague(s string) string {
	for _, r := range noisy {
		s = r.ReplaceAllString(s, "*")
	}
	return s
}
