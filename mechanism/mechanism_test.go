package mechanism

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

func ball(t testing.TB, radius float64, dim int) lattice.Ball {
	t.Helper()
	b, err := lattice.NewBall(radius, dim)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// guarantees is every definition that a central release can carry, and the loss
// that its noise scale Δ/loss is made from.
var guarantees = []struct {
	g    privacy.Guarantee
	law  string
	loss float64
}{
	{privacy.GDP(1), "gaussian", 1},
	{privacy.GDP(0.01), "gaussian", 0.01},
	{privacy.GDP(50), "gaussian", 50},
	{privacy.ZCDP(0.5), "gaussian", 1},
	{privacy.ZCDP(0.02), "gaussian", 0.2},
	{privacy.Approx{Epsilon: 1, Delta: 1e-5}, "gaussian", 0.26805},
	{privacy.Pure(1), "spherical-laplace", 1},
	{privacy.Pure(0.1), "spherical-laplace", 0.1},
	{privacy.Pure(20), "spherical-laplace", 20},
}

func TestScale(t *testing.T) {
	for _, c := range guarantees {
		for _, radius := range []float64{1, 1.1, 7, 1e-100, 1e100} {
			for _, dim := range []int{1, 3, 40} {
				m, err := New(ball(t, radius, dim), c.g)
				if err != nil {
					t.Fatal(err)
				}
				if m.Law() != c.law || m.Guarantee() != c.g {
					t.Errorf("%v: law %s, guarantee %v", c.g, m.Law(), m.Guarantee())
				}
				tolerance := 1e-8
				if _, ok := c.g.(privacy.Approx); ok {
					tolerance = 1e-4 // the constant above has five digits
				}
				for _, n := range []int64{1, 2, 1000, lattice.MaxN} {
					if got, want := m.Scale(n), 2*radius/(float64(n)*c.loss); math.Abs(got-want) > tolerance*want {
						t.Errorf("%v, radius %g, n=%d: scale %g, want 2R/(n·loss) = %g", c.g, radius, n, got, want)
					}
				}
			}
		}
	}
}

// The noise covers the whole sensitivity of the integers, and is not rounded down.
func TestScaleCoversTheSensitivity(t *testing.T) {
	for _, radius := range []float64{1, 1.1, math.Pi, math.Nextafter(2, 0), 1e-90} {
		b := ball(t, radius, 2)
		for _, loss := range []float64{0.1, 1, 3} {
			g, err := New(b, privacy.GDP(loss))
			if err != nil {
				t.Fatal(err)
			}
			l, err := New(b, privacy.Pure(loss))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []float64{g.(*gaussian).scale, l.(*sphericalLaplace).scale} {
				if privacy.MulDown(s, loss) < b.Sensitivity() && privacy.MulUp(s, loss) < b.Sensitivity() {
					t.Errorf("radius %g: scale %g at loss %g is below the sensitivity %g", radius, s, loss, b.Sensitivity())
				}
			}
		}
	}
}

// The release is the integer sum plus the integer noise, and nothing else: with
// the source known, it can be undone to the last bit.
func TestReleaseIsSumPlusNoise(t *testing.T) {
	b := ball(t, 3, 3)
	sum := lattice.NewSum(b)
	k := make([]int64, 3)
	for _, v := range [][]float64{{1, 2, -1}, {0.5, 0, 0.25}, {-2, 0.1, 0.3}, {0, 0, 2.9}} {
		if err := b.Round(k, v); err != nil {
			t.Fatal(err)
		}
		if err := sum.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range guarantees {
		m, err := New(b, c.g)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Release(sum, noise.Seeded(7))
		if err != nil {
			t.Fatal(err)
		}
		src, z := noise.Seeded(7), make([]int64, 3)
		switch m := m.(type) {
		case *gaussian:
			src.RoundedNormals(z, m.scale)
		case *sphericalLaplace:
			src.RoundedSphericalLaplace(z, m.scale)
		}
		for i, s := range sum.Vector() {
			if want := float64(s+z[i]) / 4 * b.Step(); got[i] != want { // n = 4: the division is exact
				t.Errorf("%v: coordinate %d is %v, want %v", c.g, i, got[i], want)
			}
		}
	}
}

// Worst-case neighbours, for every mechanism: n vectors, one of them moved from
// +R to −R in one direction. The errors of the threshold test halfway, which is
// optimal for a symmetric law, are compared with the trade-off of the claim:
// equal for Gaussian noise and for Laplace noise in one dimension, above it
// otherwise. Each count is tested at 1e-8; with 30 counts the false-alarm rate is
// below 1e-6.
func TestWorstCaseNeighbours(t *testing.T) {
	const releases = 20_000
	for i, c := range guarantees {
		for dim := 1; dim <= 3; dim += 2 {
			b := ball(t, 1.5, dim)
			m, err := New(b, c.g)
			if err != nil {
				t.Fatal(err)
			}
			u := make([]float64, dim)
			for j := range u {
				u[j] = 1 / math.Sqrt(float64(dim))
			}
			src := noise.Seeded(uint64(100*i + dim))
			wrong := int64(0) // “the other world” said, over both worlds
			for _, sign := range []float64{-1, 1} {
				sum := lattice.NewSum(b)
				k, v := make([]int64, dim), make([]float64, dim)
				for _, x := range []float64{sign, 0.5, -0.5} {
					for j := range v {
						v[j] = x * 1.5 * u[j]
					}
					if err := b.Round(k, v); err != nil {
						t.Fatal(err)
					}
					if err := sum.Add(k); err != nil {
						t.Fatal(err)
					}
				}
				for range releases {
					out, err := m.Release(sum, src)
					if err != nil {
						t.Fatal(err)
					}
					var x float64
					for j := range out {
						x += out[j] * u[j]
					}
					if x*sign < 0 {
						wrong++
					}
				}
			}
			tight := true
			p := math.Erfc(c.loss/2/math.Sqrt2) / 2 // Φ(−μ/2), the fixed point of G_μ
			if c.law == "spherical-laplace" {
				p = math.Exp(-c.loss/2) / 2 // one dimension: P(Laplace > ε/2)
				tight = dim == 1
				if floor := 1 / (1 + math.Exp(c.loss)); dim > 1 {
					p = floor // of ε-DP
				}
			}
			if stattest.AtMost(wrong, 2*releases, p) < 1e-8 {
				t.Errorf("%v, dimension %d: error %g of the attack is below %g", c.g, dim, float64(wrong)/2/releases, p)
			}
			if tight && c.loss != 0.26805 && stattest.AtLeast(wrong, 2*releases, p) < 1e-8 {
				t.Errorf("%v, dimension %d: error %g of the attack is above %g: too much noise", c.g, dim, float64(wrong)/2/releases, p)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	b := ball(t, 1, 2)
	for _, c := range []struct {
		g    privacy.Guarantee
		want string
	}{
		{nil, "no guarantee"}, {privacy.GDP(0), ""}, {privacy.GDP(-1), ""}, {privacy.GDP(math.NaN()), ""}, {privacy.GDP(math.Inf(1)), ""},
		{privacy.ZCDP(0), ""}, {privacy.Pure(0), ""}, {privacy.Pure(math.Inf(1)), ""}, {privacy.Approx{Epsilon: 1}, ""}, {privacy.Approx{Epsilon: -1, Delta: 0.1}, ""},
		{privacy.Geo(1), "geo"}, {privacy.ConcentratedGeo(1), "geo"},
		{privacy.GDP(1e-9), "lattice steps"}, {privacy.Pure(1e-9), "lattice steps"}, {privacy.ZCDP(1e-20), "lattice steps"},
	} {
		if m, err := New(b, c.g); err == nil || m != nil || !strings.HasPrefix(err.Error(), "mechanism: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.g, err)
		}
	}
	for _, g := range []privacy.Guarantee{privacy.GDP(1), privacy.Pure(1)} {
		m, err := New(b, g)
		if err != nil {
			t.Fatal(err)
		}
		full := func(b lattice.Ball) *lattice.Sum {
			s := lattice.NewSum(b)
			if err := s.Add(make([]int64, b.Dim())); err != nil {
				t.Fatal(err)
			}
			return s
		}
		for _, c := range []struct {
			sum  *lattice.Sum
			want string
		}{
			{lattice.NewSum(b), "no person was added"},
			{full(ball(t, 2, 2)), "another ball"},
			{full(ball(t, 1, 3)), "another ball"},
		} {
			src := noise.Seeded(1)
			if out, err := m.Release(c.sum, src); err == nil || out != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, %v", g, out, err)
			}
			if src.Uint64() != noise.Seeded(1).Uint64() {
				t.Errorf("%v: noise was drawn for a release that was refused (%s)", g, c.want)
			}
		}
		before := full(b)
		if _, err := m.Release(before, noise.Seeded(1)); err != nil || !slices.Equal(before.Vector(), []int64{0, 0}) || before.N() != 1 {
			t.Errorf("%v: the release changed the sum: %v, %v", g, before.Vector(), err)
		}
	}
}

// A sum at the edge of int64 saturates and never wraps; the largest sum and the
// largest noise stay inside.
func TestSaturation(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{1, 2, 3}, {-1, 1, 0}, {math.MaxInt64, 0, math.MaxInt64}, {math.MinInt64, 0, math.MinInt64},
		{math.MaxInt64, 1, math.MaxInt64}, {1, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64}, {-1, math.MinInt64, math.MinInt64}, {math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MaxInt64, math.MinInt64, -1}, {math.MinInt64, math.MaxInt64, -1}, {1 << 62, 1 << 62, math.MaxInt64},
	} {
		if got := plus(c.a, c.b); got != c.want {
			t.Errorf("plus(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	b := ball(t, math.Nextafter(2, 0), 1)
	loss := b.Sensitivity() / noise.MaxScale * (1 + 1e-9) // the largest noise there is
	for _, g := range []privacy.Guarantee{privacy.GDP(loss), privacy.Pure(loss)} {
		m, err := New(b, g)
		if err != nil {
			t.Fatal(err)
		}
		sum := lattice.NewSum(b)
		k := make([]int64, 1)
		if err := b.Round(k, []float64{2}); err != nil {
			t.Fatal(err)
		}
		if err := sum.Add(k); err != nil {
			t.Fatal(err)
		}
		src := noise.Seeded(3)
		for range 1000 {
			out, err := m.Release(sum, src)
			if err != nil || math.IsNaN(out[0]) || math.Abs(out[0]) > 200*2/loss {
				t.Fatalf("%v: %v, %v", g, out, err)
			}
		}
	}
}
