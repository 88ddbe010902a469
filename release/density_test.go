package release

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// twoVariables is a layered density on a box, made by hand: noise of ρ = 0.5 and more.
func twoVariables(t testing.TB) *Release {
	t.Helper()
	s, err := space.CosineBox([]space.Interval{{A: -122.52, B: -122.35}, {A: 37.6, B: 37.82}}, []int{4}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	r := &Release{
		Verb: Density, Method: Layered, Box: s, Components: []string{"density"}, Variables: []string{"lon", "lat"},
		Noise:     Noise{Law: GaussianLayered, Ranks: []float64{1, 2, 4}},
		Selection: &Selection{Rule: "lepskii-1", Kappa: []float64{1.5}, Rank: 2},
		Privacy:   privacy.Statement{Guarantee: privacy.ZCDP(0.5), Adjacency: privacy.ReplaceOne, Unit: "pick-up"}, N: 1000,
	}
	v := 1 / r.Volume()
	r.Noise.Scales = []float64{0.02 * v, 0.02 * v, 0.03 * v}
	raw, kept := make([]float64, s.Dim()), make([]float64, s.Dim())
	for j, l := range s.Levels() {
		raw[j] = v / float64(j+1)
		if l <= 2 {
			kept[j] = raw[j]
		}
	}
	r.Coefficients, r.Raw = [][]float64{kept}, [][]float64{raw}
	return r
}

// oneVariable is a projection on an interval.
func oneVariable(t testing.TB) *Release {
	t.Helper()
	s, err := space.Fourier(space.Interval{A: 60, B: 3600}, 7)
	if err != nil {
		t.Fatal(err)
	}
	v := 1 / 3540.0
	return &Release{
		Verb: Density, Method: Projection, Space: s, Components: []string{"density"}, XLabel: "trip (s)",
		Coefficients: [][]float64{{v, v / 2, 0, -v / 3, 0.1 * v, 0, 0}}, Noise: Noise{Law: GaussianLayered, Ranks: []float64{3}, Scales: []float64{0.005 * v}},
		Privacy: privacy.Statement{Guarantee: privacy.ZCDP(0.5), Adjacency: privacy.ReplaceOne, Unit: "trip"}, N: 1000, Private: true,
	}
}

func TestDensityFiles(t *testing.T) {
	for name, r := range map[string]*Release{"pickups.json": twoVariables(t), "trips.json": oneVariable(t)} {
		path := filepath.Join("testdata", name)
		got := encode(t, r)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(string(want), string(encode(t, back))); d != "" {
			t.Errorf("%s changes when read and written (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is written differently now (-want +got):\n%s", name, d)
		}
	}
}

func TestDensityRefusals(t *testing.T) {
	for want, change := range map[string]func(*Release){
		"not both":      func(r *Release) { r.Space, _ = space.Cosine(space.Interval{A: 0, B: 1}, 3) },
		"needs a space": func(r *Release) { r.Box = nil },
		"no radius":     func(r *Release) { r.Radius = 1 },
		"no reference":  func(r *Release) { r.Reference = []Reference{Constant(0)} },
		"has one": func(r *Release) {
			r.Components = []string{"a", "b"}
			r.Coefficients = append(r.Coefficients, r.Coefficients[0])
			r.Raw = nil
		},
		"does not belong to":  func(r *Release) { r.Noise = Noise{Law: Gaussian, Scale: 1} },
		"too small":           func(r *Release) { r.Noise.Scales[2] /= 10 },
		"is missing":          func(r *Release) { r.Selection = nil },
		"unknown rule":        func(r *Release) { r.Selection.Rule = "aic" },
		"constants":           func(r *Release) { r.Selection.Kappa = nil },
		"is no rank":          func(r *Release) { r.Selection.Rank = 5 },
		"beyond the rank":     func(r *Release) { r.Selection.Rank = 1 },
		"the constant is":     func(r *Release) { r.Raw[0][0] *= 1.01 },
		"does not come after": func(r *Release) { r.Noise.Ranks[1] = 1 },
		"positive and finite": func(r *Release) { r.Noise.Scales[0] = 0 },
		"variables of a box":  func(r *Release) { r.Variables = []string{"lon"} },
		"fixed rank":          func(r *Release) { r.Method = Projection },
		"not on a box":        func(r *Release) { r.Verb, r.Method, r.Radius = Mean, FitThenProtect, 1 },
	} {
		r := twoVariables(t)
		change(r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := twoVariables(t).Validate(); err != nil {
		t.Fatal(err)
	}
	good := string(encode(t, twoVariables(t)))
	for _, c := range [][2]string{
		{`"variables"`, `"names"`}, {`"sample"`, `"curve"`}, {`"x": [`, `"t": [`}, {`"shrink": false`, `"shrink": 0`}, {`"rank": 2`, `"rank": null`},
		{`"set": "cube"`, `"set": "cube", "dim": 3`}, {`"box"`, `"domain"`}, {`"ranks"`, `"rank"`}, {`"cosine"`, `"fourier"`}, {`"n": 1000`, `"n": 1000, "radius": 1`},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if bad == good {
			t.Errorf("%s is not in the file", c[0])
		}
		if _, err := Decode(strings.NewReader(bad)); err == nil {
			t.Errorf("accepted %s for %s", c[1], c[0])
		}
	}
}

func TestDensityValues(t *testing.T) {
	r := twoVariables(t)
	x := []float64{-122.4, 37.7}
	e := make([]float64, r.Box.Dim())
	r.Box.Eval(e, x)
	want, variance := 0.0, 0.0
	for j, l := range r.Box.(*space.Tensor).Levels() {
		want += r.Coefficients[0][j] * e[j]
		if l > 0 && l <= 2 {
			variance += r.Noise.Scales[0] * r.Noise.Scales[0] * e[j] * e[j]
		}
	}
	if got := r.AtPoint(x); math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("value %v, want %v", got, want)
	}
	lo, hi := r.BandAtPoint(x, 0.95)
	if half := 1.959963984540054 * math.Sqrt(variance); math.Abs(hi-lo-2*half) > 1e-9*half || math.Abs(lo+hi-2*want) > 1e-9*half {
		t.Errorf("band [%v, %v], want %v ± %v", lo, hi, want, half)
	}
	if !math.IsNaN(r.AtPoint([]float64{0, 0})) || !math.IsNaN(r.At(0)) {
		t.Error("a value outside the box")
	}
	if err := r.Eval(make([]float64, 1), 0); err == nil {
		t.Error("evaluated on a line")
	}
	if lo, _ := r.Band(0, 0.95); !math.IsNaN(lo) {
		t.Error("a band on a line")
	}
	if _, _, err := r.Bands([]float64{0}, 0.95, false); err == nil {
		t.Error("bands on a line")
	}
	one := oneVariable(t)
	if one.AtPoint([]float64{600}) != one.At(600) {
		t.Error("AtPoint differs from At in one variable")
	}
	a, b := one.Band(600, 0.9)
	c, d := one.BandAtPoint([]float64{600}, 0.9)
	if a != c || b != d || !(a < b) {
		t.Errorf("bands [%v, %v] and [%v, %v]", a, b, c, d)
	}
	los, his, err := one.Bands([]float64{100, 600, 3000}, 0.9, true)
	if err != nil || !(los[0][1] < a) || !(his[0][1] > b) {
		t.Errorf("a simultaneous band %v, %v inside the pointwise (%v)", los, his, err)
	}
}
