package main

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// guaranteeFlags are the ways to state a guarantee.
type guaranteeFlags struct{ mu, rho, epsilon, delta float64 }

func (g *guaranteeFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&g.mu, "mu", 0, "guarantee as μ-GDP")
	f.Float64Var(&g.rho, "rho", 0, "guarantee as ρ-zCDP")
	f.Float64Var(&g.epsilon, "epsilon", 0, "guarantee as ε-DP, or as (ε,δ)-DP with --delta")
	f.Float64Var(&g.delta, "delta", 0, "δ of an (ε,δ)-DP guarantee")
}

// guarantee returns the one guarantee that was stated.
func (g *guaranteeFlags) guarantee(f *pflag.FlagSet) (privacy.Guarantee, error) {
	var out []privacy.Guarantee
	if f.Changed("mu") {
		out = append(out, privacy.GDP(g.mu))
	}
	if f.Changed("rho") {
		out = append(out, privacy.ZCDP(g.rho))
	}
	switch {
	case f.Changed("epsilon") && f.Changed("delta"):
		out = append(out, privacy.Approx{Epsilon: g.epsilon, Delta: g.delta})
	case f.Changed("epsilon"):
		out = append(out, privacy.Pure(g.epsilon))
	case f.Changed("delta"):
		return nil, usagef("--delta needs --epsilon beside it")
	}
	if len(out) != 1 {
		return nil, usagef("state one guarantee: --mu M, --rho R, --epsilon E, or --epsilon E --delta D (μ = 1 is a common choice: about ε = 4.9 at δ = 1e-6)")
	}
	if err := out[0].Validate(); err != nil {
		return nil, usageError{err}
	}
	return out[0], nil
}

// meanFlags are the public parameters of a mean.
type meanFlags struct {
	space, domain, center, method, grid, xLabel, yLabel string
	bound                                               string // a number or "auto"
	n                                                   int64
	raw                                                 bool
	guarantee                                           guaranteeFlags
}

func (m *meanFlags) register(f *pflag.FlagSet) {
	m.registerPublic(f)
	f.StringVar(&m.bound, "bound", "", "radius: how far a curve can be from the center, as a root-mean-square in the values' units (in a kernel space, as its norm); curves outside are pulled in; auto buys one (see --bound-mu)")
	f.StringVar(&m.method, "method", "ftp", "ftp (fit-then-protect), ptf (protect-then-fit), or auto (as the plan says; needs --n)")
	f.StringVar(&m.grid, "grid", "", "public sample times for ptf: a:b:count, or t1,t2,… (default: the header of a wide file)")
	f.BoolVar(&m.raw, "raw", false, "do not project the release onto the ball (the paper's form)")
	f.StringVar(&m.xLabel, "x-label", "", "name and unit of t, for pictures")
	f.StringVar(&m.yLabel, "y-label", "", "name and unit of the values, for pictures")
	m.guarantee.register(f)
}

// registerPublic registers what the mean and its bound have in common.
func (m *meanFlags) registerPublic(f *pflag.FlagSet) {
	f.StringVar(&m.space, "space", "legendre:6", "function space: legendre:6, fourier:9, cosine:8, bspline:12, kernel:gauss:3 (scale in the units of t), kernel:gauss:20% (of the domain); also kernel:laplace, matern32, matern52, brownian, periodic")
	f.StringVar(&m.domain, "domain", "", "domain a:b of t, public (default: first to last time in the header of a wide file)")
	f.StringVar(&m.center, "center", "", "public reference curve subtracted before the fit: const:120, one per component const:20,30, or a CSV of t,value")
	f.Int64Var(&m.n, "n", 0, "public number of people")
}

// restrict lets the reader refuse times outside the domain, at their line.
func (m *meanFlags) restrict(o *dataset.Options) error {
	if m.domain == "" {
		return nil
	}
	d, err := parseDomain(m.domain)
	o.Domain = &d
	return err
}

// public builds what the mean and its bound have in common; times are those of a
// wide file's header.
func (m *meanFlags) public(components []string, times []float64) (c mean.Config, err error) {
	var domain space.Interval
	switch {
	case m.domain != "":
		if domain, err = parseDomain(m.domain); err != nil {
			return c, err
		}
	case len(times) > 1:
		domain = space.Interval{A: times[0], B: times[len(times)-1]}
	default:
		return c, usagef("--domain a:b is needed: the public range of t; the times in the data are private here and are not looked at for it")
	}
	if c.Space, err = space.Parse(m.space, domain); err != nil {
		return c, usageError{err}
	}
	c.Reference, err = parseCenter(m.center, len(components))
	c.Components, c.N = components, m.n
	return c, err
}

// autoBound reports whether the bound is to be bought.
func (m *meanFlags) autoBound() bool { return m.bound == "auto" }

