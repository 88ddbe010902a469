package reproduce

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/space"
)

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
