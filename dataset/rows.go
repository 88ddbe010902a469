package dataset

// Blocks of parsed rows, between the goroutines that read ahead and the one that
// hands rows out.

// rows holds rows in the order of the file.
type rows struct {
	n, width int
	x        []float64 // n rows of width values
	line     []int
	missing  []int // of each row of a wide file
	err      error // what keeps row n from being read

	hasID, hasUnit bool
	keys           []byte
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
		r.x = append(make([]float64, 0, max(2*cap(r.x), 64*r.width)), r.x[:from]...)
	}
	return r.x[from:to:to]
}

// name ends a row. It copies no keys where they are those of the row before.
func (r *rows) name(id, unit []byte) {
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
	r.n++
}

func (r *rows) values(i int) []float64 {
	return r.x[i*r.width : (i+1)*r.width : (i+1)*r.width]
}

// names returns the keys of a row, nil where the file has no such column.
func (r *rows) names(i int) (id, unit []byte) {
	p := r.pairs[r.pair[i]]
	if r.hasID {
		id = r.keys[p.from:p.id:p.id]
	}
	if r.hasUnit {
		unit = r.keys[p.id:p.unit:p.unit]
	}
	return id, unit
}
