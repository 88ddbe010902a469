package density

import (
	"math"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func TestRefusals(t *testing.T) {
	good := Config{Box: lonLat, Rank: []int{3}, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"box of 0 variables": func(c *Config) { c.Box = nil },
		"variable 2":         func(c *Config) { c.Box = []space.Interval{lonLat[0], {A: 1, B: 1}} },
		"volume":             func(c *Config) { c.Box = []space.Interval{{A: 0, B: 1e-60}, {A: 0, B: 1e-60}} },
		"names":              func(c *Config) { c.Names = []string{"lon"} },
		"unknown basis":      func(c *Config) { c.Basis = "legendre" },
		"periodic":           func(c *Config) { c.Basis, c.Periodic = Cosine, true },
		"unknown method":     func(c *Config) { c.Method = "kernel" },
		"unknown treatment":  func(c *Config) { c.Outside = "drop" },
		"no guarantee":       func(c *Config) { c.Guarantee = nil },
		"Gaussian":           func(c *Config) { c.Guarantee = privacy.Pure(1) },
		"no unit":            func(c *Config) { c.Unit = "" },
		"number of people":   func(c *Config) { c.N = -1 },
		"known beforehand":   func(c *Config) { c.Rank = nil },
		"fixed rank":         func(c *Config) { c.Method, c.Rank, c.N = Projection, nil, 10 },
		"unknown rule":       func(c *Config) { c.Rule = "aic" },
		"constants":          func(c *Config) { c.Kappa = []float64{1, 2} },
		"κ = ":               func(c *Config) { c.Kappa = []float64{math.NaN()} },
		"ranks for a box":    func(c *Config) { c.Rank = []int{1, 2, 3} },
		"set of frequencies": func(c *Config) { c.Set = "ball" },
		"lattice steps":      func(c *Config) { c.Guarantee = privacy.ZCDP(1e-18) },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Accumulators merge only with the same configuration, and damaged shards are refused.
func TestShardsOfAnotherConfiguration(t *testing.T) {
	c := Config{Box: lonLat, Rank: []int{3}}
	a := newDensity(t, c)
	if err := a.AddPoints([]float64{-122.4, 37.7}); err != nil {
		t.Fatal(err)
	}
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(*Config){
		func(c *Config) { c.Rank = []int{4} }, func(c *Config) { c.Basis = Fourier }, func(c *Config) { c.Guarantee = privacy.ZCDP(0.4) },
		func(c *Config) { c.Outside = Clamp }, func(c *Config) { c.Box = unitBox(2) }, func(c *Config) { c.N = 4 },
		func(c *Config) { c.Plain = true }, func(c *Config) { c.Rule = Lepskii2 }, func(c *Config) { c.Set = space.Total },
	} {
		other := c
		change(&other)
		b := newDensity(t, other)
		if b.Merge(newDensity(t, c)) == nil || b.UnmarshalBinary(data) == nil {
			t.Errorf("change %d merges", i)
		}
	}
	if a.Merge(a) == nil {
		t.Error("an accumulator merged into itself")
	}
	for i := range data {
		damaged := append([]byte(nil), data...)
		damaged[i] ^= 0x40
		b := newDensity(t, c)
		if b.UnmarshalBinary(damaged) == nil {
			t.Fatalf("byte %d changed and nobody noticed", i)
		}
		if i%100 == 0 && b.UnmarshalBinary(data[:i]) == nil {
			t.Fatalf("a text cut at %d was read", i)
		}
	}
	var zero Density
	if zero.UnmarshalBinary(data) == nil {
		t.Error("decoded into an accumulator without a configuration")
	}
}

func TestPlan(t *testing.T) {
	p, err := NewPlan(PlanConfig{Config: Config{Box: lonLat, N: 50000, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}, Smoothness: 2})
	if err != nil {
		t.Fatal(err)
	}
	if p.Rank != 32 || len(p.Fixed) != 6 {
		t.Errorf("plan %+v", p)
	}
	for i, q := range p.Fixed {
		if q.Rank == p.Best && (i == 0 || i == len(p.Fixed)-1) {
			t.Errorf("the best rank %d is at the end of the family", q.Rank)
		}
		if i > 0 && (q.Bias >= p.Fixed[i-1].Bias || q.Privacy <= p.Fixed[i-1].Privacy || q.Coefficients <= p.Fixed[i-1].Coefficients) {
			t.Errorf("prediction %+v after %+v", q, p.Fixed[i-1])
		}
	}
	if !(p.Layered.Privacy > p.Fixed[0].Privacy) || p.Layered.Rank != p.Best {
		t.Errorf("layered %+v", p.Layered)
	}
	// More smoothness, a lower rank; fewer people, a lower rank.
	smooth, err := NewPlan(PlanConfig{Config: Config{Box: lonLat, N: 50000, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}, Smoothness: 6})
	if err != nil || smooth.Best > p.Best {
		t.Errorf("rank %d for smoothness 6, %d for 2 (%v)", smooth.Best, p.Best, err)
	}
	few, err := NewPlan(PlanConfig{Config: Config{Box: lonLat, N: 50, Guarantee: privacy.ZCDP(0.01), Unit: "rider"}})
	if err != nil || few.Best != 1 || len(few.Remarks) == 0 {
		t.Errorf("a plan for 50 people: %+v (%v)", few, err)
	}
	for _, bad := range []PlanConfig{
		{Config: Config{Box: lonLat, Rank: []int{3}, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}},
		{Config: Config{Box: lonLat, N: 10, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}, Smoothness: -1},
		{Config: Config{Box: lonLat, N: 10, Guarantee: privacy.ZCDP(0.5), Unit: "rider"}, Energy: math.Inf(1)},
		{Config: Config{Box: lonLat, N: 10, Guarantee: privacy.Pure(0.5), Unit: "rider"}},
	} {
		if _, err := NewPlan(bad); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestMethods(t *testing.T) {
	for _, c := range []Config{
		{Box: unitBox(1), Rank: []int{8}, Method: Projection}, {Box: unitBox(1), Rank: []int{8}, Method: Family, Basis: Fourier},
		{Box: unitBox(2), Rank: []int{4}, Method: Family, Rule: Lepskii2}, {Box: unitBox(2), N: 3000, Guarantee: privacy.Approx{Epsilon: 1, Delta: 1e-6}},
		{Box: unitBox(1), N: 3000, Guarantee: privacy.GDP(1), Periodic: true},
	} {
		r := released(t, c, 3000)
		if r.Selection == nil != (c.Method == Projection) {
			t.Errorf("%s: selection %v", c.Method, r.Selection)
		}
		if f := r.AtPoint(make([]float64, len(c.Box))); !(f > 1) {
			t.Errorf("%+v: density %v where the points are", c, f)
		}
		if lo, hi := r.BandAtPoint(make([]float64, len(c.Box)), 0.95); !(lo < hi) {
			t.Errorf("band [%v, %v]", lo, hi)
		}
	}
}

// The bias for a guess of peaks is that of densities with such peaks, on average over their places.
func TestPlanPeaks(t *testing.T) {
	const width, cells = 0.05, 2000
	c := Config{Box: []space.Interval{{A: 0, B: 1}}, N: 50000, Guarantee: privacy.ZCDP(0.5), Unit: "rider", Rank: []int{16}}
	plan, err := NewPlan(PlanConfig{Config: c, Peaks: width})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.CosineBox(c.Box, []int{16}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range plan.Fixed {
		var want float64
		const places = 40
		for p := range places {
			centre, e := 0.2+0.6*(float64(p)+0.5)/places, make([]float64, s.Dim())
			theta, square := make([]float64, s.Dim()), 0.0
			for i := range cells {
				x := (float64(i) + 0.5) / cells
				z := (x - centre) / width
				v := math.Exp(-z*z/2) / (width * math.Sqrt(2*math.Pi))
				square += v * v / cells
				s.Eval(e, []float64{x})
				for j := range e {
					theta[j] += v * e[j] / cells
				}
			}
			for j, l := range s.Levels() {
				if l <= float64(q.Rank) {
					square -= theta[j] * theta[j]
				}
			}
			want += square / places
		}
		if math.Abs(q.Bias-want) > 0.15*want+1e-3 {
			t.Errorf("rank %d: bias %g, found %g", q.Rank, q.Bias, want)
		}
	}
	for _, bad := range []PlanConfig{{Config: c, Peaks: -1}, {Config: c, Peaks: 2}, {Config: c, Peaks: 0.1, Smoothness: 2}} {
		if _, err := NewPlan(bad); err == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
}
