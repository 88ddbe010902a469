// The error of the average, predicted for a given curve. The mean m of the iterate moves by its own drift, which keeps ℓ_τ as
// it is: people whose y lies far from the curve pull with τ and no more, so a curve that is many τ away from the center is
// reached late, and where few people have their x later still. Its noise is linearised around m, mode by mode (oracle.go):
//
//	m ← m + γ E g(x)φ(x),   g(x) = E ℓ_τ(d(x) + √v(x) Z),   d = f − m·φ,   v = σ² + Var(a·φ),
//
// over the law of x, in stretches of steps that are short against what has been done, each with the drift linearised at its
// beginning and summed in closed form.

package regression

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/curveil/curveil/space"
)

// fullModes is up to how many modes the drift is linearised with its whole matrix; the modes beyond, of small eigenvalues, hardly
// move and are taken one by one.
const fullModes = 12

// predictor is public guesses in the eigenbasis of the covariance of φ(x).
type predictor struct {
	tau, errors, privacy float64
	phi                  [][]float64 // φ of a sample of x, in the eigenbasis
	weight               []float64   // of each, sum 1
	truth                []float64   // guessed curve there, without the center
	nu                   []float64   // eigenvalues
	// The same on a regular grid over the domain, over which errors are means.
	grid      [][]float64
	gridTruth []float64
	gram      []float64 // mean square of each eigenfunction on the grid
}

