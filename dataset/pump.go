package dataset

// The rows of a Parquet file, decoded by a goroutine of its own while the caller
// works on the block before.

const pumpBlocks = 3

type pump struct {
	origin
	// fill reads the next rows into a block.
	fill       func(*rows)
	again      func() error // back to the first row
	full, free chan *rows
	stop, done chan struct{} // of the goroutine; nil where it does not run
	block      *rows         // being handed out
	at         int           // its next row
}

func newPump(o origin, fill func(*rows), again func() error) *pump {
	return &pump{origin: o, fill: fill, again: again}
}

func (p *pump) rewind() error {
	p.halt()
	p.block, p.at = nil, 0
	return p.again()
}

// halt ends the goroutine.
func (p *pump) halt() {
	if p.stop != nil {
		close(p.stop)
		<-p.done
		p.stop = nil
	}
}

func (p *pump) start() {
	p.full, p.free = make(chan *rows, pumpBlocks), make(chan *rows, pumpBlocks)
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	for range pumpBlocks {
		p.free <- &rows{}
	}
	go func() {
		defer close(p.done)
		for {
			select {
			case <-p.stop:
				return
			case b := <-p.free:
				p.guardedFill(b)
				p.full <- b // as many places as blocks
				if b.end {
					return
				}
			}
		}
	}()
}

// guardedFill keeps the Parquet library's panics from the caller.
func (p *pump) guardedFill(b *rows) {
	defer func() { b.end = b.end || b.err != nil }()
	defer p.recoverDamage(&b.err)
	p.fill(b)
}

func (p *pump) row() (*rows, int, error) {
	if p.stop == nil {
		p.start()
	}
	for p.block == nil || p.at == p.block.n {
		if b := p.block; b != nil {
			if b.end {
				return nil, 0, b.err
			}
			p.free <- b
		}
		p.block, p.at = <-p.full, 0
	}
	p.at++
	return p.block, p.at - 1, nil
}

func (p *pump) skip(rows int) { p.at += rows }
