package mean

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// The vectors in testdata/golden.json come from an independent NumPy
// implementation checked against 50-digit arithmetic (shared/golden/README.md).

type goldenFile struct {
	Tnew     []float64 `json:"tnew"`
	Datasets []struct {
		Name string
		T    []float64
		X    [][]float64
	}
	Cases  []goldenCase
	Stress struct {
		T     []float64
		X     [][]float64
		Rho   float64
		Cases []struct {
			B          float64
			Lam        []float64
			FittedGrid [][]float64 `json:"fitted_grid"`
		}
	}
}

type goldenCase struct {
	Dataset string
	Space   struct {
		Kind, Kern string
		Rho        float64
		M          int
	}
	B, Mu, Floor float64
	A            []float64
	KHalf        [][]float64 `json:"K_T_half"`
	FTP          struct {
		FittedGrid  [][]float64 `json:"fitted_grid"`
		Norm, Lam   []float64
		Active      []bool
		MeanGrid    []float64 `json:"mean_grid"`
		MeanAtTnew  []float64 `json:"mean_at_tnew"`
		Sigma       float64
		Xi          []float64
		ReleaseGrid []float64 `json:"release_grid"`
	}
	PTF struct {
		C           []float64
		ClippedMean []float64 `json:"clipped_mean"`
		SD          []float64
		Noisy       []float64
		FittedGrid  []float64 `json:"fitted_grid"`
		Lam, Norm   float64
	}
	GivenNoisy struct {
		Y                    []float64
		Weighted, Unweighted struct {
			Grid []float64
			Lam  float64
		}
	} `json:"given_noisy"`
}

const goldenTolerance = 1e-8

func readGolden(t *testing.T) goldenFile {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldenFile
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (c goldenCase) space(t *testing.T, times []float64) space.Space {
	t.Helper()
	domain := space.Interval{A: 0, B: 1}
	if c.Space.Kind != "rkhs" {
		sp, err := space.Legendre(domain, c.Space.M)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	kern := map[string]space.Kern{
		"gaussian": space.Gaussian(c.Space.Rho), "laplace": space.Laplace(c.Space.Rho),
		"matern32": space.Matern32(c.Space.Rho), "brownian": space.Brownian(),
	}[c.Space.Kern]
	grid, err := space.Points(domain, times)
	if err != nil {
		t.Fatal(err)
	}
	sp, err := space.Kernel(kern, grid, space.Floor(0))
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= goldenTolerance*max(1, math.Abs(want[i]))) {
			t.Errorf("%s[%d] = %.12g, want %.12g", what, i, got[i], want[i])
		}
	}
}

func values(sp space.Space, coords, times []float64) []float64 {
	out, e := make([]float64, len(times)), make([]float64, sp.Dim())
	for j, u := range times {
		sp.Eval(e, u)
		for k := range e {
			out[j] += e[k] * coords[k]
		}
	}
	return out
}

func TestGoldenMean(t *testing.T) {
	g := readGolden(t)
	sets := map[string]int{}
	for i, d := range g.Datasets {
		sets[d.Name] = i
	}
	for i, c := range g.Cases {
		d := g.Datasets[sets[c.Dataset]]
		n, T := len(d.X), len(d.T)
		sp := c.space(t, d.T)
		p := sp.Dim()

		design, err := fit.NewDesign(sp, d.T, nil)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		design = design.WithFloor(c.Floor)
		var s fit.Solver
		var x []float64
		for _, row := range d.X {
			x = append(x, row...)
		}
		coords, lambda := make([]float64, n*p), make([]float64, n)
		s.Fit(design, coords, x, 1, c.B, lambda)
		mean := make([]float64, p)
		for r := range n {
			own := coords[r*p : (r+1)*p]
			near(t, "fitted_grid", values(sp, own, d.T), c.FTP.FittedGrid[r])
			near(t, "norm", []float64{norm2(own)}, c.FTP.Norm[r:r+1])
			if c.FTP.Active[r] {
				near(t, "lam", lambda[r:r+1], c.FTP.Lam[r:r+1])
			}
			for k := range own {
				mean[k] += own[k] / float64(n)
			}
		}
		near(t, "mean_grid", values(sp, mean, d.T), c.FTP.MeanGrid)
		near(t, "mean_at_tnew", values(sp, mean, g.Tnew), c.FTP.MeanAtTnew)

		ftp := Config{Space: sp, Radius: c.B, Guarantee: privacy.GDP(c.Mu), Unit: "child"}.withDefaults()
		near(t, "sigma", []float64{scaleOf(t, ftp, n)}, []float64{c.FTP.Sigma})
		// K_T^{1/2}ξ on the grid, with the symmetric root, is noise of the coordinates
		// A⁺K_T^{1/2}ξ: the two have the same law, since A Aᵀ = K_T.
		if c.KHalf != nil {
			noisy := append([]float64(nil), mean...)
			half := make([]float64, T)
			for j := range half {
				for l, xi := range c.FTP.Xi {
					half[j] += c.KHalf[j][l] * xi
				}
			}
			for k, z := range solve(t, sp, d.T, half) {
				noisy[k] += c.FTP.Sigma * z
			}
			near(t, "release_grid", values(sp, noisy, d.T), c.FTP.ReleaseGrid)
		}

		testGoldenPTF(t, sp, c, d.T, d.X)
		if t.Failed() {
			t.Fatalf("case %d: %+v B=%g μ=%g on %s", i, c.Space, c.B, c.Mu, c.Dataset)
		}
	}
}

