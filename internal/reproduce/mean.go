// The simulations of [FTP] §5 and its appendix: fit-then-protect against protect-then-fit. The latent curves are
// drawn once for a setting and held fixed; a repetition draws observation noise and privacy noise.

package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

var means = []Experiment{
	{Name: "mean-ratio-rkhs", Paper: FTP, Source: "Figure 1", Title: "Error of fit-then-protect over protect-then-fit, Gaussian kernel", Reps: 1000, PaperReps: 1000, run: meanRatio(rkhs)},
	{Name: "mean-ratio-polynomial", Paper: FTP, Source: "Figure 4", Title: "Error of fit-then-protect over protect-then-fit, polynomials", Reps: 1000, PaperReps: 1000, run: meanRatio(polynomials)},
	{Name: "mean-active", Paper: FTP, Source: "Table 1", Title: "Probability that protect-then-fit's constraint is active", Reps: 1000, PaperReps: 1000, run: meanActive},
	{Name: "mean-radius-rkhs", Paper: FTP, Source: "Figure 2", Title: "Choice of the radius, Gaussian kernel", Reps: 150, PaperReps: 1000, run: meanRadius(rkhs)},
	{Name: "mean-radius-polynomial", Paper: FTP, Source: "Figure 5", Title: "Choice of the radius, polynomials", Reps: 150, PaperReps: 1000, run: meanRadius(polynomials)},
	{Name: "mean-noise-rkhs", Paper: FTP, Source: "Figure 3", Title: "Observation noise, Gaussian kernel", Reps: 150, PaperReps: 1000, run: meanNoise(rkhs)},
	{Name: "mean-noise-polynomial", Paper: FTP, Source: "Figure 6", Title: "Observation noise, polynomials", Reps: 150, PaperReps: 1000, run: meanNoise(polynomials)},
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

// meanCell is one point of a figure.
type meanCell struct {
	meanSetting
	n                 int
	mu, radius, sigma float64
	seed              uint64
	// protectOnly leaves fit-then-protect out.
	protectOnly bool
}

// meanErrors are errors by repetition.
type meanErrors struct {
	ftp, projected, ptf []float64 // fit-then-protect as in the paper and projected onto the ball, protect-then-fit
	active              int
}

func (c meanCell) measure(reps int) (meanErrors, error) {
	rnd := simulate.New(c.seed)
	src := noise.Seeded(c.seed)
	p := c.draw(rnd, c.n)
	config := mean.Config{Space: c.space, Radius: c.radius, Guarantee: privacy.GDP(c.mu), Unit: "person", Raw: true, N: int64(c.n)}
	protect := config
	protect.Method, protect.Grid = mean.ProtectThenFit, c.grid
	configs := []mean.Config{config, protect}
	if c.protectOnly {
		configs = configs[1:]
	}
	basis := evaluate(c.space, c.grid)
	values := make([]float64, len(c.grid))
	distance := func(coefficients []float64) float64 {
		sum, count := 0.0, 1.0
		against := coefficients
		if !c.coefficients {
			apply(values, basis, coefficients)
			against, count = values, float64(len(values))
		}
		for j, v := range against {
			sum += (v - p.truth[j]) * (v - p.truth[j]) / count
		}
		return sum
	}
	fill := func(cfg mean.Config, x []float64) (*mean.Mean, error) {
		m, err := mean.New(cfg)
		if err != nil {
			return nil, err
		}
		T := len(c.grid)
		for i := range c.n {
			if err := m.Add(fit.Curve{{T: c.grid, X: x[i*T : (i+1)*T]}}); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	parts := make([][]byte, len(configs)) // without observation noise the sums are the same every time
	if c.sigma == 0 {
		for k, cfg := range configs {
			m, err := fill(cfg, p.x)
			if err != nil {
				return meanErrors{}, err
			}
			if parts[k], err = m.MarshalBinary(); err != nil {
				return meanErrors{}, err
			}
		}
	}
	var out meanErrors
	for range reps {
		x := p.x
		if c.sigma > 0 {
			x = make([]float64, len(p.x))
			for i, v := range p.x {
				x[i] = v + c.sigma*rnd.NormFloat64()
			}
		}
		for k, cfg := range configs {
			var m *mean.Mean
			var err error
			if c.sigma > 0 {
				m, err = fill(cfg, x)
			} else if m, err = mean.New(cfg); err == nil {
				err = m.UnmarshalBinary(parts[k])
			}
			if err != nil {
				return out, err
			}
			r, err := m.Release(src)
			if err != nil {
				return out, err
			}
			beta := r.Coefficients[0]
			e, norm := distance(beta), 0.0
			for _, b := range beta {
				norm += b * b
			}
			norm = math.Sqrt(norm)
			if cfg.Method == mean.ProtectThenFit {
				out.ptf = append(out.ptf, e)
				if norm > c.radius*(1-1e-6) {
					out.active++
				}
				continue
			}
			out.ftp = append(out.ftp, e)
			if norm > c.radius {
				for j := range beta {
					beta[j] *= c.radius / norm
				}
				e = distance(beta)
			}
			out.projected = append(out.projected, e)
		}
	}
	return out, nil
}

// sampleSizes are n = 2²…2¹².
func sampleSizes() (ns []int, xs []float64) {
	for k := 2; k <= 12; k++ {
		ns, xs = append(ns, 1<<k), append(xs, float64(int(1)<<k))
	}
	return ns, xs
}

func probability(k, n int) estimate {
	p := float64(k) / float64(n)
	return estimate{p, math.Sqrt(p * (1 - p) / float64(n))}
}

func meanRatio(f family) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		ns, xs := sampleSizes()
		mus := []float64{0.1, 1}
		cells := make([]meanErrors, len(mus)*len(meanDims)*len(ns))
		err := r.each(ctx, len(cells), func(i int) error {
			d := meanDims[i/len(ns)%len(meanDims)]
			s, err := f.make(d)
			if err != nil {
				return err
			}
			c := meanCell{meanSetting: s, n: ns[i%len(ns)], mu: mus[i/len(ns)/len(meanDims)], radius: 1.1, seed: uint64(1000 + i)}
			cells[i], err = c.measure(r.reps)
			return err
		})
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: []string{"mu", f.symbol, "n", "ftp", "ftp_se", "ftp_projected", "ftp_projected_se", "ptf", "ptf_se", "ratio", "ratio_se", "ratio_projected", "ratio_projected_se", "limit", "ptf_active", "ptf_active_se"},
			Claim: fmt.Sprintf("the ratio falls to about 1/%s as n grows, and protect-then-fit can win at small n and μ = 0.1", f.symbol)}
		limits, exceeds, worse, better := true, false, 0.0, 0.0
		finding := ""
		var pictures []*plot.Picture
		for a, mu := range mus {
			var series []plot.Series
			for b, d := range meanDims {
				limit := 1 / float64(d)
				var ratios []estimate
				for k, n := range ns {
					e := cells[(a*len(meanDims)+b)*len(ns)+k]
					ftp, projected, ptf := estimateOf(e.ftp), estimateOf(e.projected), estimateOf(e.ptf)
					ratio, free := ftp.over(ptf), projected.over(ptf)
					active := probability(e.active, len(e.ptf))
					out.Rows = append(out.Rows, []any{mu, d, n, ftp.mean, ftp.se, projected.mean, projected.se, ptf.mean, ptf.se, ratio.mean, ratio.se, free.mean, free.se, limit, active.mean, active.se})
					ratios = append(ratios, ratio)
					worse, better = math.Max(worse, ratio.mean), math.Max(better, free.mean)
					exceeds = exceeds || free.mean > 1+z*free.se
					if mu == 1 && n == ns[len(ns)-1] {
						limits = limits && ratio.mean < limit+z*ratio.se
						finding += fmt.Sprintf("%.3f (%.3f), ", ratio.mean, ratio.se)
					}
				}
				series = append(series, points(fmt.Sprintf("%s = %d", f.symbol, d), xs, ratios), level("1/"+f.symbol, xs, limit))
			}
			p, err := plot.Lines(series, plot.Axes{Title: fmt.Sprintf("μ = %g", mu), XLabel: "n", YLabel: f.error + " ratio FTP / PTF", LogX: true, LogY: true,
				Caption: caption("No observation noise, B′ = 1.1, %d repetitions, bars of two standard errors.", r.reps), Size: wide})
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, p)
		}
		out.Finding = fmt.Sprintf("at n = 4096, μ = 1 the ratios for %s = 2, 4, 6, 8 are %s; at small n the ratio reaches %.3g, but at most %.3g once fit-then-protect is projected onto the ball of radius B′, which is free", f.symbol, finding[:len(finding)-2], worse, better)
		out.Verdict = Fails
		if limits {
			out.Verdict = Holds
			if !exceeds {
				out.Verdict = Depends
				out.Finding += ": the limit holds, the advantage of protect-then-fit is there only without the projection"
			}
		}
		return out, out.join(2, pictures...)
	}
}

