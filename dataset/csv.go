package dataset

import (
	"bytes"
	"fmt"
	"io"

	iso "github.com/curveil/curveil/internal/clock"
)

// CSV files: the header, and what the parsers of both layouts share. A row that
// holds no quote is parsed where it lies, number by number; whatever is not a
// plain number goes to the careful reader of that cell.

// openCSV reads up to the header: byte order mark, separator, decimal sign, column
// names. seeker is nil where the input cannot be read again; sampled is the first
// rows, for what only they can tell.
func openCSV(in io.Reader, seeker io.Seeker, name string, sepRune, decimalRune rune) (t *csvTable, sampled [][]string, err error) {
	org := origin{file: name}
	s := newScanner(in)
	head := s.peek()
	if s.err != nil {
		return nil, nil, fmt.Errorf("dataset: %s: %w", name, s.err)
	}
	if bytes.HasPrefix(head, bom) {
		s.pos += len(bom)
		head = head[len(bom):]
	}
	if err := checkText(org, head); err != nil {
		return nil, nil, err
	}
	sep, decimal := byte(sepRune), byte(decimalRune)
	if sep == 0 {
		sep = separator(head, s.eof)
	}
	sampled = sample(head, s.eof, sep)
	if decimal == 0 {
		if decimal, err = decimalSign(org, sampled, sep); err != nil {
			return nil, nil, err
		}
	}
	t = &csvTable{origin: org, s: s, seeker: seeker, sep: sep, decimal: decimal, id: -1, unit: -1}
	if t.point = decimal; decimal == sep {
		t.point = '\n' // only a quoted field can hold the sign
	}
	t.names, err = t.header()
	return t, sampled, err
}

// understand makes the columns of an open table out of its names and first rows.
func (t *csvTable) understand(sampled [][]string, o Options) *columns {
	return &columns{origin: t.origin, line: t.s.line, names: t.names, kinds: kinds(sampled, len(t.names), t.decimal), decimal: t.decimal, zone: o.Zone, o: o}
}

// newCSV reads the header. seeker is nil where the input cannot be read again.
func newCSV(in io.Reader, seeker io.Seeker, name string, o Options) (*Reader, error) {
	t, sampled, err := openCSV(in, seeker, name, o.Separator, o.Decimal)
	if err != nil {
		return nil, err
	}
	c := t.understand(sampled, o)
	r := &Reader{schema: Schema{Separator: rune(t.sep), Decimal: rune(t.decimal)}}
	if err := c.resolve(&r.schema); err != nil {
		return nil, err
	}
	t.id, t.unit = c.id, c.unit
	if r.schema.Layout == Wide {
		rows := wideRows{newAhead(t, newCSVWide(t.fork(), c))}
		r.source, r.halt = newWide(rows, t.origin, r.schema, c, o), rows.halt
	} else {
		rows := longRows{newAhead(t, newCSVLong(t.fork(), c))}
		r.source, r.halt = newGroups(rows, t.origin, r.schema, c, o), rows.halt
	}
	return r, nil
}

var bom = []byte("\ufeff")

// kinds tells what the sampled cells of each column hold.
func kinds(rows [][]string, n int, decimal byte) []kind {
	k := make([]kind, n)
	for _, row := range rows[min(1, len(rows)):] {
		for i, f := range row[:min(n, len(row))] {
			k[i] = merge(k[i], []byte(f), decimal)
		}
	}
	return k
}

// merge is the kind of a column that was k so far and holds cell f too.
func merge(k kind, f []byte, decimal byte) kind {
	switch _, what := cell(f, decimal); {
	case what == cellMissing:
		return k
	case what != cellText:
		return kindNumber
	case k == kindNumber || k == kindText:
		return k
	}
	if _, err := iso.Parse(f, nil); err == iso.ErrNotTime {
		return kindText
	}
	return kindTime
}

// csvTable is what the readers of both layouts share.
type csvTable struct {
	origin
	s            *scanner
	seeker       io.Seeker
	sep, decimal byte
	point        byte // decimal sign of fields without quotes
	names        []string
	id, unit     int
}

// fork returns a table for another goroutine, with a scanner of its own.
func (t *csvTable) fork() *csvTable {
	other := *t
	other.s = &scanner{}
	return &other
}

func (t *csvTable) header() ([]string, error) {
	if !t.s.next() {
		return nil, t.readError()
	}
	fields, err := t.s.fields(t.sep)
	if err != nil {
		return nil, t.at(t.s.line, 0, "", err.Error(), quoteFix)
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = string(trim(f))
	}
	return names, nil
}

const quoteFix = `put the whole field in quotes and double the quotes inside it ("")`

// rewind goes back to the first row behind the header.
func (t *csvTable) rewind() error {
	if _, err := t.seeker.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("dataset: %s: %w", t.file, err)
	}
	*t.s = scanner{src: t.s.src, buf: t.s.buf}
	if bytes.HasPrefix(t.s.peek(), bom) {
		t.s.pos += len(bom)
	}
	_, err := t.header()
	return err
}

// readError is the error that ended the scan, nil at the end of the file.
func (t *csvTable) readError() error {
	if t.s.err == nil {
		return nil
	}
	if t.s.err == errRecordTooLong || t.s.err == errOpenQuote {
		return t.at(t.s.lines, 0, "", t.s.err.Error(), "is this a CSV file with the right quotes?")
	}
	return fmt.Errorf("dataset: %s: after line %d: %w", t.file, t.s.lines, t.s.err)
}

func (t *csvTable) fault(column int, msg, fix string) error {
	return t.at(t.s.line, column+1, t.names[column], msg, fix)
}

// row checks that the record has as many fields as the header, and cuts it up.
func (t *csvTable) row() ([][]byte, error) {
	fields, err := t.s.fields(t.sep)
	if err != nil {
		return nil, t.at(t.s.line, 0, "", err.Error(), quoteFix)
	}
	if len(fields) != len(t.names) {
		return nil, t.at(t.s.line, 0, "", fmt.Sprintf("the row has %d fields, the header has %d", len(fields), len(t.names)),
			"correct the row; a missing value is an empty field or NA")
	}
	return fields, nil
}

// key returns the text of an id or unit cell.
func (t *csvTable) key(column int, f []byte) ([]byte, error) {
	f = trim(f)
	if isMissing(f) {
		return nil, t.fault(column, "the row does not say whose it is", "fill the cell in; an id must not be empty, NA, NaN or null")
	}
	return f, nil
}

// value reads a cell that is not a plain number.
func (t *csvTable) value(column int, f []byte) (x float64, err error) {
	x, what := cell(f, t.decimal)
	switch what {
	case cellInfinite:
		return 0, t.fault(column, quote(string(f))+" is not finite", "write the value, or NA where it is missing")
	case cellOverflow:
		return 0, t.fault(column, quote(string(f))+" is too large for a 64-bit float", "write the value, or NA where it is missing")
	case cellText:
		return 0, t.fault(column, quote(string(f))+" is not a number", t.numberFix(f))
	}
	return x, nil
}

func (t *csvTable) numberFix(f []byte) string {
	other := byte(',')
	if t.decimal == ',' {
		other = '.'
	}
	if isDecimal(trim(f), other) {
		return fmt.Sprintf("numbers are read with the decimal sign '%c'; set the decimal option if it is '%c'", t.decimal, other)
	}
	return "write the value, or NA where it is missing"
}
