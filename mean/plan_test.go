package mean

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// measure makes real releases of cohorts drawn by the plan's law and returns the
// root-mean-square error over the domain and the components against the mean of
// the true curves.
func measure(t *testing.T, c PlanConfig, cohorts, releases int) float64 {
	t.Helper()
	c.Config = c.Config.withDefaults()
	sp, grid, comps := c.Space, c.Grid, len(c.Components)
	if grid == nil {
		grid = space.Uniform(sp.Domain().A, sp.Domain().B, 50).T
	}
	signal := c.Signal
	if signal == 0 {
		signal = c.Radius / 1.1
	}
	p := sp.Dim()
	fine := space.Uniform(sp.Domain().A, sp.Domain().B, 401).T
	inBall := func(rnd *rand.Rand, radius float64, surface bool) []float64 {
		v := normals(rnd, comps*p, 1)
		r := radius / norm2(v)
		if !surface {
			r *= math.Pow(rnd.Float64(), 1/float64(len(v)))
		}
		for i := range v {
			v[i] *= r
		}
		return v
	}
	var total float64
	for cohort := range cohorts {
		rnd := rand.New(rand.NewPCG(uint64(cohort), 77))
		centre := inBall(rnd, signal/2, true)
		truth := make([]float64, comps*p)
		m := mustNew(t, c.Config)
		for range c.N {
			beta := inBall(rnd, signal/2, false)
			var curve fit.Curve
			for i := range beta {
				beta[i] += centre[i]
				truth[i] += beta[i] / float64(c.N)
			}
			for k := range comps {
				x := values(sp, beta[k*p:(k+1)*p], grid)
				for j := range x {
					x[j] += c.Noise * rnd.NormFloat64()
				}
				curve = append(curve, fit.Series{T: grid, X: x})
			}
			mustAdd(t, m, curve)
		}
		part, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		src := noise.Seeded(uint64(cohort))
		for range releases {
			own := mustNew(t, m.Config())
			if err := own.UnmarshalBinary(part); err != nil {
				t.Fatal(err)
			}
			r, err := own.Release(src)
			if err != nil {
				t.Fatal(err)
			}
			for k := range comps {
				diff := make([]float64, p)
				for i := range diff {
					diff[i] = r.Coefficients[k][i] - truth[k*p+i]
				}
				for j, d := range values(sp, diff, fine) {
					w := 1 / 400.
					if j == 0 || j == 400 {
						w /= 2
					}
					total += w * d * d
				}
			}
		}
	}
	return math.Sqrt(total / float64(cohorts*releases*comps))
}

