package audit

import (
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// meanPeople is the cohort of the worst cases: small, so that one person
// matters, and large enough that protect-then-fit's constraint stays inactive.
const meanPeople = 200

// pair prepares one neighbouring pair: the sums of the two cohorts, which
// differ in one person, from which each release then draws its own noise.
func pair(c mean.Config, victim [2]fit.Curve, other fit.Curve) (func(int, *noise.Source) (*release.Release, error), error) {
	var partial [2][]byte
	for k := range partial {
		m, err := mean.New(c)
		if err != nil {
			return nil, err
		}
		if err := m.Add(victim[k]); err != nil {
			return nil, err
		}
		for range meanPeople - 1 {
			if err := m.Add(other); err != nil {
				return nil, err
			}
		}
		if partial[k], err = m.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return func(k int, src *noise.Source) (*release.Release, error) {
		m, err := mean.New(c)
		if err != nil {
			return nil, err
		}
		if err := m.UnmarshalBinary(partial[k]); err != nil {
			return nil, err
		}
		return m.Release(src)
	}, nil
}

// constant is the curve of value v in each component, at the times.
func constant(components int, times []float64, v float64) fit.Curve {
	c := make(fit.Curve, components)
	for k := range c {
		x := make([]float64, len(times))
		for j := range x {
			x[j] = v
		}
		c[k] = fit.Series{T: times, X: x}
	}
	return c
}

// MeanFTP is fit-then-protect under a Gaussian guarantee: one person moves from
// one pole of the ball to the other, in all components at once.
func MeanFTP(claim privacy.Guarantee) (Subject, error) {
	names := []string{"first", "second"}
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 2)
	if err != nil {
		return Subject{}, err
	}
	times := []float64{0, 0.5, 1}
	c := mean.Config{Space: sp, Radius: 1, Guarantee: claim, Unit: "person", Components: names, Raw: true}
	pole := math.Sqrt(0.5)
	releases, err := pair(c, [2]fit.Curve{constant(2, times, -pole), constant(2, times, pole)}, constant(2, times, 0))
	return Subject{
		Name:  "mean/fit-then-protect",
		About: "one person's curve moves from −B′ to +B′ in both of two components",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			r, err := releases(k, src)
			if err != nil {
				return 0, err
			}
			return r.Coefficients[0][0] + r.Coefficients[1][0], nil
		},
	}, err
}

// MeanPTF is protect-then-fit: one person's samples, far outside, are clipped
// at one bound or the other at every time.
func MeanPTF(claim privacy.Guarantee) (Subject, error) {
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 2)
	if err != nil {
		return Subject{}, err
	}
	times := []float64{0.25, 0.75}
	c := mean.Config{Space: sp, Radius: 1, Guarantee: claim, Unit: "person", Method: mean.ProtectThenFit, Grid: times}
	releases, err := pair(c, [2]fit.Curve{constant(1, times, -1e6), constant(1, times, 1e6)}, constant(1, times, 0))
	return Subject{
		Name:  "mean/protect-then-fit",
		About: "one person's samples move from below all clip bounds to above them",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			r, err := releases(k, src)
			if err != nil {
				return 0, err
			}
			var s float64
			for _, t := range times {
				s += r.At(t) / sp.Bound(t)
			}
			return s, nil
		},
	}, err
}

// MeanPure is fit-then-protect under pure ε-DP, with the likelihood ratio of
// the spherical Laplace law as the attacker's statistic.
func MeanPure(claim privacy.Pure) (Subject, error) {
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 2)
	if err != nil {
		return Subject{}, err
	}
	times := []float64{0, 0.5, 1}
	c := mean.Config{Space: sp, Radius: 1, Guarantee: claim, Unit: "person", Raw: true}
	releases, err := pair(c, [2]fit.Curve{constant(1, times, -1), constant(1, times, 1)}, constant(1, times, 0))
	return Subject{
		Name:  "mean/pure",
		About: "one person's curve moves from −B′ to +B′; spherical Laplace noise",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			r, err := releases(k, src)
			if err != nil {
				return 0, err
			}
			y := r.Coefficients[0]
			const at = 1.0 / meanPeople
			return math.Hypot(y[0]+at, y[1]) - math.Hypot(y[0]-at, y[1]), nil
		},
	}, err
}
