package release

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/curveil/curveil/privacy"
)

var update = flag.Bool("update", false, "rewrite testdata/*.json")

type countingWriter int

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}

func hasPath(err error, path string) bool { return strings.Contains(err.Error(), path) }

func encode(t testing.TB, r *Release) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func twoComponents(t testing.TB) *Release {
	r := sample(t)
	r.Space = newSpace(t, "kernel:gauss:30%:8", 0, 1)
	p := r.Space.Dim()
	r.Components = []string{"hip", "knee"}
	r.Coefficients = [][]float64{make([]float64, p), make([]float64, p)}
	r.Coefficients[0][0], r.Coefficients[1][p-1] = math.Pi, -1e-300
	r.Raw, r.XLabel = nil, ""
	ref, err := Table([]float64{-1, 0.5, 2}, []float64{0.1, 0.2, 1e20})
	if err != nil {
		t.Fatal(err)
	}
	r.Reference = []Reference{Constant(-40), ref}
	r.Method = ProtectThenFit
	r.Noise = Noise{Law: GaussianLinearised, Factor: make([][]float64, p)}
	for i := range r.Noise.Factor {
		r.Noise.Factor[i] = []float64{1 / float64(i+1), -0.5}
	}
	r.Privacy.Guarantee = privacy.Approx{Epsilon: 1, Delta: 1e-6}
	r.Private = false
	return r
}

func pureRelease(t testing.TB) *Release {
	r := sample(t)
	r.Noise.Law, r.Privacy.Guarantee = SphericalLaplace, privacy.Pure(1)
	r.Reference, r.YLabel = nil, ""
	return r
}

func TestStoredFiles(t *testing.T) {
	for name, r := range map[string]*Release{
		"growth.json": sample(t), "gait.json": twoComponents(t), "pure.json": pureRelease(t),
	} {
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
		if d := cmp.Diff(string(want), string(got)); name != "gait.json" && d != "" {
			// A kernel's basis may differ in its last bits between processors; the others must not.
			t.Errorf("%s is written differently now (-want +got):\n%s", name, d)
		}
	}
}

