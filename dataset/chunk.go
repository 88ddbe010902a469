package dataset

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// CSV files in chunks of whole records. The caller's goroutine alone reads the
// file (nothing waits on a blocked input but who asked for rows) and cuts it up;
// others parse the chunks while the caller works on those before.

// A record ends at the first line end with an even number of quotes behind its
// beginning (see scanner), so that counting quotes is all it takes to cut.

type chunk struct {
	data   []byte
	quotes bool
	line   int   // lines before it
	end    bool  // of the file
	err    error // of reading it, behind data
	rows   rows
	parsed chan struct{} // one token when rows are ready
}

// scan sets s on the chunk.
func (c *chunk) scan(s *scanner) {
	*s = scanner{buf: c.data, end: len(c.data), eof: true, err: c.err, lines: c.line, quotes: c.quotes, cells: s.cells, text: s.text, cuts: s.cuts}
}

// wholeRecords returns the length of the whole records at the beginning of data.
func wholeRecords(data []byte, quotes bool) int {
	if !quotes {
		return bytes.LastIndexByte(data, '\n') + 1
	}
	quote := []byte{'"'}
	odd := bytes.Count(data, quote)%2 == 1
	for end := len(data); ; {
		i := bytes.LastIndexByte(data[:end], '\n')
		if i < 0 {
			return 0
		}
		if bytes.Count(data[i:end], quote)%2 == 1 {
			odd = !odd
		}
		if !odd {
			return i + 1
		}
		end = i
	}
}

// cutter cuts up what the scanner of a table has not read yet.
type cutter struct {
	size  int // of a chunk, about; 0 means bufferSize
	src   io.Reader
	carry []byte // the beginning of the next chunk
	line  int
	end   bool
}

// begin takes over from a scanner.
func (k *cutter) begin(s *scanner) {
	k.src, k.carry, k.line, k.end = bytes.NewReader(s.buf[s.pos:s.end]), nil, s.lines, false
	if !s.eof {
		k.src = io.MultiReader(k.src, s.src)
	}
}

// cut fills c with the next records of the file: one at least, or its end.
func (k *cutter) cut(c *chunk) {
	size := cmp.Or(k.size, bufferSize)
	if len(k.carry) >= size {
		size = 2 * len(k.carry)
	}
	c.data = slices.Grow(c.data[:0], size)
	c.data = c.data[:cap(c.data)]
	n := copy(c.data, k.carry)
	k.carry, c.end, c.err, c.line = nil, false, nil, k.line
	for {
		m, err := readFull(k.src, c.data[n:])
		n += m
		c.quotes = bytes.IndexByte(c.data[:n], '"') >= 0
		if err != nil {
			c.end, k.end = true, true
			if err != io.EOF {
				c.err = err
			}
			c.data = c.data[:n]
			return
		}
		if whole := wholeRecords(c.data[:n], c.quotes); whole > 0 {
			k.carry = c.data[whole:n]
			c.data = c.data[:whole]
			k.line += bytes.Count(c.data, []byte{'\n'})
			return
		}
		if n >= maxRecord {
			c.data, c.end, k.end, c.err = c.data[:n], true, true, errRecordTooLong
			return
		}
		c.data = append(c.data, make([]byte, len(c.data))...)
	}
}

// readFull fills dst. Only the end of the file and errors keep it from that.
func readFull(src io.Reader, dst []byte) (n int, err error) {
	for empty := 0; n < len(dst); {
		m, err := src.Read(dst[n:])
		n += m
		if err != nil {
			return n, err
		}
		if m > 0 {
			empty = 0
		} else if empty++; empty == 100 {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}
