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
	run.t, run.line, run.v = b.t[i:end], b.line[i:end], run.v[:0]
	for _, v := range b.v {
		run.v = append(run.v, v[i:end])
	}
	run.id, run.unit = b.names(i)
	l.skip(end - i - 1)
	return true, nil
}

// rows holds rows in the order of the file.
type rows struct {
	n    int
	line []int
	end  bool // of the file, or a fault: err is what keeps row n from being read
	err  error

	// Of a wide file: n rows of width values, and how many each misses.
	width   int
	x       []float64
	missing []int
	// Of a long file: the times and, of each component, the values; n of each count.
	t []float64
	v [][]float64

	hasID, hasUnit bool
	keys           []byte
	text           string // keys, once they are whole
	pairs          []keyPair
	pair           []int32 // of each row: its place in pairs
}

// keyPair is where an id and a unit stand in keys.
type keyPair struct{ from, id, unit int }

func (r *rows) resetWide(width int, hasID, hasUnit bool) {
	r.reset(hasID, hasUnit)
	r.width, r.x, r.missing = width, r.x[:0], r.missing[:0]
}

func (r *rows) resetLong(components int, hasID, hasUnit bool) {
	r.reset(hasID, hasUnit)
	if r.v == nil {
		r.v = make([][]float64, components)
	}
}

// reserve makes room for n rows of a long file.
func (r *rows) reserve(n int) {
	if n > len(r.t) {
		n = max(2*len(r.t), n, 4096)
		r.t = atLeast(r.t, n)[:n]
		for k, v := range r.v {
			r.v[k] = atLeast(v, n)[:n]
		}
	}
}

func (r *rows) reset(hasID, hasUnit bool) {
	r.n, r.line, r.end, r.err = 0, r.line[:0], false, nil
	r.hasID, r.hasUnit = hasID, hasUnit
	r.keys, r.text, r.pairs, r.pair = r.keys[:0], "", r.pairs[:0], r.pair[:0]
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

// takeLong adds rows of a long file, at most so many.
func (r *rows) takeLong(next func(*longRow) (bool, error), most int) {
	var row longRow
	for r.n < most {
		ok, err := next(&row)
		if !ok || err != nil {
			r.end, r.err = true, err
			return
		}
		i := r.n
		r.reserve(i + 1)
		r.t[i] = row.t
		for k, x := range row.v {
			r.v[k][i] = x
		}
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
