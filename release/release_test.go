package release

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func newSpace(t testing.TB, text string, a, b float64) space.Space {
	t.Helper()
	s, err := space.Parse(text, space.Interval{A: a, B: b})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample is a valid one-component release: 93 persons, radius 30, μ = 1.
func sample(t testing.TB) *Release {
	t.Helper()
	s := newSpace(t, "legendre:4", 2, 18)
	return &Release{
		Verb: Mean, Method: FitThenProtect,
		Space: s, Components: []string{"height"},
		Coefficients: [][]float64{{1.5, -2, 0.25, 1e-3}},
		Raw:          [][]float64{{1.6, -2.1, 0.3, 2e-3}},
		Reference:    []Reference{Constant(120)},
		Noise:        Noise{Law: Gaussian, Scale: 2 * 30 / 93.0},
		Privacy:      privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "child"},
		N:            93, Radius: 30, Private: true,
		XLabel: "age (years)", YLabel: "height (cm)",
	}
}

func randomMatrix(rng *rand.Rand, rows, cols int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
		for j := range m[i] {
			m[i][j] = rng.NormFloat64()
		}
	}
	return m
}

func TestEvalAddsReference(t *testing.T) {
	r := sample(t)
	ref, err := Table([]float64{2, 10, 18}, []float64{85, 138, 175})
	if err != nil {
		t.Fatal(err)
	}
	r.Components = []string{"a", "b"}
	r.Reference = []Reference{Constant(120), ref}
	r.Coefficients = [][]float64{{1, 0, 0, 0}, {0, 2, 0, 0}}
	r.Raw = nil
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	if err := r.Eval(got, 14); err != nil {
		t.Fatal(err)
	}
	// Legendre in the average inner product: e₁ = 1, e₂(u) = √3·u, u = (14−10)/8.
	want := []float64{121, (138+175)/2.0 + 2*math.Sqrt(3)*0.5}
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-12 {
			t.Errorf("component %d at 14: %v, want %v", k, got[k], want[k])
		}
	}
	if r.At(14) != got[0] {
		t.Errorf("At(14) = %v, Eval gives %v", r.At(14), got[0])
	}
}

func TestOutsideDomain(t *testing.T) {
	r := sample(t)
	for _, x := range []float64{1.999, 18.001, math.NaN(), math.Inf(1)} {
		if !math.IsNaN(r.At(x)) || !math.IsNaN(r.NoiseSD(x)) {
			t.Errorf("At(%v) = %v, NoiseSD = %v; want NaN", x, r.At(x), r.NoiseSD(x))
		}
		if err := r.Eval(make([]float64, 1), x); err == nil {
			t.Errorf("Eval at %v: no error", x)
		}
		if _, _, err := r.Bands([]float64{3, x}, 0.95, false); err == nil {
			t.Errorf("Bands at %v: no error", x)
		}
	}
	r.UnixTime = true
	if err := r.Eval(make([]float64, 1), 1e9); err == nil || !strings.Contains(err.Error(), "2001-09-09T01:46:40Z is outside the domain [1970-01-01T00:00:02Z, 1970-01-01T00:00:18Z]") {
		t.Error(err)
	}
	for _, x := range []float64{2, 18} {
		if math.IsNaN(r.At(x)) {
			t.Errorf("At(%v) is NaN at an end of the domain", x)
		}
	}
}