var wide = plot.Size{Width: 20 * 28.35, Height: 9.5 * 28.35, Font: 9}

// join makes the pictures panels of one.
func (r *Result) join(columns int, pictures ...*plot.Picture) error {
	p, err := plot.Panels("", columns, pictures...)
	if err == nil {
		r.Pictures = []Picture{{Picture: p}}
	}
	return err
}

// meanActive varies what the paper leaves open: how much of the curves is common.
func meanActive(ctx context.Context, r run) (*Result, error) {
	ns, xs := sampleSizes()
	shares := []float64{0, 0.5, 0.95}
	mus := []float64{0.1, 1}
	cells := make([]meanErrors, len(shares)*len(mus)*len(meanDims)*len(ns))
	err := r.each(ctx, len(cells), func(i int) error {
		s, err := rkhs.make(meanDims[i/len(ns)%len(meanDims)])
		if err != nil {
			return err
		}
		s.share = shares[i/len(ns)/len(meanDims)/len(mus)]
		c := meanCell{meanSetting: s, n: ns[i%len(ns)], mu: mus[i/len(ns)/len(meanDims)%len(mus)], radius: 1.1, seed: uint64(5000 + i), protectOnly: true}
		cells[i], err = c.measure(r.reps)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Columns: []string{"common_share", "mu", "T", "n", "ptf", "ptf_se", "active", "active_se"},
		Claim: "the constraint is active less often as n grows, more often for larger T or smaller μ; 0.755 at T = 8, n = 1024, μ = 0.1, never at μ = 1 there"}
	lo, hi, none := 1.0, 0.0, true
	var pictures []*plot.Picture
	for a, share := range shares {
		var series []plot.Series
		for b, mu := range mus {
			for c, T := range meanDims {
				var p []estimate
				for k, n := range ns {
					e := cells[((a*len(mus)+b)*len(meanDims)+c)*len(ns)+k]
					active, ptf := probability(e.active, len(e.ptf)), estimateOf(e.ptf)
					out.Rows = append(out.Rows, []any{share, mu, T, n, ptf.mean, ptf.se, active.mean, active.se})
					p = append(p, active)
					if T == 8 && n == 1024 {
						if mu == 1 {
							none = none && e.active == 0
						} else {
							lo, hi = math.Min(lo, active.mean), math.Max(hi, active.mean)
						}
					}
				}
				if mu == 0.1 {
					s := points(fmt.Sprintf("T = %d", T), xs, p)
					for j := range s.Lo {
						s.Lo[j] = math.Max(0, p[j].mean-2*p[j].se)
					}
					series = append(series, s)
				}
			}
		}
		p, err := plot.Lines(append(series, level("paper, T = 8, n = 1024", xs, 0.755)), plot.Axes{Title: fmt.Sprintf("common part %g", share), XLabel: "n", YLabel: "probability, μ = 0.1", LogX: true,
			Caption: caption("B′ = 1.1, %d repetitions. The common part is the norm of the mean of the latent curves, which the paper does not state.", r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, p)
	}
	out.Verdict = Fails
	if none {
		out.Verdict = Depends
	}
	out.Finding = fmt.Sprintf("at T = 8, n = 1024 it is %.3f to %.3f for μ = 0.1, according to the unstated law of the latent curves, and never active in %d repetitions for μ = 1: %v", lo, hi, r.reps, none)
	return out, out.join(3, pictures...)
}

type radiusChoice struct {
	name string
	of   func(n float64) float64
}

var radiusChoices = []radiusChoice{
	{"B", func(float64) float64 { return 1 }},
	{"1.1B", func(float64) float64 { return 1.1 }},
	{"√log n", func(n float64) float64 { return math.Sqrt(math.Log(n)) }},
	{"log n", math.Log},
	{"√n", math.Sqrt},
	{"n^2/3", func(n float64) float64 { return math.Pow(n, 2.0/3) }},
}

func meanRadius(f family) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		ns, xs := sampleSizes()
		s, err := f.make(4)
		if err != nil {
			return nil, err
		}
		cells := make([]meanErrors, len(radiusChoices)*len(ns))
		err = r.each(ctx, len(cells), func(i int) error {
			// The same seed for all radii: the same people.
			n := ns[i%len(ns)]
			c := meanCell{meanSetting: s, n: n, mu: 1, sigma: 1, radius: radiusChoices[i/len(ns)].of(float64(n)), seed: uint64(9000 + i%len(ns))}
			var err error
			cells[i], err = c.measure(r.reps)
			return err
		})
		if err != nil {
			return nil, err
		}
		best := "log n"
		if f.coefficients() {
			best = "√log n"
		}
		out := &Result{Columns: []string{"radius", "n", "B'", "n_ftp", "n_ftp_se", "n_ptf", "n_ptf_se", "ptf_active"},
			Claim: fmt.Sprintf("no radius is best at all n; B′ = B is good at small n and grows at large n; B′ = %s is best for fit-then-protect at the largest n", best)}
		var pictures []*plot.Picture
		var series [2][]plot.Series
		var last, first [2]string
		var least, smallest [2]float64
		growth := 0.0
		for a, c := range radiusChoices {
			var scaled [2][]estimate
			for k, n := range ns {
				e := cells[a*len(ns)+k]
				for m, v := range [][]float64{e.ftp, e.ptf} {
					y := estimateOf(v)
					y = estimate{y.mean * float64(n), y.se * float64(n)}
					scaled[m] = append(scaled[m], y)
					if k == len(ns)-1 && (last[m] == "" || y.mean < least[m]) {
						last[m], least[m] = c.name, y.mean
					}
					if k == 0 && (first[m] == "" || y.mean < smallest[m]) {
						first[m], smallest[m] = c.name, y.mean
					}
				}
				out.Rows = append(out.Rows, []any{c.name, n, c.of(float64(n)), scaled[0][k].mean, scaled[0][k].se, scaled[1][k].mean, scaled[1][k].se, probability(e.active, len(e.ptf)).mean})
			}
			if c.name == "B" {
				growth = scaled[0][len(ns)-1].mean / scaled[0][5].mean
			}
			for m := range series {
				series[m] = append(series[m], points("B′ = "+c.name, xs, scaled[m]))
			}
		}
		for m, name := range []string{"fit-then-protect", "protect-then-fit"} {
			p, err := plot.Lines(series[m], plot.Axes{Title: name, XLabel: "n", YLabel: "n × " + f.error, LogX: true, LogY: true,
				Caption: caption("σ₀ = 1, μ = 1, %s = 4, %d repetitions, bars of two standard errors.", f.symbol, r.reps), Size: wide})
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, p)
		}
		out.Finding = fmt.Sprintf("smallest at n = 4: %s (FTP), %s (PTF); at n = 4096: %s (FTP, n·%s = %.3g), %s (PTF, %.3g); under B′ = B the scaled error of FTP grows %.3g-fold from n = 128 to 4096", first[0], first[1], last[0], f.error, least[0], last[1], least[1], growth)
		out.Verdict = Depends
		if last[0] == best && growth > 2 && first[0] != last[0] {
			out.Verdict = Holds
		}
		return out, out.join(2, pictures...)
	}
}

