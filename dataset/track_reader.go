package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/curveil/curveil/space"
)

// Tracks from one file or from a folder of files, one after the other.

// TrackOptions say how to read tracks and what to require of them. The zero
// value reads everything there is and requires no more than that the times
// increase and the values are finite.
type TrackOptions struct {
	// Options are those of tables. Of these Zone holds for every format, and
	// Values also picks the signals of a WFDB record, in order. A table with
	// columns lat and lon is a track on the ground, and these are its
	// components unless Values says otherwise. Unit, Constant and Domain are
	// refused: a curve is released by itself, one sample is no curve, and times
	// are the Window's business.
	Options

	// Format is the format of the file, "" to tell it from the name. For a
	// folder it picks the files to read.
	Format Format

	// Milliseconds says that numbers for times in GeoJSON are milliseconds.
	Milliseconds bool

	// Window is the public window of time, in the seconds of the track (Unix
	// time where the file has dates). Each track is cut to it: what lies
	// outside is left out, and the ends are interpolated between the samples
	// on both sides. Where a track begins or ends inside, its first or last
	// value is held for at most MaxGap seconds. nil takes a track as it is.
	Window *space.Interval

	// MaxGap is the longest time without a sample, in seconds, that may be
	// bridged by a straight line; a longer one (that touches the window) is an
	// error. It must be given with a window; math.Inf(1) allows any.
	// 0 without a window checks nothing.
	MaxGap float64

	// Box is where all points must lie, and MaxSpeed, in metres a second, how
	// fast they may follow each other. Both are public bounds for tracks on the
	// ground; nil and 0 check nothing. Outside says what becomes of a point
	// that breaks one: "" means Refuse.
	Box      *Box
	MaxSpeed float64
	Outside  Action
}

// Action is what becomes of a point outside the box or faster than allowed.
// Either way the curve that is protected is the one that results: its noise
// does not change, and distances are those between curves so treated.
type Action string

const (
	// Refuse makes it an error that says how many there are.
	Refuse Action = "refuse"
	// Drop takes points outside the box away, and the fewest points that must
	// go for the rest to keep to the speed.
	Drop Action = "drop"
	// Clip moves a point to the nearest side of the box, or towards itself
	// from the point before as far as the speed allows.
	Clip Action = "clip"
)

