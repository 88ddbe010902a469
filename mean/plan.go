package mean

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/space"
)

// PlanConfig is what a plan is made from: public numbers and guesses, no data.
type PlanConfig struct {
	Config
	// Noise is the guessed standard deviation of the observation noise of one
	// sample, in the user's units of x.
	Noise float64
	// Signal is the guessed norm of the people's deviations from the
	// reference; 0 means Radius/1.1, so that the radius leaves some room.
	Signal float64
	// Draws is the number of simulated releases; 0 means 240.
	Draws int
}

// Prediction is the predicted error of one method. Errors are root-mean-squares
// over the domain, the components and the noise, in the user's units of x.
type Prediction struct {
	Method Method `json:"method"`
	// PrivacyNoise is exact: the noise that is added, before the projection or
	// the fit reduces it.
	PrivacyNoise float64 `json:"privacy_noise"`
	// Error is of the release against the mean of the true curves: privacy noise
	// after projection or fit, shrinkage, observation noise. What the projection or
	// the fit does is simulated, with a seed; without it, as while the ball is far, the
	// privacy noise counts as it is. All components together it is √components times as much.
	Error float64 `json:"error"`
	// Together is the error of all components together.
	Together float64 `json:"error_together"`
	// ActiveShare is the share of constraints that bind: of the people's fits for
	// fit-then-protect, of the releases for protect-then-fit.
	ActiveShare float64 `json:"active_share"`
}

// Plan is the predicted error of a release, from public numbers only.
type Plan struct {
	N           int64        `json:"n"`
	Predictions []Prediction `json:"predictions"`
	Recommended Method       `json:"recommended"`
	Remarks     []string     `json:"remarks,omitempty"`
}

// NewPlan predicts the error of both methods (protect-then-fit only when a
// grid is given) and recommends one. Config.N must be set; Config.Method is
// ignored. With no grid, people are taken to be sampled at 50 equally spaced times.
//
// The simulated cohort: everybody's deviation is a common part of half the
// signal norm plus an own part, uniform in the ball of half the signal norm.
// Privacy noise of fit-then-protect is exact, 4B′²m/(n²μ²) in mean square over
// an L² space of m dimensions ([FTP] Theorem 10), and the like for kernels.
func NewPlan(c PlanConfig) (*Plan, error) {
	c.Config = c.Config.withDefaults()
	grid := c.Grid
	c.Method = FitThenProtect
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch {
	case c.N < 1:
		return nil, fmt.Errorf("mean: a plan needs the public number of people")
	case !(c.Noise >= 0) || math.IsInf(c.Noise, 0):
		return nil, fmt.Errorf("mean: observation noise %g must be a standard deviation, 0 or more", c.Noise)
	case c.Draws < 0:
		return nil, fmt.Errorf("mean: %d simulated releases: give a positive number, or 0 for the default", c.Draws)
	case !(c.Signal >= 0 && c.Signal <= c.Radius):
		return nil, fmt.Errorf("mean: signal %g must lie between 0 and the radius %g", c.Signal, c.Radius)
	}
	if c.Signal == 0 {
		c.Signal = c.Radius / 1.1
	}
	if c.Draws == 0 {
		c.Draws = 240
	}
	if grid == nil {
		c.Grid = space.Uniform(c.Space.Domain().A, c.Space.Domain().B, 50).T
	}
	var studies []*study
	for seed := range directions {
		s, err := newStudy(c, uint64(seed+1))
		if err != nil {
			return nil, err
		}
		studies = append(studies, s)
	}
	ftp, err := average(studies, (*study).fitThenProtect)
	if err != nil {
		return nil, err
	}
	p := &Plan{N: c.N, Predictions: []Prediction{ftp}, Recommended: FitThenProtect}
	if ftp.ActiveShare > 0.5 && c.Noise > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("the observation noise makes %.0f%% of the fits touch the ball: that is shrinkage bias; a larger radius or fewer basis functions reduce it", 100*ftp.ActiveShare))
	}
	c.Method = ProtectThenFit
	switch err := c.Validate(); {
	case grid == nil:
	case err != nil:
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s is not available: %v", ProtectThenFit, err))
	default:
		ptf, err := average(studies, (*study).protectThenFit)
		if err != nil {
			return nil, err
		}
		p.Predictions = append(p.Predictions, ptf)
		if ptf.Error < ftp.Error {
			p.Recommended = ProtectThenFit
		}
	}
	best := p.Predictions[0].Error
	for _, q := range p.Predictions[1:] {
		best = min(best, q.Error)
	}
	if size := commonSize(studies); best > size {
		p.Remarks = append(p.Remarks, fmt.Sprintf("the predicted error %.3g exceeds the size %.3g of the guessed mean deviation: the release would say little beyond the reference; more people, a larger budget, a smaller radius or fewer basis functions are needed", best, size))
	}
	return p, nil
}

