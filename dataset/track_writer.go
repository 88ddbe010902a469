package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	iso "github.com/curveil/curveil/internal/clock"
)

// Private curves go out in the format that the tracks came in. A file holds
// public times, private values and the public names of columns, and nothing of
// the file that was read: no name, device, creator, date or comment.

// Output is a private curve.
type Output struct {
	T          []float64   // public times in seconds, increasing
	X          [][]float64 // private values, one slice for each component
	Components []Component
	Geographic bool   // the components are latitude and longitude in degrees
	Time       string // CSV: name of the time column; "" means "t"
	ISO        bool   // CSV: write the times (Unix seconds) as dates
}

func (out *Output) check(format Format) error {
	bad := func(text string, args ...any) error { return fmt.Errorf("dataset: output: "+text, args...) }
	if len(out.X) == 0 || len(out.X) != len(out.Components) {
		return bad("%d components of values and %d names", len(out.X), len(out.Components))
	}
	if len(out.T) < 2 {
		return bad("%s: give two at least", count(len(out.T), "time"))
	}
	if out.Geographic && len(out.X) != 2 {
		return bad("%d components of a track on the ground: it has latitude and longitude", len(out.X))
	}
	if (format == GPX || format == GeoJSON) && !out.Geographic {
		return bad("%s holds latitude and longitude: write signals as CSV", format)
	}
	dates := format == GPX || format == GeoJSON || out.ISO
	for i, t := range out.T {
		if math.IsNaN(t) || math.IsInf(t, 0) || i > 0 && t <= out.T[i-1] {
			return bad("time %d is %g: times must be finite and increase", i+1, t)
		}
		if dates && !(t >= firstDate && t < endOfDates) {
			return bad("time %g is no date of the years 0 to 9999: are these Unix seconds?", t)
		}
	}
	for k, x := range out.X {
		if len(x) != len(out.T) {
			return bad("%d values of %s at %d times", len(x), quote(out.Components[k].Name), len(out.T))
		}
		for i, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return bad("value %d of %s is %g: must be finite", i+1, quote(out.Components[k].Name), v)
			}
			if out.Geographic && math.Abs(v) > 90+90*float64(k) {
				return bad("value %d of %s is %g: must be degrees, latitude before longitude", i+1, quote(out.Components[k].Name), v)
			}
		}
	}
	return nil
}

