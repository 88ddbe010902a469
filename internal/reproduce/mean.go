// The simulations of [FTP] §5 and its appendix: fit-then-protect against protect-then-fit. The latent curves are
// drawn once for a setting and held fixed; a repetition draws observation noise and privacy noise.

package reproduce

import (
	"math"
	"math/rand/v2"

	"github.com/curveil/curveil/space"
)

var means = []Experiment{
	{Name: "mean-ratio-rkhs", Paper: FTP, Source: "Figure 1", Title: "Error of fit-then-protect over protect-then-fit, Gaussian kernel", Reps: 1000, PaperReps: 1000, run: meanRatio(rkhs)},
	{Name: "mean-ratio-polynomial", Paper: FTP, Source: "Figure 4", Title: "Error of fit-then-protect over protect-then-fit, polynomials", Reps: 1000, PaperReps: 1000, run: meanRatio(polynomials)},
	{Name: "mean-active", Paper: FTP, Source: "Table 1", Title: "Probability that protect-then-fit's constraint is active", Reps: 1000, PaperReps: 1000, run: meanActive},
	{Name: "mean-radius-rkhs", Paper: FTP, Source: "Figure 2", Title: "Choice of the radius, Gaussian kernel", Reps: 1000, PaperReps: 1000, run: meanRadius(rkhs)},
	{Name: "mean-radius-polynomial", Paper: FTP, Source: "Figure 5", Title: "Choice of the radius, polynomials", Reps: 1000, PaperReps: 1000, run: meanRadius(polynomials)},
	{Name: "mean-noise-rkhs", Paper: FTP, Source: "Figure 3", Title: "Observation noise, Gaussian kernel", Reps: 1000, PaperReps: 1000, run: meanNoise(rkhs)},
	{Name: "mean-noise-polynomial", Paper: FTP, Source: "Figure 6", Title: "Observation noise, polynomials", Reps: 1000, PaperReps: 1000, run: meanNoise(polynomials)},
	{Name: "mean-pure", Paper: FTP, Source: "Appendix, constant function", Title: "A constant function under pure ε", Reps: 4000, run: meanPure},
}

// family is one of the paper's two function spaces, with the dimension d that its figures vary.
type family struct {
	symbol string // of the dimension
	error  string
	make   func(d int) (meanSetting, error)
	// radius of Figures 3 and 6.
	noiseRadius func(n int) float64
	radiusName  string
}

var meanDims = []int{2, 4, 6, 8}

// meanSetting is what does not depend on n.
type meanSetting struct {
	space  space.Space
	grid   []float64
	latent space.Space
	// share of the unit ball's radius that is common to all people: f_i = share·direction + (1−share)·uniform in
	// the ball. The paper says only that the coefficients are bounded and their mean is not zero.
	share float64
	// coefficients: the error is that of the coefficients, an integral; otherwise the mean square on the grid.
	coefficients bool
}

var rkhs = family{symbol: "T", error: "MSE", radiusName: "log n",
	noiseRadius: func(n int) float64 { return math.Log(float64(n)) },
	make: func(d int) (meanSetting, error) {
		s := meanSetting{grid: space.Uniform(0, 1, d).T, share: 0.9}
		var err error
		if s.space, err = space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, d), space.Floor(0)); err != nil {
			return s, err
		}
		s.latent, err = space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, 20))
		return s, err
	}}

var polynomials = family{symbol: "m", error: "IMSE", radiusName: "√log n",
	noiseRadius: func(n int) float64 { return math.Sqrt(math.Log(float64(n))) },
	make: func(d int) (meanSetting, error) {
		s := meanSetting{grid: space.Uniform(0, 1, 20).T, coefficients: true, share: 0.9}
		var err error
		s.space, err = space.Legendre(space.Interval{A: 0, B: 1}, d)
		s.latent = s.space
		return s, err
	}}

// people are latent curves: values on the grid, and the truth that errors refer to.
type people struct {
	x     []float64 // n × grid
	truth []float64 // mean of the values, or of the coefficients
}

func (s meanSetting) draw(rnd *rand.Rand, n int) people {
	dim, T := s.latent.Dim(), len(s.grid)
	basis := evaluate(s.latent, s.grid)
	p := people{x: make([]float64, n*T)}
	centre, beta := make([]float64, dim), make([]float64, dim)
	for i := range n {
		norm := 0.0
		for k := range beta {
			beta[k] = rnd.NormFloat64()
			norm += beta[k] * beta[k]
		}
		scale := (1 - s.share) * math.Pow(rnd.Float64(), 1/float64(dim)) / math.Sqrt(norm)
		for k := range beta {
			beta[k] *= scale
		}
		beta[0] += s.share
		for k, b := range beta {
			centre[k] += b / float64(n)
		}
		apply(p.x[i*T:(i+1)*T], basis, beta)
	}
	p.truth = centre
	if !s.coefficients {
		p.truth = make([]float64, T)
		apply(p.truth, basis, centre)
	}
	return p
}

// evaluate is the matrix of the basis at times, time by time.
func evaluate(s space.Space, times []float64) []float64 {
	m := make([]float64, len(times)*s.Dim())
	for j, t := range times {
		s.Eval(m[j*s.Dim():(j+1)*s.Dim()], t)
	}
	return m
}

func apply(dst, matrix, v []float64) {
	for j := range dst {
		dst[j] = 0
		for k, x := range v {
			dst[j] += matrix[j*len(v)+k] * x
		}
	}
}

// sampleSizes are n = 2²…2¹².
func sampleSizes() (ns []int, xs []float64) {
	for k := 2; k <= 12; k++ {
		ns, xs = append(ns, 1<<k), append(xs, float64(int(1)<<k))
	}
	return ns, xs
}

func (f family) coefficients() bool { return f.symbol == "m" }