// normal is φ, upper 1 − Φ.
func normal(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
func upper(z float64) float64  { return math.Erfc(z/math.Sqrt2) / 2 }

// clipped is mean and second moment of ℓ_τ(Z), and P(|Z| ≤ τ), for Z ~ N(d, v).
func clipped(tau, d, v float64) (mean, square, inside float64) {
	if math.IsInf(tau, 1) {
		return d, d*d + v, 1
	}
	s := math.Sqrt(v)
	a, b := (tau-d)/s, (-tau-d)/s
	above, below := upper(a), upper(-b)
	inside = max(0, 1-above-below)
	pa, pb := normal(a), normal(b)
	mean = tau*(above-below) + d*inside + s*(pb-pa)
	if square = tau*tau*(above+below) + (d*d+v)*inside + 2*d*s*(pb-pa) + v*(b*pb-a*pa); math.IsNaN(square) {
		square = tau * tau // a or b beyond all numbers
	}
	return mean, max(0, square), inside
}

// stretch is how a mode that is pulled back by the part c of its distance at each step goes on for n steps from its place, its
// drift being 1 at first: how far it comes, and the sum of the distances on the way.
func stretch(c, n float64) (moved, sum float64) {
	if c*n < 1e-4 {
		return n, n * (n + 1) / 2
	}
	rho := 1 - c
	moved = (1 - math.Pow(rho, n)) / c
	return moved, (n - rho*moved) / c
}

// blocks is the part of the steps done that the next stretch has at most.
const blocks = 16

// run predicts the mean square error over the domain of the average after n reports.
func (p *predictor) run(steps Steps, n float64) outcome {
	r := len(p.nu)
	full := min(r, fullModes)
	modes := make([]mode, r)
	mean, sum := make([]float64, r), make([]float64, r)
	drift, slope, extra := make([]float64, r), make([]float64, r), make([]float64, r)
	upperHalf := make([]float64, full*full)
	hessian := mat.NewSymDense(full, upperHalf)
	var eigen mat.EigenSym
	var vectors mat.Dense
	turned, part, total := make([]float64, full), make([]float64, full), make([]float64, full)
	for done := 0.0; done < n; {
		block := math.Min(math.Max(1, math.Floor(done/blocks)), n-done)
		gamma := steps.At(done + (block+1)/2)
		clear(drift)
		clear(slope)
		clear(extra)
		clear(upperHalf)
		for i, phi := range p.phi {
			d, v := p.truth[i], p.errors*p.errors
			for k, f := range phi {
				d -= mean[k] * f
				v += f * f * (modes[k].v[0] + modes[k].v[1])
			}
			g, square, inside := clipped(p.tau, d, v)
			w := p.weight[i]
			for k, f := range phi {
				drift[k] += w * g * f
				slope[k] += w * inside * f * f
				extra[k] += w * square * f * f
			}
			for k, f := range phi[:full] {
				row := upperHalf[k*full : (k+1)*full]
				c := w * inside * f
				for l := k; l < full; l++ {
					row[l] += c * phi[l]
				}
			}
		}
		for k := range modes {
			noise := [2]float64{p.privacy * p.privacy, max(0, extra[k]-drift[k]*drift[k])}
			// A stretch is for the noise what a mode's eigenvalue is times κ.
			modes[k].nu = slope[k]
			modes[k].advance(block, gamma, 1, noise)
		}
		if block == 1 {
			for k := range mean {
				mean[k] += gamma * drift[k]
				sum[k] += mean[k]
			}
			done++
			continue
		}
		if !eigen.Factorize(hessian, true) {
			return outcome{bias: math.NaN()}
		}
		eigen.VectorsTo(&vectors)
		values := eigen.Values(nil)
		for l := range turned {
			turned[l] = 0
			for k := range full {
				turned[l] += vectors.At(k, l) * drift[k]
			}
			part[l], total[l] = stretch(gamma*max(0, values[l]), block)
			part[l] *= gamma * turned[l]
			total[l] *= gamma * turned[l]
		}
		for k := range mean {
			moved, added := 0.0, 0.0
			if k < full {
				for l := range part {
					moved += vectors.At(k, l) * part[l]
					added += vectors.At(k, l) * total[l]
				}
			} else {
				moved, added = stretch(gamma*slope[k], block)
				moved, added = moved*gamma*drift[k], added*gamma*drift[k]
			}
			sum[k] += block*mean[k] + added
			mean[k] += moved
		}
		done += block
	}
	var out outcome
	for i, phi := range p.grid {
		d := p.gridTruth[i]
		for k, f := range phi {
			d -= sum[k] / n * f
		}
		out.bias += d * d / float64(len(p.grid))
	}
	for k, m := range modes {
		out.privacy += p.gram[k] * m.sumV[0] / (n * n)
		out.sampling += p.gram[k] * m.sumV[1] / (n * n)
	}
	return out
}

// refine is a better constant step than the one that the mode-by-mode prediction takes for the best, at most 1/B²; the same
// one where it is as good but for a few hundredths.
func (p *predictor) refine(gamma, n, bound float64) float64 {
	at := func(x float64) float64 { return p.run(Steps{Gamma0: math.Exp(x), Horizon: 1}, n).total() }
	first, high := math.Log(gamma), -2*math.Log(bound)
	start := at(first)
	best, bestAt := start, first
	for _, move := range []float64{1, -1} {
		for x := first + move; x <= high+1 && x > first-12; x += move {
			y := min(x, high)
			e := at(y)
			if e >= best {
				break
			}
			best, bestAt = e, y
		}
	}
	lo, hi := bestAt-1, min(bestAt+1, high)
	const golden = 0.6180339887498949
	for hi-lo > 0.2 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if at(a) < at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	if e := at((lo + hi) / 2); e < best {
		best, bestAt = e, (lo+hi)/2
	}
	if best > 0.94*start {
		return gamma
	}
	return math.Exp(bestAt)
}

// curvesTried is the number of typical curves that a prediction without a guessed curve is the mean over.
const curvesTried = 3

// typical is a curve of the space with coordinates of equal size, as those of the Gaussian process with its kernel are on average,
// and signs that are fixed once and for all.
func typical(dim, which int) []float64 {
	out := make([]float64, dim)
	state := uint64(which)*0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d
	for k := range out {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		out[k] = 1 - 2*float64(state>>63)
	}
	return out
}

// newPredictors are one for a guessed curve, and several for typical ones, whose mean squares are to be averaged. far is how many times
// as far from the center the curve lies as was guessed.
func newPredictors(s Stream, c PlanConfig, privacy, far float64) ([]*predictor, error) {
	sample, weight, err := c.sample(s.Basis)
	if err != nil {
		return nil, err
	}
	grid, err := regularGrid(s.Basis)
	if err != nil {
		return nil, err
	}
	p := &predictor{tau: s.Tau, errors: c.Errors, privacy: privacy, weight: weight}
	rawSample, rawGrid := rows(s, sample), rows(s, grid)
	r := s.Basis.Dim()
	covariance := mat.NewSymDense(r, nil)
	for i, phi := range rawSample {
		covariance.SymRankOne(covariance, weight[i], mat.NewVecDense(r, phi))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return nil, fmt.Errorf("regression: the covariance of the features did not converge: use a smaller space")
	}
	var ascending, vectors mat.Dense
	eigen.VectorsTo(&ascending)
	values := eigen.Values(nil)
	vectors.CloneFrom(&ascending)
	p.nu = make([]float64, r)
	for k := range r { // the largest first
		p.nu[k] = max(0, values[r-1-k])
		for j := range r {
			vectors.Set(j, k, ascending.At(j, r-1-k))
		}
	}
	p.phi, p.grid = turn(rawSample, &vectors), turn(rawGrid, &vectors)
	p.gram = make([]float64, r)
	for _, phi := range p.grid {
		for k, f := range phi {
			p.gram[k] += f * f / float64(len(p.grid))
		}
	}
	if c.Truth != nil {
		if p.truth, err = valuesOf(c.Truth, sample, s.Center, far); err != nil {
			return nil, err
		}
		p.gridTruth, err = valuesOf(c.Truth, grid, s.Center, far)
		return []*predictor{p}, err
	}
	var out []*predictor
	for which := range curvesTried {
		a := typical(r, which)
		q := *p
		q.truth, q.gridTruth = along(rawSample, a), along(rawGrid, a)
		size := math.Sqrt(meanSquare(q.gridTruth))
		if size == 0 {
			continue
		}
		for i := range q.truth {
			q.truth[i] *= far * c.Signal / size
		}
		for i := range q.gridTruth {
			q.gridTruth[i] *= far * c.Signal / size
		}
		out = append(out, &q)
	}
	return out, nil
}

func rows(s Stream, points [][]float64) [][]float64 {
	out := make([][]float64, len(points))
	for i, x := range points {
		out[i] = make([]float64, s.Basis.Dim())
		features(out[i], s.Basis, s.Bound, x)
	}
	return out
}

// turn takes coordinates into the basis of the columns of u.
func turn(raw [][]float64, u *mat.Dense) [][]float64 {
	out := make([][]float64, len(raw))
	for i, phi := range raw {
		var v mat.VecDense
		v.MulVec(u.T(), mat.NewVecDense(len(phi), phi))
		out[i] = v.RawVector().Data
	}
	return out
}

func along(raw [][]float64, a []float64) []float64 {
	out := make([]float64, len(raw))
	for i, phi := range raw {
		out[i] = dot(a, phi)
	}
	return out
}

func meanSquare(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x / float64(len(v))
	}
	return sum
}

