package release

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Known quantiles of one coordinate of the spherical Laplace vector: in R¹ it
// is the Laplace law, in R³ the radial projection of Gamma(3) gives the tail
// e^{−q}(1 + q/2) (integrate ∫_q^∞ (1−q/r)·r²e^{−r}/2 dr).
func TestLaplaceQuantile(t *testing.T) {
	for _, level := range []float64{1e-6, 0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9} {
		if got, want := laplaceQuantile(1, level), -math.Log1p(-level); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("m=1, level %v: %v, want %v", level, got, want)
		}
		q := laplaceQuantile(3, level)
		if tail := math.Exp(-q) * (1 + q/2); math.Abs(tail-(1-level)) > 1e-9*math.Max(1-level, 1e-5) {
			t.Errorf("m=3, level %v: tail %v, want %v", level, tail, 1-level)
		}
	}
	for _, m := range []int{2, 5, 39, 40, 41, 60, 500, 20_000} {
		// Variance m+1 by the scale mixture; a Gaussian of that variance in the limit.
		s, w := chiNodes(m + 1)
		var sum, v float64
		for i := range s {
			sum += w[i]
			v += w[i] * s[i] * s[i]
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(v/float64(m+1)-1) > 1e-10 {
			t.Errorf("m=%d: total %v, E S² = %v, want %d", m, sum, v, m+1)
		}
		q := laplaceQuantile(m, 0.95) / math.Sqrt(float64(m+1))
		if m >= 500 && math.Abs(q-1.9600) > 0.005 {
			t.Errorf("m=%d: quantile %v sd, want near 1.96", m, q)
		}
	}
}

// cover simulates the noise and counts how often the pointwise band (averaged
// over ts and components) and the simultaneous band hold the truth.
type cover struct {
	r  *Release
	ts []float64
}

func (c cover) run(t *testing.T, reps int, draw func(*rand.Rand, [][]float64), level float64) (pointwise, simultaneous float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	p, k := c.r.Space.Dim(), len(c.r.Components)
	e := make([][]float64, len(c.ts))
	for i, x := range c.ts {
		e[i] = make([]float64, p)
		c.r.Space.Eval(e[i], x)
	}
	// The band's half-widths do not depend on the coefficients, so one call serves all repetitions.
	zero := *c.r
	zero.Coefficients, zero.Raw, zero.Radius = make([][]float64, k), nil, math.MaxFloat64/1e9
	for i := range zero.Coefficients {
		zero.Coefficients[i] = make([]float64, p)
	}
	_, point, err := zero.Bands(c.ts, level, false)
	if err != nil {
		t.Fatal(err)
	}
	_, simul, err := zero.Bands(c.ts, level, true)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([][]float64, k)
	for i := range noise {
		noise[i] = make([]float64, p)
	}
	var inPoint, inAll int
	for range reps {
		draw(rng, noise)
		all := true
		for i := range c.ts {
			for j := range noise {
				d := math.Abs(dot(noise[j], e[i]))
				if d <= point[j][i] {
					inPoint++
				}
				all = all && d <= simul[j][i]
			}
		}
		if all {
			inAll++
		}
	}
	return float64(inPoint) / float64(reps*len(c.ts)*k), float64(inAll) / float64(reps)
}