// directions is the number of cohorts, each with a common part in another random
// direction, on which shrinkage bias depends.
const directions = 12

// average combines the predictions of the cohorts, errors in mean square.
func average(studies []*study, predict func(*study) (Prediction, error)) (Prediction, error) {
	var out Prediction
	n := float64(len(studies))
	for _, s := range studies {
		p, err := predict(s)
		if err != nil {
			return p, err
		}
		out.Method = p.Method
		out.PrivacyNoise = p.PrivacyNoise // the same for all
		out.Error += p.Error * p.Error / n
		out.ActiveShare += p.ActiveShare / n
	}
	out.Error = math.Sqrt(out.Error)
	out.Together = out.Error * math.Sqrt(float64(studies[0].comps))
	return out, nil
}

// commonSize is the root-mean-square of the guessed mean deviation.
func commonSize(studies []*study) float64 {
	var sum float64
	for _, s := range studies {
		e := s.rms(s.common)
		sum += e * e / float64(len(studies))
	}
	return math.Sqrt(sum)
}

// study is one simulated cohort.
type study struct {
	c      PlanConfig
	rnd    *simulate.Rand
	comps  int
	dim    int        // coordinates per component
	gram   *mat.Dense // root of the average of e(t)e(t)ᵀ over the domain
	design *fit.Design
	common []float64   // mean of the true coordinates
	people [][]float64 // true coordinates
	values [][]float64 // e(t_j) on the grid
}

// maxPeople bounds the simulated cohort; biases do not depend on n, variances
// are scaled to it.
const maxPeople = 60

func newStudy(c PlanConfig, seed uint64) (*study, error) {
	c.Draws = (c.Draws + directions - 1) / directions
	s := &study{c: c, rnd: simulate.New(seed), comps: len(c.Components), dim: c.Space.Dim()}
	var err error
	if s.design, err = fit.NewDesign(c.Space, c.Grid, nil); err != nil {
		return nil, err
	}
	s.gram = meanSquareRoot(c.Space)
	for _, t := range c.Grid {
		row := make([]float64, s.dim)
		c.Space.Eval(row, t)
		s.values = append(s.values, row)
	}
	s.common = make([]float64, s.comps*s.dim)
	centre := s.uniformBall(c.Signal / 2)
	scale := c.Signal / 2 / norm2(centre)
	for i := range centre {
		centre[i] *= scale
	}
	for range min(c.N, maxPeople) {
		b := s.uniformBall(c.Signal / 2)
		for i := range b {
			b[i] += centre[i]
			s.common[i] += b[i]
		}
		s.people = append(s.people, b)
	}
	for i := range s.common {
		s.common[i] /= float64(len(s.people))
	}
	return s, nil
}

func (s *study) uniformBall(radius float64) []float64 {
	v := s.normals(s.comps * s.dim)
	r := radius * math.Pow(s.rnd.Float64(), 1/float64(len(v))) / norm2(v)
	for i := range v {
		v[i] *= r
	}
	return v
}

func (s *study) normals(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = s.rnd.NormFloat64()
	}
	return v
}

// observe adds the samples of one person, components × grid, to x.
func (s *study) observe(x, coords []float64) {
	for k := range s.comps {
		own := coords[k*s.dim : (k+1)*s.dim]
		for j, e := range s.values {
			for i, b := range own {
				x[k*len(s.values)+j] += b * e[i]
			}
		}
	}
}

// rms is the root-mean-square over the domain and the components of the
// function with the coordinates.
func (s *study) rms(coords []float64) float64 {
	var sum float64
	var y mat.VecDense
	for k := range s.comps {
		y.MulVec(s.gram, mat.NewVecDense(s.dim, coords[k*s.dim:(k+1)*s.dim]))
		sum += mat.Dot(&y, &y)
	}
	return math.Sqrt(sum / float64(s.comps))
}

// contributions returns the mean over the cohort of what people contribute, given
// their samples and true coordinates, and the contributions' parts that are odd in
// the observation noise. Each person is observed twice, with noise of either
// sign: what is linear in the noise cancels, so that the mean has the bias alone.
func (s *study) contributions(of func(x, truth []float64) []float64) (mean []float64, odd [][]float64) {
	for _, truth := range s.people {
		noise := s.normals(s.comps * len(s.values))
		flipped := make([]float64, len(noise))
		for i := range noise {
			noise[i] *= s.c.Noise
			flipped[i] = -noise[i]
		}
		s.observe(noise, truth)
		s.observe(flipped, truth)
		v, w := of(noise, truth), of(flipped, truth)
		if mean == nil {
			mean = make([]float64, len(v))
		}
		for i := range v {
			mean[i] += (v[i] + w[i]) / 2 / float64(len(s.people))
			v[i] = (v[i] - w[i]) / 2
		}
		odd = append(odd, v)
	}
	return mean, odd
}