func (f family) coefficients() bool { return f.symbol == "m" }

func meanNoise(f family) func(context.Context, run) (*Result, error) {
	return func(ctx context.Context, r run) (*Result, error) {
		ns, xs := sampleSizes()
		sigmas := []float64{0.1, 1, 10}
		full := len(sigmas) * len(meanDims) * len(ns)
		const otherShare = 0.5 // once more at the largest n, to see what the latent law does
		cells := make([]meanErrors, full+len(sigmas)*len(meanDims))
		err := r.each(ctx, len(cells), func(i int) error {
			at := i
			if i >= full {
				at = (i-full)*len(ns) + len(ns) - 1
			}
			s, err := f.make(meanDims[at/len(ns)%len(meanDims)])
			if err != nil {
				return err
			}
			if i >= full {
				s.share = otherShare
			}
			n := ns[at%len(ns)]
			c := meanCell{meanSetting: s, n: n, mu: 1, sigma: sigmas[at/len(ns)/len(meanDims)], radius: f.noiseRadius(n), seed: uint64(20000 + i)}
			cells[i], err = c.measure(r.reps)
			return err
		})
		if err != nil {
			return nil, err
		}
		out := &Result{Columns: []string{"common_share", "sigma0", f.symbol, "n", "B'", "ftp", "ftp_se", "ptf", "ptf_se", "ratio", "ratio_se"},
			Claim: "at the largest n fit-then-protect wins for σ₀ = 0.1 and 1, and protect-then-fit for σ₀ = 10"}
		if f.coefficients() {
			out.Claim = "at the largest n fit-then-protect wins for σ₀ = 0.1 and 1; for σ₀ = 10 protect-then-fit wins for m = 8 only"
		}
		agree, doubt := true, false
		finding, other := "", ""
		share := 0.0
		var pictures []*plot.Picture
		for a, sigma := range sigmas {
			var series []plot.Series
			finding += fmt.Sprintf("σ₀ = %g: ", sigma)
			for b, d := range meanDims {
				s, err := f.make(d)
				if err != nil {
					return nil, err
				}
				share = s.share
				add := func(share float64, n int, e meanErrors) estimate {
					ftp, ptf := estimateOf(e.ftp), estimateOf(e.ptf)
					q := ftp.over(ptf)
					out.Rows = append(out.Rows, []any{share, sigma, d, n, f.noiseRadius(n), ftp.mean, ftp.se, ptf.mean, ptf.se, q.mean, q.se})
					return q
				}
				var ratios []estimate
				for k, n := range ns {
					ratios = append(ratios, add(share, n, cells[(a*len(meanDims)+b)*len(ns)+k]))
				}
				if q := add(otherShare, ns[len(ns)-1], cells[full+a*len(meanDims)+b]); sigma == 10 {
					other += fmt.Sprintf("%.3f (%.3f), ", q.mean, q.se)
				}
				q := ratios[len(ratios)-1]
				wins := sigma < 10 || f.coefficients() && d < 8
				agree = agree && (wins == (q.mean < 1))
				doubt = doubt || math.Abs(q.mean-1) < z*q.se
				finding += fmt.Sprintf("%.3f (%.3f), ", q.mean, q.se)
				series = append(series, points(fmt.Sprintf("%s = %d", f.symbol, d), xs, ratios), level("1/"+f.symbol, xs, 1/float64(d)))
			}
			finding = finding[:len(finding)-2] + "; "
			p, err := plot.Lines(series, plot.Axes{Title: fmt.Sprintf("σ₀ = %g", sigma), XLabel: "n", YLabel: f.error + " ratio FTP / PTF", LogX: true, LogY: true,
				Caption: caption("μ = 1, B′ = %s, %d repetitions, bars of two standard errors.", f.radiusName, r.reps), Size: plot.Size{Width: 24 * 28.35, Height: 9 * 28.35, Font: 9}})
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, p)
		}
		out.Finding = fmt.Sprintf("ratios at n = 4096 for %s = 2, 4, 6, 8: %s; with half of the curves' radius common to all instead of %g, at σ₀ = 10: %s", f.symbol, finding[:len(finding)-2], share, other[:len(other)-2])
		if doubt {
			out.Finding += " (some of the first within chance of 1)"
		}
		// The other share says at σ₀ = 10 where the claim rests on the latent law, which the paper leaves open.
		out.Verdict = Depends
		if agree {
			out.Finding += "; all on the paper's side of 1 in the first case, not in the second"
		} else {
			out.Finding += "; not all on the paper's side of 1"
		}
		return out, out.join(3, pictures...)
	}
}

