package density

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// testdata/golden.json comes from an independent NumPy implementation (shared/golden/README.md).

const goldenTolerance = 1e-10

type goldenSums struct {
	Points     json.RawMessage
	Theta      []float64
	EvalPoints json.RawMessage `json:"eval_points"`
	Density    []float64
}

type goldenFile struct {
	D1, D2, D3 goldenSums
	CosineD1   goldenSums `json:"cosine_d1"`
	Full       map[string]struct {
		D    int `json:"d"`
		Dim  int `json:"D"` // keeps it from matching d
		M    int
		Min  float64 `json:"dirichlet_min_1d"`
		NS   float64 `json:"nS"`
		N2S2 float64 `json:"n2S2"`
	} `json:"sensitivity_full_n2S2"`
	Shells []struct {
		D, Inner, Outer, Count int
		N2S2                   float64 `json:"n2S2"`
	} `json:"sensitivity_shell_n2S2"`
	Cosines []struct {
		D, J int
		N2S2 float64 `json:"n2S2"`
	} `json:"sensitivity_cosine_n2S2"`
	NoiseSD []struct {
		N    int64
		Rho  float64
		D, M int
		SD   float64
	} `json:"noise_sd"`
	Layered []struct {
		Exact float64 `json:"joint_sup_exact"`
		N     int64
		Rho   float64
		D     int
		Ms    []float64
		Kind  string
		SDs   []float64 `json:"sd_sum_accounting"`
	}
	Dyadic []struct {
		N   int64
		Rho float64
		D   int
		Ms  []int
	} `json:"dyadic_list"`
	Rules struct {
		ThetaNoisy []float64 `json:"theta_noisy"`
		SD         float64
		V          []float64
		Rule1      map[string]int
		Rule2      map[string]int
		BlockJS    []float64 `json:"block_js"`
	}
	Postprocess struct{ Grid, Project []float64 }
	Risk        struct {
		Triangle struct {
			N     int64
			Rho   float64
			Risks map[string]float64
		}
	} `json:"risk_formula"`
}

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

func pointsOf(t *testing.T, raw json.RawMessage) [][]float64 {
	t.Helper()
	var many [][]float64
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	many = nil
	var flat []float64
	if err := json.Unmarshal(raw, &flat); err != nil {
		t.Fatal(err)
	}
	for _, x := range flat {
		many = append(many, []float64{x})
	}
	return many
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= goldenTolerance*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.13g, want %.13g", what, got, want)
	}
}

