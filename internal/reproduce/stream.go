// The simulations of [REG] §5 and appendix F: robust functional SGD with and without local privacy.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

var streams = []Experiment{
	{Name: "regression-constant", Paper: REG, Source: "Figure 2", Title: "Without privacy, constant steps", Reps: 40, PaperReps: 200, run: regressionPlain(false)},
	{Name: "regression-decaying", Paper: REG, Source: "Figure 5", Title: "Without privacy, decaying steps", Reps: 40, PaperReps: 200, run: regressionPlain(true)},
	{Name: "regression-private-constant", Paper: REG, Source: "Figure 3", Title: "(3,0.1)- and (2,0.2)-LDP, constant steps", Reps: 20, PaperReps: 200, run: regressionPrivate(false)},
	{Name: "regression-private-decaying", Paper: REG, Source: "Figure 6", Title: "(3,0.1)- and (2,0.2)-LDP, decaying steps", Reps: 20, PaperReps: 200, run: regressionPrivate(true)},
	{Name: "regression-robust", Paper: REG, Source: "Appendix F", Title: "Contamination and Cauchy errors", Reps: 40, PaperReps: 200, run: regressionRobust},
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

var badLaws = []law{
	{"5 % contaminated", func(r *rand.Rand) float64 {
		if r.Float64() < 0.05 {
			return 10 * r.NormFloat64()
		}
		return 0.5 * r.NormFloat64()
	}, 0.7},
	{"20 % contaminated", func(r *rand.Rand) float64 {
		if r.Float64() < 0.2 {
			return 10 * r.NormFloat64()
		}
		return 0.5 * r.NormFloat64()
	}, 0.9},
	{"Cauchy", func(r *rand.Rand) float64 { return 0.5 * student(r, 1) }, 1.2},
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

// method estimates from points; tau is a pilot's.
type method struct {
	name string
	fit  func(ctx context.Context, basis regression.Basis, t truth, l law, points []regression.Point, tau float64, seed uint64) (func(x []float64) float64, error)
}

// sgd is H-FSGD, or squared loss, in passes over the data.
func sgd(name string, robust, decaying bool, passes int) method {
	return method{name, func(_ context.Context, basis regression.Basis, t truth, _ law, points []regression.Point, tau float64, _ uint64) (func(x []float64) float64, error) {
		steps := regression.Steps{Gamma0: t.gamma, Exponent: t.zeta, Horizon: int64(len(points))}
		if decaying {
			steps.Gamma0, steps.Horizon = t.initial, 0
		}
		if !robust {
			tau = math.Inf(1)
		}
		s, err := regression.NewSGD(regression.SGDConfig{Basis: basis, Tau: tau, Steps: steps})
		if err != nil {
			return nil, err
		}
		for range passes {
			for _, p := range points {
				if err := s.Add(p.X, p.Y); err != nil {
					return nil, err
				}
			}
		}
		return s.At, nil
	}}
}

// private is PH-FSGD. The exponent 2/3 of constant steps balances the noise of the reports.
func private(name string, budget privacy.Approx, calibration regression.Calibration, decaying bool) method {
	return method{name, func(ctx context.Context, basis regression.Basis, t truth, l law, points []regression.Point, tau float64, seed uint64) (func(x []float64) float64, error) {
		s := regression.Stream{Name: "reproduce", Basis: basis, Tau: tau, Bound: 1, Budget: budget, Calibration: calibration}
		sigma, err := s.NoiseScale(budget)
		if err != nil {
			return nil, err
		}
		s.Steps = regression.Steps{Gamma0: t.g / (sigma / (2 * tau) * l.tau), Exponent: 2.0 / 3, Horizon: int64(len(points))}
		if decaying {
			// Noise of the large early steps stays in the modes that learn slowly: a decaying step must begin lower. 0.08 and
			// 1/2 are the best of a small search.
			s.Steps = regression.Steps{Gamma0: 0.08 * t.g / (sigma / (2 * tau) * l.tau), Exponent: 0.5}
		}
		v, err := regression.Simulate(ctx, regression.Simulation{Stream: s, Source: noise.Seeded(seed)}, regression.Sequence(points))
		if err != nil {
			return nil, err
		}
		return v.Estimate, nil
	}}
}

// streamCell is one box of a box plot.
type streamCell struct {
	truth
	law
	n      int
	errors [][]float64 // method × repetition
	fits   [][]float64 // of the first repetition
}

func (c streamCell) box(k int) (median, q25, q75, se float64) {
	v := slices.Clone(c.errors[k])
	logs := make([]float64, len(v))
	for i, e := range v {
		logs[i] = math.Log(e)
	}
	slices.Sort(v)
	at := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, v, nil) }
	// 1.2533·sd/√N for the median of the logarithms, were they normal; quartiles stand for the sd, as means of such
	// errors need not exist.
	sd := (math.Log(at(0.75)) - math.Log(at(0.25))) / 1.349
	return at(0.5), at(0.25), at(0.75), at(0.5) * 1.2533 * sd / math.Sqrt(float64(len(v)))
}

