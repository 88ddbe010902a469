package mean

import (
	"fmt"
	"math"

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
	noisy, err := m.mech.Release(sum, src)
	if err != nil {
		return nil, err
	}
	m.done = true
	c := m.cfg
	r := &release.Release{
		Verb: "mean", Method: string(c.Method), Space: c.Space, Components: c.Components, Reference: c.Reference,
		Privacy: c.statement(), N: n, Radius: c.Radius, Private: src.Private(), XLabel: c.XLabel, YLabel: c.YLabel,
		Noise: release.Noise{Law: m.mech.Law(), Scale: m.mech.Scale(n)},
	}
	if c.Method == ProtectThenFit {
		coords, lambda := c.fitNoisy(m.after, noisy)
		r.Coefficients = split(coords, len(c.Components))
		// In the weighted samples x_j/‖e(t_j)‖ the noise has one sd, B′·scale.
		factor := m.after.Linearised(lambda)
		for _, row := range factor {
			for k := range row {
				row[k] *= c.Radius * m.mech.Scale(n)
			}
		}
		r.Noise = release.Noise{Law: "gaussian-linearised", Factor: factor}
		return r, r.Validate()
	}
	r.Coefficients = split(noisy, len(c.Components))
	if norm := norm2(noisy); norm > c.Radius && !c.Raw {
		r.Raw = r.Coefficients
		projected := make([]float64, len(noisy))
		for i, x := range noisy {
			projected[i] = x / norm * c.Radius
		}
		r.Coefficients = split(projected, len(c.Components))
	}
	return r, r.Validate()
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
