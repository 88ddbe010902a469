package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	iso "github.com/curveil/curveil/internal/clock"
)

// The role of each column: told by the options, else by the names in the
// header, else by what the first rows hold. Shared by CSV and Parquet.

// The usual names, the surest first.
var (
	idNames = []string{"id", "station", "subject", "subject_id", "patient", "patient_id", "person", "person_id",
		"participant", "participant_id", "child", "child_id", "curve", "curve_id", "track", "track_id", "cab",
		"device", "device_id", "user", "user_id", "name"}
	timeNames = []string{"t", "time", "unix_time", "timestamp", "datetime", "date", "time_s", "t_s", "age", "day", "hour"}
	// Names that a label beside the times of a wide file would hardly have.
	sureTimeNames = []string{"t", "time", "unix_time", "timestamp", "datetime"}
	latNames      = []string{"lat", "latitude"}
	lonNames      = []string{"lon", "lng", "long", "longitude"}
)

// Names of people, and of what a person may have several of; the ids of either count as well.
var (
	personNames = []string{"person", "patient", "subject", "participant", "child", "user", "rider", "household", "customer", "client", "driver",
		"email", "member", "account"}
	ownedNames = []string{"meter", "vehicle"}
)

// namesPeople reports whether a column of points seems to tell people apart; a coordinate
// is named by the user, so that a wrong guess costs a question.
func namesPeople(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return among(name, idNames) || strings.HasSuffix(name, "_id") || among(name, personNames) || among(name, ownedNames)
}

// namesPerson reports whether a column is called as people are, not only as what they have.
func namesPerson(name string) bool {
	return among(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), "_id"), personNames)
}

// otherPerson names a column that seems to tell people apart while another one was taken to
// tell curves apart and nobody said which of the two is a person; "" for none. Where the id
// is called as people are, only another such name counts.
func (c *columns) otherPerson() string {
	if c.unit >= 0 || c.id < 0 {
		return ""
	}
	person := namesPerson(c.names[c.id])
	for i, name := range c.names {
		said := slices.Contains(c.o.Ignore, name) || slices.Contains(c.o.Values, name)
		if i == c.id || i == c.time || said || among(strings.TrimSpace(name), []string{"name"}) {
			continue
		}
		if namesPerson(name) || !person && namesPeople(name) {
			return name
		}
	}
	return ""
}

func among(name string, names []string) bool {
	return slices.Contains(names, strings.ToLower(name))
}

// kind is what the sampled cells of a column hold.
type kind uint8

const (
	kindEmpty  kind = iota // nothing but missing cells
	kindNumber             // at least one number
	kindTime               // ISO times and nothing else
	kindText               // text and nothing else
	kindOther              // Parquet: lists and what is not read
)

// columns is a header being understood.
type columns struct {
	origin
	line     int // of the header
	names    []string
	kinds    []kind
	decimal  byte
	zone     *time.Location
	o        Options
	numeric  []bool    // wide: the name is a time
	times    []float64 // wide: which
	dated    bool      // times are dates
	ignored  []bool
	id, unit int // column index, -1 none
	time     int
	values   []int
}

func (c *columns) fault(column int, msg, fix string) *DataError {
	name := ""
	if column >= 0 && column < len(c.names) {
		name = c.names[column]
	}
	return c.at(c.line, column+1, name, msg, fix)
}

// misnamed is fault where an option is to blame.
func (c *columns) misnamed(column int, msg, fix string) error {
	return ofOptions(c.fault(column, msg, fix))
}

// find returns the column of a name given by the user.
func (c *columns) find(option, name string) (int, error) {
	found := -1
	for i, n := range c.names {
		if n != name {
			continue
		}
		if found >= 0 {
			return 0, c.fault(i, fmt.Sprintf("the name %s stands twice in the header", quote(name)), "rename one of the two columns")
		}
		found = i
	}
	if found < 0 {
		return 0, c.misnamed(-1, fmt.Sprintf("no column %s, which the %s option names", quote(name), option),
			"the columns are "+c.list())
	}
	return found, nil
}

