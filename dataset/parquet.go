package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Parquet files. The schema gives the columns their roles as the header of a
// CSV file does; a wide file has one column per time, or one list column whose
// times the options give. Nulls and NaN are missing values.

func newParquet(f io.ReaderAt, size int64, name string, o Options) (r *Reader, err error) {
	org := origin{file: name, byRow: true}
	defer org.recoverDamage(&err)
	if err := checkFooter(f, size); err != nil {
		return nil, org.damage(err)
	}
	file, err := parquet.OpenFile(f, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, org.damage(err)
	}
	t := &pqTable{origin: org, groups: file.RowGroups()}
	c := &columns{origin: org, decimal: '.', zone: o.Zone, o: o}
	list := -1
	for i, top := range file.Root().Columns() {
		col := newPqColumn(top, i+1)
		k := col.kind
		if col.list && k == kindNumber && col.refused == "" && list < 0 && (len(o.Values) == 0 || o.Values[0] == col.name) {
			list = i
		}
		if col.list || col.refused != "" {
			k = kindOther
		}
		t.columns = append(t.columns, col)
		c.names, c.kinds = append(c.names, col.name), append(c.kinds, k)
	}
	r = &Reader{}
	switch {
	case list >= 0 && o.Layout != Long && len(o.Times) > 0:
		err = c.resolveList(&r.schema, list)
	case len(o.Times) > 0:
		err = org.at(0, 0, "", "the times option is for a file with a list column of numbers, and there is none", "leave the option out")
	default:
		err = c.resolve(&r.schema)
		var e *DataError
		if list >= 0 && errors.As(err, &e) {
			e.Fix += "; or give the times of the elements of list column " + quote(c.names[list]) + " in the times option"
		}
	}
	if err != nil {
		return nil, err
	}
	if err := t.take(c); err != nil {
		return nil, err
	}
	var rows *pump
	switch {
	case len(o.Times) > 0:
		list := newPqList(t, len(o.Times))
		rows = newPump(org, list.fill, list.rewind)
	case r.schema.Layout == Wide:
		rows = newPump(org, pqWide{t}.fill, t.rewind)
	default:
		long, err := newPqLong(t, c)
		if err != nil {
			return nil, err
		}
		rows = newPump(org, long.fill, long.rewind)
		r.source = newGroups(longRows{rows}, org, r.schema, c, o)
	}
	if r.source == nil {
		r.source = newWide(wideRows{rows}, org, r.schema, c, o)
	}
	r.halt = rows.halt
	return r, rows.rewind()
}

// checkFooter compares the length of the footer, which the file's end gives
// (length, "PAR1"), with that of the file: the Parquet library would allocate
// whatever a damaged file claims.
func checkFooter(f io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return errors.New("it is too short")
	}
	if _, err := f.ReadAt(end[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); string(end[4:]) == "PAR1" && n > size-12 {
		return fmt.Errorf("it says that its footer has %d bytes, but the file has %d", n, size)
	}
	return nil
}

func (o origin) damage(err error) error {
	return o.at(0, 0, "", "the Parquet file cannot be read: "+err.Error(), "is it complete? Write it again")
}

// recoverDamage turns a panic of the Parquet library, which trusts the file
// more than a reader of other people's files may, into an error.
func (o origin) recoverDamage(err *error) {
	if p := recover(); p != nil {
		*err = o.damage(fmt.Errorf("%v", p))
	}
}

// pqTable is what the readers of all layouts share.
type pqTable struct {
	origin
	groups   []parquet.RowGroup
	columns  []*pqColumn
	empty    []*pqColumn // columns without a row left, in decode
	values   []*pqColumn
	id, unit *pqColumn   // nil where there is none
	read     []*pqColumn // all columns in use
	row      int         // rows read
}

func (t *pqTable) fault(c *pqColumn, row int, msg, fix string) error {
	return t.at(row, c.number, c.name, msg, fix)
}

// take gives the columns the roles found.
func (t *pqTable) take(c *columns) error {
	key := func(i int) (*pqColumn, error) {
		if i < 0 {
			return nil, nil
		}
		col := t.columns[i]
		col.text = true
		k := parquet.Kind(-1)
		if col.leaf != nil {
			k = col.leaf.Type().Kind()
		}
		if col.list || k != parquet.ByteArray && k != parquet.Int32 && k != parquet.Int64 {
			return nil, t.fault(col, 0, "the column cannot tell people apart: it holds neither text nor whole numbers", "name another column in the id or unit option")
		}
		t.read = append(t.read, col)
		return col, nil
	}
	var err error
	if t.id, err = key(c.id); err != nil {
		return err
	}
	if t.unit, err = key(c.unit); err != nil {
		return err
	}
	for _, i := range c.values {
		col := t.columns[i]
		if col.kind != kindNumber || col.refused != "" || col.list && len(c.o.Times) == 0 {
			return t.fault(col, 0, "the column holds no numbers", "name it in the ignore option")
		}
		t.values, t.read = append(t.values, col), append(t.read, col)
	}
	return nil
}

func (t *pqTable) rewind() error {
	t.row = 0
	for _, c := range t.read {
		c.open(t.groups)
	}
	return nil
}

// batch is the number of rows, at most n, that every column can give from its
// page; 0 at the end of the file.
func (t *pqTable) batch(n int) (int, error) {
	ended := 0
	t.decode()
	for i, c := range t.read {
		err := c.failed
		if err == nil {
			err = c.more()
		}
		switch {
		case err == io.EOF:
			ended++
		case err != nil:
			return 0, t.damage(fmt.Errorf("column %s: %w", quote(c.name), err))
		}
		if ended > 0 && ended <= i {
			return 0, t.damage(errors.New("its columns have different numbers of rows"))
		}
		n = min(n, c.left())
	}
	if ended > 0 {
		return 0, nil
	}
	return n, nil
}

// decode reads the next pages of the columns that have no row left, on two
// goroutines: the columns of a wide file mostly run out together.
func (t *pqTable) decode() {
	t.empty = t.empty[:0]
	for _, c := range t.read {
		if c.left() == 0 && c.failed == nil {
			t.empty = append(t.empty, c)
		}
	}
	if len(t.empty) < 8 {
		return
	}
	half := len(t.empty) / 2
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.decodeAll(t.empty[:half])
	}()
	t.decodeAll(t.empty[half:])
	<-done
}

func (t *pqTable) decodeAll(columns []*pqColumn) {
	for _, c := range columns {
		func() {
			// A panic of the library must not end the program from a goroutine.
			defer t.recoverDamage(&c.failed)
			c.failed = c.more()
		}()
	}
}

// key returns the id or unit of the next row of its column; nil where there
// is no such column.
func (t *pqTable) key(c *pqColumn) ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	if c.keyText != nil && c.equal(c.index[c.pos], c.keyAt) {
		c.pos++
		return c.keyText, nil
	}
	f, err := c.textAt(c.pos)
	if err != nil {
		return nil, t.damage(err)
	}
	if f = trim(f); isMissing(f) {
		return nil, t.fault(c, t.row, "the row does not say whose it is", "fill the cell in; an id must not be null, empty, NA or NaN")
	}
	c.keyAt, c.keyText = c.index[c.pos], f
	c.pos++
	return f, nil
}

func (t *pqTable) keys(id, unit *[]byte) (err error) {
	if *id, err = t.key(t.id); err != nil {
		return err
	}
	*unit, err = t.key(t.unit)
	return err
}

const infiniteFix = "write the value, or null where it is missing"