// meanPure is the constant function of the appendix: fit-then-protect adds one Laplace variable to the mean, and
// protect-then-fit one to each of T times at ε/T, which it averages.
func meanPure(ctx context.Context, r run) (*Result, error) {
	const n, epsilon, bound = 100, 1.0, 1.0
	one, err := space.Legendre(space.Interval{A: 0, B: 1}, 1)
	if err != nil {
		return nil, err
	}
	times := []int{1, 2, 4, 8, 16, 32}
	out := &Result{Columns: []string{"T", "n", "epsilon", "ftp", "ftp_se", "ptf", "ptf_se", "ratio", "ratio_se", "theory"}, Claim: "the error of fit-then-protect is 1/T of that of protect-then-fit", Verdict: Holds,
		Finding: "ratio times T: "}
	ratios := make([]estimate, len(times))
	rows := make([][]any, len(times))
	err = r.each(ctx, len(times), func(i int) error {
		T := times[i]
		src := noise.Seeded(uint64(30000 + T))
		m, err := mean.New(mean.Config{Space: one, Radius: bound, Guarantee: privacy.Pure(epsilon), Unit: "person", Raw: true, N: n})
		if err != nil {
			return err
		}
		truth := 0.0
		rnd := simulate.New(uint64(T))
		for range n {
			v := 2*rnd.Float64() - 1
			truth += v / n
			if err := m.Add(fit.Curve{{T: []float64{0, 1}, X: []float64{v, v}}}); err != nil {
				return err
			}
		}
		part, err := m.MarshalBinary()
		if err != nil {
			return err
		}
		ftp, ptf := make([]float64, r.reps), make([]float64, r.reps)
		const fine = 1 << 20 // lattice steps in the scale of the noise
		for k := range ftp {
			m, err := mean.New(m.Config())
			if err != nil {
				return err
			}
			if err := m.UnmarshalBinary(part); err != nil {
				return err
			}
			released, err := m.Release(src)
			if err != nil {
				return err
			}
			d := released.At(0.5) - truth
			ftp[k] = d * d
			sum := 0.0
			for range T {
				sum += float64(src.RoundedLaplace(fine)) / fine * 2 * bound * float64(T) / (n * epsilon) / float64(T)
			}
			ptf[k] = sum * sum
		}
		f, p := estimateOf(ftp), estimateOf(ptf)
		ratios[i] = f.over(p)
		rows[i] = []any{T, n, epsilon, f.mean, f.se, p.mean, p.se, ratios[i].mean, ratios[i].se, 1 / float64(T)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Rows = rows
	var xs, theory []float64
	for i, T := range times {
		xs, theory = append(xs, float64(T)), append(theory, 1/float64(T))
		if math.Abs(ratios[i].mean-theory[i]) > z*ratios[i].se {
			out.Verdict = Fails
		}
		out.Finding += fmt.Sprintf("%.3f (%.3f), ", ratios[i].mean*float64(T), ratios[i].se*float64(T))
	}
	out.Finding = out.Finding[:len(out.Finding)-2] + " for T = 1, 2, 4, 8, 16, 32"
	p, err := plot.Lines([]plot.Series{points("measured", xs, ratios), {Name: "1/T", X: xs, Y: theory, Theory: true}}, plot.Axes{XLabel: "T", YLabel: "error ratio FTP / PTF", LogX: true, LogY: true,
		Caption: caption("A constant function, n = %d, ε = %g, %d repetitions, bars of two standard errors.", n, epsilon, r.reps)})
	out.Pictures = []Picture{{Picture: p}}
	return out, err
}
