// Package docs holds no code: its tests check the documents against it.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var reference = regexp.MustCompile(`docs/privacy\.md#([a-z0-9-]+)`)

// headings are the proof notes: the anchors of the second-level headings.
func headings(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			out[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")] = true
		}
	}
	return out
}

// Whatever draws noise has a doc comment that names its proof note, and the note
// exists: every type of package mechanism, and every function of the packages above
// it, that takes a noise source and is exported.
func TestEveryMechanismHasAProofNote(t *testing.T) {
	notes, used := headings(t), map[string]bool{}
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
			if !notes[m[1]] {
				t.Errorf("%s refers to docs/privacy.md#%s, which does not exist", path, m[1])
			}
		}
		top := strings.Split(filepath.ToSlash(path), "/")[1]
		switch top {
		case "noise", "internal", "audit", "cmd":
			return nil
		}
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		checkFile(t, file, path, top == "mechanism")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, contract := range []string{"the-contract", "floating-point", "composition"} {
		if !notes[contract] {
			t.Errorf("docs/privacy.md has no section %q", contract)
		}
		delete(notes, contract)
	}
	for note := range notes {
		if !used[note] {
			t.Errorf("nothing refers to the proof note %q", note)
		}
	}
}

// checkFile finds the functions that take a *noise.Source. In package mechanism
// the receiver's doc comment may hold the reference.
func checkFile(t *testing.T, file *ast.File, path string, mechanism bool) {
	types := map[string]string{}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if ts, ok := s.(*ast.TypeSpec); ok {
					types[ts.Name.Name] = g.Doc.Text() + ts.Doc.Text()
				}
			}
		}
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || !takesSource(f) {
			continue
		}
		doc := f.Doc.Text()
		if f.Recv != nil {
			star := f.Recv.List[0].Type
			if s, ok := star.(*ast.StarExpr); ok {
				star = s.X
			}
			if id, ok := star.(*ast.Ident); ok && mechanism {
				doc += types[id.Name]
			}
		}
		if !reference.MatchString(doc) {
			t.Errorf("%s: %s draws noise, but its doc comment names no docs/privacy.md#note", path, f.Name.Name)
		}
	}
}

func takesSource(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "Source" {
				return true
			}
		}
	}
	return false
}
