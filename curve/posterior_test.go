package curve

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"gonum.org/v1/gonum/mat"
)

// The O(N) posterior is that of a Brownian path on a fine grid, by dense
// conditioning: mean at the ends and inside the cells, variance at the ends.
func TestPosteriorAgainstDense(t *testing.T) {
	const cells, fine = 4, 60
	r := rand.New(rand.NewPCG(1, 2))
	p := newPath(cells)
	for i := range cells {
		p.q[i] = []float64{0.5, 20, 3, 0.1}[i]
		p.y0[i], p.y1[i] = 5*r.NormFloat64(), 5*r.NormFloat64()
	}
	p.solve()

	// Path values at cell·fine + 1 nodes; the start is nearly flat.
	nodes := cells*fine + 1
	clock := make([]float64, nodes) // variance since the start
	for i := 1; i < nodes; i++ {
		clock[i] = clock[i-1] + p.q[(i-1)/fine]/fine
	}
	const flat = 1e7
	prior := mat.NewSymDense(nodes, nil)
	for i := range nodes {
		for j := i; j < nodes; j++ {
			prior.SetSym(i, j, flat+clock[i])
		}
	}
	// Coordinates of the interpolant of the nodes, exactly.
	h := mat.NewDense(2*cells, nodes, nil)
	for c := range cells {
		for k := range fine {
			i := c*fine + k
			u0, u1 := float64(k)/fine, float64(k+1)/fine
			w := (u1 - u0) / 2
			h.Set(2*c, i, h.At(2*c, i)+w)
			h.Set(2*c, i+1, h.At(2*c, i+1)+w)
			// ∫ of the hats times √3(2u−1), by Simpson, which is exact.
			e := func(u float64) float64 { return math.Sqrt(3) * (2*u - 1) }
			mid := e((u0 + u1) / 2)
			h.Set(2*c+1, i, h.At(2*c+1, i)+(u1-u0)/6*(e(u0)+2*mid))
			h.Set(2*c+1, i+1, h.At(2*c+1, i+1)+(u1-u0)/6*(2*mid+e(u1)))
		}
	}
	y := mat.NewVecDense(2*cells, nil)
	for c := range cells {
		y.SetVec(2*c, p.y0[c])
		y.SetVec(2*c+1, p.y1[c])
	}
	var ph, s, gain mat.Dense
	ph.Mul(prior, h.T())
	s.Mul(h, &ph)
	for i := range 2 * cells {
		s.Set(i, i, s.At(i, i)+1)
	}
	if err := gain.Solve(s.T(), ph.T()); err != nil {
		t.Log(err) // ill conditioned by the flat prior; the tolerance is set for it
	}
	var mean mat.VecDense
	mean.MulVec(gain.T(), y)
	for c := range cells + 1 {
		if got, want := p.x[c], mean.AtVec(c*fine); math.Abs(got-want) > 2e-3 {
			t.Errorf("mean at end %d: %g, want %g", c, got, want)
		}
		var v float64
		for k := range 2 * cells {
			v += gain.At(k, c*fine) * ph.At(c*fine, k)
		}
		if got, want := p.vd[c], prior.At(c*fine, c*fine)-v; math.Abs(got-want) > 5e-3 {
			t.Errorf("variance at end %d: %g, want %g", c, got, want)
		}
	}
	for c := range cells {
		cubic := p.cubic(c)
		for k := 0; k <= fine; k += 7 {
			x := 2*float64(k)/fine - 1
			e := [4]float64{1, math.Sqrt(3) * x, math.Sqrt(5) * (3*x*x - 1) / 2, math.Sqrt(7) * (5*x*x*x - 3*x) / 2}
			var got float64
			for j, v := range e {
				got += v * cubic[j]
			}
			if want := mean.AtVec(c*fine + k); math.Abs(got-want) > 5e-3 {
				t.Errorf("mean in cell %d at %d/%d: %g, want %g", c, k, fine, got, want)
			}
		}
	}
}

// On a path of the model the fitted roughness is the true one, and rough and
// smooth stretches and components are told apart.
func TestSmoothFindsRoughness(t *testing.T) {
	const cells = 1024
	r := rand.New(rand.NewPCG(3, 4))
	noisy := make([]float64, 2*cells*2)
	for k := range 2 {
		x := 0.0
		for i := range cells {
			q := 1.0
			if i >= cells/2 {
				q = 100
			}
			if k == 1 {
				q *= 9
			}
			d := math.Sqrt(q) * r.NormFloat64()
			noisy[2*i*2+k] = 2 * (x + d/2 + math.Sqrt(q/12)*r.NormFloat64() + r.NormFloat64())
			noisy[(2*i+1)*2+k] = 2 * (d/root12 + math.Sqrt(q/60)*r.NormFloat64() + r.NormFloat64())
			x += d
		}
	}
	f := smooth(noisy, cells, 2, 2)
	part := func(a, b int) float64 {
		var sum float64
		for _, q := range f.q[a:b] {
			sum += q * f.scale[0] / float64(b-a)
		}
		return sum
	}
	if q := part(0, cells/2-10); q < 0.8 || q > 1.25 {
		t.Errorf("smooth stretch: Q = %g, want 1", q)
	}
	if q := part(cells/2+10, cells); q < 80 || q > 125 {
		t.Errorf("rough stretch: Q = %g, want 100", q)
	}
	if ratio := f.scale[1] / f.scale[0]; ratio < 7.5 || ratio > 10.8 {
		t.Errorf("the components differ by %g, want 9", ratio)
	}
}

// What comes out is continuous, and far nearer to a smooth curve than what was
// released; a constant or straight curve does not upset it.
func TestDenoise(t *testing.T) {
	for _, g := range budgets {
		p, err := New(base(g, Denoise))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range []fit.Curve{wanderFlat(), wander(5, 50, 2)} {
			r, err := p.Privatize(c, noise.Seeded(uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			pieces := r.Release.Space.(interface {
				Pieces() int
				Ends(int) (left, right []float64)
			})
			for _, row := range r.Release.Coefficients {
				for s := range pieces.Pieces() - 1 {
					_, right := pieces.Ends(s)
					left, _ := pieces.Ends(s + 1)
					a, b := inner(right, row[s*4:s*4+4]), inner(left, row[s*4+4:s*4+8])
					if math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
						t.Fatalf("%v: jump from %g to %g after piece %d", g, a, b, s)
					}
				}
			}
		}
	}
	// A constant under Gaussian noise: the posterior is the mean of all cells.
	c := base(privacy.ConcentratedGeo(1e-2), Denoise)
	r, err := Privatize(c, wanderFlat(), noise.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	// 2·2⁷·2 noisy numbers of sd 7.07 in the window's basis; nearly one per
	// component should be left.
	var sum float64
	for k, row := range r.Release.Coefficients {
		for j, v := range row {
			if j%4 == 0 {
				v -= []float64{50, -3}[k] / math.Sqrt(128)
			}
			sum += v * v
		}
	}
	if rms := math.Sqrt(sum); rms > 4*7.07 {
		t.Errorf("error %g on a constant; the noise released is %g", rms, 7.07*math.Sqrt(512))
	}
}

func wanderFlat() fit.Curve {
	return fit.Curve{{T: []float64{101, 110}, X: []float64{50, 50}}, {T: []float64{100, 116}, X: []float64{-3, -3}}}
}
