package regression

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

type goldenStep struct {
	Pred     float64   `json:"pred"`
	Psi      float64   `json:"psi"`
	FGrid    []float64 `json:"f_grid"`
	FbarGrid []float64 `json:"fbar_grid"`
	F        []float64 `json:"f"`
	Fbar     []float64 `json:"fbar"`
	Norm2    float64   `json:"norm2"`
}

type goldenCase struct {
	Kernel string       `json:"kernel"`
	B2     float64      `json:"B2"`
	J      int          `json:"J"`
	Loss   string       `json:"loss"`
	Step   string       `json:"step"`
	Gammas []float64    `json:"gammas"`
	Xi     [][]float64  `json:"xi"`
	S      float64      `json:"s_classical_3_0p1"`
	EvalAt []float64    `json:"eval_at"`
	Steps  []goldenStep `json:"steps"`
}

type golden struct {
	Xs, Ys      []float64
	Tau         float64
	Grid        []goldenCase
	Expansion   []goldenCase
	Calibration []struct {
		Eps       float64 `json:"eps"`
		Delta     float64 `json:"delta"`
		Classical float64 `json:"s_over_Delta_classical"`
		DeltaOf   float64 `json:"delta_of_classical"`
		Analytic  float64 `json:"s_over_Delta_analytic"`
	}
	Targets struct{ X, Case1, Case2 []float64 }
}

func readGolden(t testing.TB) golden {
	data, err := os.ReadFile("testdata/stream.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// matrixBasis is a space from a kernel matrix function, for kernels that package space lacks and for centres at the
// data points.
type matrixBasis struct {
	Basis
	kernel  func(s, t float64) float64
	centres []float64
	factor  *mat.Dense
}

func newMatrixBasis(t testing.TB, kernel func(s, t float64) float64, centres []float64) *matrixBasis {
	n := len(centres)
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, kernel(centres[i], centres[j]))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(gram, true) {
		t.Fatal("eigenvalues")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	for k, value := range eig.Values(nil) {
		for j := range n {
			v.Set(j, k, v.At(j, k)/math.Sqrt(value))
		}
	}
	return &matrixBasis{kernel: kernel, centres: centres, factor: &v}
}

func (b *matrixBasis) Dim() int              { return len(b.centres) }
func (b *matrixBasis) Box() []space.Interval { return []space.Interval{{A: 0, B: 1}} }
func (b *matrixBasis) Eval(dst, x []float64) {
	k := mat.NewVecDense(len(b.centres), nil)
	for j, c := range b.centres {
		k.SetVec(j, b.kernel(c, x[0]))
	}
	mat.NewVecDense(len(dst), dst).MulVec(b.factor.T(), k)
}

func periodicDistance(s, t float64) float64 { u := math.Abs(s - t); return u - math.Floor(u) }

func bernoulli2(u float64) float64 { return u*u - u + 1.0/6 }

func goldenKernel(name string) func(s, t float64) float64 {
	switch name {
	case "gauss0.1":
		return func(s, t float64) float64 { return math.Exp(-(s - t) * (s - t) / (2 * 0.01)) }
	case "gauss0.2":
		return func(s, t float64) float64 { return math.Exp(-(s - t) * (s - t) / (2 * 0.04)) }
	case "mat32_0.2":
		return func(s, t float64) float64 {
			h := math.Sqrt(3) * math.Abs(s-t) / 0.2
			return (1 + h) * math.Exp(-h)
		}
	case "perB2":
		return func(s, t float64) float64 { return (1 + 6*bernoulli2(periodicDistance(s, t))) / 2 }
	case "perB4":
		return func(s, t float64) float64 {
			u := periodicDistance(s, t)
			return (1 - 30*(u*u*u*u-2*u*u*u+u*u-1.0/30)) / 2
		}
	case "sob1":
		return func(s, t float64) float64 { return 1 + bernoulli2(periodicDistance(s, t))/2 }
	}
	panic(name)
}

func goldenBasis(t testing.TB, name string, j int) Basis {
	kern, known := map[string]space.Kern{"gauss0.1": space.Gaussian(0.1), "gauss0.2": space.Gaussian(0.2), "mat32_0.2": space.Matern32(0.2),
		"perB2": space.PeriodicSobolev(1), "perB4": space.PeriodicSobolev(2)}[name]
	if !known {
		return newMatrixBasis(t, goldenKernel(name), space.Midpoints(0, 1, j).T)
	}
	sp, err := space.Kernel(kern, space.Midpoints(0, 1, j), space.Floor(0))
	if err != nil {
		t.Fatal(err)
	}
	return OneVariable(sp)
}

// goldenSteps are the steps of a case by the public type.
func goldenSteps(t *testing.T, c goldenCase) Steps {
	s := Steps{Gamma0: 0.5, Horizon: 1}
	if c.Step != "const0.5" {
		s = Steps{Gamma0: 0.8, Exponent: 0.5}
	}
	for i, want := range c.Gammas {
		if got := s.At(float64(i + 1)); math.Abs(got-want) > 1e-15 {
			t.Fatalf("%s: step %d is %v, want %v", c.Step, i+1, got, want)
		}
	}
	return s
}

func (c goldenCase) tau(g golden) float64 {
	if c.Loss == "l2" {
		return math.Inf(1)
	}
	return g.Tau
}

const goldenTolerance = 1e-10

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= goldenTolerance) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// TestGoldenGrid runs every recursion of the golden file, with and without given noise, and compares predictions,
// grid values of iterate and average, and squared norms.
func TestGoldenGrid(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Grid {
		t.Run(c.Kernel+"/"+c.Loss+"/"+c.Step, func(t *testing.T) {
			basis := goldenBasis(t, c.Kernel, c.J)
			if basis.Dim() != c.J {
				t.Fatalf("dimension %d, want %d", basis.Dim(), c.J)
			}
			s, err := NewSGD(SGDConfig{Basis: basis, Tau: c.tau(g), Steps: goldenSteps(t, c)})
			if err != nil {
				t.Fatal(err)
			}
			grid := space.Midpoints(0, 1, c.J).T
			at := make([][]float64, c.J)
			for j, x := range grid {
				at[j] = make([]float64, c.J)
				basis.Eval(at[j], []float64{x})
			}
			phi := make([]float64, c.J)
			for i, want := range c.Steps {
				features(phi, basis, math.MaxFloat64, []float64{g.Xs[i]})
				pred := dot(s.it.a, phi)
				near(t, "prediction", pred, want.Pred)
				near(t, "ψ", huber(g.Ys[i]-pred, s.tau), want.Psi)
				if c.Xi == nil {
					if err := s.Add([]float64{g.Xs[i]}, g.Ys[i]); err != nil {
						t.Fatal(err)
					}
				} else {
					// The given noise is a function with values ξ on the grid: a vector v with e(t_j)·v = ξ_j, added
					// to the gradient as a client adds its own.
					floats.Scale(huber(g.Ys[i]-pred, s.tau), phi)
					floats.Add(phi, coordinatesOf(t, at, c.Xi[i]))
					step(&s.it, s.steps.At(float64(i+1)), 1, 1, phi)
				}
				for j := range grid {
					near(t, "f", dot(s.it.a, at[j]), want.FGrid[j])
					near(t, "f̄", dot(s.it.mean, at[j]), want.FbarGrid[j])
				}
				// Squared norms of noise on the weakest eigenfunctions reach 1e5: relative there.
				if norm2 := dot(s.it.a, s.it.a); !(math.Abs(norm2-want.Norm2) <= goldenTolerance*math.Max(1, want.Norm2)) {
					t.Errorf("‖a‖²: %.15g, want %.15g", norm2, want.Norm2)
				}
			}
		})
	}
}

func coordinatesOf(t *testing.T, at [][]float64, values []float64) []float64 {
	n := len(values)
	m := mat.NewDense(n, n, nil)
	for j, row := range at {
		m.SetRow(j, row)
	}
	var v mat.VecDense
	if err := v.SolveVec(m, mat.NewVecDense(n, values)); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			t.Fatal(err)
		}
	}
	return v.RawVector().Data
}

