package mean

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
)

// Release draws the noise from the source and returns the private mean. It
// can be called once; the expense is one release at the configured guarantee.
//
// The claim: replacing all curves of one unit by others (n is public) changes
// the released object's law within the guarantee. Everything after the noisy
// integer sum — division by n, the projection onto the ball or the fit — is
// post-processing. Proof note: docs/privacy.md#mean.
func (m *Mean) Release(src *noise.Source) (*release.Release, error) {
	if m.done {
		return nil, errReleased
	}
	sum, err := m.total()
	if err != nil {
		return nil, err
	}
	n := sum.N()
	if m.cfg.N != 0 && n != m.cfg.N {
		return nil, fmt.Errorf("mean: %d people were added, but the public number was stated as %d", n, m.cfg.N)
	}
	m.done = true // before the noise: what is drawn is spent, whatever happens then
	noisy, err := m.mech.Release(sum, src)
	if err != nil {
		m.done = false
		return nil, fmt.Errorf("mean: %w", err)
	}
	r := m.cfg.newRelease(n, m.mech, src.Private())
	if m.cfg.Method == ProtectThenFit {
		m.fitInto(r, noisy)
	} else {
		m.cfg.projectInto(r, noisy)
	}
	if err := check(r); err != nil {
		return nil, err
	}
	return r, nil
}

// newRelease returns the release without its coefficients.
func (c Config) newRelease(n int64, mech mechanism.Mechanism, private bool) *release.Release {
	return &release.Release{
		Verb: release.Mean, Method: string(c.Method), Space: c.Space, Components: c.Components, Reference: c.Reference,
		Privacy: c.statement(), N: n, Radius: c.Radius, Private: private, XLabel: c.XLabel, YLabel: c.YLabel, UnixTime: c.UnixTime,
		Noise: release.Noise{Law: mech.Law(), Scale: mech.Scale(n)},
	}
}

func check(r *release.Release) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	return nil
}

// fitInto fits the noisy mean of the scaled samples.
func (m *Mean) fitInto(r *release.Release, noisy []float64) {
	coords, lambda := m.cfg.fitNoisy(m.after, noisy)
	r.Coefficients = split(coords, len(r.Components))
	// In the weighted samples x_j/‖e(t_j)‖ the noise has one sd, B′·scale.
	factor := m.after.Linearised(lambda)
	for _, row := range factor {
		for k := range row {
			row[k] *= r.Radius * r.Noise.Scale
		}
	}
	r.Noise = release.Noise{Law: release.GaussianLinearised, Factor: factor}
}

// projectInto projects the noisy coordinates onto the ball, unless the raw ones
// are wanted.
func (c Config) projectInto(r *release.Release, noisy []float64) {
	r.Coefficients = split(noisy, len(r.Components))
	norm := norm2(noisy)
	if norm <= r.Radius || c.Raw {
		return
	}
	r.Raw = r.Coefficients
	projected := make([]float64, len(noisy))
	for i, x := range noisy {
		projected[i] = x / norm * r.Radius
	}
	r.Coefficients = split(projected, len(r.Components))
}

func split(coords []float64, parts int) [][]float64 {
	out := make([][]float64, parts)
	p := len(coords) / parts
	for i := range out {
		out[i] = coords[i*p : (i+1)*p : (i+1)*p]
	}
	return out
}

func norm2(v []float64) float64 {
	var n float64
	for _, x := range v {
		n = math.Hypot(n, x)
	}
	return n
}
