// Package dataset reads what people have: curves in CSV and Parquet files,
// wide (one row per curve, the times in the header) or long (one row per
// sample).
//
// A Reader hands out one Person at a time, all curves of one unit of privacy
// together, in memory that does not grow with the file (but for the ids seen:
// some 32 bytes each, so that no person can be counted twice). Nothing is
// repaired in silence: whatever is wrong is an error with file, line and
// column, and reading stops.
package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/space"
)

// The two layouts.
const (
	Wide = "wide" // one row per curve, the times are column names
	Long = "long" // one row per sample: id, time, value of each component
)

// Options say how to read a file. The zero value detects everything.
type Options struct {
	// Layout is Wide, Long, or "" to detect it from the header.
	Layout string

	// ID names the column that tells curves apart, Unit the column that tells
	// people apart where one person has several curves, Time the time column
	// of a long file. "" finds ID and Time by their usual names (id, station,
	// subject, …; t, time, unix_time, timestamp, …), and ID else as the first
	// column that is not numeric. ID "-" means that there is none: each row of
	// a wide file is then one person's curve, and a long file is one curve.
	// Without a Unit each curve is one person.
	ID, Unit, Time string

	// Values names the value columns of a long file, in the order wanted for
	// the components; empty takes every numeric column that is left (lat
	// before lon). For a wide file it may hold one name, that of the component.
	Values []string

	// Ignore names columns not to be read.
	Ignore []string

	// Separator of fields and Decimal sign; 0 detects them.
	Separator, Decimal rune

	// Domain, when not nil, refuses times outside it.
	Domain *space.Interval

	// Constant accepts a curve of a single sample, to be extended as a
	// constant. Otherwise it is an error.
	Constant bool

	// Zone is the zone of time stamps written without one. nil refuses them.
	Zone *time.Location

	// Times are the (public) times of the elements of a Parquet list column.
	Times []float64

	// Unsorted reads a file whose rows of one person are far apart, as many
	// times over as the buffer requires. People come in the order of a hash of
	// their ids, cut into parts, and by first appearance inside a part.
	Unsorted bool

	// Buffer is the number of bytes that rows may take in memory while they
	// wait for the rest of their person; 0 means 32 MB. A file whose rows fit
	// may have them in any order.
	Buffer int64
}

const defaultBuffer = 32 << 20

func (o Options) buffer() int64 {
	if o.Buffer > 0 {
		return o.Buffer
	}
	return defaultBuffer
}

func (o Options) validate() error {
	switch o.Layout {
	case "", Wide, Long:
	default:
		return fmt.Errorf("dataset: layout %q: must be %q or %q (or empty to detect it)", o.Layout, Wide, Long)
	}
	for _, c := range []struct {
		name string
		r    rune
	}{{"separator", o.Separator}, {"decimal sign", o.Decimal}} {
		if c.r < 0 || c.r > 126 || c.r == '"' || c.r == '\n' || c.r == '\r' || c.r >= '0' && c.r <= '9' {
			return fmt.Errorf("dataset: %s %q: must be one ASCII character that is no digit, quote or line end", c.name, c.r)
		}
	}
	if o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',' {
		return fmt.Errorf("dataset: decimal sign %q: must be '.' or ','", o.Decimal)
	}
	if o.Buffer < 0 {
		return fmt.Errorf("dataset: buffer of %d bytes: must not be negative", o.Buffer)
	}
	if o.Layout == Wide && len(o.Values) > 1 {
		return fmt.Errorf("dataset: %d value names for a wide file, which has one component: give one name, or use the long layout", len(o.Values))
	}
	return checkTimes(o.Times)
}

// Person is one unit of privacy: all its curves.
//
// The X slices are valid until the next call of Next. A T slice is never
// written to again, and complete curves on a common grid (the header of a wide
// file, the first curve of a long one) have the very same T, so that
// comparing &T[0] and len(T) tells equal grids.
type Person struct {
	Unit   string // value of the unit column, else of the id column
	Curves []fit.Curve
	IDs    []string // of the curves, valid like X; nil where the file tells them apart by their rows only
	Line   int      // line (Parquet: row) of the first row
}

