package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Points: named columns of a CSV or Parquet file, one point per row, gathered by person where a column tells people
// apart. The rows are those of a wide file without times, read by the same code and as strictly.

// PointOptions say which columns to read.
type PointOptions struct {
	// Columns names the coordinates, in the order wanted.
	Columns []string
	// Unit names the column that tells people apart; their rows must stand together. "" makes each row a person.
	Unit string
	// Scattered hands a person out again for every stretch of their rows, for callers that group by unit
	// themselves. Otherwise a person who comes back is an error.
	Scattered bool
	// Separator of fields and Decimal sign of a CSV file; 0 detects them.
	Separator, Decimal rune
}

// Points reads people with their points one by one, in the manner of bufio.Scanner.
type Points struct {
	origin
	src     wideSource
	columns []string
	number  []int // of each column in the file, from 1
	unit    int   // column, -1 none
	person  string
	close   io.Closer
	seen    *idSet
	csv     *ahead // nil for Parquet
	halt    func() // ends what reads ahead
	row     wideRow
	pending bool // row belongs to the next person
	name    []byte
	x       []float64
	line    int
	err     error
	done    bool
	closed  bool
}

// OpenPoints opens a file by the suffix of its name: .csv, .tsv, .txt or .parquet; "-" is CSV from standard input.
func OpenPoints(path string, o PointOptions) (*Points, error) {
	if path == "-" {
		return NewPointsCSV(os.Stdin, "standard input", o)
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
	var p *Points
	if suffix == ".parquet" {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			p, err = NewPointsParquet(f, info.Size(), path, o)
		}
	} else {
		if suffix == ".tsv" && o.Separator == 0 {
			o.Separator = '\t'
		}
		p, err = NewPointsCSV(f, path, o)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p.close = f
	return p, nil
}

// NewPointsCSV reads CSV from r; name stands in for the file's in errors.
func NewPointsCSV(r io.Reader, name string, o PointOptions) (*Points, error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	t, _, err := openCSV(r, nil, name, o.Separator, o.Decimal)
	if err != nil {
		return nil, err
	}
	c := &columns{origin: t.origin, line: t.s.line, names: t.names, decimal: t.decimal}
	p, err := newPoints(c, o)
	if err != nil {
		return nil, err
	}
	t.unit = c.unit
	p.csv = newAhead(t, newCSVWide(t.fork(), c))
	p.src, p.halt = wideRows{p.csv}, p.csv.halt
	return p, nil
}

// NewPointsParquet reads Parquet of size bytes from r; name stands in for the file's in
// errors.
func NewPointsParquet(r io.ReaderAt, size int64, name string, o PointOptions) (p *Points, err error) {
	if err := o.validate(); err != nil {
		return nil, ofOptions(err)
	}
	org := origin{file: name, byRow: true}
	defer org.recoverDamage(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, org.damage(err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, org.damage(err)
	}
	t := &pqTable{origin: org, groups: file.RowGroups()}
	c := &columns{origin: org, decimal: '.'}
	for i, top := range file.Root().Columns() {
		col := newPqColumn(top, i+1)
		t.columns, c.names = append(t.columns, col), append(c.names, col.name)
	}
	if p, err = newPoints(c, o); err != nil {
		return nil, err
	}
	if err := t.take(c); err != nil {
		return nil, err
	}
	rows := newPump(org, pqWide{t}.fill, t.rewind)
	p.src, p.halt = wideRows{rows}, rows.halt
	return p, rows.rewind()
}

func (o PointOptions) validate() error {
	if len(o.Columns) == 0 {
		return errors.New("dataset: points of no columns: name the columns of the coordinates")
	}
	return Options{Separator: o.Separator, Decimal: o.Decimal}.validate()
}

// newPoints finds the columns.
func newPoints(c *columns, o PointOptions) (*Points, error) {
	c.id, c.unit, c.time = -1, -1, -1
	p := &Points{origin: c.origin, columns: o.Columns, unit: -1}
	taken := map[int]bool{}
	for _, name := range o.Columns {
		i, err := c.find("columns", name)
		if err != nil {
			return nil, err
		}
		if taken[i] {
			return nil, c.misnamed(i, "the column is named twice in the columns option", "name each coordinate once")
		}
		taken[i] = true
		c.values, p.number = append(c.values, i), append(p.number, i+1)
	}
	for i, name := range c.names {
		if !taken[i] && name != o.Unit && p.person == "" && namesPeople(name) {
			p.person = name
		}
	}
	if o.Unit != "" {
		i, err := c.find("unit", o.Unit)
		if err != nil {
			return nil, err
		}
		if taken[i] {
			return nil, c.misnamed(i, "the column is a coordinate and the unit at once", "name each column in one option")
		}
		c.unit, p.unit = i, i
		if !o.Scattered {
			p.seen = newIDSet()
		}
	}
	return p, nil
}

// PersonColumn names a column that is not read and is usually called like one that tells people apart; "" if there
// is none.
func (p *Points) PersonColumn() string { return p.person }

// Next moves to the next person. It returns false at the end of the file and at the first error; Err tells which.
func (p *Points) Next() bool {
	if p.stopped() {
		return false
	}
	ok, err := p.next()
	if !ok || err != nil {
		p.done, p.err, p.x = true, err, nil
		return false
	}
	return true
}

// stopped reports whether there is nothing more to read; a reader that was closed before its end says so.
func (p *Points) stopped() bool {
	if p.closed && !p.done {
		p.done, p.err, p.x = true, errClosed, nil
	}
	return p.done
}

func (p *Points) next() (ok bool, err error) {
	if !p.pending {
		if ok, err := p.read(); !ok {
			return false, err
		}
	}
	p.pending = false
	p.line = p.row.line
	if p.unit < 0 {
		p.x = p.row.x
		return true, nil
	}
	if p.seen == nil {
		// The caller groups.
	} else if first, again := p.seen.add(p.row.unit, p.row.line); again {
		return false, p.at(p.row.line, p.unit+1, "", fmt.Sprintf("rows of %s come back after those of others (first seen on %s)", quote(string(p.row.unit)), p.place(first)),
			"sort the file by that column: a person who came twice would count twice")
	}
	p.name = append(p.name[:0], p.row.unit...)
	p.x = append(p.x[:0], p.row.x...)
	for {
		ok, err := p.read()
		if err != nil {
			return false, err
		}
		if !ok {
			p.done = true
			return true, nil
		}
		if !bytes.Equal(p.row.unit, p.name) {
			p.pending = true
			return true, nil
		}
		p.x = append(p.x, p.row.x...)
	}
}

// NextRows moves over as many people as are at hand and returns their points, one after the other and valid until
// the next call, where each row is a person's. It returns nil at the end of the file, at the first error (Err
// tells which), and where a column tells people apart, which takes Next.
func (p *Points) NextRows() []float64 {
	rows, ok := p.src.(wideRows)
	if !ok || p.unit >= 0 || p.stopped() {
		return nil
	}
	b, i, err := rows.row()
	if b == nil {
		p.done, p.err = true, err
		return nil
	}
	end := i
	for end < b.n && b.missing[end] == 0 {
		end++
	}
	if end == i {
		b.at(i, &p.row)
		p.done, p.err = true, p.incomplete()
		return nil
	}
	rows.skip(end - i - 1)
	return b.x[i*b.width : end*b.width]
}

// Count reads to the end and returns the number of people that Next has not moved to. Where each row of a CSV file is
// a person's it counts rows and does not look into them: a fault that lies there is found by whoever reads them.
func (p *Points) Count() (n int64, err error) {
	if p.unit < 0 && p.csv != nil && !p.csv.begun && !p.done {
		for p.csv.table.s.next() {
			n++
		}
		p.done, p.err = true, p.csv.table.readError()
		return n, p.err
	}
	for p.Next() {
		n++
	}
	return n, p.err
}

// read is the next row, in which nothing may be missing.
func (p *Points) read() (bool, error) {
	ok, err := p.src.next(&p.row)
	if !ok || err != nil || p.row.missing == 0 {
		return ok, err
	}
	return false, p.incomplete()
}

// incomplete is the fault of the row at hand.
func (p *Points) incomplete() error {
	k := slices.IndexFunc(p.row.x, math.IsNaN)
	return p.at(p.row.line, p.number[k], p.columns[k], "the cell is empty or missing", "fill it in, or take the row out, which changes the public number of people")
}

// Person returns the coordinates of the points of the person that Next moved to, one point after the other, the
// value of the unit column ("" without one) and the line (Parquet: row) of the first. The coordinates are valid until
// the next call of Next.
func (p *Points) Person() (x []float64, unit string, line int) {
	return p.x, string(p.name), p.line
}

// Err returns the error that stopped Next, nil at the end of the file. Faults of the data are a *DataError.
func (p *Points) Err() error { return p.err }

// Close closes the file.
func (p *Points) Close() error {
	p.closed = true
	p.halt()
	if p.close == nil {
		return nil
	}
	return p.close.Close()
}
