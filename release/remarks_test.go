package release

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// meanAt is a mean whose norm without noise is part of the radius, with noise drawn.
func meanAt(t *testing.T, part float64, law string, scale float64, rng *rand.Rand) *Release {
	t.Helper()
	r := &Release{Verb: Mean, Method: FitThenProtect, Space: newSpace(t, "legendre:6", 0, 1), Components: []string{"x"}, Radius: 1,
		N: 100, Noise: Noise{Law: law, Scale: scale}, Privacy: privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "child"}}
	theta := randomMatrix(rng, 1, 6)[0]
	size := norm(theta) / part
	z, radius := randomMatrix(rng, 1, 6)[0], 1.0
	if law == SphericalLaplace { // √χ²_{m+1}·ξ
		radius = norm(randomMatrix(rng, 1, 7)[0])
	}
	for i := range theta {
		theta[i] = theta[i]/size + scale*radius*z[i]
	}
	r.Coefficients = [][]float64{theta}
	return r
}

// A mean near the radius is remarked upon; one of 0.85 of it by chance only. The rate allowed is 1 %; with 4000 releases more
// than 70 such remarks come with probability 1e-6 or less (binomial tail at 40).
func TestMeanNearTheRadius(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for _, c := range []struct {
		law   string
		scale float64
	}{{Gaussian, 0.02}, {Gaussian, 0.2}, {SphericalLaplace, 0.005}, {SphericalLaplace, 0.1}} {
		alarms, found := 0, 0
		for range 4000 {
			alarms += len(meanAt(t, nearRadius, c.law, c.scale, rng).Remarks())
			found += len(meanAt(t, 1, c.law, c.scale, rng).Remarks())
		}
		if alarms > 70 {
			t.Errorf("%s, scale %g: %d of 4000 false alarms", c.law, c.scale, alarms)
		}
		if c.scale < 0.03 && found < 3900 {
			t.Errorf("%s, scale %g: only %d of 4000 means at the radius found", c.law, c.scale, found)
		}
	}
	r := meanAt(t, 1, Gaussian, 0.01, rng)
	if got := r.Remarks(); len(got) != 1 || !strings.Contains(got[0].Long, "too small") || !strings.Contains(got[0].Short, "band does not show") {
		t.Errorf("%+v", got)
	}
	// The noisy coordinates count, not the projected ones; noise that left the ball by itself is no remark.
	r = meanAt(t, 0.2, Gaussian, 0.7, rng)
	r.Raw, r.Coefficients = r.Coefficients, [][]float64{{1, 0, 0, 0, 0, 0}}
	if got := r.Remarks(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// densityOf is a layered density in the unit square with mass spread evenly over [0, side]².
func densityOf(t *testing.T, side float64, chosen float64) *Release {
	t.Helper()
	const rank = 16
	box := []space.Interval{{A: 0, B: 2}, {A: 0, B: 2}}
	s, err := space.CosineBox(box, []int{rank}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	wave := func(k int) float64 { // ∫ √2cos(πku) over [0, side], over side
		if k == 0 {
			return 1
		}
		a := math.Pi * float64(k) * side
		return math.Sqrt2 * math.Sin(a) / a
	}
	c := make([]float64, s.Dim())
	for j, l := range s.Levels() {
		if l <= chosen {
			c[j] = wave(s.Frequency(j, 0)) * wave(s.Frequency(j, 1)) / 4
		}
	}
	return &Release{Verb: Density, Method: Layered, Box: s, Components: []string{"density"}, Coefficients: [][]float64{c}, N: 1000,
		Selection: &Selection{Rule: "lepskii-1", Kappa: []float64{1.5}, Rank: chosen},
		Noise:     Noise{Law: GaussianLayered, Ranks: []float64{4, 8, rank}, Scales: []float64{1e-4, 1e-4, 1e-4}},
		Privacy:   privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "row"}}
}

func TestDensityRemarks(t *testing.T) {
	for _, c := range []struct {
		side, rank float64
		want       []string
	}{
		{0.5, 8, nil},
		{0.5, 16, []string{"the largest that was offered"}},
		{0.15, 8, nil},
		{0.05, 16, []string{"the largest that was offered", "small part of the box"}},
	} {
		got := densityOf(t, c.side, c.rank).Remarks()
		if len(got) != len(c.want) {
			t.Errorf("side %g, rank %g: %+v", c.side, c.rank, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i].Short+got[i].Long, want) {
				t.Errorf("side %g, rank %g: %+v, want %q", c.side, c.rank, got[i], want)
			}
		}
	}
	r := densityOf(t, 0.05, 8)
	for i := range r.Noise.Scales {
		r.Noise.Scales[i] = 3 // noise that explains all
	}
	if got := r.Remarks(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(r.Caveat(), "negative") {
		t.Error(r.Caveat())
	}
}

// A denoised curve that is a flat line says so; one that moves does not.
func TestShapelessCurve(t *testing.T) {
	for _, c := range []struct {
		moves float64
		want  int
	}{{0, 1}, {0.5, 1}, {10, 0}} {
		s := newSpace(t, "piecewise:8:legendre:4", 0, 1)
		r := &Release{Verb: Curve, Method: Denoised, Space: s, Components: []string{"x"}, Noise: Noise{Law: Gaussian, Scale: 1}}
		x := make([]float64, s.Dim())
		for i := range 8 {
			x[4*i] = 100 // a level, which is no shape
			if i%2 == 1 {
				x[4*i] += c.moves
			}
		}
		r.Coefficients = [][]float64{x}
		if got := r.Remarks(); len(got) != c.want {
			t.Errorf("moves %g: %+v", c.moves, got)
		}
		if got := r.NoiseRMS(); math.Abs(got-4) > 1e-12 { // 16 coordinates
			t.Errorf("noise %g before denoising, want 4", got)
		}
	}
}

// The noise over the domain is exact, where an average over even points that counts the ends in full is not.
func TestNoiseRMS(t *testing.T) {
	for _, name := range []string{"legendre:6", "fourier:9", "bspline:12", "piecewise:3:legendre:4", "piecewise:100:legendre:2"} {
		s := newSpace(t, name, 1, 18)
		r := &Release{Verb: Mean, Space: s, Components: []string{"x", "y"}, Noise: Noise{Law: Gaussian, Scale: 2}}
		if got, want := r.NoiseRMS(), 2*math.Sqrt(float64(s.Dim())); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		r.Noise.Law = SphericalLaplace
		if got, want := r.NoiseRMS(), 2*math.Sqrt(float64(s.Dim())*float64(2*s.Dim()+1)); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Every band says what it does not hold.
func TestBandCaveats(t *testing.T) {
	for _, r := range []*Release{sample(t), densityOf(t, 0.5, 8), {Verb: Curve, Method: Projection}, {Verb: Regression}} {
		if !strings.Contains(r.BandCaveat(), "not in it: ") {
			t.Errorf("%s: %q", r.Verb, r.BandCaveat())
		}
	}
	if r := (&Release{Verb: Curve, Method: Denoised}); r.BandCaveat() != "" {
		t.Error(r.BandCaveat())
	}
}
