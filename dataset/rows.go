package dataset

// Blocks of rows, between the goroutines that read ahead and the one that hands
// rows out.

// blocks is a file read ahead, row by row.
type blocks interface {
	// row returns the block that holds the next row and its place there, nil at the
	// end of the file and at its first fault.
	row() (*rows, int, error)
	skip(rows int) // of the block
	rewind() error
	halt() // the goroutines
}

// wideRows hands out the rows of a wide file, longRows those of a long one.
type (
	wideRows struct{ blocks }
	longRows struct{ blocks }
)

func (w wideRows) next(row *wideRow) (bool, error) {
	b, i, err := w.row()
	if b == nil {
		return false, err
	}
	b.at(i, row)
	if b.hasID {
		// One string for a block, not one for each person.
		if len(b.text) != len(b.keys) {
			b.text = string(b.keys)
		}
		p := b.pairs[b.pair[i]]
		row.name = b.text[p.from:p.id]
	}
	return true, nil
}

func (r *rows) at(i int, row *wideRow) {
	row.x, row.line, row.missing = r.values(i), r.line[i], r.missing[i]
	row.id, row.unit = r.names(i)
}

func (l longRows) next(run *longRun) (bool, error) {
	b, i, err := l.row()
	if b == nil {
		return false, err
	}
	end := b.sameNames(i)
	run.x, run.line = b.x[i*b.width:end*b.width], b.line[i:end]
	run.id, run.unit = b.names(i)
	l.skip(end - i - 1)
	return true, nil
}

// rows holds rows in the order of the file.
type rows struct {
	n, width int
	x        []float64 // n rows of width values
	line     []int
	missing  []int // of each row of a wide file
	end      bool  // of the file, or a fault: err is what keeps row n from being read
	err      error

	hasID, hasUnit bool
	keys           []byte
	text           string // keys, once they are whole
	pairs          []keyPair
	pair           []int32 // of each row: its place in pairs
}

// keyPair is where an id and a unit stand in keys.
type keyPair struct{ from, id, unit int }

func (r *rows) reset(width int, hasID, hasUnit bool) {
	*r = rows{
		width: width, hasID: hasID, hasUnit: hasUnit,
		x: r.x[:0], line: r.line[:0], missing: r.missing[:0], keys: r.keys[:0], pairs: r.pairs[:0], pair: r.pair[:0],
	}
}

// room returns the place of the next row's values. It is the row's only once name
// is called.
func (r *rows) room() []float64 {
	from, to := r.n*r.width, (r.n+1)*r.width
	if to > cap(r.x) {
		r.x = append(make([]float64, 0, max(2*cap(r.x), to, 4096)), r.x[:from]...)
	}
	return r.x[from:to:to]
}

// takeWide adds rows of a wide file, at most so many. next reads one into *x.
func (r *rows) takeWide(next func(*wideRow) (bool, error), x *[]float64, most int) {
	var row wideRow
	for r.n < most {
		*x = r.room()
		ok, err := next(&row)
		if !ok || err != nil {
			r.end, r.err = true, err
			return
		}
		r.line, r.missing = append(r.line, row.line), append(r.missing, row.missing)
		r.name(row.id, row.unit)
	}
}

// takeLong adds rows of a long file, at most so many. next reads the values of one
// into *v.
func (r *rows) takeLong(next func(*longRow) (bool, error), v *[]float64, most int) {
	var row longRow
	for r.n < most {
		x := r.room()
		*v = x[1:]
		ok, err := next(&row)
		if !ok || err != nil {
			r.end, r.err = true, err
			return
		}
		x[0] = row.t
		r.line = append(r.line, row.line)
		r.name(row.id, row.unit)
	}
}

// name ends a row. It copies no keys where they are those of the row before.
func (r *rows) name(id, unit []byte) {
	r.n++
	if !r.hasID && !r.hasUnit {
		return
	}
	last := len(r.pairs) - 1
	if last >= 0 {
		p := r.pairs[last]
		if string(r.keys[p.from:p.id]) != string(id) || string(r.keys[p.id:p.unit]) != string(unit) {
			last = -1
		}
	}
	if last < 0 {
		last = len(r.pairs)
		from := len(r.keys)
		r.keys = append(append(r.keys, id...), unit...)
		r.pairs = append(r.pairs, keyPair{from, from + len(id), len(r.keys)})
	}
	r.pair = append(r.pair, int32(last))
}

func (r *rows) values(i int) []float64 {
	return r.x[i*r.width : (i+1)*r.width : (i+1)*r.width]
}

// sameNames returns the end of the rows that have the keys of row i.
func (r *rows) sameNames(i int) int {
	if !r.hasID && !r.hasUnit {
		return r.n
	}
	for end := i + 1; ; end++ {
		if end == r.n || r.pair[end] != r.pair[i] {
			return end
		}
	}
}

// names returns the keys of a row, nil where the file has no such column.
func (r *rows) names(i int) (id, unit []byte) {
	if !r.hasID && !r.hasUnit {
		return nil, nil
	}
	p := r.pairs[r.pair[i]]
	if r.hasID {
		id = r.keys[p.from:p.id:p.id]
	}
	if r.hasUnit {
		unit = r.keys[p.id:p.unit:p.unit]
	}
	return id, unit
}
