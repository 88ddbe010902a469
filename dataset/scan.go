package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Records of a CSV file over one large buffer. The grammar is that of
// encoding/csv with its default settings (RFC 4180, empty lines skipped); the
// difference is that a record without a quote, nearly every record there is,
// comes as one slice of the buffer, for the caller to cut up while it parses.

const (
	bufferSize = 256 << 10
	// maxRecord bounds the memory that a file without line ends can take.
	maxRecord = 64 << 20
)

var (
	errRecordTooLong = errors.New("the line is longer than 64 MB")
	errOpenQuote     = errors.New("a quote is opened but never closed")
)

type scanner struct {
	src      io.Reader
	buf      []byte
	pos, end int // unread bytes are buf[pos:end]
	eof      bool
	err      error

	rec    []byte // the record without its line end
	quoted bool   // rec holds a quote: use fields
	line   int    // line of the record's first byte
	lines  int    // lines read so far
	quotes bool   // a quote may be among the unread bytes

	cells [][]byte // of fields
	text  []byte
	cuts  []int
}

func newScanner(src io.Reader) *scanner {
	return &scanner{src: src, buf: make([]byte, bufferSize)}
}

// fill reads more bytes behind the unread ones.
func (s *scanner) fill() {
	unread := s.end - s.pos
	s.quotes = s.quotes && unread > 0
	s.read()
	s.quotes = s.quotes || bytes.IndexByte(s.buf[s.pos+unread:s.end], '"') >= 0
}

func (s *scanner) read() {
	if s.pos > 0 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxRecord {
			s.err, s.eof = errRecordTooLong, true
			return
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for empty := 0; ; empty++ {
		n, err := s.src.Read(s.buf[s.end:])
		s.end += n
		switch {
		case err == io.EOF:
			s.eof = true
			return
		case err != nil:
			s.err, s.eof = err, true
			return
		case n > 0:
			return
		case empty == 100:
			s.err, s.eof = io.ErrNoProgress, true
			return
		}
	}
}

// peek returns the unread part of a full buffer: the beginning of the file.
func (s *scanner) peek() []byte {
	for !s.eof && s.end-s.pos < bufferSize {
		s.fill()
	}
	return s.buf[s.pos:s.end]
}

// next moves to the next record that is not an empty line.
func (s *scanner) next() bool {
	for {
		n, ok := s.lineEnd(0)
		if !ok {
			return false
		}
		rec := s.buf[s.pos : s.pos+n]
		s.line = s.lines + 1
		s.lines++
		s.quoted = s.quotes && bytes.IndexByte(rec, '"') >= 0
		if s.quoted {
			// A record ends at the first line end outside quotes, and there
			// the number of quotes so far is even, doubled ones included.
			quotes := bytes.Count(rec, []byte{'"'})
			for quotes%2 == 1 {
				m, ok := s.lineEnd(n + 1)
				if !ok {
					if s.err == nil {
						s.err = errOpenQuote
					}
					return false
				}
				quotes += bytes.Count(s.buf[s.pos+n+1:s.pos+m], []byte{'"'})
				n = m
				s.lines++
			}
			rec = s.buf[s.pos : s.pos+n]
		}
		s.pos = min(s.pos+n+1, s.end)
		if len(rec) > 0 && rec[len(rec)-1] == '\r' {
			rec = rec[:len(rec)-1]
		}
		if len(rec) > 0 {
			s.rec = rec
			return true
		}
	}
}

// lineEnd finds the first line end at or behind pos+from, as an offset from
// pos. The end of the file ends its last line.
func (s *scanner) lineEnd(from int) (n int, ok bool) {
	for seen := from; ; {
		if s.pos+seen < s.end {
			if i := bytes.IndexByte(s.buf[s.pos+seen:s.end], '\n'); i >= 0 {
				return seen + i, true
			}
		}
		seen = max(from, s.end-s.pos)
		if s.eof {
			return seen, s.err == nil && s.pos+from < s.end
		}
		s.fill()
	}
}

// fields cuts the record at sep and takes the quotes off. The slices are valid
// until the next call of next or fields.
func (s *scanner) fields(sep byte) ([][]byte, error) {
	s.cells = s.cells[:0]
	if !s.quoted {
		for rest := s.rec; ; {
			i := bytes.IndexByte(rest, sep)
			if i < 0 {
				s.cells = append(s.cells, rest)
				return s.cells, nil
			}
			s.cells = append(s.cells, rest[:i])
			rest = rest[i+1:]
		}
	}
	s.text, s.cuts = s.text[:0], s.cuts[:0]
	for rest := s.rec; ; {
		if len(rest) == 0 || rest[0] != '"' {
			i := bytes.IndexByte(rest, sep)
			field := rest
			if i >= 0 {
				field = rest[:i]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				return nil, fmt.Errorf("field %d has a quote inside a field that does not begin with one", len(s.cuts)+1)
			}
			s.text = append(s.text, field...)
			s.cuts = append(s.cuts, len(s.text))
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			continue
		}
		rest = rest[1:]
		for {
			i := bytes.IndexByte(rest, '"')
			if i < 0 {
				return nil, fmt.Errorf("field %d opens a quote that is never closed", len(s.cuts)+1)
			}
			s.text = appendText(s.text, rest[:i])
			rest = rest[i+1:]
			if len(rest) == 0 || rest[0] != '"' {
				break
			}
			s.text = append(s.text, '"')
			rest = rest[1:]
		}
		s.cuts = append(s.cuts, len(s.text))
		if len(rest) == 0 {
			break
		}
		if rest[0] != sep {
			return nil, fmt.Errorf("field %d goes on after its closing quote", len(s.cuts))
		}
		rest = rest[1:]
	}
	from := 0
	for _, to := range s.cuts {
		s.cells = append(s.cells, s.text[from:to])
		from = to
	}
	return s.cells, nil
}

// appendText appends quoted text, line ends inside it as \n (as encoding/csv
// does).
func appendText(dst, text []byte) []byte {
	for {
		i := bytes.Index(text, []byte("\r\n"))
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), '\n')
		text = text[i+2:]
	}
}
