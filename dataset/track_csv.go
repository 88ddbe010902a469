package dataset

import (
	"io"
	"slices"

	"github.com/curveil/curveil/fit"
)

// Tracks in tables: the rows are gathered, sorted by time and checked as those
// of people are. The number of its line travels with each sample of a long CSV
// file, as one more component, so that a fault found later can name it.

const lineComponent = "line" // of samples; not the file's

type tableTracks struct {
	groups     *groups
	rows       *lined
	components []Component
	geographic bool
	time       string
	person     Person
}

// lined adds the line to the values of each row.
type lined struct {
	longRows
	first *csvLong // parser of the first rows
	line  []float64
}

func (l *lined) next(run *longRun) (bool, error) {
	ok, err := l.longRows.next(run)
	if !ok || err != nil {
		return false, err
	}
	l.line = l.line[:0]
	for _, line := range run.line {
		l.line = append(l.line, float64(line))
	}
	run.v = append(run.v, l.line)
	return true, nil
}

func newTrackCSV(in io.Reader, seeker io.Seeker, name string, o TrackOptions) (trackSource, error) {
	t, sampled, err := openCSV(in, seeker, name, o.Separator, o.Decimal)
	if err != nil {
		return nil, err
	}
	table := o.Options
	table.Values = groundColumns(t.names, table)
	table.Constant = true // what is too short for a track is said later
	c := t.understand(sampled, table)
	schema := Schema{Separator: rune(t.sep), Decimal: rune(t.decimal)}
	if err := c.resolve(&schema); err != nil {
		return nil, err
	}
	t.id, t.unit = c.id, c.unit
	if schema.Layout == Wide {
		rows := wideRows{newAhead(t, newCSVWide(t.fork(), c))}
		r := &Reader{schema: schema, source: newWide(rows, t.origin, schema, c, table), halt: rows.halt}
		return &peopleTracks{r, name, CSV}, nil
	}
	src := &tableTracks{time: schema.Time}
	src.components, src.geographic = componentsOf(schema.Components)
	first := newCSVLong(t.fork(), c)
	src.rows = &lined{longRows: longRows{newAhead(t, first)}, first: first}
	schema.Components = append(slices.Clone(schema.Components), lineComponent)
	src.groups = newGroups(src.rows, t.origin, schema, c, table)
	return src, nil
}

// groundColumns names lat and lon, in this order, where the table has one of
// each and the options do not ask for something else.
func groundColumns(names []string, o Options) []string {
	find := func(names, usual []string) (found string, n int) {
		for _, name := range names {
			if among(name, usual) && !slices.Contains(o.Ignore, name) {
				found, n = name, n+1
			}
		}
		return found, n
	}
	if o.Layout == Wide || len(o.Values) != 0 && len(o.Values) != 2 {
		return o.Values
	}
	if len(o.Values) == 2 {
		names = o.Values
	}
	lat, n := find(names, latNames)
	lon, m := find(names, lonNames)
	if n == 1 && m == 1 {
		return []string{lat, lon}
	}
	return o.Values
}

// componentsOf gives the columns units where their names tell.
func componentsOf(names []string) (c []Component, geographic bool) {
	for _, n := range names {
		c = append(c, Component{Name: n})
	}
	geographic = len(names) == 2 && among(names[0], latNames) && among(names[1], lonNames)
	if geographic {
		c[0].Unit, c[1].Unit = "degrees", "degrees"
	}
	return c, geographic
}

func (s *tableTracks) next() (*Track, error) {
	ok, err := s.groups.next(&s.person)
	if !ok || err != nil {
		return nil, err
	}
	curve := s.person.Curves[0]
	n := len(s.components)
	lines := curve[n]
	t := &Track{
		File: s.groups.file, Line: s.person.Line, Format: CSV, Geographic: s.geographic, Components: slices.Clone(s.components),
		Time: s.time, ISO: s.rows.first.clock.state == clockISO, origin: s.groups.origin,
	}
	if s.groups.hasID {
		t.Name = s.person.Unit
	}
	t.Curve, t.places = make(fit.Curve, n), make([][]place, n)
	for k, series := range curve[:n] {
		if k > 0 && same(series.T, curve[k-1].T) {
			t.Curve[k] = fit.Series{T: t.Curve[k-1].T, X: slices.Clone(series.X)}
			t.places[k] = t.places[k-1]
			continue
		}
		t.Curve[k] = fit.Series{T: slices.Clone(series.T), X: slices.Clone(series.X)}
		t.places[k] = make([]place, len(series.T))
		j := 0
		for i, at := range series.T {
			for lines.T[j] < at {
				j++
			}
			t.places[k][i] = placeOf(int(lines.X[j]), 0)
		}
	}
	return t, s.paired(t, lines)
}

func (s *tableTracks) halt() { s.rows.halt() }

// paired refuses a row with one of latitude and longitude.
func (s *tableTracks) paired(t *Track, lines fit.Series) error {
	if !t.Geographic || same(t.Curve[0].T, t.Curve[1].T) {
		return nil
	}
	lat, lon := t.Curve[0].T, t.Curve[1].T
	for i, at := range lines.T {
		_, hasLat := slices.BinarySearch(lat, at)
		_, hasLon := slices.BinarySearch(lon, at)
		if hasLat != hasLon {
			missing := t.Components[1].Name
			if hasLon {
				missing = t.Components[0].Name
			}
			column := slices.Index(s.rows.first.names, missing) + 1
			return t.origin.at(int(lines.X[i]), column, missing, "a point has only one of latitude and longitude", "fill in the other, or take the row out")
		}
	}
	return nil
}

func same(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// peopleTracks are the curves of a reader of people: wide files and Parquet,
// where a row or a time is all there is to name.
type peopleTracks struct {
	people *Reader
	file   string
	format Format
}

func (s *peopleTracks) halt() {
	if s.people.halt != nil {
		s.people.halt()
	}
}

func (s *peopleTracks) next() (*Track, error) {
	if !s.people.Next() {
		return nil, s.people.Err()
	}
	p, schema := s.people.Person(), s.people.Schema()
	t := &Track{File: s.file, Line: p.Line, Format: s.format, Time: schema.Time, origin: origin{file: s.file, byRow: s.format == Parquet}}
	if schema.ID != "" {
		t.Name = p.Unit
	}
	t.Components, t.Geographic = componentsOf(schema.Components)
	for k, series := range p.Curves[0] {
		own := fit.Series{X: slices.Clone(series.X)}
		if k > 0 && same(series.T, p.Curves[0][k-1].T) {
			own.T = t.Curve[k-1].T
		} else {
			own.T = slices.Clone(series.T)
		}
		t.Curve = append(t.Curve, own)
	}
	if t.Time == "" {
		t.Time = "t"
	}
	if t.Geographic && !same(t.Curve[0].T, t.Curve[1].T) {
		return nil, t.whole("a point has only one of latitude and longitude", "fill in the other, or take the row out")
	}
	return t, nil
}

func openParquetTracks(path string, o Options) (*Reader, error) {
	o.Constant = true
	r, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	values := groundColumns(r.schema.Components, o)
	if slices.Equal(values, o.Values) {
		return r, nil
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	o.Values = values
	return Open(path, o)
}
