package dataset

import (
	"bytes"
	"fmt"
)

// The dialect of a CSV file, told by its first rows.

// sampleRows bounds the rows that detection looks at.
const sampleRows = 100

// checkText refuses what is no CSV text at all.
func checkText(o origin, head []byte) error {
	refuse := func(msg, fix string) error { return o.at(0, 0, "", msg, fix) }
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		return refuse("the file is empty", "it needs a header line and at least one row")
	case bytes.HasPrefix(head, []byte("PAR1")):
		return refuse("this is a Parquet file", "give it a name that ends in .parquet")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return refuse("this is a gzip file", "unpack it first (gzip -d)")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return refuse("this is a zip file or a spreadsheet", "save it as CSV")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return refuse("this is UTF-16 text", "save it as UTF-8")
	case bytes.IndexByte(head, 0) >= 0:
		return refuse("this is not text (it holds zero bytes)", "save it as UTF-8 text")
	case bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\r') < len(head)-1:
		return refuse("lines end in a carriage return only", "save the file with line feeds")
	}
	return nil
}

// sample cuts up the header and the first rows of a file's beginning. A row
// that the end of the sample cuts off is left out.
func sample(head []byte, whole bool, sep byte) (rows [][]string) {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	s := newScanner(bytes.NewReader(head))
	for len(rows) <= sampleRows && s.next() {
		fields, err := s.fields(sep)
		if err != nil {
			break
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			row[i] = string(trim(f))
		}
		rows = append(rows, row)
	}
	return rows
}

// separator picks the first candidate that cuts header and first row into
// equally many fields, else the one with most fields in the header.
func separator(head []byte, whole bool) byte {
	best, most := byte(','), 1
	for _, sep := range []byte{';', '\t', ',', '|'} {
		rows := sample(head, whole, sep)
		if len(rows) == 0 || len(rows[0]) < 2 {
			continue
		}
		n := len(rows[0])
		if len(rows) > 1 && len(rows[1]) == n {
			return sep
		}
		if n > most {
			best, most = sep, n
		}
	}
	return best
}

// decimalSign tells a decimal comma from a decimal point.
func decimalSign(o origin, rows [][]string, sep byte) (byte, error) {
	points, commas, thousands := 0, 0, 0
	example, line, column := "", 0, 0
	for i, row := range rows {
		for j, f := range row {
			b := []byte(f)
			switch {
			case bytes.IndexByte(b, '.') >= 0 && isDecimal(b, '.'):
				points++
			case bytes.IndexByte(b, ',') >= 0 && isDecimal(b, ','):
				commas++
				if isThousands(b) {
					thousands++
					example, line, column = f, i+1, j+1
				}
			}
		}
	}
	switch {
	case commas == 0 || points > 0:
		return '.', nil
	case sep != ';' && thousands == commas:
		return 0, o.at(line, column, "", fmt.Sprintf("%s may have a decimal comma or a thousands separator", quote(example)),
			"set the decimal option to ',' or '.', and take thousands separators out")
	}
	return ',', nil
}

// isThousands reports whether f has exactly three digits behind its comma and
// at most three before.
func isThousands(f []byte) bool {
	f = bytes.TrimLeft(f, "+-")
	i := bytes.IndexByte(f, ',')
	return i >= 1 && i <= 3 && f[0] != '0' && len(f)-i-1 == 3
}
