package reproduce

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/results.md has, for every name, a row in the list of verdicts, a section with its command, a verdict and a paragraph
// for users, and its pictures; and no picture or name that is not there.
func TestDocument(t *testing.T) {
	dir := filepath.Join("..", "..", "docs")
	data, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	_, checklist, _ := strings.Cut(text, "## Every figure and table")
	checklist, verdicts, _ := strings.Cut(checklist, "## Verdicts")
	known := map[string]bool{}
	for _, e := range All() {
		known[e.Name] = true
		section := regexp.MustCompile("(?s)\\n### [^\\n]*\\n\\n\\[" + e.Paper + "\\] [^\\n]*`curveil reproduce " + e.Name + " [^\\n]*`\\n(.*?)(\\n##|$)").FindStringSubmatch(text)
		if section == nil {
			t.Errorf("%s: no section with its command", e.Name)
			continue
		}
		for _, part := range []string{"- Claim: ", "repetitions): **", "](results/" + e.Name, "\nFor a user: "} {
			if !strings.Contains(section[1], part) {
				t.Errorf("%s: its section lacks %q", e.Name, part)
			}
		}
		verdict := regexp.MustCompile(`repetitions\): \*\*([a-z ]+)\*\*`).FindStringSubmatch(section[1])
		if verdict == nil || !regexp.MustCompile(`\[`+e.Name+`\]\(#[^)]*\) \|[^|]*\| `+verdict[1]+` \|`).MatchString(verdicts) {
			t.Errorf("%s: the list of verdicts does not say %v", e.Name, verdict)
		}
		if !regexp.MustCompile(`[ ,]` + e.Name + `[ ,:]`).MatchString(checklist) {
			t.Errorf("%s: not in the list of figures and tables", e.Name)
		}
	}
	for _, name := range regexp.MustCompile("curveil reproduce ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		if !known[name[1]] && name[1] != "list" {
			t.Errorf("there is no %q", name[1])
		}
	}
	used := map[string]bool{}
	for _, link := range regexp.MustCompile(`\]\(results/([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		used[link[1]] = true
		if _, err := os.Stat(filepath.Join(dir, "results", link[1])); err != nil {
			t.Error(err)
		}
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "results", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if !used[filepath.Base(p)] {
			t.Errorf("%s is not in the text", p)
		}
	}
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors[strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} -]`).ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if !anchors[link[1]] {
			t.Errorf("no heading for #%s", link[1])
		}
	}
}
