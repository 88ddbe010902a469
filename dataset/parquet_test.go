package dataset

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/curveil/curveil/fit"
)

// writeParquet writes rows of any struct; small pages and row groups, so that
// the seams between them are met.
func writeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows, options...); err != nil {
		t.Fatal(err)
	}
	return path
}

// parquetOf writes a table whose columns are float64, *float64 (nullable),
// string, int64 or []float64, by what the first row holds.
func parquetOf(t testing.TB, path string, names []string, nodes []parquet.Node, rows func(yield func(parquet.Row) bool), options ...parquet.WriterOption) {
	t.Helper()
	group := parquet.Group{}
	for i, n := range names {
		group[n] = nodes[i]
	}
	schema := parquet.NewSchema("t", group)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewWriter(f, append(options, schema)...)
	for row := range rows {
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

type longGrowth struct {
	ID    string   `parquet:"id"`
	T     float64  `parquet:"t"`
	Value *float64 `parquet:"value,optional"`
}

type longGrowthDict struct {
	ID    string   `parquet:"id,dict"`
	T     float32  `parquet:"t,dict"`
	Value *float64 `parquet:"value,optional,dict"`
}

func TestParquetLong(t *testing.T) {
	want, err := readFile(shared(t, "growth_long.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []longGrowth
	var dict []longGrowthDict
	for _, id := range want.Units {
		s := want.Curves[id][0][0]
		for j := range s.T {
			rows = append(rows, longGrowth{id, s.T[j], &s.X[j]})
			dict = append(dict, longGrowthDict{id, float32(s.T[j]), &s.X[j]})
		}
	}
	for name, path := range map[string]string{
		"plain":       writeParquet(t, rows),
		"small pages": writeParquet(t, rows, parquet.PageBufferSize(200)),
		"row groups":  writeParquet(t, rows, parquet.MaxRowsPerRowGroup(100)),
		"dictionary":  writeParquet(t, dict, parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(300)),
		"version 1":   writeParquet(t, dict, parquet.DataPageVersion(1), parquet.PageBufferSize(300)),
		"compressed":  writeParquet(t, rows, parquet.Compression(&parquet.Snappy)),
	} {
		got, err := readFile(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(want.Units, got.Units); d != "" {
			t.Errorf("%s: order of people:\n%s", name, d)
		}
		if d := cmp.Diff(want.Curves, got.Curves); d != "" {
			t.Errorf("%s (-csv +parquet):\n%s", name, d)
		}
	}
}

// The same place in the dictionaries of two row groups is not the same text.
func TestParquetDictionaryPerRowGroup(t *testing.T) {
	var rows []longGrowthDict
	for i := range 10 {
		for j := range 3 {
			x := float64(10*i + j)
			rows = append(rows, longGrowthDict{fmt.Sprint("p", i), float32(j), &x})
		}
	}
	w, err := readFile(writeParquet(t, rows, parquet.MaxRowsPerRowGroup(3)), Options{})
	if err != nil || len(w.Units) != 10 {
		t.Fatalf("%d people, %v; want 10", len(w.Units), err)
	}
	for i, id := range w.Units {
		if x := w.Curves[id][0][0].X; id != fmt.Sprint("p", i) || x[2] != float64(10*i+2) {
			t.Errorf("%s: %v", id, x)
		}
	}
}

func TestParquetWide(t *testing.T) {
	want, err := readFile(shared(t, "messy/missing_NA.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	times := want.Schema.Times
	names, nodes := []string{"id", "sex"}, []parquet.Node{parquet.String(), parquet.Optional(parquet.String())}
	for _, x := range times {
		names = append(names, strconv.FormatFloat(x, 'g', -1, 64))
		nodes = append(nodes, parquet.Optional(parquet.Leaf(parquet.DoubleType)))
	}
	// A schema orders its columns by name: find each one's place.
	group := parquet.Group{}
	for i, n := range names {
		group[n] = nodes[i]
	}
	place := map[string]int{}
	for i, f := range parquet.NewSchema("t", group).Fields() {
		place[f.Name()] = i
	}
	for _, missing := range []string{"null", "NaN"} {
		path := filepath.Join(t.TempDir(), "wide.parquet")
		parquetOf(t, path, names, nodes, func(yield func(parquet.Row) bool) {
			for _, id := range want.Units {
				row := make(parquet.Row, len(names))
				row[place["id"]] = parquet.ValueOf(id).Level(0, 0, place["id"])
				row[place["sex"]] = parquet.Value{}.Level(0, 0, place["sex"])
				s := want.Curves[id][0][0]
				at := map[float64]float64{}
				for j := range s.T {
					at[s.T[j]] = s.X[j]
				}
				for _, x := range times {
					k := place[strconv.FormatFloat(x, 'g', -1, 64)]
					v, ok := at[x]
					switch {
					case ok:
						row[k] = parquet.ValueOf(v).Level(0, 1, k)
					case missing == "NaN":
						row[k] = parquet.ValueOf(math.NaN()).Level(0, 1, k)
					default:
						row[k] = parquet.Value{}.Level(0, 0, k)
					}
				}
				if !yield(row) {
					return
				}
			}
		})
		// sex stands behind the times: columns are in alphabetical order.
		got, err := readFile(path, Options{ID: "id", Ignore: []string{"sex"}})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Curves, got.Curves); d != "" {
			t.Errorf("%s (-csv +parquet):\n%s", missing, d)
		}
	}
}

type listRow struct {
	ID string     `parquet:"id"`
	X  []*float64 `parquet:"x,list"`
}

type plainListRow struct {
	ID int64     `parquet:"id"`
	X  []float64 `parquet:"x"`
}

func TestParquetList(t *testing.T) {
	const n, m = 50, 7
	times := []float64{0, 1, 2, 3, 5, 8, 13}
	var nullable []listRow
	var plain []plainListRow
	for i := range n {
		a, b := listRow{ID: strconv.Itoa(i)}, plainListRow{ID: int64(i)}
		for j := range m {
			x := benchValue(i, j)
			b.X = append(b.X, x)
			if i%5 == 3 && j%3 == 1 {
				a.X = append(a.X, nil)
			} else {
				a.X = append(a.X, &x)
			}
		}
		nullable, plain = append(nullable, a), append(plain, b)
	}
	for name, c := range map[string]struct {
		path  string
		nulls bool
	}{
		"nullable":            {writeParquet(t, nullable), true},
		"nullable, pages":     {writeParquet(t, nullable, parquet.PageBufferSize(100), parquet.MaxRowsPerRowGroup(17)), true},
		"nullable, version 1": {writeParquet(t, nullable, parquet.PageBufferSize(100), parquet.DataPageVersion(1)), true},
		"plain":               {writeParquet(t, plain, parquet.PageBufferSize(100)), false},
	} {
		w, err := readFile(c.path, Options{Times: times})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(w.Units) != n || w.Schema.Components[0] != "x" {
			t.Errorf("%s: %d people, schema %+v", name, len(w.Units), w.Schema)
		}
		for i := range n {
			s := w.Curves[strconv.Itoa(i)][0][0]
			k := 0
			for j := range m {
				if c.nulls && i%5 == 3 && j%3 == 1 {
					continue
				}
				if k >= len(s.T) || s.T[k] != times[j] || s.X[k] != benchValue(i, j) {
					t.Fatalf("%s: curve %d is %v", name, i, s)
				}
				k++
			}
			if k != len(s.T) {
				t.Errorf("%s: curve %d has %d samples, want %d", name, i, len(s.T), k)
			}
		}
	}
	_, err := readFile(writeParquet(t, plain), Options{Times: times[:6]})
	var path string
	if e, ok := err.(*DataError); ok {
		path = e.File
	}
	checkRowError(t, err, path, 1, 2, "x", "7 elements", "6 times")
	_, err = readFile(writeParquet(t, plain), Options{})
	if err == nil || !strings.Contains(err.Error(), "times option") {
		t.Errorf("a list without times: %v", err)
	}
	if _, err = readFile(writeParquet(t, []plainListRow{{ID: 1}}), Options{Times: times}); err == nil || !strings.Contains(err.Error(), "no sample") {
		t.Errorf("an empty list: %v", err)
	}
}

func checkRowError(t *testing.T, err error, file string, row, column int, name string, says ...string) {
	t.Helper()
	e, ok := err.(*DataError)
	if !ok {
		t.Fatalf("got %v, want a DataError", err)
	}
	if e.Row != row || e.Column != column || e.Name != name {
		t.Errorf("%v\nis at row %d, column %d (%s), want %d, %d (%s)", err, e.Row, e.Column, e.Name, row, column, name)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%v: does not say %q", err, s)
		}
	}
}

func TestParquetTimes(t *testing.T) {
	type stamped struct {
		ID    int32     `parquet:"id"`
		Time  time.Time `parquet:"time,timestamp(microsecond)"`
		Value float32   `parquet:"value"`
	}
	at := time.Date(2008, 5, 17, 21, 0, 45, 250_000_000, time.UTC)
	w, err := readFile(writeParquet(t, []stamped{{7, at, 1.5}, {7, at.Add(time.Minute), 2.5}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := w.Curves["7"][0][0]
	if s.T[0] != 1211058045.25 || s.T[1] != 1211058105.25 || s.X[1] != 2.5 {
		t.Errorf("got %v", s)
	}
	path := filepath.Join(t.TempDir(), "naive.parquet")
	parquetOf(t, path, []string{"id", "time", "value"},
		[]parquet.Node{parquet.String(), parquet.TimestampAdjusted(parquet.Millisecond, false), parquet.Leaf(parquet.Int32Type)},
		func(yield func(parquet.Row) bool) {
			for j := range 2 {
				yield(parquet.Row{parquet.ValueOf("a").Level(0, 0, 0), parquet.ValueOf(int64(1211058045000+500*j)).Level(0, 0, 1), parquet.ValueOf(int32(j)).Level(0, 0, 2)})
			}
		})
	_, err = readFile(path, Options{})
	checkRowError(t, err, path, 0, 2, "time", "no zone")
	if w, err = readFile(path, Options{Zone: time.FixedZone("", -7*3600)}); err != nil {
		t.Fatal(err)
	}
	if got := w.Curves["a"][0][0].T[1]; got != 1211058045.5+7*3600 {
		t.Errorf("got %v", got)
	}
}

func TestParquetRefused(t *testing.T) {
	x := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		rows        []longGrowth
		row, column int
		says        string
	}{
		"infinite":   {[]longGrowth{{"a", 1, x(1)}, {"a", 2, x(math.Inf(-1))}}, 2, 3, "not finite"},
		"duplicate":  {[]longGrowth{{"a", 1, x(1)}, {"b", 1, x(1)}, {"a", 1, x(2)}}, 3, 2, "already on row 1"},
		"no id":      {[]longGrowth{{"a", 1, x(1)}, {"", 1, x(1)}}, 2, 1, "whose"},
		"no time":    {[]longGrowth{{"a", math.NaN(), x(1)}}, 1, 2, "no time"},
		"one sample": {[]longGrowth{{"a", 1, x(1)}, {"a", 2, nil}}, 1, 0, "one sample only"},
		"no sample":  {[]longGrowth{{"a", 1, nil}, {"a", 2, nil}}, 1, 0, "no sample"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readFile(writeParquet(t, c.rows), Options{})
			checkRowError(t, err, "", c.row, c.column, []string{"", "id", "t", "value"}[c.column], c.says)
		})
	}
}

// A damaged file is an error, wherever it is hit.
func TestParquetDamaged(t *testing.T) {
	var rows []longGrowthDict
	for i := range 40 {
		x := float64(i)
		rows = append(rows, longGrowthDict{fmt.Sprint("p", i/4), float32(i % 4), &x})
	}
	whole, err := os.ReadFile(writeParquet(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	try := func(data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readFile(path, Options{})
		if err != nil && !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%v: does not name the file", err)
		}
	}
	for n := 0; n < len(whole); n += 31 {
		try(whole[:n])
	}
	for i := 0; i < len(whole); i += 3 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 0x5a
		try(damaged)
	}
}

// FuzzParquet: whatever the bytes, no panic.
func FuzzParquet(f *testing.F) {
	x := []float64{1, 2, 3}
	var long []longGrowth
	var dict []longGrowthDict
	var lists []listRow
	for i := range 6 {
		id := fmt.Sprint("p", i/3)
		long = append(long, longGrowth{id, float64(i % 3), &x[i%3]})
		dict = append(dict, longGrowthDict{id, float32(i % 3), &x[i%3]})
		lists = append(lists, listRow{fmt.Sprint(i), []*float64{&x[0], nil, &x[2]}})
	}
	for _, path := range []string{writeParquet(f, long), writeParquet(f, dict, parquet.DataPageVersion(1)), writeParquet(f, lists), writeParquet(f, long, parquet.Compression(&parquet.Snappy))} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		f.Add(data, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, list bool) {
		var o Options
		if list {
			o.Times = []float64{1, 2, 3}
		}
		r, err := newParquet(bytes.NewReader(data), int64(len(data)), "x", o)
		if err != nil {
			return
		}
		for r.Next() {
			for _, c := range r.Person().Curves {
				for _, s := range c {
					if len(s.T) == 0 || len(s.T) != len(s.X) || !increasing(s.T) || !fit.Finite(s.T) || !fit.Finite(s.X) {
						t.Fatalf("series %v", s)
					}
				}
			}
		}
	})
}

// What reads ahead ends with the reader, wherever the caller stopped.
func TestWideParquetStopsReadingAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wide.parquet")
	names := []string{"id", "0", "1"}
	nodes := []parquet.Node{parquet.Leaf(parquet.Int64Type), parquet.Leaf(parquet.DoubleType), parquet.Leaf(parquet.DoubleType)}
	const rows = 20 * blockRows
	parquetOf(t, path, names, nodes, func(yield func(parquet.Row) bool) {
		for i := range rows {
			row := parquet.Row{parquet.DoubleValue(float64(i)).Level(0, 0, 0), parquet.DoubleValue(1).Level(0, 0, 1), parquet.Int64Value(int64(i)).Level(0, 0, 2)}
			if !yield(row) {
				return
			}
		}
	})
	for _, stop := range []int{0, 1, blockRows + 3, rows} {
		r, err := Open(path, Options{ID: "id"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range stop {
			if !r.Next() || r.Person().Unit != strconv.Itoa(i) || r.Person().Curves[0][0].X[0] != float64(i) {
				t.Fatalf("row %d: %+v, %v", i, r.Person(), r.Err())
			}
		}
		if stop == rows && r.Next() {
			t.Error("a row after the last")
		}
		p := r.source.(*wide).src.(wideRows).blocks.(*pump)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if p.done != nil {
			<-p.done // hangs if the goroutine goes on
		}
	}
}
