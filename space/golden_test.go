// Values from outside this package.

package space

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

type golden struct {
	Mean []struct {
		Space struct {
			Kind, Kern string
			Rho        float64
			M          int
		}
		T, A, Tnew, Eig, Coef, Grid []float64
		AtTnew                      []float64 `json:"at_tnew"`
		KT                          mat2      `json:"K_T"`
		Coefs                       mat2
		Norms                       []float64
		Phi                         mat2
		PhiAtTnew                   mat2 `json:"phi_at_tnew"`
	}
	Stream []struct {
		Kernel string
		Xs, C  []float64
		EvalAt []float64 `json:"eval_at"`
		F      []float64
		FGrid  []float64 `json:"f_grid"`
		Norm2  float64
	}
}

type mat2 = [][]float64

func readGolden(t *testing.T) (g golden) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, golden %v", what, got, want)
	}
}

// expand gives the coordinates of Σ α_j K(t_j,·): β = Σ α_j e(t_j).
func expand(s Space, t, alpha []float64) []float64 {
	beta := make([]float64, s.Dim())
	for j, a := range alpha {
		floats.AddScaled(beta, a, at(s, t[j]))
	}
	return beta
}

// Kernel matrices, eigenvalues, bounds, norms, and values on and off the grid of given kernel expansions.
func TestGoldenMean(t *testing.T) {
	kernels := map[string]func(float64) Kern{"gaussian": Gaussian, "laplace": Laplace, "matern32": Matern32,
		"brownian": func(float64) Kern { return Brownian() }}
	seen := 0
	for _, c := range readGolden(t).Mean {
		domain := Interval{0, 1}
		if c.Space.Kind == "basis" {
			s, err := Legendre(domain, c.Space.M)
			if err != nil {
				t.Fatal(err)
			}
			for j, x := range c.T {
				near(t, "a", s.Bound(x), c.A[j], 1e-12)
				for k, e := range at(s, x) {
					near(t, "Legendre", e, c.Phi[j][k], 1e-12)
				}
			}
			for j, x := range c.Tnew {
				for k, e := range at(s, x) {
					near(t, "Legendre off the grid", e, c.PhiAtTnew[j][k], 1e-12)
				}
			}
			seen++
			continue
		}
		grid, err := Points(domain, c.T)
		if err != nil {
			t.Fatal(err)
		}
		kern := kernels[c.Space.Kern](c.Space.Rho)
		s, err := Kernel(kern, grid, Floor(0))
		if err != nil {
			t.Fatal(err)
		}
		ks := s.(*KernelSpace)
		for i := range c.T {
			near(t, "a", s.Bound(c.T[i]), c.A[i], 1e-12)
			for j := range c.T {
				near(t, "K_T", ks.at.at(c.T[i], c.T[j]), c.KT[i][j], 1e-12)
			}
		}
		for k, value := range ks.Eigenvalues() {
			near(t, "eigenvalue", value, c.Eig[len(c.Eig)-1-k], 1e-12)
		}
		for i, alpha := range c.Coefs {
			near(t, "norm", floats.Norm(expand(s, c.T, alpha), 2), c.Norms[i], 1e-8)
		}
		beta := expand(s, c.T, c.Coef)
		for j, x := range c.T {
			near(t, c.Space.Kern+" on the grid", floats.Dot(beta, at(s, x)), c.Grid[j], 1e-8)
		}
		for j, x := range c.Tnew {
			near(t, c.Space.Kern+" off the grid", floats.Dot(beta, at(s, x)), c.AtTnew[j], 1e-8)
		}
		seen++
	}
	if seen != 7 {
		t.Errorf("%d golden spaces were read, want 7", seen)
	}
}

// Functions Σ c_i K(x_i,·) off every grid, for the kernels of the streaming vectors, and the squared norm of
// the interpolant of given values on the midpoint grid.
func TestGoldenStream(t *testing.T) {
	kernels := map[string]Kern{"gauss0.1": Gaussian(0.1), "gauss0.2": Gaussian(0.2), "mat32_0.2": Matern32(0.2),
		"perB2": PeriodicSobolev(1), "perB4": PeriodicSobolev(2)}
	seen := 0
	for _, c := range readGolden(t).Stream {
		kern, ours := kernels[c.Kernel]
		if !ours {
			continue
		}
		grid, err := Points(Interval{0, 1}, c.Xs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Kernel(kern, grid, Floor(0))
		if err != nil {
			t.Fatal(err)
		}
		beta := expand(s, c.Xs, c.C)
		for i, x := range c.EvalAt {
			near(t, c.Kernel, floats.Dot(beta, at(s, x)), c.F[i], 1e-10)
		}
		s, err = Kernel(kern, Midpoints(0, 1, len(c.FGrid)), Floor(0))
		if err != nil {
			t.Fatal(err)
		}
		onGrid := mat.NewDense(len(c.FGrid), s.Dim(), nil)
		for j, x := range s.(*KernelSpace).Grid().T {
			onGrid.SetRow(j, at(s, x))
		}
		var coordinates mat.Dense
		if err := coordinates.Solve(onGrid, mat.NewDense(len(c.FGrid), 1, slices.Clone(c.FGrid))); err != nil {
			t.Fatal(err)
		}
		near(t, c.Kernel+" norm", math.Pow(mat.Norm(&coordinates, 2), 2), c.Norm2, 1e-9)
		seen++
	}
	if seen != 5 {
		t.Errorf("%d kernels were compared, want 5", seen)
	}
}

// The Matérn 5/2 and periodic kernels, which the golden files lack, against their textbook forms
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, equations 4.17 and 4.31).
func TestKernelFormulas(t *testing.T) {
	domain := Interval{-1, 3}
	for _, d := range []float64{0, 0.01, 0.3, 1.7, 4} {
		m, _ := Matern52(0.7).bind(domain)
		want := (1 + math.Sqrt(5)*d/0.7 + 5*d*d/(3*0.49)) * math.Exp(-math.Sqrt(5)*d/0.7)
		near(t, "matern52", m.at(-1, -1+d), want, 1e-15)
		p, _ := Periodic(0.7).bind(domain)
		l := 2 * math.Pi * 0.7 / 4
		sin := math.Sin(math.Pi * d / 4)
		near(t, "periodic", p.at(-1, -1+d), math.Exp(-2*sin*sin/(l*l)), 1e-15)
	}
}
