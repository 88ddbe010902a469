// What is refused before anything is drawn.

package plot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/curveil/curveil/release"
)

// check also fills in the defaults of the options.
func check(entries []Entry, o *Options) (err error) {
	if len(entries) == 0 {
		return errors.New("plot: no release to draw; give at least one")
	}
	if len(entries) > len(palette) {
		return fmt.Errorf("plot: %d releases in one picture, at most %d can be told apart", len(entries), len(palette))
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Size, err = o.Size.orPaper(); err != nil {
		return err
	}
	first := entries[0].Release
	for i, e := range entries {
		if e.Release == nil {
			return fmt.Errorf("plot: entry %d %q has no release", i, e.Name)
		}
		if err := e.Release.Validate(); err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		if !slices.Equal(e.Release.Components, first.Components) {
			return fmt.Errorf("plot: %q has components %q, %q has %q; compare releases of the same components", e.Name, e.Release.Components, entries[0].Name, first.Components)
		}
		if e.Release.Space == nil || first.Space == nil {
			return fmt.Errorf("plot: %q is a function of several variables and no curve; draw it with Density", e.Name)
		}
		if e.Release.Space.Domain() != first.Space.Domain() {
			return fmt.Errorf("plot: %q lives on %v, %q on %v; compare releases on the same domain", e.Name, e.Release.Space.Domain(), entries[0].Name, first.Space.Domain())
		}
	}
	if n := len(first.Components); n > maxPanels {
		return fmt.Errorf("plot: %d components, one picture shows at most %d; draw them in parts", n, maxPanels)
	}
	for i, l := range o.Overlay {
		if err := l.check(first); err != nil {
			return fmt.Errorf("plot: overlay %d %q: %w", i, l.Name, err)
		}
	}
	return nil
}

func (l Line) check(r *release.Release) error {
	if l.Component < 0 || l.Component >= len(r.Components) {
		return fmt.Errorf("component %d of %d", l.Component, len(r.Components))
	}
	if len(l.T) == 0 || len(l.T) != len(l.X) {
		return fmt.Errorf("%d times and %d values; give as many of each, at least one", len(l.T), len(l.X))
	}
	if err := finite("overlay "+l.Name, l.T, l.X); err != nil {
		return err
	}
	for i, t := range l.T {
		if !r.Space.Domain().Contains(t) {
			return fmt.Errorf("t=%v is outside the domain %v; cut the curve to it", t, r.Space.Domain())
		}
		if i > 0 && t <= l.T[i-1] {
			return fmt.Errorf("t=%v does not come after %v; sort the points", t, l.T[i-1])
		}
	}
	return nil
}
