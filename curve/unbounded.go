package curve

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Unbounded is the public configuration for functions on the whole line that are
// square integrable ([GEO] §4.3): the piecewise linear interpolant of the samples,
// zero before the first and after the last. The window is part of what is
// released.
type Unbounded struct {
	// Config without a Window and a Space; Metric must be privacy.L2, for a root
	// mean square needs a bounded window.
	Config
	// Windows are Origin ± 2^j·Unit, j = 1 … Most: all public. Most is the cap.
	Origin, Unit float64
	Most         int
}

// windowShare of the budget finds the window, the rest goes to the method.
const windowShare = mechanism.Whole / 8

// PrivatizeUnbounded finds a window outside which little of the curve lies, by a
// sparse vector run on −‖q·1_{outside}‖ against −1/ε of the run, and releases the curve cut to
// it. The query is 1-Lipschitz, being a distance to the functions that vanish
// outside (the difference of two norms in [GEO] §4.3 is 2-Lipschitz and needs
// twice the noise). The released function is zero outside the window of its
// release. Proof notes: docs/privacy.md#sparse-vector, docs/privacy.md#privacy-filter.
func PrivatizeUnbounded(u Unbounded, c fit.Curve, src *noise.Source) (*Result, error) {
	return u.privatize(c, exact{src})
}

func (u Unbounded) privatize(c fit.Curve, d draws) (*Result, error) {
	if u.Metric != privacy.L2 {
		return nil, fmt.Errorf("curve: metric %q on an unbounded domain: only %q is defined there", u.Metric, privacy.L2)
	}
	if u.Space != nil || u.Window != (space.Interval{}) {
		return nil, fmt.Errorf("curve: a window or a space is given for an unbounded domain: leave them out, they are found")
	}
	if !(u.Unit > 0) || math.IsInf(u.Unit, 0) || math.IsNaN(u.Origin) || math.IsInf(u.Origin, 0) || u.Most < 1 || u.Most > 40 {
		return nil, fmt.Errorf("curve: windows %g ± 2^j·%g for j up to %d: give finite numbers, a positive unit and 1 to 40 windows", u.Origin, u.Unit, u.Most)
	}
	// The widest window stands in until one is found.
	u.Window = u.window(u.Most)
	p, err := New(u.Config)
	if err != nil {
		return nil, err
	}
	whole := space.Interval{A: -math.MaxFloat64, B: math.MaxFloat64}
	if err := c.Check(whole, len(u.Components)); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	b, err := p.fresh()
	if err != nil {
		return nil, err
	}
	given, err := b.Spend("window (sparse vector)", windowShare) // in metric l2 itself, not per window
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	j, err := d.first(given, -1/float64(sparseEpsilon(given)), u.Most, func(j int) float64 {
		return -outside(c, u.window(j+1))
	})
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	u.Window = u.window(j + 1)
	if p, err = New(u.Config); err != nil {
		return nil, err
	}
	cut := make(fit.Curve, len(c))
	for k, s := range c {
		cut[k] = within(s, u.Window)
	}
	if err := p.check(cut); err != nil {
		return nil, err
	}
	return p.run(cut, &budget{Filter: b.Filter, config: p.config, base: b.Left()}, d)
}

func (u Unbounded) window(j int) space.Interval {
	half := math.Ldexp(u.Unit, j)
	return space.Interval{A: u.Origin - half, B: u.Origin + half}
}

// outside is (∫‖q‖²dt)^{1/2} over the times outside the window.
func outside(c fit.Curve, window space.Interval) float64 {
	var sum float64
	for _, s := range c {
		for i := 1; i < len(s.T); i++ {
			sum += energy(s, s.T[i-1], min(s.T[i], window.A))
			sum += energy(s, max(s.T[i-1], window.B), s.T[i])
		}
	}
	return math.Sqrt(sum)
}

// energy is ∫x² from a to b, both between the same two samples; 0 if b ≤ a.
func energy(s fit.Series, a, b float64) float64 {
	if b <= a {
		return 0
	}
	x, y := s.At(a), s.At(b)
	return (b - a) * (x*x + x*y + y*y) / 3
}

// within is the series on the window, zero where it has no samples around: the
// step at its first and last sample is as steep as numbers allow.
func within(s fit.Series, window space.Interval) fit.Series {
	var out fit.Series
	add := func(t, x float64) {
		if n := len(out.T); t >= window.A && t <= window.B && (n == 0 || t > out.T[n-1]) {
			out.T, out.X = append(out.T, t), append(out.X, x)
		}
	}
	first, last := s.T[0], s.T[len(s.T)-1]
	value := func(t float64) float64 {
		if t < first || t > last {
			return 0
		}
		return s.At(t)
	}
	add(window.A, value(window.A))
	add(math.Nextafter(first, math.Inf(-1)), 0)
	for i, t := range s.T {
		add(t, s.X[i])
	}
	add(math.Nextafter(last, math.Inf(1)), 0)
	add(window.B, value(window.B))
	return out
}