func (r run) stream(ctx context.Context, cells []streamCell, methods []method, seed uint64) error {
	basis, err := streamBasis()
	if err != nil {
		return err
	}
	for i := range cells {
		cells[i].errors, cells[i].fits = make([][]float64, len(methods)), make([][]float64, len(methods))
		for k := range methods {
			cells[i].errors[k] = make([]float64, r.reps)
		}
	}
	return r.each(ctx, len(cells)*r.reps, func(job int) error {
		c, rep := &cells[job/r.reps], job%r.reps
		own := seed<<32 | uint64(job)
		rnd := simulate.New(own)
		want := onGrid(c.truth.at)
		tau, err := regression.PilotTau(basis, c.points(rnd, c.law, 200))
		if err != nil {
			return err
		}
		points := c.points(rnd, c.law, c.n)
		for k, m := range methods {
			estimate, err := m.fit(ctx, basis, c.truth, c.law, points, tau, own)
			if err != nil {
				return err
			}
			values := onGrid(func(x float64) float64 { return estimate([]float64{x}) })
			c.errors[k][rep] = meanSquare(values, want)
			if rep == 0 {
				c.fits[k] = values
			}
		}
		return nil
	})
}

var streamColumns = []string{"truth", "errors", "method", "n", "median", "median_se", "q25", "q75"}

// streamResult has a panel for each truth and law, and one of the fits.
func streamResult(cells []streamCell, methods []method, sizes []int, text string) (*Result, error) {
	out := &Result{Columns: streamColumns}
	var boxes, fits []*plot.Picture
	var grid []float64
	for i := range 201 {
		grid = append(grid, float64(i)/200)
	}
	size := plot.Size{Width: 20 * 28.35, Height: 10 * 28.35, Font: 9}
	for i := 0; i < len(cells); i += len(sizes) {
		title := cells[i].truth.name + ", " + cells[i].law.name
		var series, lines []plot.Series
		for k, m := range methods {
			s := plot.Series{Name: m.name, Marks: true}
			for j, n := range sizes {
				median, q25, q75, se := cells[i+j].box(k)
				out.Rows = append(out.Rows, []any{cells[i].truth.name, cells[i].law.name, m.name, n, median, se, q25, q75})
				shift := math.Pow(1.05, float64(k)-float64(len(methods)-1)/2) // so that bars stand beside each other
				s.X, s.Y, s.Lo, s.Hi = append(s.X, float64(n)*shift), append(s.Y, median), append(s.Lo, q25), append(s.Hi, q75)
			}
			series = append(series, s)
			lines = append(lines, plot.Series{Name: m.name, X: grid, Y: cells[i+len(sizes)-1].fits[k]})
		}
		lines = append(lines, plot.Series{Name: "truth", X: grid, Y: onGrid(cells[i].truth.at), Theory: true})
		p, err := plot.Lines(series, plot.Axes{Title: title, XLabel: "n", YLabel: "mean squared error", LogX: true, LogY: true, Caption: caption("Medians and quartiles. %s", text), Size: size})
		if err != nil {
			return nil, err
		}
		q, err := plot.Lines(lines, plot.Axes{Title: title, XLabel: "x", YLabel: "y", Caption: caption("Fits of the first repetition at n = %d.", sizes[len(sizes)-1]), Size: size})
		if err != nil {
			return nil, err
		}
		boxes, fits = append(boxes, p), append(fits, q)
	}
	columns := 2
	if len(boxes) == 3 || len(boxes) == 6 {
		columns = 3
	}
	if err := out.join(columns, boxes...); err != nil {
		return nil, err
	}
	p, err := plot.Panels("", columns, fits...)
	out.Pictures = append(out.Pictures, Picture{"-fits", p})
	return out, err
}

func streamCells(laws []law, sizes []int) (cells []streamCell) {
	for _, t := range truths {
		for _, l := range laws {
			for _, n := range sizes {
				cells = append(cells, streamCell{truth: t, law: l, n: n})
			}
		}
	}
	return cells
}

