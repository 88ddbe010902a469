package reproduce

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/space"
)

func result(t *testing.T, name string, reps int) *Result {
	t.Helper()
	e, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(context.Background(), Options{Reps: reps})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if len(row) != len(r.Columns) {
			t.Fatalf("%s: %d fields for %d columns", name, len(row), len(r.Columns))
		}
		for i, v := range row {
			if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
				t.Errorf("%s: %s is %v in %v", name, r.Columns[i], x, row)
			}
		}
	}
	if len(r.Pictures) == 0 || r.Claim == "" || r.Finding == "" {
		t.Errorf("%s: no picture, claim or finding", name)
	}
	t.Logf("%s: %s: %s", name, r.Verdict, r.Finding)
	return r
}

// Small versions of the experiments whose verdicts do not hang on chance: within a run every comparison leaves
// z = 5.4 standard errors, a false alarm of 4e-8 each if normal, or is one of a difference many times that. The seeds are
// fixed, so that a change of verdict is a change of the code.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		reps int
		want Verdict
	}{
		{"mean-ratio-rkhs", 40, Depends}, // the limit holds; the advantage at small n goes with the projection
		{"mean-ratio-polynomial", 40, Depends},
		{"mean-active", 20, Depends},
		{"mean-pure", 400, Holds},
		{"curve-distances", 2, Holds},
		{"curve-shapes", 60, Holds},
		{"density-n", 2, Holds},
		{"density-rho", 2, Holds},
		{"density-d", 2, Holds},
		{"regression-rate", 2, Fails},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := result(t, c.name, c.reps); r.Verdict != c.want {
				t.Errorf("verdict %q, want %q", r.Verdict, c.want)
			}
		})
	}
}

func number(t *testing.T, r *Result, row []any, column string) float64 {
	t.Helper()
	for i, name := range r.Columns {
		if name == column {
			switch v := row[i].(type) {
			case float64:
				return v
			case int:
				return float64(v)
			}
		}
	}
	t.Fatalf("no number %q in %v", column, r.Columns)
	return 0
}

// At σ₀ = 10, n = 4096 the polynomial ratio is 0.47 for m = 4 and 1.46 for m = 8, standard errors of 30 repetitions below
// 0.04: 10 standard errors from 1.
func TestObservationNoise(t *testing.T) {
	for _, m := range []int{4, 8} {
		s, err := polynomials.make(m)
		if err != nil {
			t.Fatal(err)
		}
		e, err := meanCell{meanSetting: s, n: 4096, mu: 1, sigma: 10, radius: polynomials.noiseRadius(4096), seed: uint64(m)}.measure(30)
		if err != nil {
			t.Fatal(err)
		}
		q := estimateOf(e.ftp).over(estimateOf(e.ptf))
		t.Logf("m = %d: ratio %v", m, q)
		if m == 4 && q.mean > 1-z*q.se || m == 8 && q.mean < 1+z*q.se {
			t.Errorf("m = %d: ratio %v", m, q)
		}
	}
}

// Under B′ = B the scaled error grows about 25-fold from n = 128 to 4096 (standard errors of 20 %).
func TestRadius(t *testing.T) {
	r := result(t, "mean-radius-polynomial", 10)
	var first, last float64
	for _, row := range r.Rows {
		if row[0] == "B" && row[1] == 128 {
			first = number(t, r, row, "n_ftp")
		}
		if row[0] == "B" && row[1] == 4096 {
			last = number(t, r, row, "n_ftp")
		}
	}
	if last < 4*first {
		t.Errorf("n·IMSE under B′ = B goes from %v to %v", first, last)
	}
}

// The unmatched baseline is ten times worse than segment on tracks, at ε = 0.01; measured are 50 to 100 times.
func TestTracks(t *testing.T) {
	a := newArena(simulatedTracks()[:6], experiment.TaxiWindow)
	o, err := a.ours("segment", curve.Config{Method: curve.Segment}, "gp", 0.01, true)
	if err != nil {
		t.Fatal(err)
	}
	list := append([]contender{o}, a.baselines("gp", 0.01, []int{77}, []int{154}, func(k int) []int { return []int{k / 10} })...)
	scores, err := run{reps: 2}.compete(context.Background(), len(a.curves), list)
	if err != nil {
		t.Fatal(err)
	}
	segment, best, base := find(scores, "segment", 0.01), find(scores, "best approximation", 0.01), find(scores, "baseline smoothed", 0.01)
	t.Logf("segment %v, approximation %v, baseline %v, matched %v", segment.mean, best.mean, base.mean, find(scores, "matched baseline", 0.01).mean)
	if base.mean.mean < 5*segment.mean.mean || best.mean.mean > segment.mean.mean {
		t.Errorf("baseline %v, segment %v, its best approximation %v", base.mean, segment.mean, best.mean)
	}
	if s := segment; !(s.q25 <= s.median && s.median <= s.q75) {
		t.Errorf("quartiles %v %v %v", s.q25, s.median, s.q75)
	}
}