func fullCube(t *testing.T, d, m int) *space.Tensor {
	t.Helper()
	s, err := space.FourierBox(unitBox(d), []int{m}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGoldenCoefficients(t *testing.T) {
	g := readGolden(t)
	cosines, err := space.CosineBox(unitBox(1), []int{5}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		sums  goldenSums
		space *space.Tensor
	}{{g.D1, fullCube(t, 1, 4)}, {g.D2, fullCube(t, 2, 2)}, {g.D3, fullCube(t, 3, 1)}, {g.CosineD1, cosines}} {
		points := pointsOf(t, c.sums.Points)
		theta, e := make([]float64, c.space.Dim()), make([]float64, c.space.Dim())
		for _, x := range points {
			c.space.Eval(e, x)
			for j, v := range e {
				theta[j] += v / float64(len(points))
			}
		}
		if len(theta) != len(c.sums.Theta) {
			t.Fatalf("case %d: %d coefficients, want %d", i, len(theta), len(c.sums.Theta))
		}
		for j, want := range c.sums.Theta {
			near(t, fmt.Sprintf("case %d coefficient %d", i, j), theta[j], want)
		}
		for k, x := range pointsOf(t, c.sums.EvalPoints) {
			c.space.Eval(e, x)
			y := 0.0
			for j, v := range e {
				y += v * theta[j]
			}
			near(t, fmt.Sprintf("case %d density at %v", i, x), y, c.sums.Density[k])
		}
	}
}

func TestGoldenSensitivity(t *testing.T) {
	g := readGolden(t)
	one := []float64{1}
	for _, c := range g.Full {
		if c.M > 16 && c.D > 2 {
			continue // a large space for a formula that d = 2 tests
		}
		bound, attained := fullCube(t, c.D, c.M).Spread([]float64{float64(c.M)}, one)
		near(t, fmt.Sprintf("n²S² of the cube %d, %d", c.D, c.M), attained, c.N2S2)
		near(t, fmt.Sprintf("bound on n²S² of the cube %d, %d", c.D, c.M), bound, c.N2S2)
	}
	certified := func(what string, bound, attained, exact float64) {
		t.Helper()
		near(t, what, attained, exact)
		if bound < exact || bound > 1.02*exact {
			t.Errorf("%s: bound %v is not within [1, 1.02] of %v", what, bound, exact)
		}
	}
	for _, c := range g.Shells {
		s := fullCube(t, c.D, c.Outer)
		bound, attained := s.Spread([]float64{float64(c.Inner), float64(c.Outer)}, []float64{0, 1})
		certified(fmt.Sprintf("n²S² of shell %+v", c), bound, attained, c.N2S2)
	}
	for _, c := range g.Cosines {
		s, err := space.CosineBox(unitBox(c.D), []int{c.J}, space.Cube)
		if err != nil {
			t.Fatal(err)
		}
		bound, attained := s.Spread([]float64{float64(c.J)}, one)
		certified(fmt.Sprintf("n²S² of cosine %+v", c), bound, attained, c.N2S2)
	}
}

// The noise of a fixed rank, with the slack for rounding; of layered releases, with a certified joint factor.
func TestGoldenNoise(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.NoiseSD {
		_, a, err := Config{Box: unitBox(c.D), Basis: Fourier, Rank: []int{c.M}, Method: Projection, Guarantee: privacy.ZCDP(c.Rho), Unit: "x"}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		if sd := a.sigma(0, c.N); sd < c.SD || sd > c.SD*1.0002 {
			t.Errorf("noise of %+v is %v: less than exact, or more than the slack explains", c, sd)
		}
	}
	for _, c := range g.Layered {
		a := newShells(fullCube(t, c.D, int(c.Ms[len(c.Ms)-1])), c.Ms)
		a.mu = privacy.GDP(math.Sqrt(2 * c.Rho))
		// Ours are ∝ N^¼ in their budgets, S² ∝ N for Fourier functions; the file's are others, for the joint factor.
		for i, s := range a.shape {
			if want := a.shape[0] * math.Pow(float64(a.counts[i])/float64(a.counts[0]), 0.375); math.Abs(s-want) > 1e-12*want {
				t.Errorf("shape of shell %d is %v, want %v", i, s, want)
			}
		}
		copy(a.shape, c.SDs)
		a.calibrate()
		for i, sd := range c.SDs {
			factor := math.Pow(a.sigma(i, c.N)/sd, 2)
			if factor < c.Exact || factor > 1.02*c.Exact {
				t.Errorf("%s d=%d: joint factor %v is not within [1, 1.02] of %v", c.Kind, c.D, factor, c.Exact)
			}
		}
	}
}

// The file's families end where the variance is half the uniform density's square; ours have limits of their own.
func TestGoldenRanks(t *testing.T) {
	for _, c := range readGolden(t).Dyadic {
		cfg, _, err := Config{Box: unitBox(c.D), Basis: Fourier, N: c.N, Guarantee: privacy.ZCDP(c.Rho), Unit: "x"}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		m, err := cfg.largestRank(0.5)
		if err != nil {
			t.Fatal(err)
		}
		if m != c.Ms[len(c.Ms)-1] || len(ranksUpTo(m)) != len(c.Ms) {
			t.Errorf("%+v: largest rank %d", c, m)
		}
		m, err = cfg.largestRank(familyLimits[c.D-1])
		if err != nil || m != cfg.Rank[0] {
			t.Errorf("%+v: automatic rank %v, want %d (%v)", c, cfg.Rank, m, err)
		}
	}
}

func TestGoldenRules(t *testing.T) {
	g := readGolden(t).Rules
	s := fullCube(t, 1, 8)
	energy := energies(s, ranksUpTo(8), g.ThetaNoisy)
	candidates := append([]float64{0}, ranksUpTo(8)...)
	for kappa, want := range g.Rule1 {
		k, _ := strconv.ParseFloat(kappa, 64)
		if got := candidates[choose(Lepskii1, []float64{k}, energy, g.V)]; got != float64(want) {
			t.Errorf("Lepskii 1, κ=%v: rank %v, want %d", k, got, want)
		}
	}
	for kappas, want := range g.Rule2 {
		a, b, _ := strings.Cut(kappas, ",")
		k1, _ := strconv.ParseFloat(a, 64)
		k2, _ := strconv.ParseFloat(b, 64)
		if got := candidates[choose(Lepskii2, []float64{k1, k2}, energy, g.V)]; got != float64(want) {
			t.Errorf("Lepskii 2, κ=%v,%v: rank %v, want %d", k1, k2, got, want)
		}
	}
	for j, l := range s.Levels() {
		want := g.BlockJS[j]
		got := g.ThetaNoisy[j]
		if l > 0 {
			i := int(math.Ceil(math.Log2(l))) + 1
			got *= shrinkage(energy[i], g.V[i]-g.V[i-1])
		}
		near(t, fmt.Sprintf("block James–Stein coefficient %d", j), got, want)
	}
}
