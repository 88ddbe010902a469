// One point of a figure of [FTP]: errors of both methods by repetition.

package reproduce

import (
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

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

func probability(k, n int) estimate {
	p := float64(k) / float64(n)
	return estimate{p, math.Sqrt(p * (1 - p) / float64(n))}
}