func equal(a, b *Release) string {
	bits := cmp.Comparer(func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
	type plain struct {
		Text         []string
		Coefficients [][]float64
		Raw          [][]float64
		Reference    []Reference
		Noise        Noise
		Privacy      privacy.Statement
		N            int64
		Radius       float64
		Private      bool
	}
	p := func(r *Release) plain {
		s, _ := r.Space.MarshalJSON()
		return plain{append([]string{r.Verb, r.Method, r.XLabel, r.YLabel, string(s)}, r.Components...),
			r.Coefficients, r.Raw, r.Reference, r.Noise, r.Privacy, r.N, r.Radius, r.Private}
	}
	return cmp.Diff(p(a), p(b), bits, cmp.AllowUnexported(Reference{}))
}

// Any valid release survives writing and reading to the bit.
func TestRoundTrip(t *testing.T) {
	spaces := []string{"legendre:6", "fourier:5", "bspline:7", "kernel:matern52:20%:12", "cosine:1"}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("aß<&\"\\{}[],: µ漢😀")), 0, 20, -1)
	number := rapid.Custom(func(t *rapid.T) float64 {
		return rapid.OneOf(rapid.Float64Range(-1e100, 1e100), rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 0x1p-1022, 0.1, 1e21, 1e-7, 1 << 53, math.Nextafter(1, 2)})).Draw(t, "number")
	})
	rapid.Check(t, func(rt *rapid.T) {
		r := sample(t)
		r.Space = newSpace(t, rapid.SampledFrom(spaces).Draw(rt, "space"), -1, 3)
		k, p := rapid.IntRange(1, 3).Draw(rt, "components"), r.Space.Dim()
		row := rapid.SliceOfN(number, p, p)
		matrix := rapid.SliceOfN(row, k, k)
		r.Components = []string{"a", "b<&>\"", "c, d: {"}[:k]
		r.Coefficients, r.Raw, r.Reference = matrix.Draw(rt, "coefficients"), nil, nil
		if rapid.Bool().Draw(rt, "projected") {
			r.Raw = matrix.Draw(rt, "raw")
		}
		if rapid.Bool().Draw(rt, "centred") {
			for range k {
				r.Reference = append(r.Reference, Constant(number.Draw(rt, "constant")))
			}
			r.Reference[0], _ = Table([]float64{-1, 0.1, 3}, rapid.SliceOfN(number, 3, 3).Draw(rt, "table"))
		}
		if rapid.Bool().Draw(rt, "linearised") {
			r.Method = ProtectThenFit
			factor := rapid.SliceOfN(rapid.SliceOfN(number, 2, 2), p, p).Draw(rt, "factor")
			factor[0][0] = 1
			r.Noise = Noise{Law: GaussianLinearised, Factor: factor}
		}
		r.XLabel, r.YLabel = text.Draw(rt, "x label"), text.Draw(rt, "y label")
		r.UnixTime = rapid.Bool().Draw(rt, "unix time")
		r.N = rapid.Int64Range(93, math.MaxInt64).Draw(rt, "n")
		var b bytes.Buffer
		if err := r.Encode(&b); err != nil {
			rt.Fatal(err)
		}
		back, err := Decode(&b)
		if err != nil {
			rt.Fatal(err)
		}
		if d := equal(r, back); d != "" {
			rt.Fatalf("changed (-written +read):\n%s", d)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encode(t, sample(t)))
	replace := func(old, new string) string {
		if strings.Count(good, old) < 1 {
			t.Fatalf("%q is not in\n%s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	tests := []struct{ name, input, want string }{
		{"nothing", "", "empty"},
		{"spaces", " \n ", "empty"},
		{"not an object", "[1]", "expected an object"},
		{"not JSON", "t,height\n1,2\n", "line 1, column 2"},
		{"binary", "\x89PNG\xff\xfe", "not UTF-8"},
		{"another file", `{"type":"FeatureCollection"}`, "not a curveil release"},
		{"another curveil file", replace(`"curveil": "release"`, `"curveil": "accumulator"`), "$.curveil:"},
		{"later version", replace(`"version": 1`, `"version": 2`), "reads version 1"},
		{"version as text", replace(`"version": 1`, `"version": "1"`), "$.version:"},
		{"fractional version", replace(`"version": 1`, `"version": 1.0`), "$.version:"},
		{"no version", replace(`  "version": 1,`, ``), `"version" is missing`},
		{"trailing data", good + "{}", "after top-level value"},
		{"unknown field", replace(`"private": true`, `"private": true, "residuals": [1]`), `unknown field "residuals"`},
		{"wrong case", replace(`"radius"`, `"Radius"`), `"radius" is missing`},
		{"duplicate", replace(`"private": true`, `"private": true, "private": false`), `"private" is given twice`},
		{"duplicate below", replace(`"law": "gaussian"`, `"law": "gaussian", "law": "gaussian"`), `$.noise: field "law" is given twice`},
		{"null", replace(`"private": true`, `"private": null`), "$.private: null"},
		{"NaN", replace("0.001]", "NaN]"), "not JSON"},
		{"infinite", replace(", 0.001]", ", 1e999]"), "$.coefficients[0][3]:"},
		{"text for a number", replace(", 0.001]", `, "0.001"]`), "$.coefficients[0][3]:"},
		{"short", replace(", 0.001]", "]"), "$.coefficients[0]:"},
		{"n too big", replace(`"n": 93`, `"n": 93000000000000000000`), "$.n:"},
		{"n with exponent", replace(`"n": 93`, `"n": 1e3`), "$.n:"},
		{"n negative", replace(`"n": 93`, `"n": -93`), "$.n:"},
		{"more persons than the noise allows a smaller loss for", replace(`"mu": 1`, `"mu": 0.5`), "$.noise.scale:"},
		{"claims a smaller ε", replace(`"delta": 1e-9, "epsilon": 6`, `"delta": 1e-9, "epsilon": 5`), "claims more privacy"},
		{"claims a smaller ρ", replace(`"zcdp": 0.5`, `"zcdp": 0.1`), "$.equivalent.zcdp:"},
		{"another curve", replace("124.5282", "124.52"), "$.curve.values[0][1]:"},
		{"changed coefficient", replace("[[1.5, -2,", "[[1.5, 2,"), "$.curve.values[0][0]:"},
		{"unknown law", replace(`"law": "gaussian"`, `"law": "cauchy"`), "$.noise.law:"},
		{"unknown space", replace(`"kind": "legendre"`, `"kind": "wavelet"`), "$.space:"},
		{"unknown definition", replace(`"definition": "gdp"`, `"definition": "vibes"`), "$.privacy:"},
		{"unknown reference", replace(`"kind": "constant"`, `"kind": "spline"`), "$.reference[0].kind:"},
		{"absurd dimension", replace(`"dim": 4`, `"dim": 1000000000000`), "$.space:"},
		{"lone surrogate", replace(`"height (cm)"`, `"\ud800"`), "$.y_label:"},
		{"escape sequence", replace(`"height (cm)"`, `"\u001b[2J"`), "$.y_label:"},
		{"years of five digits", strings.Replace(replace(`"y_label"`, `"unix_time": true, "y_label"`), `"domain": [2, 18]`, `"domain": [2, 1e12]`, 1), "$.unix_time:"},
		{"time as text", replace(`"y_label"`, `"unix_time": "yes", "y_label"`), "$.unix_time:"},
		{"deep", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), "nested deeper"},
		{"very deep", strings.Repeat("[", 1e6), "not JSON"},
	}
	for _, tt := range tests {
		_, err := Decode(strings.NewReader(tt.input))
		if err == nil {
			t.Errorf("%s: accepted", tt.name)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q in it", tt.name, err, tt.want)
		}
	}
	for cut := range len(good) - 1 {
		if _, err := Decode(strings.NewReader(good[:cut])); err == nil {
			t.Fatalf("accepted when cut after %d of %d bytes", cut, len(good))
		}
	}
	// The read-only block may be missing, and may claim less.
	at, end := strings.Index(good, `  "equivalent"`), strings.Index(good, `  "components"`)
	if _, err := Decode(strings.NewReader(good[:at] + good[end:])); err != nil {
		t.Errorf("without the equivalent block: %v", err)
	}
	if _, err := Decode(strings.NewReader(replace(`"zcdp": 0.5`, `"zcdp": 0.6`))); err != nil {
		t.Errorf("a weaker claim: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, blank), nil
}

var blank = strings.Repeat(" ", 1<<16)

func TestDecodeEndless(t *testing.T) {
	if _, err := Decode(endless{}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("endless input: %v", err)
	}
}

// What can be read can be written, and reads back as the same.
func FuzzDecode(f *testing.F) {
	for _, r := range []*Release{sample(f), twoComponents(f), pureRelease(f)} {
		f.Add(encode(f, r))
	}
	f.Add([]byte(`{"curveil":"release","version":1}`))
	f.Add([]byte(`{"curveil":"release","version":1,"space":{"kind":"bspline","dim":4096,"degree":3,"domain":[0,1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := r.Encode(&b); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		back, err := Decode(&b)
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		if d := equal(r, back); d != "" {
			t.Fatalf("changed:\n%s", d)
		}
	})
}
