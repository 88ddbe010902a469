package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// One column of a Parquet file, page by page, as float64 with NaN for null, or
// as text. Pages are decoded whole: a value costs a few instructions.

// physical is what the values of a column are and what turns them into float64.
type physical struct {
	kind    kind
	list    bool          // one level of repetition
	divide  float64       // Parquet decimals: value = stored / divide
	unit    time.Duration // times: one step of the stored number, 0 if it is no time
	naive   bool          // times: wall time without a zone
	signed  bool
	refused string // why the column cannot be read
}

// newPqColumn describes the column of the file that stands at a number.
func newPqColumn(top *parquet.Column, number int) *pqColumn {
	c := &pqColumn{name: top.Name(), number: number}
	leaf := top
	for !leaf.Leaf() && len(leaf.Columns()) == 1 {
		leaf = leaf.Columns()[0]
	}
	if !leaf.Leaf() {
		c.physical = physical{kind: kindText, refused: "is nested"}
		return c
	}
	c.leaf, c.nullable, c.physical = leaf, leaf.Optional(), physicalOf(leaf)
	return c
}

// cause says why the column cannot be read as numbers or text.
func (c *pqColumn) cause() string {
	if c.list && c.refused == "" {
		return "holds lists"
	}
	return c.refused
}

func physicalOf(leaf *parquet.Column) physical {
	p := physical{kind: kindNumber, divide: 1, signed: true, list: leaf.MaxRepetitionLevel() == 1}
	if leaf.MaxRepetitionLevel() > 1 {
		return physical{kind: kindText, refused: "holds lists of lists"}
	}
	switch k := leaf.Type().Kind(); k {
	case parquet.Double, parquet.Float, parquet.Int32, parquet.Int64:
	case parquet.ByteArray:
		p.kind = kindText
	default:
		p.kind, p.refused = kindText, fmt.Sprintf("has the type %s, which is not read", k)
	}
	logical := leaf.Type().LogicalType()
	if logical == nil {
		return p
	}
	switch l := logical.Value.(type) {
	case *format.DecimalType:
		if p.kind != kindNumber || l.Scale < 0 || int(l.Scale) >= len(pow10) {
			p.kind, p.refused = kindText, fmt.Sprintf("has the type %s, which is not read", l)
			break
		}
		p.divide = pow10[l.Scale]
	case *format.TimestampType:
		p.kind, p.naive = kindTime, !l.IsAdjustedToUTC
		if l.Unit.Value == nil {
			p.refused = "has a time unit that is not known"
			break
		}
		p.unit = l.Unit.Value.Duration()
	case *format.DateType:
		p.kind, p.naive, p.unit = kindTime, true, 24*time.Hour
	case *format.IntType:
		p.signed = l.IsSigned
	case *format.StringType, *format.EnumType, *format.ListType, nil:
	default:
		p.kind, p.refused = kindText, fmt.Sprintf("has the type %s, which is not read", l)
	}
	return p
}

// pqColumn reads one leaf column through one row group after the other.
type pqColumn struct {
	physical
	name   string
	number int // among the columns of the file, from 1
	leaf   *parquet.Column
	text   bool // read as text, else as float64

	nullable bool // the value itself (of a list: the element) may be null

	chunks []parquet.ColumnChunk
	pages  parquet.Pages
	page   parquet.Page

	failed  error     // of decode
	x       []float64 // of the page's rows (elements, for a list); NaN is null
	pos     int       // next of them
	index   []int32   // text: of each row the place of its text, -1 is null
	data    []byte
	offsets []uint32
	ints    encoding.Values // text of whole numbers
	digits  []byte

	keyAt   int32 // the text read last and its place, for runs of one id
	keyText []byte

	scratch, spread []float64
	dict            []float64
	dictOf          parquet.Dictionary
}

// open starts again at the first row.
func (c *pqColumn) open(groups []parquet.RowGroup) {
	c.closePages()
	c.chunks = c.chunks[:0]
	for _, g := range groups {
		c.chunks = append(c.chunks, g.ColumnChunks()[c.leaf.Index()])
	}
	c.x, c.index, c.pos, c.failed = nil, nil, 0, nil
}

