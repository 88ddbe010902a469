package dataset

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	iso "github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/space"
)

// What is wrong with a file, where, and the way out. The texts quote the
// file's cells: they are for the curator, never part of a release.

// DataError is a fault of the data: one place in one file. Nothing was
// repaired and no curve was dropped.
type DataError struct {
	File   string
	Line   int    // line of the file, from 1 (the header is line 1); 0 if the fault is the whole file's
	Row    int    // Parquet: row of the file, from 1, in place of a line
	Column int    // column, from 1; 0 if the fault is the whole line's
	Name   string // name of the column, where there is one
	Msg    string // what is wrong
	Fix    string // what to do
}

func (e *DataError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Row > 0 {
		fmt.Fprintf(&b, ": row %d", e.Row)
		if e.Column > 0 {
			fmt.Fprintf(&b, ", column %d", e.Column)
		}
	} else if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	if e.Name != "" {
		fmt.Fprintf(&b, " (%s)", e.Name)
	}
	b.WriteString(": ")
	b.WriteString(e.Msg)
	if e.Fix != "" {
		b.WriteString("; ")
		b.WriteString(e.Fix)
	}
	return b.String()
}

// OptionError says that the options, not the data, are at fault: a column that is not there, a kind of file that is not
// read. Err says what.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return e.Err.Error() }

func (e *OptionError) Unwrap() error { return e.Err }

// Usage marks the error as one of the call, for the command's exit code.
func (e *OptionError) Usage() {}

// ofOptions makes any error an OptionError.
func ofOptions(err error) error {
	if err == nil {
		return nil
	}
	return &OptionError{err}
}

// unknownSuffix is about a file that no reader takes.
func unknownSuffix(path, suffix string) error {
	fix := "the name must end in .csv, .tsv, .txt or .parquet"
	if among(strings.TrimPrefix(suffix, "."), []string{"gpx", "geojson", "json", "hea", "dat"}) {
		fix += "; tracks and signals are read by 'curveil curve'"
	}
	return ofOptions(fmt.Errorf("dataset: %s: unknown kind of file %q; %s", path, suffix, fix))
}

// UngroupedError says that rows of a person came back after the person had
// been handed out. Counting that person twice would break the guarantee.
type UngroupedError struct {
	File  string
	Line  int // line (Parquet: row) at which the person comes back
	First int // line (Parquet: row) at which the person first stood
	ID    string
}

func (e *UngroupedError) Error() string {
	return fmt.Sprintf("%s:%d: rows of %s come back after those of others (first seen on line %d), "+
		"and the file is too large to hold in memory; sort it by id, or set the unsorted option, which reads it several times",
		e.File, e.Line, quote(e.ID), e.First)
}

// origin makes the errors of one file.
type origin struct {
	file  string
	byRow bool // count rows (Parquet) instead of lines
}

func (o origin) at(line, column int, name, msg, fix string) *DataError {
	e := &DataError{File: o.file, Column: column, Name: name, Msg: msg, Fix: fix}
	if o.byRow {
		e.Row = line
	} else {
		e.Line = line
	}
	return e
}

func (o origin) place(line int) string {
	if o.byRow {
		return fmt.Sprintf("row %d", line)
	}
	return fmt.Sprintf("line %d", line)
}

// quote shows a cell in a message; long cells are cut.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	q := fmt.Sprintf("%q", s)
	return "'" + q[1:len(q)-1] + "'"
}

// outsideDomain is about a time outside the domain. Dates are shown by the clocks of the zone that was given, as the
// file shows them.
func outsideDomain(t float64, d space.Interval, dated bool, zone *time.Location) (msg, fix string) {
	text := func(t float64) string { return strconv.FormatFloat(t, 'g', -1, 64) }
	fix = "widen the domain, which is a public choice, or cut the curves first"
	if dated {
		text = func(t float64) string { return iso.In(t, zone) }
		fix += "; a domain of dates is written FROM/TO, and dates without an offset are by the clocks of the zone option"
	}
	return fmt.Sprintf("time %s is outside the domain [%s,%s]", text(t), text(d.A), text(d.B)), fix
}
