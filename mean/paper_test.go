package mean

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// The noiseless RKHS setting of [FTP]: Gaussian kernel, ρ = 0.2, T equally spaced
// times on [0,1], norms at most B = 1, B′ = 1.1, μ = 1, n = 2¹². The error is the
// mean square on the grid against the mean of the true curves, 1000 releases by
// either method through the public API. Theory: fit-then-protect errs by
// 4B′²tr(K_T)/(n²μ²T) = 4B′²/(n²μ²) exactly (its raw form), and its error over that
// of protect-then-fit tends to 1/T.
//
// Each of 8 figures is held to 5.5 standard errors: false alarm below 1e-6.
func TestPaperRatio(t *testing.T) {
	const n, mu, radius, repetitions = 1 << 12, 1.0, 1.1, 1000
	for _, T := range []int{2, 4, 6, 8} {
		grid := space.Uniform(0, 1, T)
		sp, err := space.Kernel(space.Gaussian(0.2), grid, space.Floor(0))
		if err != nil {
			t.Fatal(err)
		}
		if sp.Dim() != T {
			t.Fatalf("%d of %d modes kept", sp.Dim(), T)
		}
		rnd := rand.New(rand.NewPCG(uint64(T), 1))
		c := Config{Space: sp, Radius: radius, Guarantee: privacy.GDP(mu), Unit: "person", Raw: true, N: n}
		ftp := mustNew(t, c)
		c.Method, c.Grid = ProtectThenFit, grid.T
		ptf := mustNew(t, c)
		truth := make([]float64, T)
		for range n {
			beta := normals(rnd, T, 1)
			scale := math.Pow(rnd.Float64(), 1/float64(T)) / norm2(beta) // uniform in the unit ball
			for k := range beta {
				beta[k] *= scale
			}
			x := values(sp, beta, grid.T)
			for j := range x {
				truth[j] += x[j] / n
			}
			curve := fit.Curve{{T: grid.T, X: x}}
			mustAdd(t, ftp, curve)
			mustAdd(t, ptf, curve)
		}
		src := noise.Seeded(uint64(T))
		errors := func(m *Mean) (mean, se float64) {
			part, err := m.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var sum, square float64
			for range repetitions {
				own := mustNew(t, m.Config())
				if err := own.UnmarshalBinary(part); err != nil {
					t.Fatal(err)
				}
				r, err := own.Release(src)
				if err != nil {
					t.Fatal(err)
				}
				var e float64
				for j, u := range grid.T {
					d := r.At(u) - truth[j]
					e += d * d / float64(T)
				}
				sum += e
				square += e * e
			}
			mean = sum / repetitions
			return mean, math.Sqrt((square/repetitions - mean*mean) / repetitions)
		}
		f, fse := errors(ftp)
		p, pse := errors(ptf)
		theory := 4 * radius * radius / (n * n * mu * mu)
		ratio := f / p
		rse := ratio * math.Hypot(fse/f, pse/p)
		t.Logf("T=%d: FTP error / (4B′²/(n²μ²)) = %.4f (%.4f); FTP/PTF = %.4f (%.4f), 1/T = %.4f", T, f/theory, fse/theory, ratio, rse, 1/float64(T))
		if math.Abs(f-theory) > 5.5*fse {
			t.Errorf("T=%d: FTP error %g, theory %g, standard error %g", T, f, theory, fse)
		}
		if math.Abs(ratio-1/float64(T)) > 5.5*rse {
			t.Errorf("T=%d: ratio %g, theory %g, standard error %g", T, ratio, 1/float64(T), rse)
		}
	}
}