func (o *TrackOptions) validate() error {
	if err := o.Options.validate(); err != nil {
		return err
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch w := o.Window; {
	case o.Unit != "":
		return fmt.Errorf("dataset: unit %q: tracks are read one by one, whosever they are; leave the option out (releases of one person's tracks add up)", o.Unit)
	case o.Domain != nil:
		return fmt.Errorf("dataset: a track is cut to the window option: leave the domain option out")
	case o.Constant:
		return fmt.Errorf("dataset: a track of one point is no curve: leave the constant option out")
	case o.Format != "" && !slices.Contains([]Format{GPX, GeoJSON, CSV, Parquet, WFDB}, o.Format):
		return fmt.Errorf("dataset: format %q: must be gpx, geojson, csv, parquet or wfdb (or empty to tell it from the name)", o.Format)
	case w != nil && !(finite(w.A) && finite(w.B) && w.A < w.B):
		return fmt.Errorf("dataset: window from %g to %g: must be finite and increase", w.A, w.B)
	case math.IsNaN(o.MaxGap) || o.MaxGap < 0:
		return fmt.Errorf("dataset: max gap of %g seconds: must be positive", o.MaxGap)
	case w != nil && o.MaxGap == 0:
		return fmt.Errorf("dataset: a window needs a max gap: say how many seconds without a sample may be bridged")
	case math.IsNaN(o.MaxSpeed) || math.IsInf(o.MaxSpeed, 0) || o.MaxSpeed < 0:
		return fmt.Errorf("dataset: max speed of %g metres a second: must be positive and finite", o.MaxSpeed)
	case !slices.Contains([]Action{"", Refuse, Drop, Clip}, o.Outside):
		return fmt.Errorf("dataset: outside %q: must be refuse, drop or clip", o.Outside)
	case o.Box != nil:
		return o.Box.validate()
	}
	return nil
}

// trackSource yields the tracks of one file as they are written, nil behind
// the last.
type trackSource interface {
	next() (*Track, error)
}

// TrackReader reads tracks one by one.
type TrackReader struct {
	o       TrackOptions
	files   []string // not opened yet
	skipped []string
	source  trackSource
	close   io.Closer
	number  int
	track   *Track
	err     error
	done    bool
}

// OpenTracks opens a file of tracks, or a folder, whose files are read in the
// order of their names. A name ends in .gpx, .geojson, .json, .csv, .tsv, .txt,
// .parquet or .hea (a single one may end in .dat, beside its header); "-" is standard input in the format of the options.
// Sub-folders and other files of a folder are left alone (see Skipped); one
// with tracks in two formats is refused unless the options name one, for they
// may be the same tracks.
func OpenTracks(path string, o TrackOptions) (*TrackReader, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	if path == "-" {
		if o.Unsorted {
			return nil, fmt.Errorf("dataset: standard input cannot be read several times, as the unsorted option requires; write it to a file, or raise the buffer option above its size")
		}
		return newTracks(os.Stdin, nil, o.Format, "standard input", o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	r := &TrackReader{o: o, files: []string{path}}
	if info.IsDir() {
		if err := r.list(path); err != nil {
			return nil, err
		}
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// NewTracks reads tracks in a format of one file (not WFDB, not Parquet) from
// in; name stands in for the file's in errors.
func NewTracks(in io.Reader, format Format, name string, o TrackOptions) (*TrackReader, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	seeker, _ := in.(io.Seeker)
	if o.Unsorted && seeker == nil {
		return nil, fmt.Errorf("dataset: %s cannot be read several times, as the unsorted option requires", name)
	}
	return newTracks(in, seeker, format, name, o)
}

func newTracks(in io.Reader, seeker io.Seeker, format Format, name string, o TrackOptions) (*TrackReader, error) {
	r := &TrackReader{o: o}
	var err error
	switch format {
	case GPX:
		r.source = newGPX(in, name, o)
	case GeoJSON:
		r.source = newGeoJSON(in, name, o)
	case CSV:
		r.source, err = newTrackCSV(in, seeker, name, o)
	case "":
		err = ofOptions(fmt.Errorf("dataset: %s has no suffix that tells its format; set the format option", name))
	default:
		err = fmt.Errorf("dataset: %s: %s is read from files only", name, format)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// formatOf tells the format of a file from its name, "" if it is none of ours.
func formatOf(path string) Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gpx":
		return GPX
	case ".geojson", ".json":
		return GeoJSON
	case ".csv", ".tsv", ".txt":
		return CSV
	case ".parquet":
		return Parquet
	case ".hea":
		return WFDB
	}
	return ""
}

func (r *TrackReader) list(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	r.files = nil
	var formats []string
	for _, e := range entries { // sorted by name
		format := formatOf(e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || format == "" || r.o.Format != "" && format != r.o.Format {
			r.skipped = append(r.skipped, e.Name())
			continue
		}
		if !slices.Contains(formats, string(format)) {
			formats = append(formats, string(format))
		}
		r.files = append(r.files, filepath.Join(folder, e.Name()))
	}
	slices.Sort(formats)
	switch {
	case len(formats) == 0 && r.o.Format != "":
		return fmt.Errorf("dataset: %s: no %s file in the folder", folder, r.o.Format)
	case len(formats) == 0:
		return fmt.Errorf("dataset: %s: no track in the folder; names must end in .gpx, .geojson, .json, .csv, .tsv, .txt, .parquet or .hea", folder)
	case len(formats) > 1:
		return fmt.Errorf("dataset: %s: the folder has tracks as %s, which may be the same tracks; set the format option to one", folder, strings.Join(formats, " and "))
	}
	return nil
}

// Skipped returns the names in the folder that were not taken for tracks.
func (r *TrackReader) Skipped() []string { return slices.Clone(r.skipped) }

// open opens the next file.
func (r *TrackReader) open() error {
	path := r.files[0]
	r.files, r.number = r.files[1:], 0
	format := r.o.Format
	if format == "" {
		format = formatOf(path)
	}
	if format == "" && strings.EqualFold(filepath.Ext(path), ".dat") {
		format = WFDB
	}
	switch format {
	case WFDB:
		source, err := openWFDB(path, r.o)
		r.source = source
		return err
	case Parquet:
		people, err := openParquetTracks(path, r.o.Options)
		if err != nil {
			return err
		}
		r.source, r.close = &peopleTracks{people, path, Parquet}, people
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	o := r.o
	if strings.EqualFold(filepath.Ext(path), ".tsv") && o.Separator == 0 {
		o.Separator = '\t'
	}
	one, err := newTracks(f, f, format, path, o)
	if err != nil {
		f.Close()
		return err
	}
	r.source, r.close = one.source, f
	return nil
}

// Next moves to the next track. It returns false behind the last and at the
// first error; Err tells which.
func (r *TrackReader) Next() bool {
	for !r.done {
		t, err := r.source.next()
		if err == nil && t != nil {
			r.number++
			t.Number = r.number
			if err = r.o.prepare(t); err == nil {
				r.track = t
				return true
			}
		}
		if err == nil {
			if err = r.shut(); err == nil && len(r.files) > 0 {
				err = r.open()
			} else {
				r.done = true
			}
		}
		if err != nil {
			r.err, r.done = err, true
		}
	}
	r.track = nil
	return false
}

// Track returns the track that Next moved to. It is the caller's to keep.
func (r *TrackReader) Track() *Track { return r.track }

// Err returns the error that stopped Next, nil behind the last track. Faults of
// the data are a *DataError or an *UngroupedError.
func (r *TrackReader) Err() error { return r.err }

// Close closes the file being read.
func (r *TrackReader) Close() error {
	r.done = true
	return r.shut()
}

func (r *TrackReader) shut() error {
	if s, ok := r.source.(interface{ halt() }); ok {
		s.halt()
	}
	if r.close == nil {
		return nil
	}
	c := r.close
	r.close = nil
	return c.Close()
}

// text prepares a text format for its parser: buffered, without a byte order
// mark, and counting lines.
func text(in io.Reader) *lineReader {
	b := bufio.NewReaderSize(in, 64<<10)
	if head, _ := b.Peek(len(bom)); bytes.Equal(head, bom) {
		b.Discard(len(bom))
	}
	return &lineReader{in: b}
}

// lineReader finds the line of an offset, for parsers that tell only that.
// Offsets must not decrease.
type lineReader struct {
	in     io.Reader
	read   int64
	ends   []int64 // offsets of line ends not passed yet
	passed int
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for i := 0; i < n; {
		j := bytes.IndexByte(p[i:n], '\n')
		if j < 0 {
			break
		}
		l.ends = append(l.ends, l.read+int64(i+j))
		i += j + 1
	}
	l.read += int64(n)
	return n, err
}

func (l *lineReader) line(offset int64) int {
	n := 0
	for n < len(l.ends) && l.ends[n] < offset {
		n++
	}
	l.ends, l.passed = l.ends[n:], l.passed+n
	return l.passed + 1
}