func (c *columns) list() string {
	const most = 12
	names := c.names
	rest := ""
	if len(names) > most {
		rest = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = quote(n)
	}
	return strings.Join(shown, ", ") + rest
}

// given takes the roles that the options name.
func (c *columns) given() (err error) {
	c.ignored = make([]bool, len(c.names))
	c.id, c.unit, c.time = -1, -1, -1
	for _, name := range c.o.Ignore {
		known := false
		for i, n := range c.names {
			if n == name {
				c.ignored[i], known = true, true
			}
		}
		if !known {
			return c.misnamed(-1, fmt.Sprintf("no column %s, which the ignore option names", quote(name)), "the columns are "+c.list())
		}
	}
	if c.o.ID != "" && c.o.ID != "-" {
		if c.id, err = c.find("id", c.o.ID); err != nil {
			return err
		}
	}
	if c.o.Unit != "" {
		if c.unit, err = c.find("unit", c.o.Unit); err != nil {
			return err
		}
		if c.unit == c.id {
			c.id = -1
		}
	}
	return nil
}

// resolve gives every column its role and fills in the schema's.
func (c *columns) resolve(s *Schema) error {
	if len(c.names) < 2 && c.o.Layout == "" {
		return c.fault(0, "the header has a single column", "is the separator another one? Set the separator option")
	}
	if err := c.given(); err != nil {
		return err
	}
	c.numeric = make([]bool, len(c.names))
	c.times = make([]float64, len(c.names))
	err := c.readTimes()
	if err != nil {
		return err
	}
	s.Layout = c.o.Layout
	if s.Layout == "" {
		if s.Layout, err = c.layout(); err != nil {
			return err
		}
	}
	if s.Layout == Wide {
		err = c.resolveWide(s)
	} else {
		err = c.resolveLong(s)
	}
	if s.Layout == Long && c.time >= 0 {
		c.dated = c.kinds[c.time] == kindTime
	}
	s.Dated = c.dated
	c.report(s)
	return err
}

// resolveList is resolve for a file whose curves stand in column list, on
// public times.
func (c *columns) resolveList(s *Schema, list int) error {
	if err := c.given(); err != nil {
		return err
	}
	if c.ignored[list] || list == c.id || list == c.unit {
		return c.misnamed(list, "the only list column of numbers has another role", "name each column in one option")
	}
	if c.id < 0 && c.o.ID == "" {
		c.id = c.firstID(func(i int) bool { return i != list })
		if c.id < 0 && c.unit < 0 {
			return c.fault(-1, "no id column among "+c.list(), `name it in the id option, or set that to "-" if every row is another person's curve`)
		}
	}
	for i := range c.names {
		c.ignored[i] = c.free(i) && i != list || c.ignored[i]
	}
	s.Layout, s.Components, s.Times = Wide, []string{c.names[list]}, slices.Clone(c.o.Times)
	c.values = []int{list}
	c.report(s)
	return nil
}

// report names the columns in the schema.
func (c *columns) report(s *Schema) {
	if c.id >= 0 {
		s.ID = c.names[c.id]
	}
	if c.unit >= 0 {
		s.Unit = c.names[c.unit]
	}
	s.Person = c.otherPerson()
	for i, n := range c.names {
		if c.ignored[i] {
			s.Ignored = append(s.Ignored, n)
		}
	}
}

// free reports whether no option has given column i a role.
func (c *columns) free(i int) bool { return !c.ignored[i] && i != c.id && i != c.unit && i != c.time }

func (c *columns) readTimes() error {
	if c.o.Layout == Long {
		return nil
	}
	for i, n := range c.names {
		if !c.free(i) {
			continue
		}
		x, what := cell([]byte(n), c.decimal)
		if what == cellNumber {
			c.numeric[i], c.times[i] = true, x
			continue
		}
		x, err := iso.Parse([]byte(n), c.o.Zone)
		switch {
		case err == nil:
			c.numeric[i], c.times[i], c.dated = true, x, true
		case !errors.Is(err, iso.ErrNotTime):
			return c.fault(i, quote(n)+" "+err.Error(), zoneFix(err))
		}
	}
	return nil
}

