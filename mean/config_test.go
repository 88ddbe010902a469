package mean

import (
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

var unit = space.Interval{A: 0, B: 1}

func good(t testing.TB) Config {
	return Config{Space: legendre(t, 3), Radius: 1, Guarantee: privacy.GDP(1), Unit: "child"}
}

func TestConfigMistakesAreRefusedBeforeData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	short, err := release.Table([]float64{0.2, 1}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := space.Parse("kernel:gauss:0.2:8", unit)
	if err != nil {
		t.Fatal(err)
	}
	brownian, err := space.Parse("kernel:brownian:8", unit)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(c *Config)
		want string
	}{
		{"space", func(c *Config) { c.Space = nil }, "no function space"},
		{"radius 0", func(c *Config) { c.Radius = 0 }, "radius"},
		{"radius below 0", func(c *Config) { c.Radius = -1 }, "radius"},
		{"radius NaN", func(c *Config) { c.Radius = nan }, "radius"},
		{"radius Inf", func(c *Config) { c.Radius = inf }, "radius"},
		{"radius too small", func(c *Config) { c.Radius = 1e-101 }, "radius"},
		{"radius too large", func(c *Config) { c.Radius = 1e101 }, "radius"},
		{"no guarantee", func(c *Config) { c.Guarantee = nil }, "no guarantee"},
		{"μ 0", func(c *Config) { c.Guarantee = privacy.GDP(0) }, "μ"},
		{"μ NaN", func(c *Config) { c.Guarantee = privacy.GDP(nan) }, "μ"},
		{"μ absurd", func(c *Config) { c.Guarantee = privacy.GDP(1e-12) }, "lattice steps"},
		{"ρ below 0", func(c *Config) { c.Guarantee = privacy.ZCDP(-1) }, "ρ"},
		{"δ 0", func(c *Config) { c.Guarantee = privacy.Approx{Epsilon: 1} }, "δ"},
		{"δ 1", func(c *Config) { c.Guarantee = privacy.Approx{Epsilon: 1, Delta: 1} }, "δ"},
		{"geo", func(c *Config) { c.Guarantee = privacy.Geo(1) }, "geo"},
		{"concentrated geo", func(c *Config) { c.Guarantee = privacy.ConcentratedGeo(1) }, "geo"},
		{"pure ε in a kernel space", func(c *Config) { c.Guarantee, c.Space = privacy.Pure(1), kernel }, "finite-dimensional"},
		{"pure ε by protect-then-fit", func(c *Config) {
			c.Guarantee, c.Method, c.Grid = privacy.Pure(1), ProtectThenFit, []float64{0, 1}
		}, "pure ε is available"},
		{"no unit", func(c *Config) { c.Unit = "" }, "unit of privacy"},
		{"unprintable unit", func(c *Config) { c.Unit = "chi\x1bld" }, "control character"},
		{"n below 0", func(c *Config) { c.N = -1 }, "number of people"},
		{"n too large", func(c *Config) { c.N = lattice.MaxN + 1 }, "number of people"},
		{"no components", func(c *Config) { c.Components = []string{} }, "no components"},
		{"unnamed component", func(c *Config) { c.Components = []string{"a", ""} }, "name"},
		{"repeated component", func(c *Config) { c.Components = []string{"a", "a"} }, "distinct"},
		{"unprintable component", func(c *Config) { c.Components = []string{"a\n"} }, "unprintable"},
		{"unprintable label", func(c *Config) { c.XLabel = "\x00" }, "unprintable"},
		{"label not UTF-8", func(c *Config) { c.YLabel = "\xff" }, "UTF-8"},
		{"references", func(c *Config) { c.Reference = []release.Reference{{}, {}} }, "2 reference curves for 1 components"},
		{"no references", func(c *Config) { c.Reference = []release.Reference{} }, "0 reference curves"},
		{"reference NaN", func(c *Config) { c.Reference = []release.Reference{release.Constant(nan)} }, "finite"},
		{"reference short", func(c *Config) { c.Reference = []release.Reference{short} }, "extrapolated"},
		{"method", func(c *Config) { c.Method = "fit" }, "unknown method"},
		{"no grid", func(c *Config) { c.Method = ProtectThenFit }, "needs the common grid"},
		{"grid outside", func(c *Config) { c.Method, c.Grid = ProtectThenFit, []float64{0, 2} }, "outside the domain"},
		{"grid NaN", func(c *Config) { c.Method, c.Grid = ProtectThenFit, []float64{nan} }, "outside the domain"},
		{"grid unsorted", func(c *Config) { c.Method, c.Grid = ProtectThenFit, []float64{0.5, 0.2} }, "does not come after"},
		{"grid repeated", func(c *Config) { c.Method, c.Grid = ProtectThenFit, []float64{0.5, 0.5} }, "does not come after"},
		{"grid where all is zero", func(c *Config) { c.Space, c.Method, c.Grid = brownian, ProtectThenFit, []float64{0, 0.5} }, "zero at time 0"},
		{"auto without n", func(c *Config) { c.Method, c.Grid = Auto, []float64{0, 1} }, "number of people beforehand"},
		{"auto without grid", func(c *Config) { c.Method, c.N = Auto, 10 }, "needs the common grid"},
	} {
		config := good(t)
		c.edit(&config)
		m, err := New(config)
		if err == nil || m != nil || !strings.HasPrefix(err.Error(), "mean: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if config.Validate() == nil {
			t.Errorf("%s: Validate accepts it", c.name)
		}
	}
	if err := good(t).Validate(); err != nil {
		t.Error(err)
	}
}

