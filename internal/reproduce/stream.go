// The simulations of [REG] §5 and appendix F: robust functional SGD with and without local privacy.

package reproduce

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

var streams = []Experiment{
	{Name: "regression-constant", Paper: REG, Source: "Figure 2", Title: "Without privacy, constant steps", Reps: 40, PaperReps: 200, run: regressionPlain(false)},
	{Name: "regression-decaying", Paper: REG, Source: "Figure 5", Title: "Without privacy, decaying steps", Reps: 40, PaperReps: 200, run: regressionPlain(true)},
	{Name: "regression-private-constant", Paper: REG, Source: "Figure 3", Title: "(3,0.1)- and (2,0.2)-LDP, constant steps", Reps: 20, PaperReps: 200, run: regressionPrivate(false)},
	{Name: "regression-private-decaying", Paper: REG, Source: "Figure 6", Title: "(3,0.1)- and (2,0.2)-LDP, decaying steps", Reps: 20, PaperReps: 200, run: regressionPrivate(true)},
	{Name: "regression-robust", Paper: REG, Source: "Appendix F", Title: "Contamination and Cauchy errors", Reps: 40, PaperReps: 200, run: regressionRobust},
	{Name: "regression-step", Paper: REG, Source: "Appendix F", Title: "How much the step size matters", Reps: 20, PaperReps: 200, run: regressionStep},
	{Name: "regression-flights", Paper: REG, Source: "Appendix G", Title: "Real data: arrival delays by the hour", Reps: 20, Dataset: "regression_flights.csv", run: regressionData(flights)},
	{Name: "regression-diamonds", Paper: REG, Source: "Appendix G", Title: "Real data: prices of diamonds by weight", Reps: 10, Dataset: "regression_diamonds.csv", run: regressionData(diamonds)},
	{Name: "regression-rate", Paper: REG, Source: "Theorem 2", Title: "Rate under privacy, for the paper's steps and for smaller ones", Reps: 20, run: regressionRate},
	{Name: "regression-time", Paper: REG, Source: "Figure 4", Title: "Computing time against n", Reps: 15, Timed: true, run: regressionTime},
}

// truth is a regression function of the paper with the constants of its steps: γ₀ and ζ without privacy, g with
// (the paper states the exponents, not the constants: these are the best of a search).
type truth struct {
	name    string
	at      func(x float64) float64
	gamma   float64
	zeta    float64
	initial float64 // γ₀ of decaying steps
	g       float64
}

var truths = []truth{
	{"case 1", func(x float64) float64 { return math.Sin(2 * math.Pi * x) }, 8, 0.5, 2, 1.4},
	{"case 2", func(x float64) float64 {
		return 0.6*distuv.Beta{Alpha: 30, Beta: 17}.Prob(x) + 0.4*distuv.Beta{Alpha: 3, Beta: 11}.Prob(x)
	}, 6, 0.25, 2, 3.5},
}

// law is a law of the errors; tau a typical τ of a pilot under it.
type law struct {
	name string
	draw func(*rand.Rand) float64
	tau  float64
}

func student(rnd *rand.Rand, nu int) float64 {
	chi := 0.0
	for range nu {
		v := rnd.NormFloat64()
		chi += v * v
	}
	return rnd.NormFloat64() / math.Sqrt(chi/float64(nu))
}

var laws = []law{
	{"N(0,0.25)", func(r *rand.Rand) float64 { return 0.5 * r.NormFloat64() }, 0.67},
	{"t(3)", func(r *rand.Rand) float64 { return student(r, 3) }, 1.5},
}

var streamSizes = []int{2000, 5000, 10000}

func streamBasis() (regression.Basis, error) {
	sp, err := space.Kernel(space.Gaussian(0.1), space.Midpoints(0, 1, 64))
	if err != nil {
		return nil, err
	}
	return regression.OneVariable(sp), nil
}

func (t truth) points(rnd *rand.Rand, l law, n int) []regression.Point {
	points := make([]regression.Point, n)
	for i := range points {
		x := rnd.Float64()
		points[i] = regression.Point{X: []float64{x}, Y: t.at(x) + l.draw(rnd)}
	}
	return points
}

// onGrid are values at 201 points, whose mean square is the integral's stand-in.
func onGrid(f func(x float64) float64) []float64 {
	out := make([]float64, 201)
	for i := range out {
		out[i] = f(float64(i) / 200)
	}
	return out
}

func meanSquare(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i]) / float64(len(a))
	}
	return sum
}
