package experiment

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Baseline is the sampled-points baseline of [GEO] §5: the values at Points
// equally spaced times, each with noise at 1/Points of the budget, joined by
// straight lines, after a moving average over Smooth of them (1 for none). Its
// guarantee refers to the largest distance at any time, dist_∞.
type Baseline struct {
	Points, Smooth int
	// Budget per unit of dist_∞: privacy.Geo or privacy.ConcentratedGeo.
	Budget privacy.Guarantee
}

// Matched is the budget at which a guarantee g per unit of dist₂ holds per unit
// of dist_∞: dist₂ ≤ √T·dist_∞, so ε√T and ρT. A baseline given that much
// protects no less than the dist₂ mechanism does in its own metric.
func Matched(g privacy.Guarantee, length float64) privacy.Guarantee {
	switch g := g.(type) {
	case privacy.Geo:
		return privacy.Geo(float64(g) * math.Sqrt(length))
	case privacy.ConcentratedGeo:
		return privacy.ConcentratedGeo(float64(g) * length)
	}
	panic("experiment: guarantee of another kind")
}

// Curve returns the baseline's version of c on the window; a nil source adds no
// noise.
func (b Baseline) Curve(c fit.Curve, window space.Interval, src *noise.Source) (fit.Curve, error) {
	if b.Points < 2 || b.Smooth < 1 || b.Smooth > b.Points {
		return nil, fmt.Errorf("experiment: baseline of %d points smoothed over %d: give at least 2 points and smooth over 1 to all of them", b.Points, b.Smooth)
	}
	k := b.Points
	t := make([]float64, k)
	out := make(fit.Curve, len(c))
	for comp := range c {
		out[comp] = fit.Series{T: t, X: make([]float64, k)}
	}
	var local *mechanism.Local
	if src != nil {
		each := b.Budget
		switch g := b.Budget.(type) {
		case privacy.Geo:
			each = privacy.Geo(float64(g) / float64(k))
		case privacy.ConcentratedGeo:
			each = privacy.ConcentratedGeo(float64(g) / float64(k))
		}
		var err error
		if local, err = mechanism.NewLocal(each); err != nil {
			return nil, err
		}
	}
	point := make([]float64, len(c))
	for i := range t {
		t[i] = window.A + window.Length()*float64(i)/float64(k-1)
		for comp, s := range c {
			point[comp] = s.At(t[i])
		}
		if local != nil {
			local.Release(point, point, src)
		}
		for comp, v := range point {
			out[comp].X[i] = v
		}
	}
	for comp := range out {
		out[comp].X = movingAverage(out[comp].X, b.Smooth)
	}
	return out, nil
}

// movingAverage averages x over i−⌊s/2⌋ … i−⌊s/2⌋+s−1, cut at the ends.
func movingAverage(x []float64, s int) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		from := i - s/2
		a, b := max(from, 0), min(from+s, len(x))
		for _, v := range x[a:b] {
			out[i] += v / float64(b-a)
		}
	}
	return out
}

// Distance is the root mean square distance of two piecewise linear curves over
// the window, exactly.
func Distance(a, b fit.Curve, window space.Interval) float64 {
	var sum float64
	for k := range a {
		knots := merged(a[k].T, b[k].T, window)
		last := a[k].At(knots[0]) - b[k].At(knots[0])
		for i := 1; i < len(knots); i++ {
			d := a[k].At(knots[i]) - b[k].At(knots[i])
			sum += (knots[i] - knots[i-1]) / window.Length() * (d*d + d*last + last*last) / 3
			last = d
		}
	}
	return math.Sqrt(sum)
}

func merged(s, t []float64, window space.Interval) []float64 {
	out := []float64{window.A}
	for i, j := 0, 0; i < len(s) || j < len(t); {
		var v float64
		if j == len(t) || i < len(s) && s[i] <= t[j] {
			v = s[i]
			i++
		} else {
			v = t[j]
			j++
		}
		if v > out[len(out)-1] && v < window.B {
			out = append(out, v)
		}
	}
	return append(out, window.B)
}