func TestAddRefusesAndDoesNotCount(t *testing.T) {
	times := []float64{0, 0.5, 1}
	curve := func(t, x []float64) fit.Curve { return fit.Curve{{T: t, X: x}} }
	ok := curve(times, []float64{1, 2, 3})
	for _, method := range []Method{FitThenProtect, ProtectThenFit} {
		c := good(t)
		c.Method, c.Grid = method, times
		m := mustNew(t, c)
		var added int64
		for round := range 3 { // without, before and with an open block
			for _, bad := range []struct {
				curves []fit.Curve
				want   string
			}{
				{nil, "without curves"},
				{[]fit.Curve{nil}, "0 components"},
				{[]fit.Curve{{}}, "0 components"},
				{[]fit.Curve{{ok[0], ok[0]}}, "2 components"},
				{[]fit.Curve{curve(nil, nil)}, "no samples"},
				{[]fit.Curve{curve(times, []float64{1, 2})}, "3 times but 2 values"},
				{[]fit.Curve{curve(times, []float64{1, 2, 3, 4})}, "3 times but 4 values"},
				{[]fit.Curve{curve(times, []float64{1, math.NaN(), 3})}, "NaN"},
				{[]fit.Curve{curve(times, []float64{1, 2, math.Inf(-1)})}, "-Inf"},
				{[]fit.Curve{curve(times, []float64{math.Inf(1), 2, math.Inf(-1)})}, "+Inf"},
				{[]fit.Curve{curve([]float64{0, 0.5, 1.5}, []float64{1, 2, 3})}, "outside the domain"},
				{[]fit.Curve{curve([]float64{0, 0.5, math.NaN()}, []float64{1, 2, 3})}, "outside the domain"},
				{[]fit.Curve{curve([]float64{0, 0.5, 0.5}, []float64{1, 2, 3})}, "does not come after"},
				{[]fit.Curve{ok, curve(times, []float64{1, 2, math.NaN()})}, "NaN"},
				{[]fit.Curve{ok, nil}, "0 components"},
			} {
				err := m.Add(bad.curves...)
				if err == nil || !strings.HasPrefix(err.Error(), "mean: ") || !strings.Contains(err.Error(), bad.want) {
					t.Errorf("%s, round %d: %v, want %q", method, round, err, bad.want)
				}
			}
			if method == ProtectThenFit {
				for _, bad := range []fit.Curve{curve(times[:2], []float64{1, 2}), curve([]float64{0, 0.4, 1}, []float64{1, 2, 3})} {
					if err := m.Add(bad); err == nil || !strings.Contains(err.Error(), "use fit-then-protect") {
						t.Errorf("off the grid: %v", err)
					}
				}
			}
			for range 2 {
				mustAdd(t, m, ok)
				added++
			}
			if n, err := m.N(); n != added || err != nil {
				t.Fatalf("%s: %d people, %v, want %d", method, n, err, added)
			}
		}
		want := mustNew(t, c)
		for range added {
			mustAdd(t, want, ok)
		}
		if got, want := sumOf(t, m), sumOf(t, want); got != want {
			t.Errorf("%s: refused people left traces: %s, want %s", method, got, want)
		}
	}
}

