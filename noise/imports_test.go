package noise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayKey lists the packages that may read crypto/rand: for tokens and keys, never for
// noise.
var mayKey = []string{"ledger", "collector", "beam"}

// violations says what is wrong with a file in package dir (slash-separated, from
// the module root) that is no test.
func violations(dir string, file *ast.File) (found []string) {
	top, _, _ := strings.Cut(dir, "/")
	if top == "noise" || top == "internal" {
		return nil
	}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{err.Error()}
		}
		switch {
		case path == "math/rand", path == "math/rand/v2", path == "golang.org/x/exp/rand":
		case path == "crypto/rand" && !slices.Contains(mayKey, top):
		default:
			continue
		}
		found = append(found, "imports "+path+": random numbers for noise come only from package noise, those of simulations from internal/simulate")
	}
	return found
}

func TestNoiseComesOnlyFromThisPackage(t *testing.T) {
	root := ".."
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the module root is not the parent of package noise: %v", err)
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler reports it
		}
		files++
		relative, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, v := range violations(filepath.ToSlash(relative), file) {
			t.Errorf("%s %s", path, v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 5 {
		t.Errorf("only %d files found: the walk does not see the repository", files)
	}
}

func TestImportRule(t *testing.T) {
	for _, c := range []struct {
		dir, source string
		forbidden   bool
	}{
		{"mean", `import "math/rand"; var _ *rand.Rand`, true},
		{"mean", `import "math/rand/v2"; var _ = rand.NormFloat64()`, true},
		{"mean", `import "math/rand/v2"; var _ *rand.Rand = rand.New(nil)`, true},
		{"mean", `import "math/rand/v2"; var _ *rand.Rand`, true},
		{"mean", `import r "math/rand/v2"; var _ = r.Uint64`, true},
		{"mean", `import . "math/rand/v2"; var _ = Uint64`, true},
		{"mean", `import "golang.org/x/exp/rand"; var _ *rand.Rand`, true},
		{"cmd/curveil", `import "math/rand/v2"; var _ = rand.Uint64`, true},
		{"mechanism", `import "crypto/rand"; var _ = rand.Read`, true},
		{".", `import "crypto/rand"; var _ = rand.Read`, true},
		{"ledger", `import "math/rand/v2"; var _ = rand.Uint64`, true},
		{"ledger", `import "crypto/rand"; var _ = rand.Text`, false},
		{"collector/store", `import "crypto/rand"; var _ = rand.Text`, false},
		{"noise", `import "math/rand/v2"; var _ = rand.Uint64`, false},
		{"internal/simulate", `import "math/rand/v2"; var _ = rand.Uint64`, false},
		{"noisey", `import "math/rand"; var _ = rand.Int`, true},
		{"mean", `import "math"; var _ = math.Pi`, false},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+c.source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := violations(c.dir, file); (len(got) > 0) != c.forbidden {
			t.Errorf("%s with %s: %q, want forbidden: %v", c.dir, c.source, got, c.forbidden)
		}
	}
}
