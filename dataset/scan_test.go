package dataset

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// scanAll cuts up text with the scanner, reading it in the pieces that wrap
// makes.
func scanAll(text []byte, sep byte, wrap func(io.Reader) io.Reader) (records [][]string, lines []int, err error) {
	s := newScanner(wrap(bytes.NewReader(text)))
	for s.next() {
		fields, err := s.fields(sep)
		if err != nil {
			return records, lines, err
		}
		record := make([]string, len(fields))
		for i, f := range fields {
			record[i] = string(f)
		}
		records, lines = append(records, record), append(lines, s.line)
	}
	return records, lines, s.err
}

// FuzzScanner holds the scanner against encoding/csv: the same texts are
// accepted, with the same fields on the same lines.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\n\n\n1,2", "\"a\",\"b,c\"\n", "\"a\nb\",c\n\"d\"\"e\",f", "a\"b,c\n", "\"a\"b,c\n",
		"\"a", "\"\"", "a\r", "\r\n\r", "a\r\r\n", "\"x\r\ny\",z\r\n", ",,\n,\n", "id,1,\"1,25\"\nboy01,\"81,3\",84\n", " \n", "\"\"\"\",\n", "a,\"\n\"\"\n\",b\n\n\"c\"", "\xff,\x00\n",
	} {
		f.Add([]byte(seed), byte(','))
		f.Add([]byte(strings.ReplaceAll(seed, ",", ";")), byte(';'))
	}
	f.Fuzz(func(t *testing.T, text []byte, sep byte) {
		if sep != ',' && sep != ';' && sep != '\t' && sep != '|' {
			return
		}
		r := csv.NewReader(bytes.NewReader(text))
		r.Comma = rune(sep)
		r.FieldsPerRecord = -1
		var want [][]string
		var wantLines []int
		var wantErr error
		for {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				wantErr = err
				break
			}
			line, _ := r.FieldPos(0)
			want, wantLines = append(want, record), append(wantLines, line)
		}
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"at once":  func(r io.Reader) io.Reader { return r },
			"bytes":    iotest.OneByteReader,
			"halves":   iotest.HalfReader,
			"with eof": iotest.DataErrReader,
		} {
			got, lines, err := scanAll(text, sep, wrap)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%s: %q: error %v, encoding/csv says %v", name, text, err, wantErr)
			}
			if err == nil && !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s: %q: got %q, want %q", name, text, got, want)
			}
			if err == nil && !slices.Equal(lines, wantLines) {
				t.Fatalf("%s: %q: lines %v, want %v", name, text, lines, wantLines)
			}
		}
	})
}

// Lines longer than the buffer, and records across its seam.
func TestScannerSeams(t *testing.T) {
	for _, n := range []int{bufferSize - 2, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 5} {
		for _, text := range []string{
			strings.Repeat("x", n) + ",y\nz,\"q\nr\"\n",
			"\"" + strings.Repeat("x", n) + "\ny\",z\nu,v",
			strings.Repeat("a,b\n", n/4) + "\"c\",d\r\n",
		} {
			want, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := scanAll([]byte(text), ',', func(r io.Reader) io.Reader { return r })
			if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("n=%d: %d records, %v; want %d", n, len(got), err, len(want))
			}
		}
	}
}

func TestScannerReadError(t *testing.T) {
	_, err := NewCSV(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("id,t,value\na,1,2\n"))), "x", Options{})
	if err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("got %v", err)
	}
}