func regressionPlain(decaying bool) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		methods := []method{sgd("H-FSGD", true, decaying, 1), sgd("L2-FSGD", false, decaying, 1), sgd("offline (L2, 5 passes)", false, decaying, 5)}
		cells := streamCells(laws, streamSizes)
		if err := r.stream(ctx, cells, methods, 1); err != nil {
			return nil, err
		}
		text := fmt.Sprintf("Gaussian kernel 0.1 on 64 centres, τ from 200 pilot points, %d repetitions.", r.reps)
		out, err := streamResult(cells, methods, streamSizes, text)
		if err != nil {
			return nil, err
		}
		out.Claim = "under t(3) errors the Huber loss is far better than the squared loss, under normal errors it matches it; all errors fall with n"
		ratio := map[string][2]float64{} // smallest and largest squared/Huber by law
		falls := true
		for i, c := range cells {
			h, _, _, se := c.box(0)
			l, _, _, _ := c.box(1)
			q, ok := ratio[c.law.name]
			if !ok {
				q = [2]float64{math.Inf(1), 0}
			}
			ratio[c.law.name] = [2]float64{math.Min(q[0], l/h), math.Max(q[1], l/h)}
			if c.n != streamSizes[0] {
				before, _, _, other := cells[i-1].box(0)
				falls = falls && h < before+z*math.Hypot(se, other)
			}
		}
		heavy, normal := ratio["t(3)"], ratio["N(0,0.25)"]
		out.Finding = fmt.Sprintf("median error of L2-FSGD over that of H-FSGD: %.2f to %.2f under t(3), %.2f to %.2f under normal errors; errors of H-FSGD fall with n: %v", heavy[0], heavy[1], normal[0], normal[1], falls)
		out.Verdict = Fails
		if heavy[0] > 1.2 && normal[0] > 0.7 && falls {
			out.Verdict = Holds
		}
		return out, nil
	}
}

var (
	moderate = privacy.Approx{Epsilon: 3, Delta: 0.1}
	strong   = privacy.Approx{Epsilon: 2, Delta: 0.2}
)

func regressionPrivate(decaying bool) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		methods := []method{
			sgd("H-FSGD, not private", true, decaying, 1),
			private("(3,0.1) classical", moderate, regression.Classical, decaying),
			private("(2,0.2) classical", strong, regression.Classical, decaying),
			private("(3,0.1) analytic", moderate, regression.Analytic, decaying),
			private("(2,0.2) analytic", strong, regression.Analytic, decaying),
		}
		cells := streamCells(laws, streamSizes)
		if err := r.stream(ctx, cells, methods, 2); err != nil {
			return nil, err
		}
		out, err := streamResult(cells, methods, streamSizes, fmt.Sprintf("Noise by the paper's calibration (classical) and the exact one (analytic), %d repetitions.", r.reps))
		if err != nil {
			return nil, err
		}
		out.Claim = "errors grow with privacy, not private < (3,0.1) < (2,0.2), and fall with n; the shape of the truth is still recovered"
		ordered, falls := true, true
		price, waste := [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
		for i, c := range cells {
			var m [5]float64
			for k := range m {
				m[k], _, _, _ = c.box(k)
			}
			ordered = ordered && m[0] < m[1] && m[1] < m[2]
			if c.n != streamSizes[0] {
				_, _, _, se := c.box(1)
				before, _, _, other := cells[i-1].box(1)
				falls = falls && m[1] < before+z*math.Hypot(se, other)
			}
			price = [2]float64{math.Min(price[0], m[1]/m[0]), math.Max(price[1], m[1]/m[0])}
			waste = [2]float64{math.Min(waste[0], m[1]/m[3]), math.Max(waste[1], m[1]/m[3])}
		}
		out.Finding = fmt.Sprintf("ordered: %v, falling: %v; (3,0.1) has %.3g to %.3g times the error of no privacy; the paper's calibration %.2f to %.2f times that of the exact one; and δ = 0.1 protects hardly: to publish one record in ten satisfies it", ordered, falls, price[0], price[1], waste[0], waste[1])
		out.Verdict = Fails
		if ordered && falls {
			out.Verdict = Holds
		}
		return out, nil
	}
}

