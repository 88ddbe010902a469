// The rates of [DEN] Theorem 4.2, in n, ρ and d.

package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/curveil/curveil/plot"
)

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
		c.measured, err = c.measure(ctx, c.config(c.n, c.rho), r.reps, r.seed(uint64(60000+i)))
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
