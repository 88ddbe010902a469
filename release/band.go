// Bands around a released function. They cover the privacy noise only: the
// function they bracket is the one the method would have released without
// noise, not the population's. Sampling error, shrinkage of the fit and
// clipping are not in them.

package release

import (
	"fmt"
	"math"
)

// Band returns the pointwise band of the first component at t: with probability
// at least level over the noise it holds the value without privacy noise. It is
// centred on the noisy value before projection, half as wide as
// quantile·[Release.NoiseSD], cut to reference ± Radius·a(t) (which the
// function without noise cannot leave, for it lies in the ball), and widened
// where needed to hold the released value. NaN outside the domain or for a
// level outside (0,1), and for a denoised curve.
//
// For protect-then-fit the band brackets the fit to the clipped mean, and its
// level is exact only while the fit's constraint is not active.
func (r *Release) Band(t, level float64) (lo, hi float64) {
	if r.inDomain(t) != nil || checkLevel(level) != nil || r.checkBanded() != nil {
		return math.NaN(), math.NaN()
	}
	e, d := r.noiseAt(t)
	return r.bandAt(0, t, e, d*r.Noise.unitQuantile(r.coordinates(), level))
}

// Bands returns the band of every component at every t in ts, indexed
// [component][t]. With simultaneous set, all values at all ts and in all
// components are inside together with probability at least level, otherwise
// each one is. The simultaneous quantile is that of the largest noise in units
// of its standard deviation, from 20,000 seeded draws: equal arguments give
// equal bands. It says nothing between the ts, so take a fine grid (for smooth
// spaces 200 points are enough); time and memory are linear in its size.
func (r *Release) Bands(ts []float64, level float64, simultaneous bool) (lo, hi [][]float64, err error) {
	if err := checkLevel(level); err != nil {
		return nil, nil, err
	}
	if err := r.checkBanded(); err != nil {
		return nil, nil, err
	}
	if len(ts) == 0 {
		return nil, nil, fmt.Errorf("release: a band at no points; give at least one t")
	}
	for _, t := range ts {
		if err := r.inDomain(t); err != nil {
			return nil, nil, err
		}
	}
	q := r.Noise.unitQuantile(r.coordinates(), level)
	if simultaneous {
		q = r.supQuantile(ts, level, q)
	}
	lo, hi = make([][]float64, len(r.Components)), make([][]float64, len(r.Components))
	for k := range lo {
		lo[k], hi[k] = make([]float64, len(ts)), make([]float64, len(ts))
	}
	for i, t := range ts {
		e, d := r.noiseAt(t)
		for k := range lo {
			lo[k][i], hi[k][i] = r.bandAt(k, t, e, q*d)
		}
	}
	return lo, hi, nil
}

// BandCaveat says what is in the bands of the release and what is not, for readers who might take them for more; "" for a denoised
// curve, which has none. The bands of a regression are for the noise as if the recursion damped none of it. How much it damps
// depends on everybody's x, which nobody but its owner knows, so no release can state the noise that is left.
func (r *Release) BandCaveat() string {
	const only = "privacy noise only; not in it: "
	switch r.Verb {
	case Regression:
		return "an upper bound of the privacy noise, often several times what is left of it; not in it: the pull toward the center where people are few, and the people's own errors"
	case Mean:
		return only + "curves beyond the radius, which were pulled in, and how the people at hand differ from others"
	case Density:
		return only + fmt.Sprintf("detail finer than rank %g, and how the people at hand differ from others", r.rank())
	case Curve:
		if r.Method != Denoised {
			return only + "detail of the curve that the functions of the space cannot follow"
		}
	}
	return ""
}

// supQuantile collects the directions of the noise at ts. Where the noise is
// exactly zero (a Brownian path at 0) there is nothing to cover.
func (r *Release) supQuantile(ts []float64, level, pointwise float64) float64 {
	rank := r.Noise.rank(r.Space.Dim())
	e := make([]float64, r.Space.Dim())
	dirs := make([]float64, 0, len(ts)*rank)
	scales := r.layeredScales()
	for _, t := range ts {
		r.Space.Eval(e, t)
		n := len(dirs)
		dirs = dirs[:n+rank]
		row := dirs[n:]
		var d float64
		if scales != nil {
			d = r.layeredDirection(row, e, scales)
		} else {
			d = r.Noise.direction(row, e)
		}
		if d == 0 {
			dirs = dirs[:n]
			continue
		}
		for j := range row {
			row[j] /= d
		}
	}
	if len(dirs) == 0 {
		return pointwise
	}
	return r.Noise.supQuantile(dirs, rank, len(r.Components), r.coordinates(), level)
}

// bandAt is the band of component k at t for a half-width in units of y.
func (r *Release) bandAt(k int, t float64, e []float64, half float64) (lo, hi float64) {
	if r.Verb == Density {
		return r.densityBand(e, half)
	}
	centre := r.Raw
	if centre == nil {
		centre = r.Coefficients
	}
	ref := r.reference(k, t)
	c, edge := dot(centre[k], e), r.ball(t)
	lo = min(max(c-half, -edge), edge)
	hi = max(min(c+half, edge), -edge)
	released := dot(r.Coefficients[k], e)
	return ref + min(lo, released), ref + max(hi, released)
}

// checkBanded refuses a smoothed release: its noise is no longer that of the
// coordinates, and its error is mostly what the smoothing took away.
func (r *Release) checkBanded() error {
	if r.Verb == Curve && r.Method == Denoised {
		return fmt.Errorf("release: a denoised curve has no band of noise: smoothing took most of the noise away, and detail with it")
	}
	return nil
}

func checkLevel(level float64) error {
	if level > 0 && level < 1 {
		return nil
	}
	return fmt.Errorf("release: level %v of a band must lie strictly between 0 and 1, such as 0.95", level)
}
