// The statements of [DEN] and a comparison that it does not make. The paper has no figures: these draw its statements.

package reproduce

import (
	"context"
	"math"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

var densityRisks = []Experiment{
	{Name: "density-n", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against n, with and without much privacy", Reps: 100, run: densityN},
	{Name: "density-rho", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against ρ", Reps: 100, run: densityRho},
	{Name: "density-d", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against n in one, two and three variables", Reps: 50, run: densityD},
	{Name: "density-adaptive", Paper: DEN, Source: "§6, Lepskii", Title: "Adaptive rank against the best rank in hindsight", Reps: 24, run: densityAdaptive},
	{Name: "density-histogram", Paper: DEN, Source: "comparison", Title: "Against a private histogram with the best bins in hindsight", Reps: 50, run: densityHistogram},
}

// target is a known density on the unit box with its coefficients.
type target struct {
	name   string
	d      int
	points func(seed uint64, n int) []float64
	theta  func(s *space.Tensor) []float64
	square float64 // its integral
}

// triangles is the product of d triangle densities 2 − |4x − 2|, whose cosine coefficients fall like k^−2: smoothness
// β = 3/2.
func triangles(d int) target {
	one, err := densities.Named("triangle")
	if err != nil {
		panic(err)
	}
	return target{
		name: "triangle", d: d, square: math.Pow(4.0/3, float64(d)),
		points: func(seed uint64, n int) []float64 { return one.Points(simulate.New(seed), n*d) },
		theta: func(s *space.Tensor) []float64 {
			theta := make([]float64, s.Dim())
			for j := range theta {
				theta[j] = 1
				for a := range d {
					// 0 for odd k; for k = 2l: ∫ = √2·(−8)(cos πl − 1)… by parts, 0 for even l.
					if k := int(s.Index(a)[j]); k > 0 {
						if k%4 == 2 {
							theta[j] *= -math.Sqrt2 * 16 / (math.Pi * math.Pi * float64(k*k))
						} else {
							theta[j] = 0
						}
					}
				}
			}
			return theta
		},
	}
}

func targetOf(t densities.Truth) target {
	m := []int{8192, 192}[t.D-1]
	values := t.Grid(m)
	square := 0.0
	for _, v := range values {
		square += v * v / float64(len(values))
	}
	return target{
		name: t.Name, d: t.D, square: square,
		points: func(seed uint64, n int) []float64 { return t.Points(simulate.New(seed), n) },
		theta: func(s *space.Tensor) []float64 { // midpoint rule
			theta, e, x := make([]float64, s.Dim()), make([]float64, s.Dim()), make([]float64, t.D)
			for i, v := range values {
				for a, rest := t.D-1, i; a >= 0; a, rest = a-1, rest/m {
					x[a] = (float64(rest%m) + 0.5) / float64(m)
				}
				s.Eval(e, x)
				for j := range e {
					theta[j] += v * e[j] / float64(len(values))
				}
			}
			return theta
		},
	}
}

func (t target) config(n int64, rho float64) density.Config {
	box := make([]space.Interval, t.d)
	for i := range box {
		box[i] = space.Interval{A: 0, B: 1}
	}
	return density.Config{Box: box, Basis: density.Cosine, N: n, Guarantee: privacy.ZCDP(rho), Unit: "person"}
}

// oracle is the exact expected error of the best fixed rank, ‖f−f_M‖² + (D−‖f_M‖²)/n + (D−1)σ², over no release at
// all (M = 0) and the ranks of the plan.
func (t target) oracle(n int64, rho float64) (risk float64, rank int, err error) {
	c := t.config(n, rho)
	plan, err := density.NewPlan(density.PlanConfig{Config: c})
	if err != nil {
		return 0, 0, err
	}
	d, err := density.New(c)
	if err != nil {
		return 0, 0, err
	}
	theta, levels := t.theta(d.Space()), d.Space().Levels()
	risk = t.square - 1
	for _, p := range plan.Fixed {
		norm := 0.0
		for j, l := range levels {
			if l <= float64(p.Rank) {
				norm += theta[j] * theta[j]
			}
		}
		dim := float64(p.Coefficients)
		if r := t.square - norm + (dim-norm)/float64(n) + (dim-1)*p.NoiseSD*p.NoiseSD; r < risk {
			risk, rank = r, p.Rank
		}
	}
	return risk, rank, nil
}

// measure is the integrated squared error of releases by a method, each of new points.
func (t target) measure(ctx context.Context, c density.Config, reps int, seed uint64) (estimate, error) {
	var theta []float64
	errors := make([]float64, reps)
	for rep := range errors {
		if err := ctx.Err(); err != nil {
			return estimate{}, err
		}
		d, err := density.New(c)
		if err != nil {
			return estimate{}, err
		}
		if err := d.AddPoints(t.points(seed<<20|uint64(rep), int(c.N))); err != nil {
			return estimate{}, err
		}
		r, err := d.Release(noise.Seeded(seed<<20 | uint64(rep)))
		if err != nil {
			return estimate{}, err
		}
		if theta == nil {
			theta = t.theta(d.Space())
		}
		// A family's member has fewer functions than the largest space, the first ones in one variable.
		got := r.Coefficients[0]
		mine := theta
		if len(got) != len(theta) {
			s, ok := any(r.Box).(*space.Tensor)
			if t.d == 1 || !ok || s == nil {
				mine = theta[:len(got)]
			} else {
				mine = t.theta(s)
			}
		}
		e := t.square
		for j, v := range got {
			e += (v-mine[j])*(v-mine[j]) - mine[j]*mine[j]
		}
		errors[rep] = e
	}
	return estimateOf(errors), nil
}
