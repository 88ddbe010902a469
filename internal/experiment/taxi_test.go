package experiment

import (
	"fmt"
	"os"
	"testing"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

const taxiData = "../../../shared/data/taxi"

func taxi(t testing.TB) []fit.Curve {
	t.Helper()
	if _, err := os.Stat(taxiData); err != nil {
		t.Skip("no taxi data at " + taxiData)
	}
	curves, err := Taxi(taxiData)
	if err != nil {
		t.Fatal(err)
	}
	return curves
}

func taxiConfig(g privacy.Guarantee, m curve.Method) curve.Config {
	return curve.Config{Window: TaxiWindow, Guarantee: g, Metric: privacy.L2, Components: []string{"x", "y"}, Method: m}
}

// relative is the mean of dist₂/‖q‖ of a configuration.
func relative(t testing.TB, curves []fit.Curve, config curve.Config, repetitions int) Mean {
	t.Helper()
	p, err := curve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Average(curves, repetitions, func(i, r int) (float64, error) {
		out, err := p.Privatize(curves[i], noise.Seeded(uint64(1000*i+r)))
		if err != nil {
			return 0, err
		}
		e, err := Error(curves[i], out.Release)
		return e / Norm(curves[i], TaxiWindow), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTaxiExplore(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	curves := taxi(t)
	for _, g := range []privacy.Guarantee{privacy.Geo(.001), privacy.Geo(.01), privacy.Geo(.1), privacy.ConcentratedGeo(1.25e-8), privacy.ConcentratedGeo(1.25e-6), privacy.ConcentratedGeo(1.25e-4)} {
		paper := taxiConfig(g, curve.Segment)
		paper.Reduce = curve.ReduceAlways
		fmt.Println(g, relative(t, curves, paper, 3), relative(t, curves, taxiConfig(g, curve.Denoise), 3))
	}
}
