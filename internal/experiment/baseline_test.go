package experiment

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func TestGoldenBaseline(t *testing.T) {
	data, err := os.ReadFile("testdata/curve.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Projection struct {
			T []float64    `json:"t"`
			Y [][2]float64 `json:"y"`
		} `json:"projection"`
		Baseline struct {
			Cases []struct {
				K      int          `json:"k"`
				S      int          `json:"s"`
				Points [][2]float64 `json:"points"`
				Dist2  float64      `json:"dist2"`
			} `json:"cases"`
		} `json:"baseline_no_noise"`
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	window := space.Interval{A: 0, B: 8}
	c := fit.Curve{{T: g.Projection.T}, {T: g.Projection.T}}
	for _, y := range g.Projection.Y {
		c[0].X, c[1].X = append(c[0].X, y[0]), append(c[1].X, y[1])
	}
	for _, want := range g.Baseline.Cases {
		out, err := Baseline{Points: want.K, Smooth: want.S}.Curve(c, window, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range want.Points {
			for k := range p {
				if got := out[k].X[i]; math.Abs(got-p[k]) > 1e-8 {
					t.Errorf("k=%d s=%d point %d: %g, want %g", want.K, want.S, i, got, p[k])
				}
			}
		}
		if got := math.Sqrt(8) * Distance(c, out, window); math.Abs(got-want.Dist2) > 1e-8 {
			t.Errorf("k=%d s=%d: distance %g, want %g", want.K, want.S, got, want.Dist2)
		}
	}
}

func TestBaselineRefused(t *testing.T) {
	c := fit.Curve{{T: []float64{0, 1}, X: []float64{0, 1}}}
	for _, b := range []Baseline{{Points: 1, Smooth: 1}, {Points: 3, Smooth: 4}, {Points: 3, Smooth: 0}} {
		if _, err := b.Curve(c, space.Interval{A: 0, B: 1}, nil); err == nil {
			t.Errorf("%+v is accepted", b)
		}
	}
	b := Baseline{Points: 3, Smooth: 1, Budget: privacy.GDP(1)}
	if _, err := b.Curve(c, space.Interval{A: 0, B: 1}, noise.Seeded(1)); err == nil {
		t.Error("a budget that is not per unit of distance is accepted")
	}
	if _, err := Taxi(t.TempDir()); err == nil {
		t.Error("a folder without curves is accepted")
	}
}
