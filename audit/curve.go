package audit

import (
	"math"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Curve is project-and-privatize for two curves at distance 1, under geo-privacy
// of the pure budget, or concentrated geo-privacy of the Gaussian one.
func Curve(claim privacy.Guarantee) (Subject, error) {
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 2)
	if err != nil {
		return Subject{}, err
	}
	s := Subject{Name: "curve/geo", About: "two flat curves one unit apart; spherical Laplace noise", Claim: claim}
	c := curve.Config{Window: space.Interval{A: 0, B: 1}, Components: []string{"x"}, Method: curve.Project, Space: sp}
	switch g := claim.(type) {
	case privacy.Pure:
		c.Guarantee = privacy.Geo(g)
	case privacy.GDP:
		s.Name, s.About = "curve/concentrated", "two flat curves one unit apart; Gaussian noise"
		c.Guarantee = privacy.ConcentratedGeo(float64(g) * float64(g) / 2) // μ = dist·√(2ρ)
	}
	p, err := curve.New(c)
	if err != nil {
		return Subject{}, err
	}
	var curves [2]fit.Curve
	for k := range curves {
		curves[k] = constant(1, []float64{0, 1}, float64(k)-0.5)
	}
	_, pure := claim.(privacy.Pure)
	s.Release = func(k int, src *noise.Source) (float64, error) {
		r, err := p.Privatize(curves[k], src)
		if err != nil {
			return 0, err
		}
		y := r.Release.Coefficients[0]
		if pure {
			return math.Hypot(y[0]+0.5, y[1]) - math.Hypot(y[0]-0.5, y[1]), nil
		}
		return y[0], nil
	}
	return s, nil
}