func TestPlanPredictsRealReleases(t *testing.T) {
	year := space.Interval{A: 1, B: 19}
	parse := func(text string, d space.Interval) space.Space {
		sp, err := space.Parse(text, d)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	grid := space.Uniform(0, 1, 20).T
	base := func(sp space.Space, radius float64, g privacy.Guarantee, n int64) Config {
		return Config{Space: sp, Radius: radius, Guarantee: g, Unit: "person", N: n}
	}
	with := func(c Config, edit func(c *Config)) Config { edit(&c); return c }
	raw := func(c *Config) { c.Raw = true }
	ptf := func(c *Config) { c.Method, c.Grid = ProtectThenFit, grid }
	for _, c := range []struct {
		name string
		plan PlanConfig
	}{
		{"legendre", PlanConfig{Config: base(legendre(t, 5), 2, privacy.GDP(1), 200)}},
		{"legendre, raw", PlanConfig{Config: with(base(legendre(t, 5), 2, privacy.GDP(1), 200), raw)}},
		{"legendre on ages, two components", PlanConfig{Config: with(base(parse("legendre:4", year), 30, privacy.GDP(0.5), 300), func(c *Config) { c.Components = []string{"a", "b"} }), Noise: 1}},
		{"kernel", PlanConfig{Config: base(parse("kernel:gauss:20%", unit), 1.1, privacy.GDP(1), 200)}},
		{"kernel, observation noise", PlanConfig{Config: base(parse("kernel:gauss:20%", unit), 1.1, privacy.GDP(1), 400), Noise: 0.3}},
		{"kernel, much observation noise", PlanConfig{Config: base(parse("kernel:matern52:30%", unit), 1.1, privacy.GDP(2), 400), Noise: 1}},
		{"kernel, many people, observation noise", PlanConfig{Config: base(parse("kernel:gauss:20%", unit), 1.1, privacy.GDP(1), 10_000), Noise: 0.3}},
		{"protect-then-fit, kernel, many people, much observation noise", PlanConfig{Config: with(base(parse("kernel:gauss:20%", unit), 1.1, privacy.GDP(1), 10_000), ptf), Noise: 1}},
		{"few people: the ball projects", PlanConfig{Config: base(legendre(t, 5), 2, privacy.GDP(1), 6)}},
		{"zCDP", PlanConfig{Config: base(parse("fourier:5", unit), 2, privacy.ZCDP(0.1), 200), Noise: 0.5}},
		{"pure", PlanConfig{Config: base(legendre(t, 4), 2, privacy.Pure(1), 400)}},
		{"pure, few people", PlanConfig{Config: base(legendre(t, 4), 2, privacy.Pure(1), 10)}},
		{"protect-then-fit", PlanConfig{Config: with(base(legendre(t, 5), 2, privacy.GDP(1), 300), ptf)}},
		{"protect-then-fit, active constraint", PlanConfig{Config: with(base(legendre(t, 5), 2, privacy.GDP(1), 12), ptf)}},
		{"protect-then-fit, kernel, observation noise", PlanConfig{Config: with(base(parse("kernel:gauss:20%", unit), 1.1, privacy.GDP(1), 200), ptf), Noise: 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := NewPlan(c.plan)
			if err != nil {
				t.Fatal(err)
			}
			method := c.plan.Config.withDefaults().Method
			var predicted Prediction
			for _, q := range p.Predictions {
				if q.Method == method {
					predicted = q
				}
			}
			got := measure(t, c.plan, 16, 20)
			t.Logf("predicted %.4g, measured %.4g (ratio %.3f), privacy noise %.4g, active %.2f", predicted.Error, got, predicted.Error/got, predicted.PrivacyNoise, predicted.ActiveShare)
			tolerance := 0.15
			if c.plan.N > 1000 {
				tolerance = 0.3 // the bias left over depends on the direction of the common part
			}
			if !(math.Abs(predicted.Error-got) <= tolerance*got) {
				t.Errorf("predicted error %g, measured %g", predicted.Error, got)
			}
			if again, err := NewPlan(c.plan); err != nil || !cmp.Equal(p, again) {
				t.Errorf("a plan made twice differs: %v", cmp.Diff(p, again))
			}
		})
	}
}

// The exact part: the noise of a raw fit-then-protect release in an L² space is
// √m·2B′/(nμ).
func TestPlanPrivacyNoiseIsExact(t *testing.T) {
	for _, m := range []int{1, 4, 9} {
		c := PlanConfig{Config: Config{Space: legendre(t, m), Radius: 3, Guarantee: privacy.GDP(0.5), Unit: "person", N: 250}}
		p, err := NewPlan(c)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Predictions[0].PrivacyNoise, math.Sqrt(float64(m))*2*3/(250*0.5); math.Abs(got-want) > 1e-6*want {
			t.Errorf("m=%d: %g, want %g", m, got, want)
		}
	}
}

func TestPlanRecommends(t *testing.T) {
	kernel, err := space.Parse("kernel:gauss:20%", unit)
	if err != nil {
		t.Fatal(err)
	}
	grid := space.Uniform(0, 1, 20).T
	c := PlanConfig{Config: Config{Space: kernel, Radius: 1.1, Guarantee: privacy.GDP(1), Unit: "person", N: 2000, Grid: grid}}
	find := func(p *Plan, method Method) Prediction {
		for _, q := range p.Predictions {
			if q.Method == method {
				return q
			}
		}
		t.Fatalf("no prediction of %s", method)
		return Prediction{}
	}
	p, err := NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	if f, q := find(p, FitThenProtect), find(p, ProtectThenFit); p.Recommended != FitThenProtect || f.Error > q.Error/2 {
		t.Errorf("noiseless curves: %+v", p)
	}
	c.Noise, c.N = 0.3, 200_000 // shrinkage bias against noise that averages out
	if p, err = NewPlan(c); err != nil {
		t.Fatal(err)
	}
	if f, q := find(p, FitThenProtect), find(p, ProtectThenFit); p.Recommended != ProtectThenFit || f.Error < q.Error {
		t.Errorf("noisy samples of many people: %+v", p)
	}
	if len(p.Remarks) == 0 || !strings.Contains(p.Remarks[0], "shrinkage bias") {
		t.Errorf("no remark on shrinkage: %q", p.Remarks)
	}
	c.Noise, c.N = 0, 3
	if p, err = NewPlan(c); err != nil {
		t.Fatal(err)
	}
	if len(p.Remarks) == 0 || !strings.Contains(p.Remarks[len(p.Remarks)-1], "little beyond the reference") {
		t.Errorf("three people: %+v", p)
	}
	c.Grid = nil
	if p, err = NewPlan(c); err != nil || len(p.Predictions) != 1 || p.Recommended != FitThenProtect {
		t.Errorf("without a grid: %+v, %v", p, err)
	}
	// More people, more budget: less error.
	last := math.Inf(1)
	for _, n := range []int64{100, 200, 400, 800, 1600} {
		p, err := NewPlan(PlanConfig{Config: Config{Space: legendre(t, 4), Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", N: n}})
		if err != nil {
			t.Fatal(err)
		}
		if e := p.Predictions[0].Error; e >= last {
			t.Errorf("error %g at n=%d, %g at half of it", e, n, last)
		} else {
			last = e
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(c *PlanConfig)
		want string
	}{
		{"no n", func(c *PlanConfig) { c.N = 0 }, "number of people"},
		{"noise below 0", func(c *PlanConfig) { c.Noise = -1 }, "observation noise"},
		{"noise NaN", func(c *PlanConfig) { c.Noise = math.NaN() }, "observation noise"},
		{"noise Inf", func(c *PlanConfig) { c.Noise = math.Inf(1) }, "observation noise"},
		{"signal beyond the radius", func(c *PlanConfig) { c.Signal = 2 }, "signal"},
		{"signal NaN", func(c *PlanConfig) { c.Signal = math.NaN() }, "signal"},
		{"radius", func(c *PlanConfig) { c.Radius = 0 }, "radius"},
		{"guarantee", func(c *PlanConfig) { c.Guarantee = nil }, "guarantee"},
	} {
		p := PlanConfig{Config: good(t)}
		p.N = 10
		c.edit(&p)
		if plan, err := NewPlan(p); err == nil || plan != nil || !strings.HasPrefix(err.Error(), "mean: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