// Unix seconds of the years that have four digits.
var (
	firstDate  = float64(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	endOfDates = float64(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
)

// TrackWriter writes a file of private tracks. Nothing is to be seen at its
// path before Commit. The same outputs give the same bytes.
type TrackWriter struct {
	path    string
	format  Format
	many    bool
	written int
	f       *os.File
	w       *bufio.Writer
	names   []string // CSV: columns of the first track
	wfdb    *wfdbOutput
	b       []byte
	err     error
}

// CreateTracks begins a file in one of the formats GPX, GeoJSON, CSV and WFDB.
// With many it takes any number of tracks, told apart by their order: a column
// track in CSV (from 1), a FeatureCollection in GeoJSON, a trk each in GPX;
// without, exactly one. WFDB takes one, in format 16 at the finest round gain
// at which it fits; its path is the header's, NAME.hea, and NAME.dat is
// written beside it.
func CreateTracks(path string, format Format, many bool) (*TrackWriter, error) {
	switch format {
	case GPX, GeoJSON, CSV:
	case WFDB:
		if many {
			return nil, fmt.Errorf("dataset: a WFDB record holds one track: write each to a file of its own, or write CSV")
		}
		if err := checkRecord(path); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("dataset: format %q is not written: choose gpx, geojson, csv or wfdb", format)
	}
	f, err := temporary(path)
	if err != nil {
		return nil, err
	}
	return &TrackWriter{path: path, format: format, many: many, f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

func temporary(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*")
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return f, nil
}

// Write adds a track.
func (w *TrackWriter) Write(out Output) error {
	if w.err != nil {
		return w.err
	}
	if w.f == nil {
		return errors.New("dataset: the file of tracks is closed already")
	}
	if !w.many && w.written == 1 {
		return errors.New("dataset: a second track for a file of one: create it for many")
	}
	if err := out.check(w.format); err != nil {
		return err
	}
	switch w.format {
	case CSV:
		if err := w.csv(out); err != nil {
			return err
		}
	case GPX:
		w.gpx(out)
	case GeoJSON:
		w.geoJSON(out)
	case WFDB:
		w.wfdb, w.err = newWFDBOutput(w.path, out)
	}
	w.written++
	return w.err
}

// put appends to the file by way of a buffer that is used again.
func (w *TrackWriter) put(b []byte) {
	w.b = b[:0]
	if w.err == nil {
		if _, err := w.w.Write(b); err != nil {
			w.err = fmt.Errorf("dataset: %w", err)
		}
	}
}

// Commit completes the file and puts it in its place.
func (w *TrackWriter) Commit() error {
	if w.f == nil {
		return errors.New("dataset: the file of tracks is closed already")
	}
	if w.err == nil && w.written == 0 && (w.format == CSV || !w.many) {
		w.err = errors.New("dataset: no track was written")
	}
	switch {
	case w.format == GPX && w.written == 0:
		w.put([]byte(gpxHead + "</gpx>\n"))
	case w.format == GPX:
		w.put([]byte("</gpx>\n"))
	case w.format == GeoJSON && w.many && w.written == 0:
		w.put([]byte(`{"type":"FeatureCollection","features":[]}` + "\n"))
	case w.format == GeoJSON && w.many:
		w.put([]byte("\n]}\n"))
	case w.format == WFDB && w.wfdb != nil && w.err == nil:
		w.put(w.wfdb.header)
	}
	if w.err != nil {
		return errors.Join(w.err, w.Discard())
	}
	if w.wfdb != nil {
		if err := w.wfdb.commit(); err != nil {
			return errors.Join(err, w.Discard())
		}
	}
	f := w.f
	if err := errors.Join(w.w.Flush(), f.Chmod(0o644), f.Sync()); err != nil {
		return fmt.Errorf("dataset: %w", errors.Join(err, w.Discard()))
	}
	w.f = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("dataset: %w", errors.Join(err, os.Remove(f.Name())))
	}
	if err := os.Rename(f.Name(), w.path); err != nil {
		return fmt.Errorf("dataset: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Discard leaves no trace of a file that was not committed. After Commit it
// does nothing.
func (w *TrackWriter) Discard() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// appendDegrees writes seven decimals, a centimetre.
func appendDegrees(b []byte, x float64) []byte {
	x = math.Round(x*1e7) / 1e7
	return strconv.AppendFloat(b, x+0, 'f', 7, 64) // +0 takes the sign off a zero
}

func (w *TrackWriter) csv(out Output) error {
	timeName := out.Time
	if timeName == "" {
		timeName = "t"
	}
	names := []string{timeName}
	for _, c := range out.Components {
		names = append(names, c.Name)
	}
	if w.many {
		names = append([]string{"track"}, names...)
	}
	b := w.b
	if w.written == 0 {
		seen := map[string]bool{}
		for i, n := range names {
			if seen[n] {
				return fmt.Errorf("dataset: output: two columns would be called %s: rename one", quote(n))
			}
			seen[n] = true
			if i > 0 {
				b = append(b, ',')
			}
			b = appendField(b, n)
		}
		w.names = names
		b = append(b, '\n')
	} else if strings.Join(names, "\n") != strings.Join(w.names, "\n") {
		return fmt.Errorf("dataset: output: track %d has the columns %q and those before it %q: write them to files of their own", w.written+1, names, w.names)
	}
	for i, t := range out.T {
		if w.many {
			b = append(strconv.AppendInt(b, int64(w.written+1), 10), ',')
		}
		if out.ISO {
			b = append(b, iso.Text(t)...)
		} else {
			b = strconv.AppendFloat(b, t, 'f', -1, 64)
		}
		for _, x := range out.X {
			b = append(b, ',')
			if out.Geographic {
				b = appendDegrees(b, x[i])
			} else {
				b = strconv.AppendFloat(b, x[i], 'g', -1, 64)
			}
		}
		b = append(b, '\n')
	}
	w.put(b)
	return nil
}

// appendField quotes where RFC 4180 asks for it, and what a reader could take
// for an empty line.
func appendField(b []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, ",;\t|\"\r\n") && strings.TrimSpace(s) == s {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

const gpxHead = `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="curveil" xmlns="http://www.topografix.com/GPX/1/1">
`

func (w *TrackWriter) gpx(out Output) {
	b := w.b
	if w.written == 0 {
		b = append(b, gpxHead...)
	}
	b = append(b, "<trk><trkseg>\n"...)
	for i, t := range out.T {
		b = append(b, `<trkpt lat="`...)
		b = append(appendDegrees(b, out.X[0][i]), `" lon="`...)
		b = append(appendDegrees(b, out.X[1][i]), `"><time>`...)
		b = append(append(b, iso.Text(t)...), "</time></trkpt>\n"...)
	}
	w.put(append(b, "</trkseg></trk>\n"...))
}

func (w *TrackWriter) geoJSON(out Output) {
	b := w.b
	switch {
	case w.many && w.written == 0:
		b = append(b, `{"type":"FeatureCollection","features":[`+"\n"...)
	case w.many:
		b = append(b, ",\n"...)
	}
	b = append(b, `{"type":"Feature","properties":{"coordTimes":[`...)
	for i, t := range out.T {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), iso.Text(t)...), '"')
	}
	b = append(b, `]},"geometry":{"type":"LineString","coordinates":[`...)
	for i := range out.T {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendDegrees(append(b, '['), out.X[1][i]), ',')
		b = append(appendDegrees(b, out.X[0][i]), ']')
	}
	b = append(b, "]}}"...)
	if !w.many {
		b = append(b, '\n')
	}
	w.put(b)
}
