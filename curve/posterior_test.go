package curve

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"gonum.org/v1/gonum/mat"
)

// The O(N) posterior is that of dense conditioning on a finely cut driving noise:
// states at the ends, coordinates inside, variances, and the evidence.
func TestPosteriorAgainstDense(t *testing.T) {
	const cells, fine = 3, 200
	for _, theta := range []float64{0.1, 0.7, 5} {
		r := rand.New(rand.NewPCG(1, 2))
		p := newPath(cells)
		for i := range cells {
			p.q[i] = []float64{2, 20, 0.7}[i]
			p.y[i] = [2]float64{3 * r.NormFloat64(), 3 * r.NormFloat64()}
		}
		m := newMotion(theta)
		p.forward(m)
		p.backward()

		// Unknowns: x and w at the start, and the noise of each short step, as an
		// impulse in its middle. reach(t, k) is what unknown k adds to x at t.
		const unknowns = 2 + cells*fine
		const flat = 1e6
		deviation := func(k int) float64 {
			switch k {
			case 0:
				return math.Sqrt(flat)
			case 1:
				return math.Sqrt(p.q[0] * theta / 2)
			}
			return math.Sqrt(p.q[(k-2)/fine] / fine)
		}
		reach := func(at float64, k int) float64 {
			switch k {
			case 0:
				return 1
			case 1:
				return -math.Expm1(-at / theta)
			}
			since := at - (float64(k-2)+0.5)/fine
			if since <= 0 {
				return 0
			}
			return -math.Expm1(-since / theta)
		}
		coordinate := func(cell, j, k int) float64 {
			var sum float64
			const points = 400
			for q := range points {
				u := (float64(q) + 0.5) / points
				x := 2*u - 1
				e := []float64{1, math.Sqrt(3) * x, math.Sqrt(5) * (3*x*x - 1) / 2, math.Sqrt(7) * (5*x*x*x - 3*x) / 2}[j]
				sum += e * reach(float64(cell)+u, k) / points
			}
			return sum
		}
		// Rows: the 2·cells data, the ends, the cubics' coordinates, all per unit of prior deviation.
		data := mat.NewDense(2*cells, unknowns, nil)
		asked := mat.NewDense(cells+1+4*cells, unknowns, nil)
		for k := range unknowns {
			for c := range cells {
				for j := range 4 {
					v := coordinate(c, j, k) * deviation(k)
					asked.Set(cells+1+4*c+j, k, v)
					if j < 2 {
						data.Set(2*c+j, k, v)
					}
				}
			}
			for c := range cells + 1 {
				asked.Set(c, k, reach(float64(c), k)*deviation(k))
			}
		}
		var cov, cross, own, gain mat.Dense
		cov.Mul(data, data.T())
		y := mat.NewVecDense(2*cells, nil)
		for c := range cells {
			for j := range 2 {
				cov.Set(2*c+j, 2*c+j, cov.At(2*c+j, 2*c+j)+1)
				y.SetVec(2*c+j, p.y[c][j])
			}
		}
		cross.Mul(asked, data.T())
		own.Mul(asked, asked.T())
		if err := gain.Solve(&cov, cross.T()); err != nil {
			t.Log(err) // conditioned like the flat prior; tolerances are set for it
		}
		var mean mat.VecDense
		mean.MulVec(gain.T(), y)
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 0.01*(1+math.Abs(want)) {
				t.Errorf("θ = %g, %s: %g, want %g", theta, what, got, want)
			}
		}
		for c := range cells + 1 {
			check("mean at an end", p.x[c][0], mean.AtVec(c))
			var v float64
			for k := range 2 * cells {
				v += gain.At(k, c) * cross.At(c, k)
			}
			check("variance at an end", p.variance[c][0], own.At(c, c)-v)
		}
		for c := range cells {
			for j, got := range p.cubic(m, c) {
				check("coordinate", got, mean.AtVec(cells+1+4*c+j))
			}
		}
	}
}

// One step of EM never lowers the evidence.
func TestEvidenceRises(t *testing.T) {
	noisy := make([]float64, 2*64*2)
	r := rand.New(rand.NewPCG(8, 9))
	for i := range noisy {
		noisy[i] = 4*math.Sin(float64(i)/30) + r.NormFloat64()
	}
	for _, part := range persistences {
		f := newField(noisy, 64, 2, 1, newMotion(max(part*64, leastPersistence)))
		f.solve()
		f.backward()
		before := f.evidence()
		for range 10 {
			for k, p := range f.paths {
				p.expect(f.motion)
				f.scale[k] = max(mean(p.stat), leastRough)
			}
			f.solve()
			f.backward()
			// The velocity at the start also depends on the rate, which the step leaves out.
			if got := f.evidence(); got < before-0.5 {
				t.Errorf("persistence %g: evidence falls from %g to %g", part, before, got)
			} else {
				before = got
			}
		}
	}
}