func (s *study) fitThenProtect() (Prediction, error) {
	c := s.c.Config
	c.Method = FitThenProtect
	mech, err := c.mechanism()
	if err != nil {
		return Prediction{}, err
	}
	p := Prediction{Method: FitThenProtect}
	var solver fit.Solver
	var lambda [1]float64
	bias, odd := s.contributions(func(x, truth []float64) []float64 {
		out := make([]float64, len(truth))
		solver.Fit(s.design, out, x, s.comps, c.Radius, lambda[:])
		if lambda[0] > 0 {
			p.ActiveShare += 0.5 / float64(len(s.people))
		}
		for i := range out {
			out[i] -= truth[i]
		}
		return out
	})
	var observed float64 // mean square of the averaged observation noise
	for _, v := range odd {
		e := s.rms(v)
		observed += e * e / float64(len(odd)) / float64(c.N)
	}
	scale, m := mech.Scale(s.c.N), float64(s.comps*s.dim)
	variance := scale * scale // per coordinate
	if mech.Law() == "spherical-laplace" {
		variance *= m + 1 // E‖Z‖² = m(m+1)
	}
	p.PrivacyNoise = math.Sqrt(variance) * mat.Norm(s.gram, 2)
	// The error before the projection is known; what the projection gains or loses is simulated.
	biased := s.rms(bias)
	var gain float64
	for range s.c.Draws {
		draw := s.normals(len(s.common))
		if mech.Law() == "spherical-laplace" {
			chi := norm2(s.normals(len(draw) + 1))
			for i := range draw {
				draw[i] *= chi
			}
		}
		for i := range draw {
			draw[i] = s.common[i] + bias[i] + scale*draw[i]
		}
		norm := norm2(draw)
		if norm <= c.Radius || c.Raw {
			continue
		}
		raw := make([]float64, len(draw))
		for i, v := range draw {
			raw[i] = v - s.common[i]
			draw[i] = v*c.Radius/norm - s.common[i]
		}
		before, after := s.rms(raw), s.rms(draw)
		gain += before*before - after*after
	}
	p.Error = math.Sqrt(math.Max(0, p.PrivacyNoise*p.PrivacyNoise+biased*biased-gain/float64(s.c.Draws)) + observed)
	return p, nil
}

func (s *study) protectThenFit() (Prediction, error) {
	c := s.c.Config
	c.Method = ProtectThenFit
	mech, err := c.mechanism()
	if err != nil {
		return Prediction{}, err
	}
	ball, err := c.ball()
	if err != nil {
		return Prediction{}, err
	}
	design, err := c.noisyDesign()
	if err != nil {
		return Prediction{}, err
	}
	clip := newClipper(c, ball)
	mean, odd := s.contributions(func(x, _ []float64) []float64 {
		clip.scale(x)
		return x
	})
	var observed float64 // variance of a sample's averaged observation noise, in clip bounds
	for _, v := range odd {
		n := norm2(v)
		observed += n * n / float64(len(v)*len(odd)) / float64(c.N)
	}
	p := Prediction{Method: ProtectThenFit}
	scale := mech.Scale(s.c.N)
	var noise float64
	for _, b := range clip.clip {
		noise += b * b * scale * scale / float64(len(clip.clip))
	}
	p.PrivacyNoise = math.Sqrt(noise)
	var sum float64
	for range s.c.Draws {
		y := s.normals(len(mean))
		for i := range y {
			y[i] = mean[i] + math.Sqrt(scale*scale+observed)*y[i]
		}
		coords, lambda := c.fitNoisy(design, y)
		if lambda > 0 {
			p.ActiveShare += 1 / float64(s.c.Draws)
		}
		for i := range coords {
			coords[i] -= s.common[i]
		}
		e := s.rms(coords)
		sum += e * e
	}
	p.Error = math.Sqrt(sum / float64(s.c.Draws))
	return p, nil
}

// meanSquareRoot returns a p×p matrix R with RᵀR = ∫e(t)e(t)ᵀdt/(b−a), so that
// ‖Rβ‖ is the root-mean-square over the domain of the function β.
func meanSquareRoot(sp space.Space) *mat.Dense {
	const pieces, points = 64, 8
	d, p := sp.Domain(), sp.Dim()
	x, w := make([]float64, points), make([]float64, points)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	rows := mat.NewDense(pieces*points, p, nil)
	for i := range pieces {
		for j := range points {
			u := (float64(i) + x[j]) / pieces
			row := rows.RawRowView(i*points + j)
			sp.Eval(row, d.A+(d.B-d.A)*u)
			for k := range row {
				row[k] *= math.Sqrt(w[j] / pieces)
			}
		}
	}
	var qr mat.QR
	qr.Factorize(rows)
	var r mat.Dense
	qr.RTo(&r)
	return mat.DenseCopyOf(r.Slice(0, p, 0, p))
}
