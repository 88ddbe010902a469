package main

// The flags of the core command, with the same names and meanings (cmd/curveil/flags.go).

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

type guaranteeFlags struct{ mu, rho, epsilon, delta float64 }

func (g *guaranteeFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&g.mu, "mu", 0, "guarantee as μ-GDP")
	f.Float64Var(&g.rho, "rho", 0, "guarantee as ρ-zCDP")
	f.Float64Var(&g.epsilon, "epsilon", 0, "guarantee as ε-DP, or as (ε,δ)-DP with --delta")
	f.Float64Var(&g.delta, "delta", 0, "δ of an (ε,δ)-DP guarantee")
}

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
		return nil, usagef("state one guarantee: --mu M, --rho R, --epsilon E, or --epsilon E --delta D")
	}
	if err := out[0].Validate(); err != nil {
		return nil, usageError{err}
	}
	return out[0], nil
}

type meanFlags struct {
	space, domain, center, method, grid, xLabel, yLabel string
	bound                                               float64
	n                                                   int64
	raw                                                 bool
	guarantee                                           guaranteeFlags
}

func (m *meanFlags) register(f *pflag.FlagSet) {
	f.StringVar(&m.space, "space", "legendre:6", "function space, as for curveil mean")
	f.StringVar(&m.domain, "domain", "", "domain a:b of t, public (default: first to last time in the header of a wide file)")
	f.StringVar(&m.center, "center", "", "public reference curve: const:120, one per component const:20,30, or a CSV of t,value")
	f.Int64Var(&m.n, "n", 0, "public number of people")
	f.Float64Var(&m.bound, "bound", 0, "radius: how far a curve can be from the center ('curveil bound' buys one)")
	f.StringVar(&m.method, "method", "ftp", "ftp (fit-then-protect), ptf (protect-then-fit), or auto (as the plan says; needs --n)")
	f.StringVar(&m.grid, "grid", "", "public sample times for ptf: a:b:count, or t1,t2,… (default: the header of a wide file)")
	f.BoolVar(&m.raw, "raw", false, "do not project the release onto the ball")
	f.StringVar(&m.xLabel, "x-label", "", "name and unit of t, for pictures")
	f.StringVar(&m.yLabel, "y-label", "", "name and unit of the values, for pictures")
	m.guarantee.register(f)
}

func (m *meanFlags) config(f *pflag.FlagSet, s dataset.Schema) (c mean.Config, err error) {
	if c.Guarantee, err = m.guarantee.guarantee(f); err != nil {
		return c, err
	}
	if !(m.bound > 0) || math.IsInf(m.bound, 0) {
		return c, usagef("--bound is needed: a public, positive bound on how far one curve can be from the center; it must not be read off the data ('curveil bound' buys one)")
	}
	var domain space.Interval
	switch {
	case m.domain != "":
		if domain, err = parseDomain("--domain", m.domain); err != nil {
			return c, err
		}
	case len(s.Times) > 1:
		domain = space.Interval{A: s.Times[0], B: s.Times[len(s.Times)-1]}
	default:
		return c, usagef("--domain a:b is needed: the public range of t")
	}
	if c.Space, err = space.Parse(m.space, domain); err != nil {
		return c, usageError{err}
	}
	methods := map[string]mean.Method{"ftp": mean.FitThenProtect, "ptf": mean.ProtectThenFit, "auto": mean.Auto}
	if c.Method = methods[m.method]; c.Method == "" {
		return c, usagef("--method %q: take ftp, ptf or auto", m.method)
	}
	if c.Grid = s.Times; m.grid != "" {
		if c.Grid, err = parseGrid(m.grid); err != nil {
			return c, err
		}
	}
	c.Reference, err = parseCenter(m.center, len(s.Components))
	c.Components, c.N, c.Radius, c.Raw, c.XLabel, c.YLabel = s.Components, m.n, m.bound, m.raw, m.xLabel, m.yLabel
	return c, err
}

func parseNumber(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, usagef("%s: %q is not a number", flag, text)
	}
	return v, nil
}

func parseDomain(flag, text string) (d space.Interval, err error) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		return d, usagef("%s %q: write a:b, such as 1:18", flag, text)
	}
	if d.A, err = parseNumber(flag, a); err != nil {
		return d, err
	}
	if d.B, err = parseNumber(flag, b); err != nil {
		return d, err
	}
	if err := d.Validate(); err != nil {
		return d, usageError{err}
	}
	return d, nil
}

func parseGrid(text string) ([]float64, error) {
	if parts := strings.Split(text, ":"); len(parts) == 3 {
		d, err := parseDomain("--grid", parts[0]+":"+parts[1])
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 2 || n > 100000 {
			return nil, usagef("--grid %q: the count must be a whole number from 2 to 100000", text)
		}
		return space.Uniform(d.A, d.B, n).T, nil
	}
	return parseList("--grid", text)
}

