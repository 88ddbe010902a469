package flags

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
)

// Input says how to read a file of curves.
type Input struct {
	O                        dataset.Options
	Separator, Decimal, Zone string
}

// Register adds the flags.
func (i *Input) Register(f *pflag.FlagSet) {
	i.RegisterCSV(f)
	f.StringVar(&i.O.Layout, "layout", "", "wide (a curve per row, times in the header) or long (a sample per row); default: seen from the header")
	f.StringVar(&i.O.ID, "id", "", "column that tells curves apart")
	f.StringVar(&i.O.Unit, "unit", "", "column that tells people apart, when one person has several curves (default: the id)")
	f.StringVar(&i.O.Time, "time", "", "time column of a long file")
	f.StringSliceVar(&i.O.Values, "values", nil, "value columns of a long file: the components of the curve")
	f.StringSliceVar(&i.O.Ignore, "ignore", nil, "columns not to read")
	f.BoolVar(&i.O.Constant, "constant", false, "accept curves of one sample, as constants")
	f.StringVar(&i.Zone, "zone", "", "time zone of time stamps that state none, such as UTC or Europe/Berlin")
}

// RegisterUnsorted adds what a reader of one process has and an engine that groups
// by person does not need.
func (i *Input) RegisterUnsorted(f *pflag.FlagSet) {
	f.BoolVar(&i.O.Unsorted, "unsorted", false, "rows of one person stand anywhere in a large file: read it several times")
}

// RegisterCSV adds the flags of the format.
func (i *Input) RegisterCSV(f *pflag.FlagSet) {
	f.StringVar(&i.Separator, "separator", "", "field separator of a CSV file (default: seen from the file)")
	f.StringVar(&i.Decimal, "decimal", "", "decimal sign of a CSV file, . or , (default: seen from the file)")
}

// Options reads the flags.
func (i *Input) Options() (dataset.Options, error) {
	o := i.O
	for _, c := range []struct {
		flag, text string
		to         *rune
	}{{"--separator", i.Separator, &o.Separator}, {"--decimal", i.Decimal, &o.Decimal}} {
		text := c.text
		if text == `\t` || text == "tab" {
			text = "\t"
		}
		r, size := utf8.DecodeRuneInString(text)
		if text != "" && size != len(text) {
			return o, Usagef("%s %q must be one character", c.flag, c.text)
		}
		if text != "" {
			*c.to = r
		}
	}
	var err error
	o.Zone, err = Zone(i.Zone)
	return o, err
}

// CheckPeople refuses a long table in which no column tells people apart: all its
// rows would count as one person's, and values of an unnamed id as measurements. It
// also refuses one where a second column seems to: a person whose curves came as several
// people's would be protected less than the release says.
func CheckPeople(s dataset.Schema, o dataset.Options) error {
	if s.Layout == dataset.Long && s.ID == "" && s.Unit == "" && o.ID != "-" {
		return Usagef("no column was recognised that tells people apart: name it with --id COLUMN, or say --id - if the whole file is one person's curve (values: %s)", strings.Join(s.Components, ", "))
	}
	if s.Person != "" {
		return Usagef("curves are told apart by column %q, and column %q looks as if it tells people apart: --unit %s protects people with all their curves; --ignore %s says that each %s is another person's", s.ID, s.Person, s.Person, s.Person, s.ID)
	}
	return nil
}

// UnitOf names the unit of privacy after the column that holds it.
func UnitOf(s dataset.Schema) string {
	name := s.Unit
	if name == "" {
		name = s.ID
	}
	if name == "" || name == "id" {
		return "person"
	}
	return name
}

// RegisterUnitName adds the flag that names the unit of privacy.
func RegisterUnitName(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "unit-name", "", "what one protected person is called, such as child (default: the column's name)")
}