func scaleOf(t *testing.T, c Config, n int) float64 {
	t.Helper()
	m, err := c.mechanism()
	if err != nil {
		t.Fatal(err)
	}
	return m.Scale(int64(n))
}

func solve(t *testing.T, sp space.Space, times, y []float64) []float64 {
	t.Helper()
	a := mat.NewDense(len(times), sp.Dim(), nil)
	for j, u := range times {
		sp.Eval(a.RawRowView(j), u)
	}
	var out mat.VecDense
	if err := out.SolveVec(a, mat.NewVecDense(len(y), y)); err != nil {
		t.Fatal(err)
	}
	return out.RawVector().Data
}

func testGoldenPTF(t *testing.T, sp space.Space, c goldenCase, times []float64, x [][]float64) {
	t.Helper()
	cfg := Config{Space: sp, Radius: c.B, Guarantee: privacy.GDP(c.Mu), Unit: "child", Method: ProtectThenFit, Grid: times}.withDefaults()
	for _, a := range c.A {
		if a == 0 { // Brownian at 0: no weight exists
			if cfg.Validate() == nil {
				t.Error("a grid time with ‖e(t)‖ = 0 was accepted")
			}
			return
		}
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	ball, err := cfg.ball()
	if err != nil {
		t.Fatal(err)
	}
	clip := newClipper(cfg, ball)
	near(t, "c", clip.clip, c.PTF.C)
	mean, sd, scaled := make([]float64, len(times)), make([]float64, len(times)), make([]float64, len(times))
	for _, row := range x {
		y := append([]float64(nil), row...)
		clip.scale(y)
		for j := range y {
			mean[j] += y[j] * clip.clip[j] / float64(len(x))
		}
	}
	near(t, "clipped_mean", mean, c.PTF.ClippedMean)
	scale := scaleOf(t, cfg, len(x))
	for j := range sd {
		sd[j] = scale * clip.clip[j]
		scaled[j] = c.PTF.Noisy[j] / clip.clip[j]
	}
	near(t, "sd", sd, c.PTF.SD)
	design, err := cfg.noisyDesign()
	if err != nil {
		t.Fatal(err)
	}
	coords, lambda := cfg.fitNoisy(design.WithFloor(c.Floor), scaled)
	near(t, "ptf fitted_grid", values(sp, coords, times), c.PTF.FittedGrid)
	near(t, "ptf norm", []float64{norm2(coords)}, []float64{c.PTF.Norm})
	near(t, "ptf lam", []float64{lambda}, []float64{c.PTF.Lam})
	if c.GivenNoisy.Y == nil {
		return
	}
	for j := range scaled {
		scaled[j] = c.GivenNoisy.Y[j] / clip.clip[j]
	}
	coords, lambda = cfg.fitNoisy(design.WithFloor(c.Floor), scaled)
	near(t, "weighted grid", values(sp, coords, times), c.GivenNoisy.Weighted.Grid)
	near(t, "weighted lam", []float64{lambda}, []float64{c.GivenNoisy.Weighted.Lam})
}

// A smooth kernel on 30 points is numerically singular: only grid values are
// comparable.
func TestGoldenStress(t *testing.T) {
	g := readGolden(t)
	grid, err := space.Points(space.Interval{A: 0, B: 1}, g.Stress.T)
	if err != nil {
		t.Fatal(err)
	}
	sp, err := space.Kernel(space.Gaussian(g.Stress.Rho), grid, space.Floor(1e-13))
	if err != nil {
		t.Fatal(err)
	}
	design, err := fit.NewDesign(sp, g.Stress.T, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Stress.Cases {
		for r, row := range g.Stress.X {
			var s fit.Solver
			coords := make([]float64, sp.Dim())
			lambda := make([]float64, 1)
			s.Fit(design, coords, append([]float64(nil), row...), 1, c.B, lambda)
			near(t, "stress grid", values(sp, coords, g.Stress.T), c.FittedGrid[r])
			near(t, "stress lam", lambda, c.Lam[r:r+1])
		}
	}
}
