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
	slots []*Design           // most recent first
	once  [designsOnce]uint64 // hashes of times that came once, lately
	next  int                 // place of the next
}

// designSlots and designFloats bound the number of factorisations kept and
// their size in float64s (32 MB). What is kept has come twice: wholly irregular
// sampling finds nothing here and factorises each curve, as it must, in the
// solver's memory. designsOnce is how many times are remembered until they come again.
const (
	designSlots  = 64
	designFloats = 1 << 22
	designsOnce  = 256
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

// again reports whether the times came before, lately. Hashes may meet, and the
// answer be wrong: it decides on memory alone.
func (c *Designs) again(t []float64) bool {
	h := uint64(14695981039346656037)
	for _, v := range t {
		h = (h ^ math.Float64bits(v)) * 1099511628211
		h ^= h >> 32
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.once[:], h) {
		return true
	}
	c.once[c.next] = h
	c.next = (c.next + 1) % len(c.once)
	return false
}

// get returns the i-th component's design: one that is kept, or the solver's own.
func (s *Solver) get(c *Designs, i int, t []float64) (*Design, error) {
	if d := c.find(t); d != nil {
		return d, nil
	}
	if len(t) == 0 || c.again(t) {
		return c.Get(t)
	}
	for i >= len(s.own) {
		s.own = append(s.own, &Design{})
	}
	return s.own[i], s.own[i].set(c.space, t, nil, &s.factors)
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

// Curve fits one curve whose components may be sampled at different times, in the
// memory of the solver; dst receives one coordinate vector per component, end to
// end, of joint norm at most radius. Where the times agree it equals Solver.Fit to
// the bit.
func (c *Designs) Curve(s *Solver, dst []float64, curve Curve, radius float64) error {
	p := c.space.Dim()
	if len(dst) != p*len(curve) {
		panic("fit: dst of the wrong length")
	}
	s.parts = s.parts[:0]
	all := &s.all
	all.clear()
	all.top = 0
	for i, series := range curve {
		if i > 0 && slices.Equal(series.T, curve[i-1].T) {
			s.parts = append(s.parts, s.parts[i-1])
			continue
		}
		d, err := s.get(c, i, series.T)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, d)
		all.top = max(all.top, d.top)
	}
	for _, d := range s.parts {
		for _, v := range d.s {
			all.add(v * (d.top / all.top))
		}
	}
	s.z = slices.Grow(s.z[:0], len(all.s))
	z := s.z[:len(all.s)]
	if !projectMixed(s.parts, z, curve) {
		small := make(Curve, len(curve))
		for i, series := range curve {
			small[i].X = slices.Clone(series.X)
			shrink(small[i].X)
		}
		projectMixed(s.parts, z, small)
	}
	secular(all, z, radius, 0)
	for i, d := range s.parts {
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
