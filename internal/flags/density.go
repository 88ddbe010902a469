package flags

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/space"
)

// Density is the public parameters of a density.
type Density struct {
	Columns                                []string
	Bounds, Basis, Set, Method, Rule, Side string
	Rank                                   []int
	Kappa                                  []float64
	Periodic, Plain                        bool
	N                                      int64
	Guarantee                              Guarantee
}

// Register adds the flags.
func (d *Density) Register(f *pflag.FlagSet) {
	f.StringSliceVar(&d.Columns, "columns", nil, "the variables: one to four columns, such as lon,lat")
	f.StringVar(&d.Bounds, "bounds", "", "public box, a:b for each variable, such as -122.52:-122.35,37.60:37.82")
	f.StringVar(&d.Basis, "basis", "auto", "auto (cosine, or fourier with --periodic), cosine or fourier")
	f.BoolVar(&d.Periodic, "periodic", false, "the density is periodic in every variable")
	f.StringVar(&d.Set, "set", "cube", "frequencies of several variables: cube, total or cross")
	f.IntSliceVar(&d.Rank, "rank", nil, "largest rank, one for all variables or one for each (default: from --n and the budget)")
	f.StringVar(&d.Method, "method", "layered", "layered (the rank is chosen privately), projection (the rank given), or family (the paper's)")
	f.StringVar(&d.Rule, "rule", "lepskii-1", "how the rank is chosen: lepskii-1 or lepskii-2")
	f.Float64SliceVar(&d.Kappa, "kappa", nil, "constants of the rule (default: tuned in simulations)")
	f.BoolVar(&d.Plain, "plain", false, "do not shrink the chosen coefficients")
	f.StringVar(&d.Side, "outside", "zero", "points outside the box: zero (they count in n only) or clamp; when it is said, most points may lie outside")
	f.Int64VarP(&d.N, "n", "n", 0, "public number of people (default: counted in a first pass over the file)")
	d.Guarantee.Register(f)
}

// Config builds the configuration, for a person as the unit.
func (d *Density) Config(f *pflag.FlagSet) (c density.Config, err error) {
	if c.Guarantee, err = d.Guarantee.Stated(f); err != nil {
		return c, err
	}
	if d.Bounds == "" {
		return c, Usagef("--bounds is needed: the public box, a:b for each variable; it must not be read off the data")
	}
	for _, part := range strings.Split(d.Bounds, ",") {
		side, err := Domain("--bounds", part)
		if err != nil {
			return c, err
		}
		c.Box = append(c.Box, side)
	}
	if len(d.Columns) > 0 && len(d.Columns) != len(c.Box) {
		return c, Usagef("--columns names %s and --bounds gives %s: one a:b for each", count(len(d.Columns), "variable"), count(len(c.Box), "range"))
	}
	c.Names, c.Basis, c.Periodic, c.Set = d.Columns, density.Basis(d.Basis), d.Periodic, space.Set(d.Set)
	c.Rank, c.Method, c.Rule, c.Kappa, c.Plain = d.Rank, density.Method(d.Method), density.Rule(d.Rule), d.Kappa, d.Plain
	c.Outside, c.N, c.Unit = density.Outside(d.Side), d.N, "person"
	return c, nil
}

// NeedColumns refuses a call that names no variables.
func (d *Density) NeedColumns() error {
	if len(d.Columns) == 0 {
		return Usagef("--columns is needed: the variables, in the order of --bounds")
	}
	return nil
}

// DensityParameters are what the ledger's history keeps of a density: public
// numbers.
func DensityParameters(d *density.Density) any {
	return map[string]any{
		"space": d.Space().String(), "box": d.Config().Box, "method": d.Config().Method,
		"rule": d.Config().Rule, "outside": d.Config().Outside,
	}
}

// Points says how to read points.
type Points struct {
	O        dataset.PointOptions
	In       Input
	UnitName string
}

// Register adds the flags.
func (p *Points) Register(f *pflag.FlagSet) {
	f.StringVar(&p.O.Unit, "unit", "", "column that tells people apart, when one person has several rows, which must stand together; - when each row is a person's")
	f.StringVar(&p.UnitName, "unit-name", "", "what one protected person is called, such as rider (default: the column's name, or row)")
	p.In.RegisterCSV(f)
}

// Options reads the flags.
func (p *Points) Options(columns []string) (dataset.PointOptions, error) {
	in, err := p.In.Options()
	o := p.O
	if o.Unit == "-" {
		o.Unit = ""
	}
	o.Columns, o.Separator, o.Decimal = columns, in.Separator, in.Decimal
	return o, err
}

// Name is what the protected unit is called.
func (p *Points) Name() string {
	if p.O.Unit == "-" {
		return cmp.Or(p.UnitName, "row")
	}
	return cmp.Or(p.UnitName, p.O.Unit, "row")
}

// CheckPeople refuses a table with a column that looks as if it told people apart
// (its name, or "" for none), when nobody said whether a row is a person.
func (p *Points) CheckPeople(column string) error {
	if p.O.Unit != "" || column == "" {
		return nil
	}
	return Usagef("column %q looks as if it tells people apart: --unit %s protects people with all their rows; --unit - says that each row is another person's", column, column)
}