func (c *pqColumn) closePages() {
	parquet.Release(c.page)
	if c.pages != nil {
		c.pages.Close()
	}
	c.page, c.pages = nil, nil
}

// left is the number of rows of the page that have not been read.
func (c *pqColumn) left() int {
	if c.text {
		return len(c.index) - c.pos
	}
	return len(c.x) - c.pos
}

// more makes sure that at least one row is left; io.EOF is the end.
func (c *pqColumn) more() error {
	for c.left() == 0 {
		if err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// next decodes the next page; io.EOF is the end.
func (c *pqColumn) next() error {
	for {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return io.EOF
			}
			c.pages = c.chunks[0].Pages()
			c.chunks = c.chunks[1:]
			c.dictOf = nil
		}
		parquet.Release(c.page)
		c.page, c.x, c.index, c.pos = nil, nil, c.index[:0], 0
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			c.closePages()
			continue
		}
		if err != nil {
			return err
		}
		c.page = page
		if c.text {
			return c.loadText()
		}
		return c.loadFloats()
	}
}

// loadFloats decodes the page into x.
func (c *pqColumn) loadFloats() error {
	values, err := c.floats()
	if err != nil {
		return err
	}
	defined := c.page.DefinitionLevels()
	if c.list || len(defined) == 0 {
		c.x = values
		return nil
	}
	if c.x, err = c.spreadNulls(values, defined); err != nil {
		return err
	}
	return nil
}

// spreadNulls puts NaN where the definition level says null.
func (c *pqColumn) spreadNulls(values []float64, defined []byte) ([]float64, error) {
	if len(values) == len(defined) {
		return values, nil
	}
	top := byte(c.leaf.MaxDefinitionLevel())
	c.spread = slices.Grow(c.spread[:0], len(defined))[:len(defined)]
	n := 0
	for i, d := range defined {
		if d != top {
			c.spread[i] = math.NaN()
			continue
		}
		if n == len(values) {
			return nil, errFewValues
		}
		c.spread[i] = values[n]
		n++
	}
	return c.spread, nil
}

var errFewValues = errors.New("a page holds fewer values than it says")

// floats returns the values of the page that are not null.
func (c *pqColumn) floats() ([]float64, error) {
	if c.page.NumValues() == c.page.NumNulls() {
		return nil, nil
	}
	data := c.page.Data()
	dictionary := c.page.Dictionary()
	if dictionary == nil {
		var err error
		values, err := c.convert(data, c.scratch)
		if data.Kind() != encoding.Double || c.unit != 0 {
			c.scratch = values
		}
		return values, err
	}
	if c.dictOf != dictionary {
		values, err := c.convert(dictionary.Page().Data(), nil)
		if err != nil {
			return nil, err
		}
		c.dict, c.dictOf = slices.Clone(values), dictionary
	}
	if data.Kind() != encoding.Int32 {
		return nil, fmt.Errorf("dictionary indexes of kind %s", data.Kind())
	}
	index := data.Int32()
	c.scratch = slices.Grow(c.scratch[:0], len(index))[:len(index)]
	dict := c.dict
	for i, k := range index {
		if uint(k) >= uint(len(dict)) {
			return nil, fmt.Errorf("dictionary index %d of %d", k, len(dict))
		}
		c.scratch[i] = dict[k]
	}
	return c.scratch, nil
}

