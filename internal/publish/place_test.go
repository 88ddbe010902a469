package publish

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/unwritable"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// What cannot be written is refused before anything is spent, and leaves nothing.
func TestCheckTriesTheFolder(t *testing.T) {
	folder := unwritable.Folder(t)
	for _, o := range []Output{
		{Out: filepath.Join(folder, "x.json")},
		{Picture: filepath.Join(folder, "x.svg")},
		{Out: filepath.Join(t.TempDir(), strings.Repeat("x", 300)+".json")},
	} {
		if err := o.Check(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	dir := t.TempDir()
	o := Output{Out: filepath.Join(dir, "x.json"), Picture: filepath.Join(dir, "x.svg")}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("the trial left %v", left)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// made is a release of three people.
func made(t *testing.T) *release.Release {
	t.Helper()
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mean.New(mean.Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := m.Add(fit.Curve{{T: []float64{0.2, 0.6}, X: []float64{0, 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := m.Release(noise.Crypto())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A release that cannot be written after it was paid for is kept, recorded and found.
func TestUnwrittenReleaseIsKept(t *testing.T) {
	for name, spoil := range map[string]func(o *Output, cmd *cobra.Command){
		"standard output": func(_ *Output, cmd *cobra.Command) { cmd.SetOut(full{}) },
		"folder gone": func(o *Output, _ *cobra.Command) {
			o.Out = filepath.Join(filepath.Dir(o.Picture), "gone", "x.json")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := &Output{Picture: filepath.Join(dir, "x.svg")}
			var stdout, stderr bytes.Buffer
			cmd := &cobra.Command{}
			cmd.SetContext(t.Context())
			cmd.SetOut(&stdout)
			cmd.SetErr(&stderr)
			spoil(o, cmd)
			o.Picture = ""
			if o.Out != "" {
				if err := os.Mkdir(filepath.Dir(o.Out), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b := &Budget{Where: filepath.Join(dir, "ledger.db"), Dataset: "d"}
			book, err := b.Open(t.Context(), &stderr)
			if err != nil {
				t.Fatal(err)
			}
			defer book.Close()
			r := made(t)
			err = Release(cmd, Expenditure{Budget: b, Book: book, Dataset: "d", Verb: "mean", Statement: r.Privacy}, o, false, func() (*release.Release, error) {
				if o.Out != "" {
					os.RemoveAll(filepath.Dir(o.Out))
				}
				return r, nil
			})
			kept, _ := filepath.Glob(filepath.Join(dir, "curveil-rescued-*.json"))
			if err == nil || len(kept) != 1 || !strings.Contains(err.Error(), kept[0]) {
				t.Fatalf("kept %v: %v", kept, err)
			}
			want, _ := Encode(r)
			if text, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(text, want) {
				t.Errorf("it holds %q, %v", text, err)
			}
			if s, err := book.Show(t.Context(), "d"); err != nil || s.Debits != 1 || s.Unreleased != 0 {
				t.Errorf("the ledger says %+v, %v", s, err)
			}
		})
	}
}

// A picture or a summary that fails afterwards leaves the release safe, and the error says so.
func TestFailuresAfterwards(t *testing.T) {
	for name, asJSON := range map[string]bool{"picture": false, "summary": true} {
		dir := t.TempDir()
		o := &Output{Out: filepath.Join(dir, "x.json")}
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		cmd.SetErr(&bytes.Buffer{})
		cmd.SetOut(&bytes.Buffer{})
		if asJSON {
			cmd.SetOut(full{})
		} else {
			o.Picture = filepath.Join(dir, "no such folder", "x.svg")
		}
		b := &Budget{Where: filepath.Join(dir, "ledger.db"), Dataset: "d"}
		book, err := b.Open(t.Context(), &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		r := made(t)
		err = Release(cmd, Expenditure{Budget: b, Book: book, Dataset: "d", Verb: "mean", Statement: r.Privacy}, o, asJSON, func() (*release.Release, error) { return r, nil })
		if err == nil || !strings.Contains(err.Error(), "The release is in "+o.Out) || !strings.Contains(err.Error(), "at no cost") {
			t.Errorf("%s: %v", name, err)
		}
		if s, err := book.Show(t.Context(), "d"); err != nil || s.Debits != 1 || s.Unreleased != 0 {
			t.Errorf("%s: the ledger says %+v, %v", name, s, err)
		}
		book.Close()
	}
}

// Pure ε is not said to be the μ that it is counted as.
func TestPureIsAtMost(t *testing.T) {
	b := &Budget{Where: filepath.Join(t.TempDir(), "ledger.db"), Dataset: "d"}
	book, err := b.Open(t.Context(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	spend := func(g privacy.Guarantee) string {
		e, err := b.Debit(t.Context(), book, "d", "mean", privacy.Statement{Guarantee: g, Adjacency: privacy.ReplaceOne, Unit: "person"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e.Standing(&out)
		return out.String()
	}
	if got := spend(privacy.Pure(2)); !strings.Contains(got, "ε = 2 (pure DP), counted as the μ that it implies") || !strings.Contains(got, "μ ≤ 2.35797") || strings.Contains(got, "13.4") {
		t.Error(got)
	}
	if got := spend(privacy.GDP(1)); !strings.Contains(got, "μ ≤ 2.56") || !strings.Contains(got, "ε ≤ ") || strings.Contains(got, "=") && strings.Contains(got, "= ρ") {
		t.Error(got)
	}
}

// A merge has no --unit-name to advise.
func TestMergeAdvisesWhatItHas(t *testing.T) {
	b := &Budget{Where: filepath.Join(t.TempDir(), "ledger.db"), Merges: true}
	cmd := &cobra.Command{}
	b.Register(cmd.Flags())
	b.Where = filepath.Join(t.TempDir(), "ledger.db")
	book, err := b.Open(t.Context(), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	s := privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "child"}
	if _, err := b.Debit(t.Context(), book, "d", "mean", s, nil); err != nil {
		t.Fatal(err)
	}
	s.Unit = "visit"
	if _, err := b.Debit(t.Context(), book, "d", "mean", s, nil); err == nil || !strings.Contains(err.Error(), `make the partials with --unit-name "child"`) {
		t.Errorf("%v", err)
	}
}

// A budget of a track is judged by two tracks that hardly differ.
func TestAcceptApart(t *testing.T) {
	for g, refused := range map[privacy.Guarantee]bool{
		privacy.ConcentratedGeo(500): true, privacy.ConcentratedGeo(0.5): true, privacy.ConcentratedGeo(0.49): false, privacy.ConcentratedGeo(0.005): false,
		privacy.Geo(2): true, privacy.Geo(1): false, privacy.Geo(0.02): false, privacy.GDP(100): false,
	} {
		var stderr bytes.Buffer
		b := &Budget{stderr: &stderr}
		if err := b.AcceptApart(g, 10, 10); (err != nil) != refused || refused && !strings.Contains(err.Error(), "--weak") {
			t.Errorf("%v: %v", g, err)
		}
		b.Weak = true
		if err := b.AcceptApart(g, 10, 10); err != nil || strings.Contains(stderr.String(), "WARNING") != refused {
			t.Errorf("%v: %v %s", g, err, &stderr)
		}
	}
}
