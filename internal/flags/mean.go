package flags

import (
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/space"
)

// Mean is the public parameters of a mean.
type Mean struct {
	Space, Domain, Center, Method, Grid, XLabel, YLabel string
	Bound                                               string // a number or "auto"
	N                                                   int64
	Raw                                                 bool
	Guarantee                                           Guarantee

	Dated bool           // the data's times are dates
	Zone  *time.Location // of dates without an offset, in flags
}

// Register adds the flags.
func (m *Mean) Register(f *pflag.FlagSet) {
	m.RegisterPublic(f)
	f.StringVar(&m.Bound, "bound", "", "radius: how far a curve can be from the center, as a root-mean-square in the values' units (in a kernel space, as its norm); curves outside are pulled in; auto buys one (see --bound-mu)")
	f.StringVar(&m.Method, "method", "ftp", "ftp (fit-then-protect), ptf (protect-then-fit), or auto (as the plan says; needs --n)")
	f.StringVar(&m.Grid, "grid", "", "public sample times for ptf: a:b:count, or t1,t2,…, or the same in dates, FROM/TO/count (default: the header of a wide file)")
	f.BoolVar(&m.Raw, "raw", false, "do not project the release onto the ball (the paper's form)")
	f.StringVar(&m.XLabel, "x-label", "", "name and unit of t, for pictures")
	f.StringVar(&m.YLabel, "y-label", "", "name and unit of the values, for pictures")
	m.Guarantee.Register(f)
}

// RegisterPublic adds what the mean and its bound have in common.
func (m *Mean) RegisterPublic(f *pflag.FlagSet) {
	f.StringVar(&m.Space, "space", "legendre:6", "function space: legendre:6, fourier:9, cosine:8, bspline:12, kernel:gauss:3 (scale in the units of t), kernel:gauss:20% (of the domain); also kernel:laplace, matern32, matern52, brownian, periodic")
	f.StringVar(&m.Domain, "domain", "", "domain a:b of t, public, or FROM/TO in dates (default: first to last time in the header of a wide file)")
	f.StringVar(&m.Center, "center", "", "public reference curve subtracted before the fit: a constant 120, one per component 20,30 (also written const:120), or a CSV of t,value")
	f.Int64VarP(&m.N, "n", "n", 0, "public number of people")
}

// Restrict lets the reader refuse times outside the domain, at their line.
func (m *Mean) Restrict(o *dataset.Options) error {
	m.Zone = o.Zone
	if m.Domain == "" {
		return nil
	}
	d, _, err := TimeDomain("--domain", m.Domain, o.Zone)
	o.Domain = &d
	return err
}

// Public builds what the mean and its bound have in common; times are those of a
// wide file's header.
func (m *Mean) Public(components []string, times []float64) (c mean.Config, err error) {
	var domain space.Interval
	switch {
	case m.Domain != "":
		if domain, c.UnixTime, err = TimeDomain("--domain", m.Domain, m.Zone); err != nil {
			return c, err
		}
	case len(times) > 1:
		domain = space.Interval{A: times[0], B: times[len(times)-1]}
	case m.Dated:
		return c, Usagef("--domain FROM/TO is needed: the public range of the dates, such as 2024-01-01/2025-01-01; those in the data are private here and are not looked at for it")
	default:
		return c, Usagef("--domain a:b is needed: the public range of t; the times in the data are private here and are not looked at for it")
	}
	c.UnixTime = c.UnixTime || m.Dated
	if c.Space, err = space.Parse(m.Space, domain); err != nil {
		return c, Usagef("--space: %w", err)
	}
	if err := space.CheckReach(c.Space); err != nil {
		return c, Usagef("--space: %w", err)
	}
	c.Reference, err = Center(m.Center, len(components))
	c.Components, c.N = components, m.N
	return c, err
}

// AutoBound reports whether the bound is to be bought.
func (m *Mean) AutoBound() bool { return m.Bound == "auto" }

// Config builds the configuration. Where the bound is to be bought, the radius is
// left for later.
func (m *Mean) Config(f *pflag.FlagSet, components []string, times []float64) (mean.Config, error) {
	g, err := m.Guarantee.Stated(f)
	if err != nil {
		return mean.Config{}, err
	}
	radius := 1.0
	switch {
	case m.AutoBound():
	case m.Bound == "":
		return mean.Config{}, Usagef("--bound is needed: a public bound on how far one curve can be from the center; it must not be read off the data (heights about 120 cm: --center const:120 --bound 60); --bound auto buys one")
	default:
		if radius, err = strconv.ParseFloat(m.Bound, 64); err != nil || !(radius > 0) || math.IsInf(radius, 0) {
			return mean.Config{}, Usagef("--bound %q must be a positive number, or auto", m.Bound)
		}
	}
	c, err := m.Public(components, times)
	if err != nil {
		return c, err
	}
	c.Radius, c.Guarantee = radius, g
	methods := map[string]mean.Method{"ftp": mean.FitThenProtect, "ptf": mean.ProtectThenFit, "auto": mean.Auto}
	if c.Method = methods[m.Method]; c.Method == "" {
		return c, Usagef("--method %q: take ftp, ptf or auto", m.Method)
	}
	if c.Method == mean.Auto && m.N == 0 {
		return c, Usagef("--method auto needs --n, the public number of people, since the plan is made before the data are read")
	}
	c.Grid = times
	if m.Grid != "" {
		if c.Grid, err = TimeGrid("--grid", m.Grid, m.Zone, c.UnixTime); err != nil {
			return c, err
		}
	}
	c.Raw, c.XLabel, c.YLabel = m.Raw, m.XLabel, m.YLabel
	return c, nil
}

// MeanParameters are what the ledger's history keeps of a mean: public numbers.
func MeanParameters(c mean.Config) any {
	return map[string]any{
		"space": c.Space.String(), "domain": []float64{c.Space.Domain().A, c.Space.Domain().B}, "radius": c.Radius,
		"method": c.Method, "components": c.Components, "raw": c.Raw,
	}
}
