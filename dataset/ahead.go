package dataset

import "runtime"

// The rows of a CSV file, parsed on several goroutines ahead of the one that asks
// for them. A file of one chunk starts none.

// rowParser parses the records of chunks.
type rowParser interface {
	parse(*chunk)
	// fork returns a parser for another goroutine, which goes on as this one would.
	fork() rowParser
}

type ahead struct {
	table  *csvTable
	parser rowParser // of the caller's goroutine
	cutter cutter
	begun  bool
	work   chan *chunk // to the parsers; nil where they do not run
	queue  []*chunk    // being parsed, in the order of the file
	free   []*chunk
	block  *chunk // being handed out
	at     int    // its next row
	done   bool
	err    error
}

func newAhead(t *csvTable, first rowParser) *ahead { return &ahead{table: t, parser: first} }

// rewind begins again behind the header.
func (a *ahead) rewind() error {
	a.halt()
	a.begun, a.done, a.err = false, false, nil
	return a.table.rewind()
}

// halt ends the parsers, which wait for nothing but chunks.
func (a *ahead) halt() {
	if a.work != nil {
		close(a.work)
		a.work = nil
	}
	for _, c := range a.queue {
		<-c.parsed
	}
	a.queue, a.block, a.done = nil, nil, true
}

func (a *ahead) row() (*rows, int, error) {
	for a.block == nil || a.at == a.block.rows.n {
		if a.done {
			return nil, 0, a.err
		}
		a.advance()
	}
	a.at++
	return &a.block.rows, a.at - 1, nil
}

func (a *ahead) skip(rows int) { a.at += rows }

// advance moves to the next chunk.
func (a *ahead) advance() {
	if c := a.block; c != nil {
		if c.rows.err != nil || c.end {
			a.halt()
			a.err = c.rows.err
			return
		}
		a.free = append(a.free, c)
	}
	a.block, a.at = nil, 0
	if !a.begun {
		a.cutter.begin(a.table.s)
		a.begun = true
	}
	if a.work == nil {
		// What the first rows hold may settle how the others are read.
		a.block = a.cut()
		a.parser.parse(a.block)
		if c := a.block; c.rows.n > 0 && c.rows.err == nil && !c.end {
			a.start()
		}
		return
	}
	for len(a.queue) < cap(a.work) && !a.cutter.end {
		c := a.cut()
		a.queue = append(a.queue, c)
		a.work <- c
	}
	a.block, a.queue = a.queue[0], a.queue[1:]
	<-a.block.parsed
}

func (a *ahead) cut() *chunk {
	c := &chunk{parsed: make(chan struct{}, 1)}
	if n := len(a.free); n > 0 {
		c, a.free = a.free[n-1], a.free[:n-1]
	}
	a.cutter.cut(c)
	return c
}

// start begins to parse on as many goroutines as there are processors.
func (a *ahead) start() {
	workers := runtime.GOMAXPROCS(0)
	a.work = make(chan *chunk, 2*workers)
	for range workers {
		go func(p rowParser, work <-chan *chunk) {
			for c := range work {
				p.parse(c)
				c.parsed <- struct{}{}
			}
		}(a.parser.fork(), a.work)
	}
}