// layout tells wide from long by the number of column names that are times.
func (c *columns) layout() (string, error) {
	n, first := 0, -1
	for i, is := range c.numeric {
		if is {
			n++
			if first < 0 {
				first = i
			}
		}
	}
	timeColumn := c.o.Time
	for i, name := range c.names {
		if timeColumn == "" && c.free(i) && among(name, sureTimeNames) {
			timeColumn = name
		}
	}
	switch {
	case n == 0:
		return Long, nil
	case timeColumn != "" && n == 1:
		return Long, nil
	case timeColumn != "":
		return "", c.fault(first, fmt.Sprintf("the header has a time column %s and also %d numbers as column names", quote(timeColumn), n),
			"set the layout option to wide or long")
	}
	return Wide, nil
}

func (c *columns) resolveWide(s *Schema) error {
	if c.o.Time != "" {
		return c.misnamed(-1, "a wide file has no time column, which the time option names", "leave the option out, or set the layout option to long")
	}
	if len(c.o.Values) > 1 {
		return c.misnamed(-1, fmt.Sprintf("%d value names for a wide file, which has one component", len(c.o.Values)), "give one name, or none")
	}
	first := slices.Index(c.numeric, true)
	if first < 0 {
		return c.fault(-1, "no column name is a number or a time", "a wide file has its times in the header; set the layout option to long if this one has a time column")
	}
	for i, n := range c.names {
		if i > first && c.free(i) && !c.numeric[i] {
			return c.fault(i, quote(n)+" is not a number, but the columns before it are times",
				"correct the name, or name the column in the ignore option")
		}
	}
	if c.id < 0 && c.o.ID == "" {
		c.id = c.byName(idNames, func(i int) bool { return i < first && !c.numeric[i] })
		if c.id < 0 && c.unit < 0 {
			for i := 0; i < first && c.id < 0; i++ {
				if c.free(i) {
					c.id = i
				}
			}
		}
		if c.id < 0 && c.unit < 0 {
			return c.fault(0, "every column name is a number: there is no id column, or no header line",
				`add them, or set the id option to "-" if every row is another person's curve`)
		}
	}
	for i := 0; i < first; i++ {
		if c.free(i) {
			c.ignored[i] = true
		}
	}
	s.Components = []string{"value"}
	if len(c.o.Values) == 1 {
		s.Components = []string{c.o.Values[0]}
	}
	for i, is := range c.numeric {
		if is {
			if d := c.o.Domain; d != nil && !d.Contains(c.times[i]) {
				msg, fix := outsideDomain(c.times[i], *d, c.dated, c.o.Zone)
				return c.fault(i, msg, fix+"; or name the column in the ignore option")
			}
			c.values = append(c.values, i)
		}
	}
	slices.SortStableFunc(c.values, func(i, j int) int {
		switch {
		case c.times[i] < c.times[j]:
			return -1
		case c.times[i] > c.times[j]:
			return 1
		}
		return 0
	})
	for k, i := range c.values {
		if k > 0 && c.times[i] == c.times[c.values[k-1]] {
			return c.fault(i, fmt.Sprintf("time %g stands twice in the header (also in column %d)", c.times[i], c.values[k-1]+1),
				"keep one of the two columns, or name one in the ignore option")
		}
		s.Times = append(s.Times, c.times[i])
	}
	return nil
}

// byName returns the first column that has one of the names, tried in their
// order, and passes the test; -1 if there is none.
func (c *columns) byName(names []string, test func(i int) bool) int {
	for _, want := range names {
		for i, n := range c.names {
			if strings.EqualFold(n, want) && c.free(i) && test(i) {
				return i
			}
		}
	}
	return -1
}

// firstID finds an id column by its name, else the first one of text. Where
// the unit is known, a column of text may be anything.
func (c *columns) firstID(test func(i int) bool) int {
	id := c.byName(idNames, func(i int) bool { return test(i) && c.kinds[i] != kindOther })
	for i := 0; i < len(c.names) && id < 0 && c.unit < 0; i++ {
		if c.free(i) && test(i) && c.kinds[i] == kindText {
			id = i
		}
	}
	return id
}