// Coverage of unprojected bands: not below the level and, since nothing widens
// them, not above it either. With 20,000 repetitions the standard error is at
// most 0.0016 at 0.95 (0.0021 at 0.9) for the simultaneous band; its quantile is
// itself estimated from 20,000 draws, which adds as much again in quadrature.
// Five joint standard errors (0.012 for all cases) give a false alarm below
// 1e-6 a side. The pointwise average is over dependent points: same bound.
func TestCoverage(t *testing.T) {
	const reps, tolerance = 20_000, 0.012
	sp := newSpace(t, "kernel:gauss:20%", 0, 10)
	p := sp.Dim()
	factor := randomMatrix(rand.New(rand.NewPCG(3, 4)), p, 5)
	gauss := func(rng *rand.Rand, scale float64, dst []float64) {
		for i := range dst {
			dst[i] = scale * rng.NormFloat64()
		}
	}
	tests := []struct {
		name       string
		components int
		noise      Noise
		draw       func(*rand.Rand, [][]float64)
	}{
		{"gaussian", 1, Noise{Law: Gaussian, Scale: 0.7}, func(rng *rand.Rand, z [][]float64) {
			gauss(rng, 0.7, z[0])
		}},
		{"gaussian, two components", 2, Noise{Law: Gaussian, Scale: 3}, func(rng *rand.Rand, z [][]float64) {
			gauss(rng, 3, z[0])
			gauss(rng, 3, z[1])
		}},
		{"linearised", 2, Noise{Law: GaussianLinearised, Factor: factor}, func(rng *rand.Rand, z [][]float64) {
			xi := make([]float64, 5)
			for k := range z {
				gauss(rng, 1, xi)
				for i := range z[k] {
					z[k][i] = dot(factor[i], xi)
				}
			}
		}},
		// By its definition, not by the scale mixture: radius Gamma(m), uniform direction.
		{"spherical Laplace", 2, Noise{Law: SphericalLaplace, Scale: 0.2}, func(rng *rand.Rand, z [][]float64) {
			gauss(rng, 1, z[0])
			gauss(rng, 1, z[1])
			n := math.Hypot(norm(z[0]), norm(z[1]))
			radius := distuv.Gamma{Alpha: float64(2 * p), Beta: 1, Src: rng}.Rand()
			for k := range z {
				for i := range z[k] {
					z[k][i] *= 0.2 * radius / n
				}
			}
		}},
	}
	for _, tt := range tests {
		r := sample(t)
		r.Space, r.Noise, r.Reference = sp, tt.noise, nil
		r.Components = []string{"a", "b"}[:tt.components]
		var ts []float64
		for i := range 60 {
			ts = append(ts, float64(i)/59*10)
		}
		for _, level := range []float64{0.9, 0.95} {
			point, simul := cover{r: r, ts: ts}.run(t, reps, tt.draw, level)
			t.Logf("%s, level %v: pointwise %.4f, simultaneous %.4f", tt.name, level, point, simul)
			if math.Abs(point-level) > tolerance {
				t.Errorf("%s: pointwise coverage %.4f at level %v", tt.name, point, level)
			}
			if math.Abs(simul-level) > tolerance {
				t.Errorf("%s: simultaneous coverage %.4f at level %v", tt.name, simul, level)
			}
		}
	}
}

// With the projection, the band is cut to the ball and widened to the released
// curve: a truth in the ball is held at least as often as the level, less five
// standard errors (false alarm below 1e-6), also on the sphere itself.
func TestCoverageProjected(t *testing.T) {
	const reps, level = 2000, 0.9
	rng := rand.New(rand.NewPCG(5, 6))
	r := sample(t)
	r.Reference, r.Radius = nil, 1
	r.Noise.Scale = 0.5
	ts := []float64{2, 5, 9, 10, 13.5, 18}
	for _, truth := range [][]float64{{1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.5}, {0.1, -0.2, 0, 0}} {
		in := make([]int, len(ts))
		truthful := *r
		truthful.Coefficients, truthful.Raw = [][]float64{truth}, nil
		for range reps {
			raw := make([]float64, 4)
			for i := range raw {
				raw[i] = truth[i] + 0.5*rng.NormFloat64()
			}
			projected := append([]float64(nil), raw...)
			if n := norm(raw); n > 1 {
				for i := range projected {
					projected[i] /= n
				}
			}
			r.Raw, r.Coefficients = [][]float64{raw}, [][]float64{projected}
			for i, x := range ts {
				lo, hi := r.Band(x, level)
				if y := truthful.At(x); lo <= y && y <= hi {
					in[i]++
				}
				if y := r.At(x); y < lo || y > hi {
					t.Fatalf("the band [%v, %v] does not hold the released value %v", lo, hi, y)
				}
			}
		}
		for i := range ts {
			if got := float64(in[i]) / reps; got < level-5*math.Sqrt(level*(1-level)/reps) {
				t.Errorf("truth %v at t=%v: coverage %.3f below %v", truth, ts[i], got, level)
			}
		}
	}
}

