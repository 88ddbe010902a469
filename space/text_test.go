package space

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, canonical := range map[string]string{
		"legendre:6":                     "legendre:6",
		"legendre:+06":                   "legendre:6",
		"bspline:12:degree=3":            "bspline:12",
		"bspline:12:degree=1":            "bspline:12:degree=1",
		"kernel:gauss:0.20":              "kernel:gauss:0.2",
		"kernel:gauss:2e-1:50":           "kernel:gauss:0.2",
		"kernel:gauss:20.0%:80":          "kernel:gauss:20%:80",
		"kernel:gauss:0.5%":              "kernel:gauss:0.5%",
		"kernel:gauss:7%:floor=1e-8":     "kernel:gauss:7%",
		"kernel:gauss:7%:9:floor=0":      "kernel:gauss:7%:9:floor=0",
		"kernel:matern52:150%":           "kernel:matern52:150%",
		"kernel:laplace:1e-3%":           "kernel:laplace:0.001%",
		"kernel:brownian":                "kernel:brownian",
		"kernel:brownian:80":             "kernel:brownian:80",
		"kernel:sobolev2:30:floor=0.001": "kernel:sobolev2:30:floor=0.001",
	} {
		s, err := Parse(text, Interval{0, 1})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.String() != canonical {
			t.Errorf("%s became %s, want %s", text, s, canonical)
		}
	}
}

func TestParseRefused(t *testing.T) {
	for text, say := range map[string]string{
		"":                                 "write one of legendre:6, fourier:9",
		"spline:12":                        "bspline:12",
		"Legendre:6":                       "write one of",
		" legendre:6":                      "write one of",
		"legendre":                         "legendre:9",
		"legendre:":                        "number of functions",
		"legendre:6.5":                     "number of functions",
		"legendre:99999999999999999999999": "number of functions",
		"legendre:6:2":                     "takes only the number",
		"legendre:6:degree=2":              "takes only the number",
		"bspline:12:2":                     "takes only the number",
		"bspline:12:degree=x":              "whole number",
		"bspline:12:degree=":               "whole number",
		"fourier:10":                       "9 or 11",
		"kernel":                           "unknown kernel \"\"",
		"kernel:":                          "the kernels are gauss",
		"kernel:rbf:0.2":                   "the kernels are gauss",
		"kernel:gauss":                     "needs a scale",
		"kernel:gauss:":                    "not a number",
		"kernel:gauss:wide":                "not a number",
		"kernel:gauss:20%%":                "not a number",
		"kernel:gauss:%":                   "not a number",
		"kernel:gauss:0":                   "above 0",
		"kernel:gauss:-20%":                "above 0",
		"kernel:gauss:nan":                 "above 0",
		"kernel:gauss:inf":                 "above 0",
		"kernel:gauss:nan%":                "not a number",
		"kernel:gauss:0.2:x":               "number of grid points",
		"kernel:gauss:0.2:0":               "no points",
		"kernel:gauss:0.2:-5":              "no points",
		"kernel:gauss:0.2:5000":            "more than 4096",
		"kernel:gauss:0.2:50:60":           "not understood",
		"kernel:gauss:0.2:50:floor=x":      "floor",
		"kernel:gauss:0.2:50:floor=nan":    "below 1",
		"kernel:gauss:0.2:floor=0:50":      "not understood",
		"kernel:brownian:20%":              "number of grid points",
	} {
		s, err := Parse(text, Interval{0, 1})
		refused(t, strconv.Quote(text), s, err, say)
	}
}

func TestPercentKeepsEveryBit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64Range(1e-6, 10),
			rapid.Custom(func(rt *rapid.T) float64 { return float64(rapid.IntRange(1, 100000).Draw(rt, "n")) / 1000 }),
			rapid.Custom(func(rt *rapid.T) float64 {
				return math.Abs(math.Float64frombits(rapid.Uint64Range(1, math.Float64bits(1e300)).Draw(rt, "bits")))
			}),
		).Draw(rt, "x")
		text := formatPercent(x)
		back, err := parsePercent(strings.TrimSuffix(text, "%"))
		if err != nil || back != x {
			rt.Fatalf("%v became %s became %v (%v)", x, text, back, err)
		}
	})
	for x, want := range map[float64]string{0.2: "20%", 1: "100%", 0.07: "7%", 0.005: "0.5%", 0.12345: "12.345%", 10: "1000%", 0.29: "29%"} {
		if got := formatPercent(x); got != want {
			t.Errorf("%v became %s, want %s", x, got, want)
		}
	}
}

// Whatever is accepted has a canonical form that gives the same space.
func FuzzParse(f *testing.F) {
	for _, text := range everySpace {
		f.Add(text, 0.0, 1.0)
		f.Add(text, 1.2e9, 1.2e9+43200)
	}
	f.Add("kernel:gauss:1e-300%:5:floor=0", -1e308, 1e307)
	f.Add("kernel:brownian:3", 0.0, 5e-324)
	f.Add("kernel:periodic:1e308:3", 0.0, 1e-300)
	f.Fuzz(func(t *testing.T, text string, a, b float64) {
		if fields := strings.Split(text, ":"); len(text) > 60 || len(fields) > 6 {
			return
		} else {
			// Large spaces are legitimate and slow.
			for _, field := range fields[1:] {
				if n, err := strconv.Atoi(field); err == nil && n > 40 && n <= MaxDim {
					return
				}
			}
		}
		s, err := Parse(text, Interval{a, b})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "space: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(s.String(), s.Domain())
		if err != nil || !Equal(s, again) {
			t.Fatalf("%q has the canonical form %q, which gives %v, %v", text, s, again, err)
		}
		for _, x := range []float64{a, b, a + (b-a)/3} {
			for k, e := range at(s, x) {
				if math.IsNaN(e) || math.IsInf(e, 0) {
					t.Fatalf("%q on %v: e_%d(%v) = %v", text, s.Domain(), k+1, x, e)
				}
			}
		}
	})
}