func (c *columns) resolveLong(s *Schema) error {
	var err error
	if c.o.Time != "" {
		if c.time, err = c.find("time", c.o.Time); err != nil {
			return err
		}
		if c.time == c.id || c.time == c.unit {
			return c.misnamed(c.time, "the same column cannot hold the time and the id", "set the time option to another column")
		}
	}
	for _, name := range c.o.Values {
		i, err := c.find("values", name)
		if err != nil {
			return err
		}
		if !c.free(i) || slices.Contains(c.values, i) {
			return c.misnamed(i, "the column is named in two options, or twice", "name each column once")
		}
		c.values = append(c.values, i)
	}
	isValue := func(i int) bool { return slices.Contains(c.values, i) }
	if c.time < 0 {
		c.time = c.byName(timeNames, func(i int) bool { return !isValue(i) })
		if c.time < 0 {
			return c.fault(-1, "no time column among "+c.list(), "name it with the time option (a wide file has numbers as column names)")
		}
	}
	if c.id < 0 && c.o.ID == "" {
		c.id = c.firstID(func(i int) bool { return !isValue(i) })
	}
	if len(c.o.Values) > 0 {
		for i := range c.names {
			if c.free(i) && !isValue(i) {
				c.ignored[i] = true
			}
		}
	} else if err := c.takeValues(); err != nil {
		return err
	}
	if len(c.values) == 0 {
		return c.fault(-1, "no numeric column is left for the values among "+c.list(), "name the value columns with the values option")
	}
	for k, i := range c.values {
		if slices.Index(c.names, c.names[i]) != i {
			return c.fault(i, fmt.Sprintf("the name %s stands twice in the header", quote(c.names[i])), "rename one of the two columns")
		}
		if c.kinds[i] != kindNumber && c.kinds[i] != kindEmpty {
			return c.misnamed(i, "the values option names a column that holds no numbers", "the columns are "+c.list())
		}
		s.Components = append(s.Components, c.names[c.values[k]])
	}
	s.Time = c.names[c.time]
	return nil
}

// takeValues takes every numeric column that is left, lat before lon.
func (c *columns) takeValues() error {
	for i, n := range c.names {
		switch {
		case !c.free(i):
		case c.kinds[i] != kindNumber && c.kinds[i] != kindEmpty:
			c.ignored[i] = true
		case n == "":
			return c.fault(i, "a column of numbers has no name", "name it, or put \"\" into the ignore option")
		default:
			c.values = append(c.values, i)
		}
	}
	lat := slices.IndexFunc(c.values, func(i int) bool { return among(c.names[i], latNames) })
	lon := slices.IndexFunc(c.values, func(i int) bool { return among(c.names[i], lonNames) })
	if lon >= 0 && lat > lon {
		c.values[lat], c.values[lon] = c.values[lon], c.values[lat]
	}
	return nil
}

// limits of a value column that its name implies.
func limits(name string) (lo, hi float64) {
	switch {
	case among(name, latNames):
		return -90, 90
	case among(name, lonNames):
		return -180, 180
	}
	return math.Inf(-1), math.Inf(1)
}

const outsideFix = "if latitude and longitude are exchanged, exchange their names in the header"

func outsideMsg(x, lo, hi float64) string {
	return fmt.Sprintf("%s is outside [%g, %g]", strconv.FormatFloat(x, 'g', -1, 64), lo, hi)
}

func zoneFix(err error) string {
	switch {
	case errors.Is(err, iso.ErrNaive):
		return "write the offset (Z, +02:00) into the file, or set the zone option"
	case errors.Is(err, iso.ErrTwice), errors.Is(err, iso.ErrNoSuch):
		return "write the offset (Z, +02:00) into the file"
	}
	return "write numbers, or times such as 2008-05-17T21:00:45Z"
}

// checkTimes requires finite times that increase strictly.
func checkTimes(times []float64) error {
	for i, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || i > 0 && t <= times[i-1] {
			return fmt.Errorf("dataset: times option, element %d is %g: times must be finite and increase strictly", i+1, t)
		}
	}
	return nil
}