func valuesOf(f func([]float64) float64, points [][]float64, center, far float64) ([]float64, error) {
	out := make([]float64, len(points))
	for i, x := range points {
		y := f(x)
		if !finite(y) {
			return nil, fmt.Errorf("regression: the guessed curve is %v at %v: give finite values", y, x)
		}
		out[i] = far * (y - center)
	}
	return out, nil
}

// regularGrid is the points over which errors are averaged: the middles of equal cells, each of which counts as much.
func regularGrid(b Basis) ([][]float64, error) {
	box := b.Box()
	perAxis := []int{256, 13, 7, 5}[min(len(box), 4)-1]
	return space.Centres(box, slices.Repeat([]int{perAxis}, len(box))...)
}

// mostSampled is how many of a sample of x a prediction looks at.
const mostSampled = 1000

// sample is the guessed law of x.
func (c PlanConfig) sample(b Basis) (points [][]float64, weight []float64, err error) {
	if points, err = regularGrid(b); err != nil {
		return nil, nil, err
	}
	if c.X != nil {
		if c.Density != nil {
			return nil, nil, fmt.Errorf("regression: the law of x is given as a sample and as a density: give one of them")
		}
		every := (len(c.X) + mostSampled - 1) / mostSampled
		points = points[:0]
		for i := 0; i < len(c.X); i += every {
			if err := checkPoint(b, c.X[i], 0); err != nil {
				return nil, nil, fmt.Errorf("%w (of the sample of x)", err)
			}
			points = append(points, c.X[i])
		}
	}
	weight = make([]float64, len(points))
	total := 0.0
	for i, x := range points {
		weight[i] = 1
		if c.Density != nil {
			weight[i] = c.Density(x)
		}
		if !(weight[i] >= 0 && weight[i] <= largest) {
			return nil, nil, fmt.Errorf("regression: the guessed density of x is %v at %v: give values of 0 or more", weight[i], x)
		}
		total += weight[i]
	}
	if !(total > 0) {
		return nil, nil, fmt.Errorf("regression: the guessed density of x is 0 all over the domain")
	}
	for i := range weight {
		weight[i] /= total
	}
	return points, weight, nil
}
