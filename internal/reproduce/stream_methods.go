// The methods of [REG] §5: functional SGD with and without privacy, and the offline one.

package reproduce

import (
	"context"
	"math"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

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

var (
	moderate = privacy.Approx{Epsilon: 3, Delta: 0.1}
	strong   = privacy.Approx{Epsilon: 2, Delta: 0.2}
)

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