func regressionRobust(ctx context.Context, r run) (*Result, error) {
	methods := []method{sgd("H-FSGD", true, false, 1), sgd("L2-FSGD", false, false, 1), private("PH-FSGD (3,0.1) analytic", moderate, regression.Analytic, false)}
	cells := streamCells(badLaws, streamSizes)
	if err := r.stream(ctx, cells, methods, 3); err != nil {
		return nil, err
	}
	out, err := streamResult(cells, methods, streamSizes, fmt.Sprintf("Errors N(0,0.25), the contaminated ones N(0,100) instead; Cauchy of scale 0.5. %d repetitions.", r.reps))
	if err != nil {
		return nil, err
	}
	out.Claim = "the Huber loss stays good under contamination and under Cauchy errors, beyond the theory, where the squared loss breaks"
	low, worst := math.Inf(1), 0.0
	cauchy := [2]float64{math.Inf(1), 0}
	for _, c := range cells {
		h, _, _, _ := c.box(0)
		l, _, _, _ := c.box(1)
		low, worst = math.Min(low, l/h), math.Max(worst, h)
		if c.law.name == "Cauchy" {
			cauchy = [2]float64{math.Min(cauchy[0], l/h), math.Max(cauchy[1], l/h)}
		}
	}
	out.Finding = fmt.Sprintf("median error of L2-FSGD over that of H-FSGD: at least %.3g, under Cauchy errors %.3g to %.3g; the largest median error of H-FSGD is %.3g", low, cauchy[0], cauchy[1], worst)
	out.Verdict = Fails
	if low > 2 && worst < 0.1 {
		out.Verdict = Holds
	}
	return out, nil
}