func parseList(flag, text string) (out []float64, err error) {
	for _, p := range strings.Split(text, ",") {
		v, err := parseNumber(flag, p)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func parseCenter(text string, components int) (refs []release.Reference, err error) {
	if text == "" {
		return nil, nil
	}
	if list, constant := strings.CutPrefix(text, "const:"); constant {
		values, err := parseList("--center", list)
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

type densityFlags struct {
	columns                          []string
	bounds, basis, set, method, rule string
	side                             string
	rank                             []int
	kappa                            []float64
	periodic, plain                  bool
	n                                int64
	guarantee                        guaranteeFlags
}

func (d *densityFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&d.columns, "columns", nil, "the variables: one to four columns, such as lon,lat")
	f.StringVar(&d.bounds, "bounds", "", "public box, a:b for each variable, such as -122.52:-122.35,37.60:37.82")
	f.StringVar(&d.basis, "basis", "auto", "auto (cosine, or fourier with --periodic), cosine or fourier")
	f.BoolVar(&d.periodic, "periodic", false, "the density is periodic in every variable")
	f.StringVar(&d.set, "set", "cube", "frequencies of several variables: cube, total or cross")
	f.IntSliceVar(&d.rank, "rank", nil, "largest rank, one for all variables or one for each (default: from --n and the budget)")
	f.StringVar(&d.method, "method", "layered", "layered, projection or family")
	f.StringVar(&d.rule, "rule", "lepskii-1", "how the rank is chosen: lepskii-1 or lepskii-2")
	f.Float64SliceVar(&d.kappa, "kappa", nil, "constants of the rule (default: tuned in simulations)")
	f.BoolVar(&d.plain, "plain", false, "do not shrink the chosen coefficients")
	f.StringVar(&d.side, "outside", "zero", "points outside the box: zero (they count in n only) or clamp")
	f.Int64Var(&d.n, "n", 0, "public number of people")
	d.guarantee.register(f)
}

func (d *densityFlags) config(f *pflag.FlagSet) (c density.Config, err error) {
	if c.Guarantee, err = d.guarantee.guarantee(f); err != nil {
		return c, err
	}
	if len(d.columns) == 0 || d.bounds == "" {
		return c, usagef("--columns and --bounds are needed: the variables, and a:b for each, public and not read off the data")
	}
	for _, part := range strings.Split(d.bounds, ",") {
		side, err := parseDomain("--bounds", part)
		if err != nil {
			return c, err
		}
		c.Box = append(c.Box, side)
	}
	if len(d.columns) != len(c.Box) {
		return c, usagef("--columns names %d variables and --bounds gives %d: one a:b for each", len(d.columns), len(c.Box))
	}
	if d.n == 0 && d.rank == nil {
		return c, usagef("give --n, the public number of people, or --rank: people are not counted beforehand here")
	}
	c.Names, c.Basis, c.Periodic, c.Set = d.columns, density.Basis(d.basis), d.periodic, space.Set(d.set)
	c.Rank, c.Method, c.Rule, c.Kappa, c.Plain = d.rank, density.Method(d.method), density.Rule(d.rule), d.kappa, d.plain
	c.Outside, c.N = density.Outside(d.side), d.n
	return c, nil
}

// inputFlags say how to read the files.
type inputFlags struct {
	o                        dataset.Options
	separator, decimal, zone string
}

func (i *inputFlags) registerCSV(f *pflag.FlagSet) {
	f.StringVar(&i.o.Unit, "unit", "", "column that tells people apart")
	f.StringVar(&i.separator, "separator", "", "field separator of CSV files (default: seen from the first file)")
	f.StringVar(&i.decimal, "decimal", "", "decimal sign of CSV files, . or , (default: seen from the first file)")
}

func (i *inputFlags) register(f *pflag.FlagSet) {
	i.registerCSV(f)
	f.StringVar(&i.o.Layout, "layout", "", "wide (a curve per row, times in the header) or long (a sample per row)")
	f.StringVar(&i.o.ID, "id", "", "column that tells curves apart")
	f.StringVar(&i.o.Time, "time", "", "time column of long files")
	f.StringSliceVar(&i.o.Values, "values", nil, "value columns of long files: the components of the curve")
	f.StringSliceVar(&i.o.Ignore, "ignore", nil, "columns not to read")
	f.BoolVar(&i.o.Constant, "constant", false, "accept curves of one sample, as constants")
	f.StringVar(&i.zone, "zone", "", "time zone of time stamps that state none, such as UTC or Europe/Berlin")
}

func (i *inputFlags) options() (o dataset.Options, err error) {
	o = i.o
	for _, c := range []struct {
		flag, text string
		to         *rune
	}{{"--separator", i.separator, &o.Separator}, {"--decimal", i.decimal, &o.Decimal}} {
		text := strings.NewReplacer(`\t`, "\t", "tab", "\t").Replace(c.text)
		if len(text) > 1 {
			return o, usagef("%s %q must be one character", c.flag, c.text)
		}
		if text != "" {
			*c.to = rune(text[0])
		}
	}
	if i.zone != "" {
		if o.Zone, err = time.LoadLocation(i.zone); err != nil {
			return o, usagef("--zone %q is no time zone: write UTC or a name such as Europe/Berlin", i.zone)
		}
	}
	return o, nil
}