func TestReferenceTable(t *testing.T) {
	tests := []struct {
		name string
		t, x []float64
	}{
		{"empty", nil, nil},
		{"one point", []float64{1}, []float64{1}},
		{"lengths", []float64{1, 2}, []float64{1}},
		{"equal times", []float64{1, 1}, []float64{1, 2}},
		{"falling", []float64{2, 1}, []float64{1, 2}},
		{"NaN time", []float64{1, math.NaN()}, []float64{1, 2}},
		{"infinite value", []float64{1, 2}, []float64{1, math.Inf(1)}},
	}
	for _, tt := range tests {
		if _, err := Table(tt.t, tt.x); err == nil {
			t.Errorf("%s: accepted", tt.name)
		}
	}
	r, err := Table([]float64{0, 1, 3}, []float64{0, 10, -10})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]float64{0: 0, 0.5: 5, 1: 10, 2: 0, 3: -10} {
		if got := r.At(x); math.Abs(got-want) > 1e-15 {
			t.Errorf("At(%v) = %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(r.At(-1)) || !math.IsNaN(r.At(3.1)) {
		t.Error("extrapolated")
	}
	if err := r.Validate(space.Interval{A: 0, B: 3}); err != nil {
		t.Error(err)
	}
	if r.Validate(space.Interval{A: 0, B: 3.5}) == nil || r.Validate(space.Interval{A: -1, B: 3}) == nil {
		t.Error("a table that does not cover the domain was accepted")
	}
	big, err := Table([]float64{-math.MaxFloat64, math.MaxFloat64}, []float64{-math.MaxFloat64, math.MaxFloat64})
	if err != nil {
		t.Fatal(err)
	}
	if got := big.At(0); got != 0 {
		t.Errorf("interpolation overflows: %v", got)
	}
}

func TestGuarantee(t *testing.T) {
	r := sample(t)
	g, err := r.Guarantee(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	if back := privacy.GDP(1).Delta(g.Epsilon); math.Abs(back-1e-5) > 1e-9 {
		t.Errorf("δ(%v) = %v", g.Epsilon, back)
	}
	if rho, err := r.ZCDP(); err != nil || math.Abs(float64(rho)-0.5) > 1e-12 {
		t.Errorf("ρ = %v, %v", rho, err)
	}
	for _, d := range []float64{0, 1, -1, math.NaN()} {
		if _, err := r.Guarantee(d); err == nil {
			t.Errorf("δ=%v accepted", d)
		}
	}
}

func TestValidate(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		path  string // where the error must point
		spoil func(*Release)
	}{
		{"$.verb:", func(r *Release) { r.Verb = "median" }},
		{"$.method:", func(r *Release) { r.Method = "magic" }},
		{"$.noise.law:", func(r *Release) { r.Method = ProtectThenFit }},
		{"$.n:", func(r *Release) { r.N = 0 }},
		{"$.radius:", func(r *Release) { r.Radius = 0 }},
		{"$.radius:", func(r *Release) { r.Radius = nan }},
		{"$.radius:", func(r *Release) { r.Radius = math.Inf(1) }},
		{"$.components:", func(r *Release) { r.Components = nil }},
		{"$.components[0]:", func(r *Release) { r.Components = []string{""} }},
		{"$.components[1]:", func(r *Release) { r.Components = []string{"a", "a"} }},
		{"$.components[0]:", func(r *Release) { r.Components = []string{"a\x1b[31m"} }},
		{"$.components[0]:", func(r *Release) { r.Components = []string{"\xff"} }},
		{"$.x_label:", func(r *Release) { r.XLabel = "a\nb" }},
		{"$.y_label:", func(r *Release) { r.YLabel = string(make([]byte, 2000)) }},
		{"$.space:", func(r *Release) { r.Space = nil }},
		{"$.coefficients:", func(r *Release) { r.Coefficients = nil }},
		{"$.coefficients[0]:", func(r *Release) { r.Coefficients[0] = r.Coefficients[0][:3] }},
		{"$.coefficients[0][2]:", func(r *Release) { r.Coefficients[0][2] = nan }},
		{"$.raw[0][1]:", func(r *Release) { r.Raw[0][1] = math.Inf(-1) }},
		{"$.raw:", func(r *Release) { r.Raw = [][]float64{} }},
		{"$.reference:", func(r *Release) { r.Reference = []Reference{} }},
		{"$.reference[0]:", func(r *Release) { r.Reference[0] = Constant(nan) }},
		{"$.reference[0]:", func(r *Release) { r.Reference[0], _ = Table([]float64{3, 18}, []float64{0, 0}) }},
		{"$.noise.law:", func(r *Release) { r.Noise.Law = "uniform" }},
		{"$.noise.scale:", func(r *Release) { r.Noise.Scale = 0 }},
		{"$.noise.scale:", func(r *Release) { r.Noise.Scale *= 0.999 }},
		{"$.noise.scale:", func(r *Release) { r.Privacy.Guarantee = privacy.GDP(0.9) }},
		{"$.noise.factor:", func(r *Release) { r.Noise.Factor = [][]float64{{1}} }},
		{"$.noise.factor:", func(r *Release) {
			r.Method, r.Noise = ProtectThenFit, Noise{Law: GaussianLinearised, Factor: [][]float64{{0}, {0}, {0}, {0}}}
		}},
		{"$.noise.factor[2]:", func(r *Release) {
			r.Method, r.Noise = ProtectThenFit, Noise{Law: GaussianLinearised, Factor: [][]float64{{1}, {0}, {0, 1}, {0}}}
		}},
		{"$.privacy:", func(r *Release) { r.Privacy.Guarantee = privacy.Pure(1) }},
		{"$.privacy:", func(r *Release) { r.Privacy.Guarantee = privacy.GDP(nan) }},
		{"$.privacy:", func(r *Release) { r.Privacy.Unit = "" }},
		{"$.privacy:", func(r *Release) { r.Noise.Law = SphericalLaplace }},
		{"$.privacy.adjacency:", func(r *Release) { r.Privacy.Adjacency = privacy.AddRemove }},
	}
	if err := sample(t).Validate(); err != nil {
		t.Fatal(err)
	}
	for i, tt := range tests {
		r := sample(t)
		tt.spoil(r)
		err := r.Validate()
		if err == nil {
			t.Errorf("case %d: accepted, want an error at %s", i, tt.path)
		} else if !hasPath(err, tt.path) {
			t.Errorf("case %d: %v, want an error at %s", i, err, tt.path)
		}
		var sink countingWriter
		if r.Encode(&sink) == nil || sink > 0 {
			t.Errorf("case %d: encoded (%d bytes written)", i, sink)
		}
	}
}
