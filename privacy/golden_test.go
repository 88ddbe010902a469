package privacy

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Exact δ of the classical calibration and the minimal noise, from the shared golden vectors (stream.json, section
// calibration).
func TestCalibrationGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/calibration.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Eps       float64 `json:"eps"`
		Delta     float64 `json:"delta"`
		Classical float64 `json:"s_over_Delta_classical"`
		DeltaOf   float64 `json:"delta_of_classical"`
		Analytic  float64 `json:"s_over_Delta_analytic"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 9 {
		t.Fatalf("%d cases, want 9", len(cases))
	}
	for _, c := range cases {
		g := Approx{c.Eps, c.Delta}
		mu, err := GaussianMu(g)
		if err != nil {
			t.Fatal(err)
		}
		if e := math.Abs(1/float64(mu)/c.Analytic - 1); e > 1e-13 {
			t.Errorf("%v: σ/Δ = %.17g, want %.17g (relative %g)", g, 1/float64(mu), c.Analytic, e)
		}
		cl, err := ClassicalMu(g, ClassicalRegression)
		if err != nil {
			t.Fatal(err)
		}
		if e := math.Abs(1/float64(cl.Mu)/c.Classical - 1); e > 4e-16 {
			t.Errorf("%v: classical σ/Δ = %.17g, want %.17g", g, 1/float64(cl.Mu), c.Classical)
		}
		if e := math.Abs(cl.Delta/c.DeltaOf - 1); e > 2e-12 {
			t.Errorf("%v: classical δ = %.17g, want %.17g (relative %g)", g, cl.Delta, c.DeltaOf, e)
		}
		if want := c.DeltaOf <= c.Delta; cl.Holds != want {
			t.Errorf("%v: classical holds = %v, want %v", g, cl.Holds, want)
		}
	}
}