// config builds the configuration. Where the bound is to be bought, the radius is
// left for later.
func (m *meanFlags) config(f *pflag.FlagSet, components []string, times []float64) (mean.Config, error) {
	g, err := m.guarantee.guarantee(f)
	if err != nil {
		return mean.Config{}, err
	}
	radius := 1.0
	switch {
	case m.autoBound():
	case m.bound == "":
		return mean.Config{}, usagef("--bound is needed: a public bound on how far one curve can be from the center; it must not be read off the data (heights about 120 cm: --center const:120 --bound 60); --bound auto buys one")
	default:
		if radius, err = strconv.ParseFloat(m.bound, 64); err != nil || !(radius > 0) || math.IsInf(radius, 0) {
			return mean.Config{}, usagef("--bound %q must be a positive number, or auto", m.bound)
		}
	}
	c, err := m.public(components, times)
	if err != nil {
		return c, err
	}
	c.Radius, c.Guarantee = radius, g
	methods := map[string]mean.Method{"ftp": mean.FitThenProtect, "ptf": mean.ProtectThenFit, "auto": mean.Auto}
	if c.Method = methods[m.method]; c.Method == "" {
		return c, usagef("--method %q: take ftp, ptf or auto", m.method)
	}
	if c.Method == mean.Auto && m.n == 0 {
		return c, usagef("--method auto needs --n, the public number of people, since the plan is made before the data are read")
	}
	c.Grid = times
	if m.grid != "" {
		if c.Grid, err = parseGrid(m.grid); err != nil {
			return c, err
		}
	}
	c.Raw, c.XLabel, c.YLabel = m.raw, m.xLabel, m.yLabel
	return c, nil
}

func parseFloat(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, usagef("%s: %q is not a number", flag, text)
	}
	return v, nil
}

func parseDomain(text string) (space.Interval, error) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		return space.Interval{}, usagef("--domain %q: write a:b, such as 1:18", text)
	}
	lo, err := parseFloat("--domain", a)
	if err != nil {
		return space.Interval{}, err
	}
	hi, err := parseFloat("--domain", b)
	if err != nil {
		return space.Interval{}, err
	}
	d := space.Interval{A: lo, B: hi}
	if err := d.Validate(); err != nil {
		return d, usageError{err}
	}
	return d, nil
}

// parseGrid reads a:b:count or a list of numbers.
func parseGrid(text string) ([]float64, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		d, err := parseDomain(parts[0] + ":" + parts[1])
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 2 || n > 100000 {
			return nil, usagef("%q: the count must be a whole number from 2 to 100000", text)
		}
		return space.Uniform(d.A, d.B, n).T, nil
	}
	return parseList(text)
}

func parseList(text string) ([]float64, error) {
	var out []float64
	for _, p := range strings.Split(text, ",") {
		v, err := parseFloat("times", p)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func parseCenter(text string, components int) ([]release.Reference, error) {
	if text == "" {
		return nil, nil
	}
	list, isConst := strings.CutPrefix(text, "const:")
	var refs []release.Reference
	if isConst {
		values, err := parseList(list)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			refs = append(refs, release.Constant(v))
		}
	} else {
		for _, path := range strings.Split(text, ",") {
			t, x, err := dataset.ReadTable(path)
			if err != nil {
				return nil, err
			}
			r, err := release.Table(t, x)
			if err != nil {
				return nil, usagef("--center %s: %w", path, err)
			}
			refs = append(refs, r)
		}
	}
	if len(refs) == 1 {
		for len(refs) < components {
			refs = append(refs, refs[0])
		}
	}
	if len(refs) != components {
		return nil, usagef("--center gives %d curves for %d components: give one for all, or one for each", len(refs), components)
	}
	return refs, nil
}

// inputFlags say how to read a file.
type inputFlags struct {
	o                        dataset.Options
	separator, decimal, zone string
}

func (i *inputFlags) register(f *pflag.FlagSet) {
	f.StringVar(&i.o.Layout, "layout", "", "wide (a curve per row, times in the header) or long (a sample per row); default: seen from the header")
	f.StringVar(&i.o.ID, "id", "", "column that tells curves apart")
	f.StringVar(&i.o.Unit, "unit", "", "column that tells people apart, when one person has several curves (default: the id)")
	f.StringVar(&i.o.Time, "time", "", "time column of a long file")
	f.StringSliceVar(&i.o.Values, "values", nil, "value columns of a long file: the components of the curve")
	f.StringSliceVar(&i.o.Ignore, "ignore", nil, "columns not to read")
	f.StringVar(&i.separator, "separator", "", "field separator of a CSV file (default: seen from the file)")
	f.StringVar(&i.decimal, "decimal", "", "decimal sign of a CSV file, . or , (default: seen from the file)")
	f.BoolVar(&i.o.Constant, "constant", false, "accept curves of one sample, as constants")
	f.BoolVar(&i.o.Unsorted, "unsorted", false, "rows of one person stand anywhere in a large file: read it several times")
	f.StringVar(&i.zone, "zone", "", "time zone of time stamps that state none, such as UTC or Europe/Berlin")
}

func (i *inputFlags) options() (dataset.Options, error) {
	o := i.o
	for _, c := range []struct {
		flag, text string
		to         *rune
	}{{"--separator", i.separator, &o.Separator}, {"--decimal", i.decimal, &o.Decimal}} {
		text := c.text
		if text == `\t` || text == "tab" {
			text = "\t"
		}
		r, size := utf8.DecodeRuneInString(text)
		if text != "" && size != len(text) {
			return o, usagef("%s %q must be one character", c.flag, c.text)
		}
		if text != "" {
			*c.to = r
		}
	}
	if i.zone != "" {
		zone, err := time.LoadLocation(i.zone)
		if err != nil {
			return o, usagef("--zone %q is no time zone: write UTC or a name such as Europe/Berlin", i.zone)
		}
		o.Zone = zone
	}
	return o, nil
}

// addJSON gives a verb its --json flag.
func addJSON(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON instead of text")
}