// convert turns stored values into float64, in dst where it must copy.
func (c *pqColumn) convert(data encoding.Values, dst []float64) ([]float64, error) {
	dst = dst[:0]
	switch data.Kind() {
	case encoding.Double:
		return data.Double(), nil
	case encoding.Float:
		for _, x := range data.Float() {
			dst = append(dst, float64(x))
		}
	case encoding.Int32:
		for _, x := range data.Int32() {
			if c.signed {
				dst = append(dst, float64(x))
			} else {
				dst = append(dst, float64(uint32(x)))
			}
		}
	case encoding.Int64:
		for _, x := range data.Int64() {
			if c.signed {
				dst = append(dst, float64(x))
			} else {
				dst = append(dst, float64(uint64(x)))
			}
		}
	default:
		return nil, fmt.Errorf("values of kind %s", data.Kind())
	}
	switch {
	case c.unit >= time.Second:
		for i := range dst {
			dst[i] *= c.unit.Seconds()
		}
	case c.unit > 0:
		perSecond := float64(time.Second / c.unit)
		for i := range dst {
			dst[i] /= perSecond
		}
	case c.divide != 1:
		for i := range dst {
			dst[i] /= c.divide
		}
	}
	return dst, nil
}

// loadText finds the text of each row.
func (c *pqColumn) loadText() error {
	data := c.page.Data()
	n := int(c.page.NumValues() - c.page.NumNulls())
	index := slices.Grow(c.index[:0], int(c.page.NumRows()))
	source := data
	var positions []int32
	if dictionary := c.page.Dictionary(); dictionary != nil && n > 0 {
		source = dictionary.Page().Data()
		if data.Kind() != encoding.Int32 {
			return fmt.Errorf("dictionary indexes of kind %s", data.Kind())
		}
		positions = data.Int32()
	}
	count := 0
	c.data, c.offsets, c.ints, c.keyText = nil, nil, encoding.Values{}, nil
	if n > 0 {
		switch source.Kind() {
		case encoding.ByteArray:
			c.data, c.offsets = source.ByteArray()
			count = len(c.offsets) - 1
		case encoding.Int32:
			c.ints, count = source, len(source.Int32())
		case encoding.Int64:
			c.ints, count = source, len(source.Int64())
		default:
			return fmt.Errorf("text of kind %s", source.Kind())
		}
	}
	at := func(k int) (int32, error) {
		if positions != nil {
			if k >= len(positions) {
				return 0, errFewValues
			}
			k = int(positions[k])
		}
		if k < 0 || k >= count {
			return 0, errFewValues
		}
		return int32(k), nil
	}
	defined, top := c.page.DefinitionLevels(), byte(c.leaf.MaxDefinitionLevel())
	if len(defined) == 0 {
		defined = nil
	}
	for i, k := 0, 0; i < int(c.page.NumRows()); i++ {
		if defined != nil && defined[i] != top || n == 0 {
			index = append(index, -1)
			continue
		}
		p, err := at(k)
		if err != nil {
			return err
		}
		k++
		index = append(index, p)
	}
	c.index = index
	return nil
}

// textAt returns the text of row i of the page, nil for null.
// equal tells without their text that two values of the page are the same; they may be the same without it.
func (c *pqColumn) equal(i, j int32) bool {
	return i == j || i >= 0 && j >= 0 && c.ints.Kind() == encoding.Int64 && c.ints.Int64()[i] == c.ints.Int64()[j]
}

func (c *pqColumn) textAt(i int) ([]byte, error) {
	k := c.index[i]
	switch {
	case k < 0:
		return nil, nil
	case c.ints.Kind() == encoding.Undefined:
		from, to := c.offsets[k], c.offsets[k+1]
		if from > to || int(to) > len(c.data) {
			return nil, errFewValues
		}
		return c.data[from:to], nil
	case c.ints.Kind() == encoding.Int32 && c.signed:
		c.digits = strconv.AppendInt(c.digits[:0], int64(c.ints.Int32()[k]), 10)
	case c.ints.Kind() == encoding.Int32:
		c.digits = strconv.AppendUint(c.digits[:0], uint64(uint32(c.ints.Int32()[k])), 10)
	case c.signed:
		c.digits = strconv.AppendInt(c.digits[:0], c.ints.Int64()[k], 10)
	default:
		c.digits = strconv.AppendUint(c.digits[:0], uint64(c.ints.Int64()[k]), 10)
	}
	return c.digits, nil
}