func TestBandShape(t *testing.T) {
	r := sample(t)
	ts := []float64{2, 10, 18}
	lo, hi, err := r.Bands(ts, 0.95, false)
	if err != nil {
		t.Fatal(err)
	}
	slo, shi, err := r.Bands(ts, 0.95, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range ts {
		l, h := r.Band(x, 0.95)
		if l != lo[0][i] || h != hi[0][i] {
			t.Errorf("t=%v: Band [%v, %v], Bands [%v, %v]", x, l, h, lo[0][i], hi[0][i])
		}
		raw := *r
		raw.Coefficients = r.Raw
		want := 1.959963984540054 * r.Noise.Scale * r.Space.Bound(x)
		if got := (h - l) / 2; math.Abs(got/want-1) > 1e-12 {
			t.Errorf("t=%v: half-width %v, want %v", x, got, want)
		}
		if mid := (l + h) / 2; math.Abs(mid-raw.At(x)) > 1e-9 {
			t.Errorf("t=%v: centred on %v, want the unprojected %v", x, mid, raw.At(x))
		}
		if slo[0][i] >= l || shi[0][i] <= h {
			t.Errorf("t=%v: simultaneous band inside the pointwise one", x)
		}
	}
	again, _, _ := r.Bands(ts, 0.95, true)
	if again[0][1] != slo[0][1] {
		t.Error("the simulated band changes from call to call")
	}
	// One point and one component: nothing to be simultaneous about.
	one, _, _ := r.Bands(ts[:1], 0.95, true)
	if w := (r.rawAt(ts[0]) - one[0][0]) / (r.rawAt(ts[0]) - lo[0][0]); w < 1 || w > 1.03 {
		t.Errorf("simultaneous band of one point is %v times the pointwise one", w)
	}
	// Beyond what 20,000 draws resolve Bonferroni takes over; it must stay finite and wider.
	far, _, err := r.Bands(ts, 1-1e-9, true)
	if err != nil || !(far[0][1] < slo[0][1]) || math.IsInf(far[0][1], 0) {
		t.Errorf("level 1−1e-9: %v, %v", far, err)
	}
	// A raw value far outside the ball: the band collapses to its edge and still holds the released curve.
	r.Raw = [][]float64{{1000, 0, 0, 0}}
	r.Coefficients = [][]float64{{30, 0, 0, 0}}
	l, h := r.Band(10, 0.95)
	edge := 120 + 30*r.Space.Bound(10)
	if h > edge+1e-9 || l > r.At(10) || h < r.At(10) {
		t.Errorf("band [%v, %v], released %v, edge of the ball %v", l, h, r.At(10), edge)
	}
	for _, level := range []float64{0, 1, -1, 2, math.NaN()} {
		if l, h := r.Band(10, level); !math.IsNaN(l) || !math.IsNaN(h) {
			t.Errorf("level %v: [%v, %v]", level, l, h)
		}
		if _, _, err := r.Bands(ts, level, true); err == nil {
			t.Errorf("level %v accepted", level)
		}
	}
	if _, _, err := r.Bands(nil, 0.95, true); err == nil {
		t.Error("bands at no points accepted")
	}
}

func (r *Release) rawAt(t float64) float64 {
	raw := *r
	raw.Coefficients = r.Raw
	return raw.At(t)
}

// Where every function of the space vanishes there is no noise to cover.
func TestBandWithoutNoise(t *testing.T) {
	sp := newSpace(t, "kernel:brownian", 0, 1)
	r := sample(t)
	r.Space, r.Raw, r.Reference = sp, nil, nil
	r.Coefficients = [][]float64{make([]float64, sp.Dim())}
	lo, hi, err := r.Bands([]float64{0, 0.5}, 0.95, true)
	if err != nil {
		t.Fatal(err)
	}
	if lo[0][0] != 0 || hi[0][0] != 0 || !(lo[0][1] < 0 && hi[0][1] > 0) {
		t.Errorf("bands [%v, %v]", lo[0], hi[0])
	}
	if lo, hi, err = r.Bands([]float64{0}, 0.95, true); err != nil || lo[0][0] != 0 || hi[0][0] != 0 {
		t.Errorf("only the point without noise: [%v, %v], %v", lo, hi, err)
	}
}

func BenchmarkBandsSimultaneous(b *testing.B) {
	r := sample(b)
	r.Space = newSpace(b, "kernel:gauss:20%", 2, 18)
	r.Coefficients, r.Raw = [][]float64{make([]float64, r.Space.Dim())}, nil
	ts := space.Uniform(2, 18, 200).T
	for b.Loop() {
		if _, _, err := r.Bands(ts, 0.95, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBandLaplace(b *testing.B) {
	r := sample(b)
	r.Noise = Noise{Law: SphericalLaplace, Scale: 1}
	r.Privacy.Guarantee = privacy.Pure(1)
	for b.Loop() {
		r.Band(10, 0.95)
	}
}