// TestGoldenExpansion: with the centres at the data points, coordinates give the exact kernel expansion.
func TestGoldenExpansion(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Expansion {
		t.Run(c.Kernel+"/"+c.Step, func(t *testing.T) {
			basis := newMatrixBasis(t, goldenKernel(c.Kernel), g.Xs)
			s, err := NewSGD(SGDConfig{Basis: basis, Tau: g.Tau, Steps: goldenSteps(t, c)})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.Steps {
				phi := make([]float64, basis.Dim())
				basis.Eval(phi, []float64{g.Xs[i]})
				near(t, "prediction", dot(s.it.a, phi), want.Pred)
				if err := s.Add([]float64{g.Xs[i]}, g.Ys[i]); err != nil {
					t.Fatal(err)
				}
				for j, x := range c.EvalAt {
					basis.Eval(phi, []float64{x})
					near(t, "f", dot(s.it.a, phi), want.F[j])
					near(t, "f̄", s.At([]float64{x}), want.Fbar[j])
				}
			}
		})
	}
}

func TestGoldenCalibration(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Calibration {
		budget := privacy.Approx{Epsilon: c.Eps, Delta: c.Delta}
		s := Stream{Name: "s", Basis: goldenBasis(t, "perB2", 8), Tau: 0.7, Bound: 1, Steps: Steps{Gamma0: 0.1}, Budget: budget}.WithDefaults()
		const sensitivity = 2 * 0.7
		got, err := s.NoiseScale(budget)
		if err != nil || math.Abs(got/sensitivity/c.Analytic-1) > 1e-8 {
			t.Errorf("(%g, %g): analytic noise %v (%v), want %v", c.Eps, c.Delta, got/sensitivity, err, c.Analytic)
		}
		s.Calibration = Classical
		got, err = s.NoiseScale(budget)
		if valid := c.DeltaOf <= c.Delta; valid != (err == nil) {
			t.Errorf("(%g, %g): the classical calibration has δ = %g: refused: %v", c.Eps, c.Delta, c.DeltaOf, err)
		} else if valid && math.Abs(got/sensitivity/c.Classical-1) > 1e-8 {
			t.Errorf("(%g, %g): classical noise %v, want %v", c.Eps, c.Delta, got/sensitivity, c.Classical)
		}
		if (s.Validate() == nil) != (err == nil) {
			t.Errorf("(%g, %g): a stream is valid although its noise is not", c.Eps, c.Delta)
		}
	}
}
