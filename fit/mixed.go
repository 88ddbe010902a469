package fit

import (
	"math"
	"slices"
	"sync"

	"github.com/curveil/curveil/space"
)

// Designs keeps the factorisations of the grids seen last, so that files with a
// few patterns of missing values factorise each pattern once. It is safe for
// concurrent use.
type Designs struct {
	space space.Space
	mu    sync.Mutex
	slots []*Design // most recent first
}

// designSlots bounds the memory; wholly irregular sampling finds nothing here
// and factorises each curve, as it must.
const designSlots = 64

// NewDesigns returns an empty cache for unweighted fits in the space.
func NewDesigns(sp space.Space) *Designs { return &Designs{space: sp} }

// Get returns the design for the times.
func (c *Designs) Get(t []float64) (*Design, error) {
	if d := c.find(t); d != nil {
		return d, nil
	}
	d, err := NewDesign(c.space, t, nil)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.slots) == designSlots {
		c.slots = c.slots[:designSlots-1]
	}
	c.slots = slices.Insert(c.slots, 0, d)
	return d, nil
}

func (c *Designs) find(t []float64) *Design {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, d := range c.slots {
		if slices.Equal(d.t, t) {
			copy(c.slots[1:i+1], c.slots[:i])
			c.slots[0] = d
			return d
		}
	}
	return nil
}

// Curve fits one curve whose components may be sampled at different times;
// dst receives one coordinate vector per component, end to end, of joint norm
// at most radius.
func (c *Designs) Curve(dst []float64, curve Curve, radius float64) error {
	p := c.space.Dim()
	if len(dst) != p*len(curve) {
		panic("fit: dst of the wrong length")
	}
	parts := make([]*Design, len(curve))
	var s, s2, z []float64
	for i, series := range curve {
		d, err := c.Get(series.T)
		if err != nil {
			return err
		}
		parts[i] = d
		s, s2 = append(s, d.s...), append(s2, d.s2...)
		for k := range d.s {
			var dot float64
			for j, x := range series.X {
				dot += d.ut.Data[k*len(d.t)+j] * math.Max(-sampleLimit, math.Min(sampleLimit, x))
			}
			z = append(z, dot)
		}
	}
	secular(s, s2, z, slices.Max(s2), radius, 0)
	for i, d := range parts {
		r := len(d.s)
		for k := range p {
			var dot float64
			for q, y := range z[:r] {
				dot += d.v.Data[k*r+q] * y
			}
			dst[i*p+k] = dot
		}
		z = z[r:]
	}
	return nil
}
