package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The console blocks of the README, and of the guide that a new user follows, are run as they stand, in order and in one
// folder, and must print what the text says. With UPDATE_README=1 the test writes what they print into the text instead.
//
// What the noise decides is compared in shape only.
func TestReadme(t *testing.T) {
	for _, c := range []struct {
		path   string
		blocks int // at least
	}{{"README.md", 10}, {"docs/choosing.md", 6}} {
		t.Run(c.path, func(t *testing.T) { consoleBlocks(t, filepath.Join("..", "..", c.path), c.blocks) })
	}
}

func consoleBlocks(t *testing.T, path string, least int) {
	data := filepath.Dir(real(t, "growth.csv"))
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, link := range []string{filepath.Join(dir, "work", "data"), filepath.Join(dir, "shared", "data")} { // data/… and ../shared/data/… in the texts
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(data, link); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "work"))
	t.Setenv("CURVEIL_LEDGER", "curveil.db")
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
			t.Errorf("the text says\n%s\nbut it is\n%s\n(UPDATE_README=1 go test ./cmd/curveil -run Readme writes it)", body, out.String())
		}
		return "```console\n" + out.String() + "```"
	})
	if blocks < least {
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
	regexp.MustCompile(`radius +[0-9.]+ root-mean-square`),                 // likewise, where it was bought
	regexp.MustCompile(`between \d+% and \d+%`),                            // its accuracy
	regexp.MustCompile(`rank +\d+`),                                        // by the noisy coefficients
	regexp.MustCompile(`noise +sd [0-9.e+]+.*`),                            // a curve's level, chosen privately
	regexp.MustCompile(`piecewise:\d+`),                                    // likewise
	regexp.MustCompile(`μ 0\.\d+`),                                         // what an audit proved
	regexp.MustCompile(`, before the projection onto the ball reduced it`), // whether the noise left the ball
}

// remark is about a release, which the noise may or may not give cause for.
var remark = regexp.MustCompile(`(?m)^  REMARK .*\n`)

// vague blanks what the noise or the clock decides.
func vague(s string) string {
	s = remark.ReplaceAllString(s, "")
	for _, r := range noisy {
		s = r.ReplaceAllString(s, "*")
	}
	return s
}