// untouched reports whether nothing was drawn from a source made by Seeded(1).
func untouched(src *noise.Source) bool { return src.Uint64() == noise.Seeded(1).Uint64() }

func TestReleaseOnce(t *testing.T) {
	ok := fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 3}}}
	m, other := mustNew(t, good(t)), mustNew(t, good(t))

	src := noise.Seeded(1)
	if r, err := m.Release(src); r != nil || err == nil || !strings.Contains(err.Error(), "no person was added") || !untouched(src) {
		t.Errorf("release of nobody: %v, %v", r, err)
	}
	mustAdd(t, m, ok) // a refusal spends nothing and ends nothing
	mustAdd(t, other, ok)
	part, err := other.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := m.Release(noise.Seeded(1)); err != nil || r.N != 1 || r.Private {
		t.Fatalf("%+v, %v", r, err)
	}
	src = noise.Seeded(1)
	for name, f := range map[string]func() error{
		"release":   func() error { _, err := m.Release(src); return err },
		"add":       func() error { return m.Add(ok) },
		"marshal":   func() error { _, err := m.MarshalBinary(); return err },
		"unmarshal": func() error { return m.UnmarshalBinary(part) },
		"merge":     func() error { return m.Merge(other) },
		"merged":    func() error { return other.Merge(m) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "already released") {
			t.Errorf("%s after the release: %v", name, err)
		}
	}
	if !untouched(src) {
		t.Error("a second release drew noise")
	}
	if n, err := other.N(); n != 1 || err != nil {
		t.Errorf("a refused merge took people away: %d, %v", n, err)
	}
}

func TestStatedNumberMustHold(t *testing.T) {
	ok := fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 3}}}
	c := good(t)
	c.N = 3
	m := mustNew(t, c)
	for i := range 5 {
		if i != 3 {
			src := noise.Seeded(1)
			if r, err := m.Release(src); r != nil || err == nil || !strings.Contains(err.Error(), "stated as 3") || !untouched(src) {
				t.Errorf("release of %d people for 3: %v, %v", i, r, err)
			}
		}
		mustAdd(t, m, ok)
	}
	c.N = 3
	m = mustNew(t, c)
	for range 3 {
		mustAdd(t, m, ok)
	}
	if r, err := m.Release(noise.Crypto()); err != nil || r.N != 3 || !r.Private {
		t.Errorf("%+v, %v", r, err)
	}
}

// What the caller does to its slices after New changes nothing.
func TestConfigIsCopied(t *testing.T) {
	c := good(t)
	c.Method, c.Grid, c.Components, c.Reference = ProtectThenFit, []float64{0, 0.5, 1}, []string{"a"}, []release.Reference{release.Constant(1)}
	m := mustNew(t, c)
	c.Grid[1], c.Components[0], c.Reference[0] = 0.9, "b", release.Constant(7)
	mustAdd(t, m, fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 3}}})
	r, err := m.Release(noise.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := r.Reference[0].IsConstant(); r.Components[0] != "a" || x != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAutoFollowsThePlan(t *testing.T) {
	c := good(t)
	c.Method, c.Grid, c.N = Auto, []float64{0, 0.5, 1}, 100
	p, err := NewPlan(PlanConfig{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	if m := mustNew(t, c); m.Config().Method != p.Recommended || m.Config().Components[0] != "value" {
		t.Errorf("%+v, plan %+v", m.Config(), p)
	}
}