// Rough and smooth stretches, and components, are told apart by the right factors.
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
			noisy[(2*i+1)*2+k] = 2 * (d/(2*math.Sqrt(3)) + math.Sqrt(q/60)*r.NormFloat64() + r.NormFloat64())
			x += d
		}
	}
	f := smooth(noisy, cells, 2, 2, motionsOver(cells))
	part := func(a, b int) float64 {
		var sum float64
		for _, q := range f.q[a:b] {
			sum += q * f.scale[0] / float64(b-a)
		}
		return sum
	}
	if ratio := part(cells/2+10, cells) / part(0, cells/2-10); ratio < 75 || ratio > 130 {
		t.Errorf("rough over smooth stretch: %g, want 100", ratio)
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

// No budget, however large or small against the curve, upsets the smoothing.
func TestDenoiseExtremes(t *testing.T) {
	for exponent := -14; exponent <= 14; exponent += 2 {
		for _, g := range []privacy.Guarantee{privacy.Geo(math.Pow(10, float64(exponent))), privacy.ConcentratedGeo(math.Pow(10, float64(exponent)))} {
			p, err := New(base(g, Denoise))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range []fit.Curve{wanderFlat(), wander(5, 50, 2)} {
				r, err := p.Privatize(c, noise.Seeded(uint64(i)))
				if err != nil {
					// Only where the lattice ends: values of 50 at a noise of 1e-10 and less.
					if exponent < 10 || !strings.Contains(err.Error(), "beyond the lattice") {
						t.Errorf("%v, curve %d: %v", g, i, err)
					}
					continue
				}
				e, err := experiment.Error(c, r.Release)
				if err != nil {
					t.Fatal(err)
				}
				// Never worse than the noise of the release without smoothing, by much.
				law := r.Release.Noise
				dim := float64(4 * len(r.Release.Space.(interface{ Breaks() []float64 }).Breaks()))
				noisy := law.Scale * math.Sqrt(dim)
				if law.Law == "spherical-laplace" {
					noisy = law.Scale * (dim + 1)
				}
				q, _ := fit.NewPyramid(c, window, 2, p.config.MaxLevel)
				if e > 3*noisy+3*q.Residual(2) {
					t.Errorf("%v, curve %d: error %g, noise %g", g, i, e, noisy)
				}
			}
		}
	}
}

// What expect gathers by covariance is the expected squared length that its comment states, at equal and at unequal rates.
func TestExpectIsTheExpectedLength(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	for _, theta := range []float64{0.05, 1, 40} {
		for _, local := range []bool{false, true} {
			m, p := newMotion(theta), newPath(30)
			for i := range p.q {
				p.q[i] = 3
				if local {
					p.q[i] = math.Exp(2 * r.NormFloat64())
				}
				p.y[i] = [2]float64{3 * r.NormFloat64(), r.NormFloat64()}
			}
			p.forward(m)
			p.backward()
			p.expect(m)
			for i, q := range p.q {
				v0, v1, v01 := p.variance[i], p.variance[i+1], p.covariance[i]
				x := m.phi.on(p.x[i])
				change := [2]float64{p.x[i+1][0] - x[0], p.x[i+1][1] - x[1]}
				cross := m.phi.times(v01)
				spread := v1.plus(m.phi.times(v0).times(m.phi.t())).plus(cross.plus(cross.t()).scale(-1))
				want := quadratic(m.inverse, change) + traceOf(m.inverse, spread)
				w := m.weight(q)
				ws := w.times(m.s01)
				wsw := ws.times(w)
				cross = m.b0.times(v01).times(m.b1T)
				spread = m.b0.times(v0).times(m.b0T).plus(m.b1.times(v1).times(m.b1T)).plus(cross.plus(cross.t()))
				want += q*q*(quadratic(wsw, p.left(m, i))+traceOf(wsw, spread)-ws[0]-ws[3]) + 2*q
				if got := 4 * p.stat[i]; math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
					t.Fatalf("θ = %g, cell %d: %v, want %v", theta, i, got, want)
				}
			}
		}
	}
}
