package fit

import (
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

// designSlots and designFloats bound the number of factorisations kept and
// their size in float64s (32 MB). Wholly irregular sampling finds nothing here
// and factorises each curve, as it must.
const (
	designSlots  = 64
	designFloats = 1 << 22
)

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
	c.slots = slices.Insert(c.slots, 0, d)
	size := 0
	for i, o := range c.slots {
		if size += o.size(); i == designSlots || i > 0 && size > designFloats {
			clear(c.slots[i:])
			c.slots = c.slots[:i]
			break
		}
	}
	return d, nil
}

func (d *Design) size() int { return len(d.t) + len(d.ut.Data) + len(d.v.Data) }

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
// at most radius. Where the times agree it equals Solver.Fit to the bit.
func (c *Designs) Curve(dst []float64, curve Curve, radius float64) error {
	p := c.space.Dim()
	if len(dst) != p*len(curve) {
		panic("fit: dst of the wrong length")
	}
	parts := make([]*Design, len(curve))
	var all spectrum
	for i, series := range curve {
		d, err := c.Get(series.T)
		if err != nil {
			return err
		}
		parts[i], all.top = d, max(all.top, d.top)
	}
	for _, d := range parts {
		for _, v := range d.s {
			all.add(v * (d.top / all.top))
		}
	}
	z := make([]float64, len(all.s))
	if !projectMixed(parts, z, curve) {
		small := make(Curve, len(curve))
		for i, series := range curve {
			small[i].X = slices.Clone(series.X)
			shrink(small[i].X)
		}
		projectMixed(parts, z, small)
	}
	secular(&all, z, radius, 0)
	for i, d := range parts {
		d.expand(dst[i*p:(i+1)*p], z[:len(d.s)])
		z = z[len(d.s):]
	}
	return nil
}

// projectMixed projects all components of one curve, each with its own design.
func projectMixed(parts []*Design, z []float64, curve Curve) bool {
	ok := true
	for i, d := range parts {
		ok = d.project(z[:len(d.s)], curve[i].X) && ok
		z = z[len(d.s):]
	}
	return ok
}
