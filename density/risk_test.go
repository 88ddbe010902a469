package density

import (
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// coefficients of a truth by the midpoint rule.
func coefficients(t testing.TB, truth densities.Truth, s *space.Tensor) (theta []float64, square float64) {
	t.Helper()
	m := []int{8192, 288}[truth.D-1]
	values := truth.Grid(m)
	theta = make([]float64, s.Dim())
	x, e := make([]float64, truth.D), make([]float64, s.Dim())
	for i, v := range values {
		for a, rest := truth.D-1, i; a >= 0; a, rest = a-1, rest/m {
			x[a] = (float64(rest%m) + 0.5) / float64(m)
		}
		s.Eval(e, x)
		for j := range e {
			theta[j] += v * e[j] / float64(len(values))
		}
		square += v * v / float64(len(values))
	}
	return theta, square
}

// fixedRisk is the exact expected ISE of a projection of each rank, E = ‖f−f_M‖² + (D−‖f_M‖²)/n + (D−1)σ².
func fixedRisk(t testing.TB, c Config, s *space.Tensor, ranks []float64, theta []float64, square float64, n int64) []float64 {
	t.Helper()
	out := []float64{square - 1}
	for _, m := range ranks {
		_, a, err := Config{Box: c.Box, Basis: c.Basis, Rank: []int{int(m)}, Method: Projection, Guarantee: c.Guarantee, Unit: "x"}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for j, l := range s.Levels() {
			if l <= m {
				norm += theta[j] * theta[j]
			}
		}
		dim, sd := float64(a.space.Dim()), a.sigma(0, n)
		out = append(out, square-norm+(dim-norm)/float64(n)+(dim-1)*sd*sd)
	}
	return out
}

func TestGoldenRisk(t *testing.T) {
	g := readGolden(t).Risk.Triangle
	s := fullCube(t, 1, 16)
	theta := make([]float64, s.Dim()) // of 2 − |4x − 2|
	theta[0] = 1
	for m := 1; m <= 16; m += 2 {
		theta[2*m-1] = -math.Sqrt2 * 4 / (math.Pi * math.Pi * float64(m*m))
	}
	ranks := ranksUpTo(16)
	got := fixedRisk(t, Config{Box: unitBox(1), Basis: Fourier, Guarantee: privacy.ZCDP(g.Rho)}, s, ranks, theta, 4.0/3, g.N)
	for i, m := range ranks {
		if want := g.Risks[fmt.Sprint(m)]; math.Abs(got[i+1]-want) > 1e-5*want { // the noise is larger by the slack for rounding
			t.Errorf("risk at rank %v is %v, want %v", m, got[i+1], want)
		}
	}
}

// variant is one way to choose and shrink.
type variant struct {
	rule   Rule
	kappa  []float64
	shrink bool
	all    bool // no choice: shrink all shells
}

// try is the estimate of a variant.
func (a *account) try(v variant, theta []float64, n int64) []float64 {
	s := &release.Selection{Shrink: v.shrink, Rank: a.ranks[len(a.ranks)-1]}
	if !v.all {
		s.Rank = a.choose(v.rule, v.kappa, theta, n)
	}
	return a.estimate(theta, n, s)
}

type setting struct {
	truth    densities.Truth
	basis    Basis
	n        int64
	rho      float64
	oracle   float64
	rank     float64
	ise      []float64 // of each variant, mean
	se       []float64
	hist     float64
	histBins int
}

// compare measures the ISE of variants of the layered release over simulated data sets.
func compare(t testing.TB, truths []densities.Truth, basis Basis, ns []int64, rhos []float64, sets func(n int64) int, draws int, variants []variant) []setting {
	t.Helper()
	var out []setting
	for _, truth := range truths {
		for _, n := range ns {
			// The best rank in hindsight is one of all, whatever the plan's largest.
			biggest := newDensity(t, Config{Box: unitBox(truth.D), Basis: basis, N: n, Rank: []int{caps[basis][truth.D-1]}, Guarantee: privacy.ZCDP(rhos[len(rhos)-1])})
			top := biggest.Space()
			theta, square := coefficients(t, truth, top)
			outside := square
			for _, x := range theta {
				outside -= x * x
			}
			var datasets []*Density
			for i := range sets(n) {
				d := newDensity(t, biggest.Config())
				if err := d.AddPoints(truth.Points(simulate.New(uint64(i)*1000+uint64(n)), int(n))); err != nil {
					t.Fatal(err)
				}
				datasets = append(datasets, d)
			}
			for _, rho := range rhos {
				c, a, err := Config{Box: unitBox(truth.D), Basis: basis, N: n, Guarantee: privacy.ZCDP(rho), Unit: "x"}.resolve()
				if err != nil {
					t.Fatal(err)
				}
				s := setting{truth: truth, basis: basis, n: n, rho: rho}
				ranks := ranksUpTo(top.Rank())
				risks := fixedRisk(t, c, top, ranks, theta, square, n)
				s.oracle = math.Inf(1)
				for i, r := range risks {
					if r < s.oracle {
						s.oracle, s.rank = r, append([]float64{0}, ranks...)[i]
					}
				}
				s.hist, s.histBins = densities.HistogramRisk(truth, n, rho)
				// The account of the release inside the larger space: levels beyond its rank carry nothing.
				small := newShells(top, a.ranks)
				small.mu, small.distance, small.shape = a.mu, a.distance, a.shape
				errors := make([][]float64, len(variants))
				for i, d := range datasets {
					sum, err := d.total()
					if err != nil {
						t.Fatal(err)
					}
					if sum, err = d.code.coefficients(sum); err != nil {
						t.Fatal(err)
					}
					m, err := small.mechanism(d.code.unit)
					if err != nil {
						t.Fatal(err)
					}
					for k := range draws {
						noisy, err := m.Release(sum, d.code.unit, noise.Seeded(uint64(i*draws+k)))
						if err != nil {
							t.Fatal(err)
						}
						noisy[0] = 1
						for v, w := range variants {
							est := small.try(w, noisy, n)
							e := outside
							for j := range est {
								e += (est[j] - theta[j]) * (est[j] - theta[j])
							}
							errors[v] = append(errors[v], e)
						}
					}
				}
				for _, e := range errors {
					mean, sd := stat.MeanStdDev(e, nil)
					s.ise, s.se = append(s.ise, mean), append(s.se, sd/math.Sqrt(float64(len(e))))
				}
				out = append(out, s)
			}
		}
	}
	return out
}

func summary(settings []setting, v int) (geometric, worst float64, where string) {
	for _, s := range settings {
		ratio := s.ise[v] / s.oracle
		geometric += math.Log(ratio) / float64(len(settings))
		if ratio > worst {
			worst, where = ratio, fmt.Sprintf("%s n=%d ρ=%g (oracle rank %v)", s.truth.Name, s.n, s.rho, s.rank)
		}
	}
	return math.Exp(geometric), worst, where
}

// TestExperiment prints the comparison of variants over many settings; it takes minutes and runs only when
// CURVEIL_EXPERIMENT is set.
func TestExperiment(t *testing.T) {
	if os.Getenv("CURVEIL_EXPERIMENT") == "" {
		t.Skip("minutes of simulation: set CURVEIL_EXPERIMENT=1")
	}
	var variants []variant
	for _, shrink := range []bool{false, true} {
		for _, k := range []float64{1.2, 1.5, 2} {
			variants = append(variants, variant{rule: Lepskii1, kappa: []float64{k}, shrink: shrink})
		}
		variants = append(variants, variant{rule: Lepskii2, kappa: []float64{0.5, 2}, shrink: shrink}, variant{rule: Lepskii2, kappa: []float64{1, 1}, shrink: shrink})
	}
	variants = append(variants, variant{all: true, shrink: true})
	for _, basis := range []Basis{Cosine, Fourier} {
		settings := compare(t, densities.All(), basis, []int64{1e3, 1e4, 1e5, 1e6}, []float64{0.01, 0.1, 1},
			func(n int64) int { return map[int64]int{1e3: 24, 1e4: 10, 1e5: 4, 1e6: 1}[n] }, 3, variants)
		for i, v := range variants {
			g, w, where := summary(settings, i)
			t.Logf("%s %+v: geometric mean %.3f, worst %.2f at %s", basis, v, g, w, where)
		}
		const shrunk = 6 // the default
		below, gain, smooth := 0, 0.0, 0.0
		for _, s := range settings {
			if s.truth.Smooth {
				smooth++
				gain += math.Log(s.hist / s.ise[shrunk])
				if s.hist < 2*s.ise[shrunk] {
					below++
					t.Logf("below 2: %s n=%d ρ=%g: histogram/ISE %.2f ± %.2f, histogram over the best fixed rank %.2f", s.truth.Name, s.n, s.rho, s.hist/s.ise[shrunk], s.hist*s.se[shrunk]/(s.ise[shrunk]*s.ise[shrunk]), s.hist/s.oracle)
				}
			}
		}
		t.Logf("%s: the histogram with the best bins has %.2f times the error on %g smooth settings (geometric mean); less than 2 times in %d", basis, math.Exp(gain/smooth), smooth, below)
		for _, s := range settings {
			t.Logf("%-12s %-7s n=%-8d ρ=%-5g oracle %.3g (M=%v) L1 %.2f±%.2f L1s %.2f±%.2f hist %.2f (m=%d)", s.truth.Name, s.basis, s.n, s.rho,
				s.oracle, s.rank, s.ise[1]/s.oracle, s.se[1]/s.oracle, s.ise[6]/s.oracle, s.se[6]/s.oracle, s.hist/s.ise[6], s.histBins)
		}
	}
}

// The comparison that TestExperiment makes at large, on settings that take seconds. The bounds leave the Monte-Carlo
// error of a few dozen releases a setting: the figures over 144 settings are in docs/results.md.
func TestAdaptiveRisk(t *testing.T) {
	var truths []densities.Truth
	for _, truth := range densities.All() {
		if truth.D == 1 || truth.Name == "two-hills" {
			truths = append(truths, truth)
		}
	}
	settings := compare(t, truths, Cosine, []int64{1e3, 1e4}, []float64{0.1, 1}, func(int64) int { return 6 }, 3, []variant{{rule: Lepskii1, kappa: []float64{1.5}, shrink: true}})
	mean, worst, where := summary(settings, 0)
	gain, smooth := 0.0, 0.0
	for _, s := range settings {
		if s.truth.Smooth {
			gain += math.Log(s.hist / s.ise[0])
			smooth++
		}
	}
	gain = math.Exp(gain / smooth)
	t.Logf("%d settings: ISE over that of the best fixed rank: geometric mean %.3f, worst %.2f at %s; private histogram with the best bins: %.2f times the ISE on smooth densities", len(settings), mean, worst, where, gain)
	if mean > 1.3 || worst > 3.5 {
		t.Errorf("the adaptive rank costs %v on average and %v at worst", mean, worst)
	}
	if gain < 2 {
		t.Errorf("a private histogram has only %v times the error", gain)
	}
}

// The rates of rates_test.go over more decades, from the exact risk of the best fixed rank, for the triangle: its
// coefficients fall like k⁻², so that the squared bias is M⁻³ and β = 3/2.
func TestRatesOfFixedRanks(t *testing.T) {
	triangle, err := densities.Named("triangle")
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.CosineBox(unitBox(1), []int{256}, space.Cube)
	if err != nil {
		t.Fatal(err)
	}
	theta, square := coefficients(t, triangle, s)
	for _, c := range []struct {
		rho      float64
		from, to int64
		want     float64
	}{{1, 1e4, 1e8, -0.75}, {1e-9, 5e6, 5e8, -1.2}} {
		risk := func(n int64) float64 {
			least := math.Inf(1)
			for _, r := range fixedRisk(t, Config{Box: unitBox(1), Basis: Cosine, Guarantee: privacy.ZCDP(c.rho)}, s, ranksUpTo(256), theta, square, n) {
				least = math.Min(least, r)
			}
			return least
		}
		slope := math.Log(risk(c.to)/risk(c.from)) / math.Log(float64(c.to)/float64(c.from))
		t.Logf("ρ=%g, n from %d to %d: slope %.3f, theory %.2f", c.rho, c.from, c.to, slope, c.want)
		if math.Abs(slope-c.want) > 0.06 {
			t.Errorf("ρ=%g: the risk of the best rank falls with slope %v, not %v", c.rho, slope, c.want)
		}
	}
}