// Schema is what the header of a file says. It is the public part of a file,
// provided that its column names are.
type Schema struct {
	Layout             string
	Components         []string  // names of the value columns; of a wide file "value" unless named
	Times              []float64 // of a wide file, increasing
	Dated              bool      // times are written as dates: they are Unix seconds here
	ID, Unit, Time     string    // names of the columns, "" where there is none
	Ignored            []string  // columns that are not read
	Person             string    // a column beside the id that seems to tell people apart and has no role that was asked for, "" for none
	Separator, Decimal rune      // CSV only
}

// source yields people in the order of the file.
type source interface {
	next(*Person) (bool, error)
}

// Reader reads people one by one, in the manner of bufio.Scanner.
type Reader struct {
	schema Schema
	source source
	halt   func() // ends what reads ahead; may be nil
	close  io.Closer
	person Person
	err    error
	done   bool
	closed bool
}

var errClosed = errors.New("dataset: the reader was closed before its end")

// Open opens a file by the suffix of its name: .csv, .tsv, .txt or .parquet.
// "-" is CSV from standard input. It reads no more than the header and, to
// detect what the options leave open, the first few rows.
func Open(path string, o Options) (*Reader, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	if path == "-" {
		if o.Unsorted {
			return nil, fmt.Errorf("dataset: standard input cannot be read several times, as the unsorted option requires; write it to a file, or raise the buffer option above its size")
		}
		return newCSV(os.Stdin, nil, "standard input", o)
	}
	suffix := strings.ToLower(filepath.Ext(path))
	switch suffix {
	case ".csv", ".tsv", ".txt", ".parquet":
	default:
		return nil, unknownSuffix(path, suffix)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	var r *Reader
	if suffix == ".parquet" {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			r, err = newParquet(f, info.Size(), path, o)
		}
	} else {
		if suffix == ".tsv" && o.Separator == 0 {
			o.Separator = '\t'
		}
		r, err = newCSV(f, f, path, o)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f
	return r, nil
}

// NewCSV reads CSV from r; name stands in for the file's in errors. The
// option Unsorted asks for an io.Seeker.
func NewCSV(r io.Reader, name string, o Options) (*Reader, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	seeker, _ := r.(io.Seeker)
	if o.Unsorted && seeker == nil {
		return nil, fmt.Errorf("dataset: %s cannot be read several times, as the unsorted option requires", name)
	}
	return newCSV(r, seeker, name, o)
}

// NewParquet reads Parquet of size bytes from r; name stands in for the file's in
// errors.
func NewParquet(r io.ReaderAt, size int64, name string, o Options) (*Reader, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	return newParquet(r, size, name, o)
}

// Schema returns what the header said.
func (r *Reader) Schema() Schema {
	s := r.schema
	s.Components = slices.Clone(s.Components)
	s.Times = slices.Clone(s.Times)
	s.Ignored = slices.Clone(s.Ignored)
	return s
}

// Next moves to the next person. It returns false at the end of the file and
// at the first error; Err tells which.
func (r *Reader) Next() bool {
	if r.done {
		return false
	}
	if r.closed {
		r.done, r.err, r.person = true, errClosed, Person{}
		return false
	}
	ok, err := r.source.next(&r.person)
	if !ok || err != nil {
		r.done, r.err, r.person = true, err, Person{}
		return false
	}
	return true
}

// Person returns the person that Next moved to.
func (r *Reader) Person() Person { return r.person }

// Err returns the error that stopped Next, nil at the end of the file. Faults
// of the data are a *DataError or an *UngroupedError.
func (r *Reader) Err() error { return r.err }

// Close closes the file. A reader that is not read to its end must be closed.
func (r *Reader) Close() error {
	r.closed = true
	if r.halt != nil {
		r.halt()
	}
	if r.close == nil {
		return nil
	}
	return r.close.Close()
}
