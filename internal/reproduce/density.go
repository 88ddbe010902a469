// The rates of [DEN] Theorem 4.2 and its adaptive estimators, against a private histogram. The paper has no
// figures: these draw its statements.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/densities"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

var densityRisks = []Experiment{
	{Name: "density-n", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against n, with and without much privacy", Reps: 12, run: densityN},
	{Name: "density-rho", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against ρ", Reps: 12, run: densityRho},
	{Name: "density-d", Paper: DEN, Source: "Theorem 4.2", Title: "Risk against n in one, two and three variables", Reps: 8, run: densityD},
	{Name: "density-adaptive", Paper: DEN, Source: "§6, Lepskii", Title: "Adaptive rank against the best rank in hindsight", Reps: 8, run: densityAdaptive},
	{Name: "density-histogram", Paper: DEN, Source: "comparison", Title: "Against a private histogram with the best bins in hindsight", Reps: 12, run: densityHistogram},
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

// risks measures the layered release and the oracle at points (target, n, ρ).
type riskCell struct {
	target
	n        int64
	rho      float64
	measured estimate
	oracle   float64
	rank     int
	nothing  bool // leave the release out, the oracle is enough
}

func (r run) risks(ctx context.Context, cells []riskCell) error {
	return r.each(ctx, len(cells), func(i int) (err error) {
		c := &cells[i]
		if c.oracle, c.rank, err = c.target.oracle(c.n, c.rho); err != nil || c.nothing {
			return err
		}
		c.measured, err = c.measure(ctx, c.config(c.n, c.rho), r.reps, uint64(60000+i))
		return err
	})
}

// slope is the least-squares slope of log y over log x, with the standard error that those of y give it.
func slope(x []float64, y []estimate) estimate {
	mx, my := 0.0, 0.0
	n := float64(len(x))
	for i := range x {
		mx += math.Log(x[i]) / n
		my += math.Log(y[i].mean) / n
	}
	xx, xy, v := 0.0, 0.0, 0.0
	for i := range x {
		d := math.Log(x[i]) - mx
		xx += d * d
		xy += d * (math.Log(y[i].mean) - my)
		v += d * d * y[i].se * y[i].se / (y[i].mean * y[i].mean)
	}
	return estimate{xy / xx, math.Sqrt(v) / xx}
}

var riskColumns = []string{"density", "d", "n", "rho", "layered", "layered_se", "best_fixed_rank", "best_rank"}

func (c riskCell) row() []any {
	row := []any{c.name, c.d, int(c.n), c.rho, c.measured.mean, c.measured.se, c.oracle, c.rank}
	if c.nothing {
		row[4], row[5] = "", ""
	}
	return row
}

// guide is the line of the slope through the last point.
func guide(name string, x []float64, y []estimate, power float64) plot.Series {
	s := plot.Series{Name: name, X: x, Theory: true}
	last := len(x) - 1
	for _, v := range x {
		s.Y = append(s.Y, 1.3*y[last].mean*math.Pow(v/x[last], power))
	}
	return s
}

// tolerance of a slope over few decades: constants, and ranks that double, bend the line.
const slopeTolerance = 0.1

// densityN has exact risks up to the sizes at which the rates show, and releases at the sizes that people have.
func densityN(ctx context.Context, r run) (*Result, error) {
	regimes := []struct {
		rho  float64
		name string
		want float64
		from int64 // where its regime begins
	}{{1, "ρ = 1", -0.75, 10000}, {1e-9, "ρ = 1e-9", -1.2, 5000000}}
	ns := []int64{1000, 3000, 10000, 30000, 100000, 500000, 5000000, 50000000, 500000000}
	const released = 5
	var cells []riskCell
	for _, g := range regimes {
		for i, n := range ns {
			cells = append(cells, riskCell{target: triangles(1), n: n, rho: g.rho, nothing: i >= released || g.rho < 1})
		}
	}
	if err := r.risks(ctx, cells); err != nil {
		return nil, err
	}
	out := &Result{Columns: riskColumns, Claim: "the risk falls like n^−2β/(2β+d) where sampling dominates and like n^−2β/(β+d) where privacy does: slopes −0.75 and −1.2 for the triangle, β = 3/2", Verdict: Holds}
	var series []plot.Series
	for k, g := range regimes {
		var x, late []float64
		var fixed, end, measured []estimate
		for i := range ns {
			c := cells[k*len(ns)+i]
			out.Rows = append(out.Rows, c.row())
			x, fixed = append(x, float64(c.n)), append(fixed, estimate{mean: c.oracle})
			if c.n >= g.from {
				late, end = append(late, float64(c.n)), append(end, estimate{mean: c.oracle})
			}
			if !c.nothing {
				measured = append(measured, c.measured)
			}
		}
		got := slope(late, end)
		if math.Abs(got.mean-g.want) > slopeTolerance {
			out.Verdict = Fails
		}
		out.Finding += fmt.Sprintf("%s, n from %d: slope of the best fixed ranks %.3f, theory %.2f; ", g.name, g.from, got.mean, g.want)
		s := points("best fixed rank (exact), "+g.name, x, fixed)
		s.Lo, s.Hi = nil, nil
		series = append(series, s, guide(fmt.Sprintf("slope %.2f", g.want), late, end, g.want))
		if len(measured) > 0 {
			m := points("layered, "+g.name, x[:released], measured)
			m.NoLine = true
			series = append(series, m)
			got := slope(x[:released], measured)
			out.Finding += fmt.Sprintf("layered releases, n up to %d: %.3f (%.3f); ", ns[released-1], got.mean, got.se)
			if math.Abs(got.mean-g.want) > slopeTolerance+z*got.se {
				out.Verdict = Fails
			}
		}
	}
	out.Finding = out.Finding[:len(out.Finding)-2]
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "integrated squared error", LogX: true, LogY: true, Caption: caption("Triangle density, cosine basis, %d data sets each, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

// densityRho has exact risks at an n at which the power of ρ shows, and releases at one that people have.
func densityRho(ctx context.Context, r run) (*Result, error) {
	const large, n = 500000000, 30000
	small := []float64{1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7}
	rhos := []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1}
	const regime = 5 // of the small ones where privacy dominates: ρ ≪ n^−2β/(2β+d) = 3e-7, and the error is below that of the uniform density
	var cells []riskCell
	for _, rho := range append(append([]float64{}, small...), rhos...) {
		cells = append(cells, riskCell{target: triangles(1), n: large, rho: rho, nothing: true})
	}
	for _, rho := range rhos {
		cells = append(cells, riskCell{target: triangles(1), n: n, rho: rho})
	}
	if err := r.risks(ctx, cells); err != nil {
		return nil, err
	}
	out := &Result{Columns: riskColumns, Claim: "the risk falls like ρ^−β/(β+d) = ρ^−0.6 below ρ ≈ n^−2β/(2β+d) and does not depend on ρ above", Verdict: Holds}
	var y []estimate
	var x []float64
	for _, c := range cells {
		out.Rows = append(out.Rows, c.row())
		x = append(x, c.rho)
		if c.nothing {
			y = append(y, estimate{mean: c.oracle})
		} else {
			y = append(y, c.measured)
		}
	}
	exact := len(small) + len(rhos)
	got := slope(x[2:regime], y[2:regime])
	flat := y[len(y)-2].over(y[len(y)-1])
	if math.Abs(got.mean+0.6) > slopeTolerance || math.Abs(flat.mean-1) > 0.5+z*flat.se {
		out.Verdict = Fails
	}
	out.Finding = fmt.Sprintf("slope of the best fixed ranks at n = %d %.3f from ρ = %g to %g; layered releases at n = %d: risk at ρ = 0.1 over that at 1: %.2f (%.2f)", large, got.mean, small[2], small[regime-1], n, flat.mean, flat.se)
	line := points(fmt.Sprintf("best fixed rank (exact), n = %d", large), x[:exact], y[:exact])
	line.Lo, line.Hi = nil, nil
	p, err := plot.Lines([]plot.Series{line, points(fmt.Sprintf("layered, n = %d", n), rhos, y[exact:]), guide("slope −0.6", x[2:regime], y[2:regime], -0.6)}, plot.Axes{XLabel: "ρ", YLabel: "integrated squared error", LogX: true, LogY: true, Caption: caption("Triangle density, cosine basis, %d data sets each, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

func densityD(ctx context.Context, r run) (*Result, error) {
	var cells []riskCell
	ns := []int64{1000, 3000, 10000, 30000, 100000, 1000000, 10000000}
	const from = 2     // of the sizes from which on slopes are taken
	const released = 4 // sizes at which releases are made, in one and two variables
	for d := 1; d <= 3; d++ {
		for i, n := range ns {
			cells = append(cells, riskCell{target: triangles(d), n: n, rho: 1, nothing: i >= released || d == 3})
		}
	}
	if err := r.risks(ctx, cells); err != nil {
		return nil, err
	}
	out := &Result{Columns: riskColumns, Claim: "more variables slow the rate: slopes −2β/(2β+d) = −0.75, −0.60, −0.50 for products of triangles", Verdict: Holds}
	var series []plot.Series
	for d := 1; d <= 3; d++ {
		want := -3 / (3 + float64(d))
		var x []float64
		var y, measured []estimate
		for i := range ns {
			c := cells[(d-1)*len(ns)+i]
			if !c.nothing {
				measured = append(measured, c.measured)
			}
			out.Rows = append(out.Rows, c.row())
			x, y = append(x, float64(c.n)), append(y, estimate{mean: c.oracle})
		}
		got := slope(x[from:], y[from:])
		if math.Abs(got.mean-want) > slopeTolerance {
			out.Verdict = Fails
		}
		out.Finding += fmt.Sprintf("d = %d: slope %.3f, theory %.2f; ", d, got.mean, want)
		s := points(fmt.Sprintf("d = %d, best fixed rank (exact)", d), x, y)
		s.Lo, s.Hi = nil, nil
		series = append(series, s, guide(fmt.Sprintf("slope %.2f", want), x[from:], y[from:], want))
		if len(measured) > 0 {
			m := points(fmt.Sprintf("d = %d, layered", d), x[:released], measured)
			m.NoLine = true
			series = append(series, m)
		}
	}
	out.Finding += "exact risks of the best fixed ranks at ρ = 1, n from 10⁴ to 10⁷; releases measured beside them for d = 1, 2"
	p, err := plot.Lines(series, plot.Axes{XLabel: "n", YLabel: "integrated squared error", LogX: true, LogY: true, Caption: caption("ρ = 1, cosine basis, %d data sets each, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

func densityAdaptive(ctx context.Context, r run) (*Result, error) {
	type cell struct {
		riskCell
		family, second estimate
		histogram      float64
		bins           int
	}
	var cells []cell
	for _, t := range densities.All() {
		if t.D == 2 && t.Name != "two-hills" && t.Name != "town" {
			continue // two of five are enough for two minutes
		}
		for _, n := range []int64{1000, 10000} {
			for _, rho := range []float64{0.01, 0.1, 1} {
				c := cell{riskCell: riskCell{target: targetOf(t), n: n, rho: rho}}
				c.histogram, c.bins = densities.HistogramRisk(t, n, rho)
				cells = append(cells, c)
			}
		}
	}
	err := r.each(ctx, len(cells), func(i int) (err error) {
		c := &cells[i]
		seed := uint64(70000 + i)
		if c.oracle, c.rank, err = c.target.oracle(c.n, c.rho); err != nil {
			return err
		}
		config := c.config(c.n, c.rho)
		if c.measured, err = c.measure(ctx, config, r.reps, seed); err != nil {
			return err
		}
		config.Rule, config.Plain = density.Lepskii2, true
		if c.second, err = c.measure(ctx, config, r.reps, seed); err != nil {
			return err
		}
		config.Rule, config.Method = density.Lepskii1, density.Family
		c.family, err = c.measure(ctx, config, r.reps, seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Columns: append(append([]string{}, riskColumns...), "lepskii2", "lepskii2_se", "family", "family_se", "histogram", "bins"),
		Claim: "a private Lepskii rule finds a rank nearly as good as the best one, at a small price"}
	var oracle []float64
	var y [3][]estimate
	names := []string{"layered, Lepskii 1, shrunk (ours)", "layered, Lepskii 2, plain", "finite family, Lepskii 1 (paper)"}
	var mean, worst [3]float64
	for _, c := range cells {
		out.Rows = append(out.Rows, append(c.row(), c.second.mean, c.second.se, c.family.mean, c.family.se, c.histogram, c.bins))
		oracle = append(oracle, c.oracle)
		for k, e := range []estimate{c.measured, c.second, c.family} {
			y[k] = append(y[k], e)
			mean[k] += math.Log(e.mean/c.oracle) / float64(len(cells))
			worst[k] = math.Max(worst[k], e.mean/c.oracle)
		}
	}
	out.Finding = fmt.Sprintf("error over that of the best fixed rank in hindsight, geometric mean and worst of %d settings: ", len(cells))
	for k, name := range names {
		out.Finding += fmt.Sprintf("%s %.2f and %.1f; ", name, math.Exp(mean[k]), worst[k])
	}
	out.Finding = out.Finding[:len(out.Finding)-2]
	out.Verdict = Fails
	if math.Exp(mean[2]) < 2 && worst[2] < 8 && mean[0] < mean[2] {
		out.Verdict = Holds
	}
	var series []plot.Series
	for k, name := range names {
		s := points(name, oracle, y[k])
		s.NoLine = true
		series = append(series, s)
	}
	lo, hi := math.Inf(1), 0.0
	for _, v := range oracle {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	series = append(series, plot.Series{Name: "equal", X: []float64{lo, hi}, Y: []float64{lo, hi}, Theory: true})
	p, err := plot.Lines(series, plot.Axes{XLabel: "error of the best fixed rank in hindsight", YLabel: "integrated squared error", LogX: true, LogY: true, Caption: caption("Nine densities, n = 1000 and 10000, ρ = 0.01, 0.1, 1, %d data sets each, bars of two standard errors.", r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}

func densityHistogram(ctx context.Context, r run) (*Result, error) {
	ns := []int64{1000, 3000, 10000, 30000, 100000}
	names := []string{"two-bumps", "steps", "two-hills"}
	const rho = 0.1
	type cell struct {
		riskCell
		histogram float64
		bins      int
	}
	var cells []cell
	for _, name := range names {
		t, err := densities.Named(name)
		if err != nil {
			return nil, err
		}
		for _, n := range ns {
			c := cell{riskCell: riskCell{target: targetOf(t), n: n, rho: rho}}
			c.histogram, c.bins = densities.HistogramRisk(t, n, rho)
			cells = append(cells, c)
		}
	}
	err := r.each(ctx, len(cells), func(i int) (err error) {
		c := &cells[i]
		if c.oracle, c.rank, err = c.target.oracle(c.n, c.rho); err != nil {
			return err
		}
		c.measured, err = c.measure(ctx, c.config(c.n, c.rho), r.reps, uint64(80000+i))
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Columns: append(append([]string{}, riskColumns...), "histogram", "bins"), Claim: "for smooth densities projections beat a private histogram, even one with the best number of bins in hindsight", Verdict: Holds}
	var pictures []*plot.Picture
	for k, name := range names {
		var x []float64
		var y, h []estimate
		low, high := math.Inf(1), 0.0
		for i := range ns {
			c := cells[k*len(ns)+i]
			out.Rows = append(out.Rows, append(c.row(), c.histogram, c.bins))
			x, y, h = append(x, float64(c.n)), append(y, c.measured), append(h, estimate{mean: c.histogram})
			q := estimate{mean: c.histogram}.over(c.measured)
			low, high = math.Min(low, q.mean), math.Max(high, q.mean)
			if name != "steps" && q.mean < 1-z*c.measured.se/c.measured.mean {
				out.Verdict = Fails
			}
		}
		out.Finding += fmt.Sprintf("%s: the histogram has %.2f to %.2f times the error; ", name, low, high)
		s := points("histogram, best bins (exact)", x, h)
		s.Lo, s.Hi = nil, nil
		p, err := plot.Lines([]plot.Series{points("layered", x, y), s}, plot.Axes{Title: name, XLabel: "n", YLabel: "integrated squared error", LogX: true, LogY: true,
			Caption: caption("ρ = %g, %d data sets each, bars of two standard errors; steps are rough, the others smooth; two-hills has two variables.", rho, r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, p)
	}
	out.Finding += "steps have jumps where bins end, which suits a histogram"
	return out, out.join(3, pictures...)
}