// regressionRate compares the step exponent of the paper's rate with the one that balances noise that is white in the
// space, in a kernel whose eigenvalues fall like k^−2; both begin at n = 10⁴ with the same step. Errors are predicted in
// closed form, and simulated where that is quick.
func regressionRate(ctx context.Context, r run) (*Result, error) {
	sp, err := space.Kernel(space.PeriodicSobolev(1), space.Midpoints(0, 1, 64), space.Floor(0))
	if err != nil {
		return nil, err
	}
	s := regression.Stream{Name: "reproduce", Basis: regression.OneVariable(sp), Tau: 0.67, Bound: 1, Budget: moderate}.WithDefaults()
	const first, smoothness, alpha = 10000, 1.0, 2.0
	sizes := []int64{first, 30000, 100000, 300000, 1000000}
	const simulated = 2 // a hundred thousand people a run are not quick
	x := make([]float64, len(sizes))
	for i, n := range sizes {
		x[i] = float64(n)
	}
	standard, err := regression.DefaultSteps(s, first)
	if err != nil {
		return nil, err
	}
	exponents := []struct {
		name string
		zeta float64
	}{{"paper's step", regression.PaperExponent(alpha, smoothness)}, {"smaller step (ours)", regression.PrivateExponent(alpha, smoothness)}}
	out := &Result{Columns: []string{"steps", "zeta", "n", "predicted", "simulated", "simulated_se", "not_private"}, Claim: "with privacy the rate is that of the paper's steps, the same as without", Verdict: Fails}
	steps := func(k int, n int64) regression.Steps {
		return regression.Steps{Gamma0: standard.At(1) * math.Pow(first, exponents[k].zeta), Exponent: exponents[k].zeta, Horizon: n}
	}
	measured := make([][]float64, len(exponents)*simulated)
	for i := range measured {
		measured[i] = make([]float64, r.reps)
	}
	want := onGrid(truths[0].at)
	err = r.each(ctx, len(measured)*r.reps, func(job int) error {
		i, rep := job/r.reps, job%r.reps
		n := sizes[i%simulated]
		own := s
		own.Steps = steps(i/simulated, n)
		own.Staleness = 0
		points := truths[0].points(simulate.New(uint64(90000+job)), laws[0], int(n))
		v, err := regression.Simulate(ctx, regression.Simulation{Stream: own, Source: noise.Seeded(uint64(job))}, regression.Sequence(points))
		if err != nil {
			return err
		}
		measured[i][rep] = meanSquare(onGrid(func(x float64) float64 { return v.Estimate([]float64{x}) }), want)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var series []plot.Series
	var slopes []float64
	var plain []estimate
	for k, e := range exponents {
		var y []estimate
		plain = nil
		for i, n := range sizes {
			c := regression.PlanConfig{Stream: s, People: []int64{n}, Errors: 0.5, Truth: func(x []float64) float64 { return truths[0].at(x[0]) }}
			c.Stream.Steps = steps(k, n)
			plan, err := regression.NewPlan(c)
			if err != nil {
				return nil, err
			}
			p := plan.Predictions[0]
			y, plain = append(y, estimate{mean: p.Error * p.Error}), append(plain, estimate{mean: p.NonPrivate * p.NonPrivate})
			row := []any{e.name, e.zeta, int(n), p.Error * p.Error, "", "", p.NonPrivate * p.NonPrivate}
			if i < simulated {
				m := estimateOf(measured[k*simulated+i])
				row[4], row[5] = m.mean, m.se
			}
			out.Rows = append(out.Rows, row)
		}
		slopes = append(slopes, slope(x, y).mean)
		line := points(e.name+", predicted", x, y)
		line.Lo, line.Hi, line.Marks = nil, nil, false
		var m []estimate
		for i := range simulated {
			m = append(m, estimateOf(measured[k*simulated+i]))
		}
		dots := points(e.name+", simulated", x[:simulated], m)
		dots.NoLine = true
		series = append(series, line, dots)
	}
	rate := regression.PrivateRate(alpha, smoothness)
	free := slope(x, plain).mean
	if slopes[0] < free+0.1 {
		out.Verdict = Holds
	}
	line := points("without privacy", x, plain)
	line.Lo, line.Hi = nil, nil
	series = append(series, line)
	out.Finding = fmt.Sprintf("slopes of the mean squared error from n = 10⁴ to 10⁶, α = 2: without privacy %.3f; with it %.3f for the paper's exponent ζ = %.3f, %.3f for ζ = %.3f, theory for white noise −%.3f", free, slopes[0], exponents[0].zeta, slopes[1], exponents[1].zeta, rate)
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "mean squared error", LogX: true, LogY: true, Caption: caption("Case 1, normal errors, periodic Sobolev kernel, (3,0.1)-LDP, %d repetitions, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

// offline is functional SGD that keeps every observation as a centre of its own: the n-th step evaluates n kernels.
func offline(points []regression.Point, gamma float64) float64 {
	alpha := make([]float64, len(points))
	for i, p := range points {
		f := 0.0
		for j, q := range points[:i] {
			d := (p.X[0] - q.X[0]) / 0.1
			f += alpha[j] * math.Exp(-d*d/2)
		}
		alpha[i] = gamma * (p.Y - f)
	}
	return alpha[len(alpha)-1]
}

func regressionTime(ctx context.Context, r run) (*Result, error) {
	basis, err := streamBasis()
	if err != nil {
		return nil, err
	}
	sizes := []int{4000, 8000, 16000, 28000, 40000}
	const largestOffline = 16000
	methods := []method{sgd("H-FSGD", true, false, 1), sgd("L2-FSGD", false, false, 1), private("PH-FSGD", moderate, regression.Analytic, false)}
	names := []string{"H-FSGD", "L2-FSGD", "PH-FSGD", "offline, a centre for each x"}
	out := &Result{Columns: []string{"method", "n", "seconds"}, Claim: "the computing time of H-FSGD and PH-FSGD is linear in n, that of the offline method far from it"}
	times := make([][]float64, len(names))
	for k, n := range sizes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		points := truths[0].points(simulate.New(uint64(n)), laws[0], n)
		for m := range names {
			if m == 3 && n > largestOffline {
				continue
			}
			best := math.Inf(1) // the least disturbed
			runs := r.reps
			if m == 3 {
				runs = 2
			}
			for range runs {
				start := time.Now()
				if m == 3 {
					offline(points, 0.05)
				} else if _, err := methods[m].fit(ctx, basis, truths[0], laws[0], points, 0.67, 1); err != nil {
					return nil, err
				}
				best = math.Min(best, time.Since(start).Seconds())
			}
			times[m] = append(times[m], best)
			out.Rows = append(out.Rows, []any{names[m], n, best})
		}
		if r.progress != nil {
			r.progress(k+1, len(sizes))
		}
	}
	var series []plot.Series
	var powers []float64
	for m, name := range names {
		var x []float64
		var y []estimate
		for i, t := range times[m] {
			x, y = append(x, float64(sizes[i])), append(y, estimate{mean: t})
		}
		powers = append(powers, slope(x, y).mean)
		series = append(series, plot.Series{Name: name, X: x, Y: times[m], Marks: true})
	}
	last := len(sizes) - 1
	out.Finding = fmt.Sprintf("time grows like n^%.2f (H-FSGD), n^%.2f (L2-FSGD), n^%.2f (PH-FSGD), n^%.2f (offline); for n = %d they take %.3g, %.3g and %.3g s, and offline %.3g s for %d", powers[0], powers[1], powers[2], powers[3], sizes[last], times[0][last], times[1][last], times[2][last], times[3][len(times[3])-1], largestOffline)
	out.Verdict = Fails
	if powers[0] < 1.3 && powers[2] < 1.3 && powers[3] > 1.6 {
		out.Verdict = Holds
	}
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "seconds", LogX: true, LogY: true, Caption: caption("The fastest of %d runs (offline: of 2) on one core. Times differ from run to run.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}
