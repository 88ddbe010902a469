package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/curveil/curveil/fit"
	iso "github.com/curveil/curveil/internal/clock"
)

// One person's own curve, a track on the ground or signals over time, as a
// device records it. What belongs to the file and not to the curve (name, file,
// places for messages, what was done to the samples) stays with the person: it
// is never written out.

// Format is a kind of file that tracks come in.
type Format string

// The formats that are read; all but Parquet are written too.
const (
	GPX     Format = "gpx"     // 1.0 and 1.1: every trk is one track; rte, wpt and ele are not read
	GeoJSON Format = "geojson" // LineString or MultiLineString with times in the properties
	CSV     Format = "csv"     // time, lat, lon or any value columns; an id column tells tracks apart
	Parquet Format = "parquet" // likewise
	WFDB    Format = "wfdb"    // a header .hea and the signal files beside it
)

// Component is one value column of a track.
type Component struct {
	Name string // "lat", "lon", or the signal's name in the file
	Unit string // "degrees" for lat and lon; "" where the file has none
}

// Track is one curve and where it came from. It shares no memory with the
// reader.
type Track struct {
	Name   string // as the file calls it: for its owner's eyes, never for an output
	File   string
	Number int // place among the tracks of the file, from 1
	Line   int // line (Parquet: row) on which it begins; 0 in WFDB
	Format Format

	// Geographic says that the components are lat and lon in degrees, sampled
	// together. Plane makes metres of them.
	Geographic bool
	Components []Component
	// Curve has one series per component. Times are seconds: Unix time where
	// the file has dates, since the record's beginning in WFDB, and as written
	// where a table has numbers.
	Curve fit.Curve

	Time    string // name of the time column, for the output
	ISO     bool   // the file writes its times as dates
	Changes Changes

	origin origin
	places [][]place // of each sample of each component; nil where only the time tells
}

// Changes counts what the options allowed to be done to the samples. It tells
// of the private data and must not be released.
type Changes struct {
	Outside  int        // samples left out because they are not in the window
	Box      int        // points outside the box, clipped or dropped
	Speed    int        // points too fast to reach, clipped or dropped
	Extended [2]float64 // seconds for which the first and the last value were held to reach the ends of the window
}

// place is where a sample stood: the line of the file and its number among the
// points of the track, both from 1, 0 where they say nothing.
type place struct{ line, point int32 }

func placeOf(line, point int) place {
	return place{line: int32(min(line, math.MaxInt32)), point: int32(min(point, math.MaxInt32))}
}

// where says in words which sample this is.
func (t *Track) where(component, i int) string {
	when := showTime(t.Curve[component].T[i])
	if t.places == nil {
		return "the sample at " + when
	}
	p := t.places[component][i]
	if p.point > 0 {
		return fmt.Sprintf("point %d at %s", p.point, when)
	}
	return fmt.Sprintf("%s at %s", t.origin.place(int(p.line)), when)
}

// fault is an error at a sample.
func (t *Track) fault(component, i int, name, msg, fix string) *DataError {
	line := t.Line
	if t.places != nil {
		line = int(t.places[component][i].line)
	}
	return t.origin.at(line, 0, name, t.prefix()+msg, fix)
}

// whole is an error of the track as such.
func (t *Track) whole(msg, fix string) *DataError {
	return t.origin.at(t.Line, 0, "", t.prefix()+msg, fix)
}

func (t *Track) prefix() string {
	if t.Number > 1 || t.Format == GPX || t.Format == GeoJSON {
		return fmt.Sprintf("track %d: ", t.Number)
	}
	return ""
}

// showTime writes seconds, and the date where they can hardly be anything else.
func showTime(t float64) string {
	s := strconv.FormatFloat(t, 'f', -1, 64) + " s"
	if t >= 1e8 && t < 1e11 {
		s += " (" + iso.Text(t) + ")"
	}
	return s
}

// Plane returns the curve on which a mechanism works: metres east and north of
// the public origin of p for a geographic track, and the curve as it is for
// signals, for which p may be nil. A point beyond the reach of p is a
// *DataError.
func (t *Track) Plane(p *Projection) (fit.Curve, error) {
	if !t.Geographic {
		return t.Curve, nil
	}
	if p == nil {
		return nil, t.whole("latitude and longitude need an origin to become metres", "give the public origin of the projection")
	}
	lat, lon := t.Curve[0], t.Curve[1]
	east, north := make([]float64, len(lat.T)), make([]float64, len(lat.T))
	for i := range lat.T {
		var err error
		if east[i], north[i], err = p.Forward(lat.X[i], lon.X[i]); err != nil {
			return nil, t.fault(0, i, "", fmt.Sprintf("%s: %v", t.where(0, i), err), "choose an origin near the track that is public, such as the middle of the city or country")
		}
	}
	return fit.Curve{{T: lat.T, X: east}, {T: lat.T, X: north}}, nil
}

// Output returns private values on public times with what is public of the
// track: the names and units of its columns. x has one slice per component, in
// the units of Components.
func (t *Track) Output(times []float64, x [][]float64) Output {
	return Output{T: times, X: x, Components: slices.Clone(t.Components), Geographic: t.Geographic, Time: t.Time, ISO: t.ISO}
}
