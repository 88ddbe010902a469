package release

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
)

func curveRelease(t testing.TB) *Release {
	s := newSpace(t, "piecewise:4:legendre:2", 100, 104)
	r := &Release{Verb: Curve, Method: "segment", Space: s, Components: []string{"x", "y"},
		Coefficients: [][]float64{{1, 2, 3, 4, 5, 6, 7, 8}, {0, 0.5, 0, -1, 1e5, 0, 3, 1}},
		Noise:        Noise{Law: SphericalLaplace, Scale: 150},
		Privacy:      privacy.Statement{Guarantee: privacy.Geo(0.01), Metric: privacy.RMS, Distance: "m", Unit: "track"}, N: 1, Private: true}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCurveRoundTrip(t *testing.T) {
	r := curveRelease(t)
	data := encode(t, r)
	for _, absent := range []string{`"radius"`, `"equivalent"`} {
		if bytes.Contains(data, []byte(absent)) {
			t.Errorf("a curve's file holds %s", absent)
		}
	}
	back, err := Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, encode(t, back)) {
		t.Error("another file after reading back")
	}
	if back.Privacy != r.Privacy {
		t.Errorf("statement %v became %v", r.Privacy, back.Privacy)
	}
	for _, c := range []struct{ from, to string }{
		{`"n": 1`, `"n": 2`},
		{`"n": 1`, `"n": 1, "radius": 3`},
		{`"n": 1`, `"n": 1, "equivalent": {"gdp": 1, "zcdp": 1, "approx": []}`},
		{`"scale": 150`, `"scale": 99`},
		{`"spherical-laplace"`, `"gaussian"`},
		{`"segment"`, `"fit-then-protect"`},
		{`"metric": "rms"`, `"adjacency": "replace-one"`},
		{`"verb": "curve"`, `"verb": "mean"`},
	} {
		spoilt := bytes.Replace(data, []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(spoilt, data) {
			t.Fatalf("%s is not in the file:\n%s", c.from, data)
		}
		if _, err := Decode(bytes.NewReader(spoilt)); err == nil {
			t.Errorf("%s is accepted", c.to)
		}
	}
}

// In metric l2 the coordinates' noise is smaller by the root of the length.
func TestCurveScaleByMetric(t *testing.T) {
	r := curveRelease(t)
	r.Privacy.Metric = privacy.L2
	r.Noise.Scale = 50
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	r.Noise.Scale = 49
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), ".noise.scale") {
		t.Errorf("scale 49 where 50 is needed: %v", err)
	}
	r.Privacy.Guarantee, r.Noise = privacy.ConcentratedGeo(1./8), Noise{Law: Gaussian, Scale: 1}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	r.Noise.Scale = 0.99
	if err := r.Validate(); err == nil {
		t.Error("Gaussian noise that is too small is accepted")
	}
	r.Privacy = privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.Local, Unit: "track"}
	if err := r.Validate(); err == nil {
		t.Error("a curve with a guarantee that is not per unit of distance is accepted")
	}
}

// No ball cuts the band of a curve, and a denoised one has none.
func TestCurveBand(t *testing.T) {
	r := curveRelease(t)
	r.Coefficients[0][0] = 1e6
	lo, hi := r.Band(100.1, 0.95)
	e := make([]float64, 8)
	r.Space.Eval(e, 100.1)
	half := r.Noise.Scale * norm(e) * r.Noise.unitQuantile(16, 0.95)
	if x := r.At(100.1); math.Abs(hi-x-half) > 1e-6*half || math.Abs(x-lo-half) > 1e-6*half {
		t.Errorf("band [%g, %g] around %g, want half-width %g", lo, hi, x, half)
	}
	r.Method = Denoised
	if lo, _ := r.Band(100.1, 0.95); !math.IsNaN(lo) {
		t.Errorf("a denoised curve has the band %g", lo)
	}
	if _, _, err := r.Bands([]float64{101}, 0.95, false); err == nil {
		t.Error("a denoised curve has bands")
	}
}