// Projections made once give the releases of package curve, to the bit.
func TestProjectedIsProject(t *testing.T) {
	window := space.Interval{A: 0, B: 20}
	s := fit.Series{}
	for i := range 41 {
		s.T, s.X = append(s.T, float64(i)/2), append(s.X, math.Sin(float64(i)/5))
	}
	a := newArena([]fit.Curve{{s}}, window)
	sinc, err := space.Sinc(window, 1, 1, 20)
	if err != nil {
		t.Fatal(err)
	}
	q, err := fit.Project(a.curves[0], sinc)
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"gp", "cgp"} {
		fast, err := a.projected("x", []fit.Projection{q}, model, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := a.ours("x", curve.Config{Method: curve.Project, Space: sinc}, model, 0.3, false)
		if err != nil {
			t.Fatal(err)
		}
		x, err := fast.trial(0, 7)
		if err != nil {
			t.Fatal(err)
		}
		y, err := slow.trial(0, 7)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x[0]/y[0]-1) > 1e-9 {
			t.Errorf("%s: error %v, through package curve %v", model, x[0], y[0])
		}
	}
}

// The coefficients in closed form are those of quadrature.
func TestTriangles(t *testing.T) {
	exact := triangles(1)
	s, err := space.CosineBox([]space.Interval{{A: 0, B: 1}}, []int{20}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	theta, e := exact.theta(s), make([]float64, s.Dim())
	sum := make([]float64, s.Dim())
	const m = 1 << 14
	for i := range m {
		x := (float64(i) + 0.5) / m
		s.Eval(e, []float64{x})
		for j := range e {
			sum[j] += (2 - math.Abs(4*x-2)) * e[j] / m
		}
	}
	for j := range theta {
		if math.Abs(theta[j]-sum[j]) > 1e-6 {
			t.Errorf("coefficient %d: %v, by quadrature %v", j, theta[j], sum[j])
		}
	}
}

// Two runs agree to the byte, whatever the order in which jobs end.
func TestSeeded(t *testing.T) {
	for _, name := range []string{"mean-ratio-polynomial", "curve-shapes", "density-rho"} {
		var text [2]string
		for k := range text {
			r := result(t, name, 3)
			data, err := json.Marshal(r.Rows)
			if err != nil {
				t.Fatal(err)
			}
			var picture strings.Builder
			if err := r.Pictures[0].Encode(&picture, "svg"); err != nil {
				t.Fatal(err)
			}
			text[k] = string(data) + r.Finding + picture.String()
		}
		if text[0] != text[1] {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if seen[e.Name] || !regexp.MustCompile(`^(mean|curve|regression|density)-[a-z-]+$`).MatchString(e.Name) {
			t.Errorf("name %q is taken or no name", e.Name)
		}
		seen[e.Name] = true
		if e.Title == "" || e.Source == "" || e.Paper == "" || e.Reps < 2 || e.run == nil {
			t.Errorf("%s: incomplete: %+v", e.Name, e)
		}
	}
	if _, err := Named("figure-1"); err == nil {
		t.Error("an unknown name is accepted")
	}
	e, err := Named("mean-pure")
	if err != nil {
		t.Fatal(err)
	}
	for _, reps := range []int{1, -3, 1e7} {
		if _, err := e.Run(context.Background(), Options{Reps: reps}); err == nil {
			t.Errorf("%d repetitions are accepted", reps)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Run(ctx, Options{Reps: 2}); err == nil {
		t.Error("a cancelled run succeeds")
	}
	for _, name := range []string{"curve-taxi-gp", "curve-ecg-cgp"} {
		e, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), Options{Data: t.TempDir()}); err == nil {
			t.Errorf("%s runs on an empty folder", name)
		}
	}
}

// The real electrocardiograms, where they are.
func TestElectrocardiograms(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "ecg")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no data at " + dir)
	}
	list, _, err := electrocardiograms(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 7 {
		t.Errorf("%d windows", len(list))
	}
	for i, c := range list {
		if err := c.Check(space.Interval{A: 0, B: 800}, 1); err != nil {
			t.Errorf("window %d: %v", i, err)
		}
	}
}
