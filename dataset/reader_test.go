package dataset

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/curveil/curveil/fit"
)

// Small faults, one each: where the error points and what it says.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		o            Options
		line, column int
		col          string
		says         string
	}{
		{"empty", "", Options{}, 0, 0, "", "empty"},
		{"blank", "\n\n  \n", Options{}, 0, 0, "", "empty"},
		{"parquet", "PAR1xxxx", Options{}, 0, 0, "", "Parquet"},
		{"gzip", "\x1f\x8b\x08\x00", Options{}, 0, 0, "", "gzip"},
		{"utf-16", "\xff\xfei\x00d\x00", Options{}, 0, 0, "", "UTF-16"},
		{"binary", "id,t,value\na,1,\x00\n", Options{}, 0, 0, "", "zero bytes"},
		{"mac line ends", "id,t,value\ra,1,2\ra,2,3\r", Options{}, 0, 0, "", "carriage return"},
		{"no time column", "id,x,y\na,1,2\n", Options{}, 1, 0, "", "no time column"},
		{"no values", "id,t,sex\na,1,m\n", Options{}, 1, 0, "", "no numeric column"},
		{"no header", "1,81.3,84.2\n2,76.2,80.4\n", Options{}, 1, 1, "1", "no header line"},
		{"unknown id", "id,t,value\na,1,2\n", Options{ID: "person"}, 1, 0, "", "no column 'person'"},
		{"unknown value", "id,t,value\na,1,2\n", Options{Values: []string{"hip"}}, 1, 0, "", "no column 'hip'"},
		{"unknown ignore", "id,t,value\na,1,2\n", Options{Ignore: []string{"sex"}}, 1, 0, "", "no column 'sex'"},
		{"column twice", "id,t,x,x\na,1,2,3\n", Options{}, 1, 4, "x", "twice"},
		{"time twice in header", "id,1,2,1.0\na,1,2,3\n", Options{}, 1, 4, "1.0", "stands twice"},
		{"label among the times", "id,1,2,sex\na,1,2,m\n", Options{}, 1, 4, "sex", "not a number"},
		{"both layouts", "id,t,1,2\na,1,2,3\n", Options{}, 1, 3, "1", "layout option"},
		{"wide without times", "id,t,value\na,1,2\n", Options{Layout: Wide}, 1, 0, "", "no column name is a number"},
		{"text", "id,t,value\na,1,2\na,2,x\n", Options{}, 3, 3, "value", "'x' is not a number"},
		{"text late", "id,t,value\n" + strings.Repeat("a,1,2\n", 0) + "a,1,2\na,2,3\nb,1,1e400\n", Options{}, 4, 3, "value", "too large"},
		{"wide text", "id,1,2\na,1,2\nb,x,2\n", Options{}, 3, 2, "1", "'x' is not a number"},
		{"wide infinite", "id,1,2\na,1,-inf\n", Options{}, 2, 3, "2", "not finite"},
		{"other decimal sign", "id;t;value\na;1;2.5\na;2;3,5\n", Options{}, 3, 3, "value", "decimal option"},
		{"hexadecimal", "id,t,value\na,1,2\na,2,0x1p3\n", Options{}, 3, 3, "value", "not a number"},
		{"no time", "id,t,value\na,,2\n", Options{}, 2, 2, "t", "no time"},
		{"infinite time", "id,t,value\na,inf,2\n", Options{}, 2, 2, "t", "finite time"},
		{"no id", "id,t,value\n,1,2\n", Options{}, 2, 1, "id", "whose"},
		{"missing id", "id,1,2\nNA,1,2\n", Options{}, 2, 1, "id", "whose"},
		{"naive time", "id,time,value\na,2008-05-17T21:00:45,2\n", Options{}, 2, 2, "time", "without a zone"},
		{"clock time", "id,time,value\na,08:30,2\n", Options{}, 2, 2, "time", "neither a number nor"},
		{"date among numbers", "id,time,value\na,1,2\na,2008-05-17T21:00:45Z,2\n", Options{}, 3, 2, "time", "numbers"},
		{"number among dates", "id,time,value\na,2008-05-17T21:00:45Z,2\na,1,2\n", Options{}, 3, 2, "time", "dates"},
		{"bare quote", "id,t,value\na,1,2\na\"b,2,3\n", Options{}, 3, 0, "", "quote"},
		{"open quote", "id,t,value\na,1,2\n\"a,2,3\n", Options{}, 3, 0, "", "never closed"},
		{"longitude", "t,lat,lon\n1,45,190\n", Options{}, 2, 3, "lon", "190 is outside [-180, 180]"},
		{"uneven explains text", "id,t,value\na,1,2\nx,a,1,2\n", Options{}, 3, 0, "", "4 fields"},
		{"uneven, quoted", "id,t,value\na,1,2\n\"a\",1\n", Options{}, 3, 0, "", "2 fields"},
		{"trailing separator", "id,1,2\na,1,2,\n", Options{}, 2, 0, "", "4 fields"},
		{"no sample", "id,1,2\na,1,2\nb,NA,\n", Options{}, 3, 0, "", "no sample"},
		{"one sample, wide", "id,1,2\na,1,2\nb,NA,1\n", Options{}, 3, 0, "", "one sample only"},
		{"one sample of a component", "id,t,hip,knee\na,1,2,3\na,2,3,NA\n", Options{}, 2, 0, "", "one sample only of 'knee'"},
		{"thousands", "id,t,value\na,1,\"1,234\"\n", Options{}, 2, 3, "", "thousands"},
		{"single track, two ids", "child,t,value\n1,1,2\n1,2,3\n2,1,5\n", Options{ID: "-"}, 4, 2, "t", "id option"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := readText(c.text, c.o)
			if err == nil {
				t.Fatalf("accepted: %+v", w)
			}
			checkDataError(t, err, "test.csv", c.line, c.column, c.col, c.says)
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, o := range []Options{
		{Layout: "tall"}, {Separator: 'é'}, {Separator: '"'}, {Decimal: ';'}, {Separator: '1'}, {Buffer: -1},
		{Layout: Wide, Values: []string{"a", "b"}}, {Times: []float64{1, 1}},
	} {
		if _, err := readText("id,1,2\na,1,2\n", o); err == nil || !strings.HasPrefix(err.Error(), "dataset: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := Open("x.xlsx", Options{}); err == nil || !strings.Contains(err.Error(), ".csv") {
		t.Errorf("x.xlsx: %v", err)
	}
	if _, err := Open("missing.csv", Options{}); !os.IsNotExist(unwrap(err)) {
		t.Errorf("missing.csv: %v", err)
	}
}

func unwrap(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

// The same two curves in many dialects.
func TestDialects(t *testing.T) {
	want, err := readText("id,t,value\na,1,1.5\na,2.25,2.5\nb,1,3\nb,2.25,4.125\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		o    Options
	}{
		"wide":                   {"id,1,2.25\na,1.5,2.5\nb,3,4.125\n", Options{}},
		"wide, times unsorted":   {"id,2.25,1\na,2.5,1.5\nb,4.125,3\n", Options{}},
		"wide, labels":           {"sex,id,school,1,2.25\nm,a,x,1.5,2.5\nf,b,y,3,4.125\n", Options{}},
		"wide, label behind":     {"id,1,2.25,sex\na,1.5,2.5,m\nb,3,4.125,f\n", Options{Ignore: []string{"sex"}}},
		"wide, tab":              {"id\t1\t2.25\na\t1.5\t2.5\nb\t3\t4.125\n", Options{}},
		"wide, quoted":           {"\"id\",\"1\",\"2.25\"\n\"a\",\"1.5\",\"2.5\"\nb,3,4.125\n", Options{}},
		"wide, quoted commas":    {"id,1,\"2,25\"\na,\"1,5\",\"2,5\"\nb,3,\"4,125\"\n", Options{}},
		"wide, no last line end": {"id,1,2.25\na,1.5,2.5\nb,3,4.125", Options{}},
		"wide, blanks":           {" id , 1 ,2.25\n a,1.5 ,\t2.5\nb , 3, 4.125 \n\n", Options{}},
		"wide, given":            {"id:1:2,25\na:1,5:2,5\nb:3:4,125\n", Options{Separator: ':', Decimal: ','}},
		"wide, pipe":             {"id|1|2.25\na|1.5|2.5\nb|3|4.125\n", Options{}},
		"long, semicolon":        {"id;t;value\na;1;1,5\na;2,25;2,5\nb;1;3\nb;2,25;4,125\n", Options{}},
		"long, tab, comma":       {"id\tt\tvalue\na\t1\t1,5\na\t2,25\t2,5\nb\t1\t3\nb\t2,25\t4,125\n", Options{}},
		"long, other order":      {"value,t,id\n4.125,2.25,b\n1.5,1,a\n2.5,2.25,a\n3,1,b\n", Options{}},
		"long, other names":      {"child,age,height\na,1,1.5\na,2.25,2.5\nb,1,3\nb,2.25,4.125\n", Options{}},
		"long, odd names":        {"kid,years,height,note\na,1,1.5,x\na,2.25,2.5,y\nb,1,3,z\nb,2.25,4.125,w\n", Options{ID: "kid", Time: "years"}},
		"long, values named":     {"id,t,weight,height\na,1,9,1.5\na,2.25,9,2.5\nb,1,9,3\nb,2.25,9,4.125\n", Options{Values: []string{"height"}}},
		"long, label":            {"id,sex,t,value\na,m,1,1.5\na,m,2.25,2.5\nb,f,1,3\nb,f,2.25,4.125\n", Options{}},
		"long, text id":          {"kid,t,value\na,1,1.5\na,2.25,2.5\nb,1,3\nb,2.25,4.125\n", Options{}},
		"long, exponents":        {"id,t,value\na,1e0,15e-1\na,2.25,2.5\nb,1,+3\nb,2.25,4.125E+00\n", Options{}},
		"long, missing":          {"id,t,value\na,1,1.5\na,2,NA\na,2.25,2.5\nb,1,3\nb,1.5,\nb,2.25,4.125\n", Options{}},
		"long, dates":            {"id,t,value\na,1970-01-01T00:00:01Z,1.5\na,1970-01-01T01:00:02.25+01:00,2.5\nb,1970-01-01 00:00:01Z,3\nb,1969-12-31T23:00:02.250-0100,4.125\n", Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readText(c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Curves, got.Curves); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Where the separator is also the decimal sign, only quoted fields hold it.
func TestCommaTwice(t *testing.T) {
	w, err := readText("id,1,\"2,25\"\na,\"1,5\",2\nb,3,4\n", Options{})
	if err != nil || w.Curves["b"][0][0].X[0] != 3 || w.Curves["a"][0][0].X[0] != 1.5 {
		t.Errorf("%v, %v", w.Curves, err)
	}
}

// Missing cells of one component do not touch the other.
func TestMissingByComponent(t *testing.T) {
	w, err := readText("id,t,hip,knee\na,3,30,NA\na,1,10,11\na,2,,22\nb,1,1,1\nb,2,2,2\nb,3,3,3\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := w.Curves["a"][0]
	if !slices.Equal(a[0].T, []float64{1, 3}) || !slices.Equal(a[0].X, []float64{10, 30}) {
		t.Errorf("hip %v", a[0])
	}
	if !slices.Equal(a[1].T, []float64{1, 2}) || !slices.Equal(a[1].X, []float64{11, 22}) {
		t.Errorf("knee %v", a[1])
	}
}

// Times handed out stay what they were, and equal grids are one slice.
func TestTimesAreKept(t *testing.T) {
	const text = "id,t,value\na,1,1\na,2,2\nb,1,1\nb,3,2\nc,1,1\nc,2,2\nd,2,1\nd,1,2\n"
	for _, buffer := range []int64{0, 1} {
		r, err := NewCSV(strings.NewReader(text), "x", Options{Buffer: buffer})
		if err != nil {
			t.Fatal(err)
		}
		var times [][]float64
		for r.Next() {
			times = append(times, r.Person().Curves[0][0].T)
		}
		want := [][]float64{{1, 2}, {1, 3}, {1, 2}, {1, 2}}
		if d := cmp.Diff(want, times); d != "" || r.Err() != nil {
			t.Errorf("buffer %d: %v (-want +got):\n%s", buffer, r.Err(), d)
		}
		if &times[2][0] != &times[3][0] {
			t.Errorf("buffer %d: equal times of neighbours are not shared", buffer)
		}
	}
	r, err := NewCSV(strings.NewReader("id,1,2,3\na,1,2,3\nb,1,NA,3\nc,1,2,3\nd,NA,2,3\n"), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var times [][]float64
	for r.Next() {
		times = append(times, r.Person().Curves[0][0].T)
	}
	if d := cmp.Diff([][]float64{{1, 2, 3}, {1, 3}, {1, 2, 3}, {2, 3}}, times); d != "" || &times[0][0] != &times[2][0] {
		t.Errorf("wide times:\n%s", d)
	}
}

func TestOddlyNamed(t *testing.T) {
	if w, err := readText("1,2,3\n1,2,3\n4,5,6\n", Options{ID: "-"}); err != nil || !slices.Equal(w.Units, []string{"2", "3"}) {
		t.Errorf("no ids: %v, %v", w.Units, err)
	}
	w, err := readText("id,name,1,2\n7,x,1,2\n", Options{ID: "name"})
	if err != nil || w.Units[0] != "x" || w.Schema.ID != "name" || !slices.Equal(w.Schema.Ignored, []string{"id"}) {
		t.Errorf("id named: %+v, %v", w, err)
	}
}

func TestReadTable(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		text string
		t, x []float64
	}{
		{"t,value\n1,10\n2,20.5\n", []float64{1, 2}, []float64{10, 20.5}},
		{"1,10\n2,20.5\n", []float64{1, 2}, []float64{10, 20.5}},
		{"\ufeffage;cm\r\n1;10\r\n2,5;20,5\r\n", []float64{1, 2.5}, []float64{10, 20.5}},
		{"t\n1\n2\n3\n", []float64{1, 2, 3}, nil},
		{"1\n2\n3", []float64{1, 2, 3}, nil},
	} {
		ts, xs, err := ReadTable(write(c.text))
		if err != nil || !slices.Equal(ts, c.t) || !slices.Equal(xs, c.x) || (xs == nil) != (c.x == nil) {
			t.Errorf("%q: %v, %v, %v", c.text, ts, xs, err)
		}
	}
	for _, c := range []struct {
		text         string
		line, column int
		name, says   string
	}{
		{"t,value\n1,10\n1,20\n", 3, 1, "t", "does not come after"},
		{"t,value\n2,10\n1,20\n", 3, 1, "t", "does not come after"},
		{"t,value\n1,NA\n", 2, 2, "value", "missing"},
		{"t,value\n1,x\n", 2, 2, "value", "not a number"},
		{"t,value\n1,inf\n", 2, 2, "value", "not finite"},
		{"t,value\n1,2,3\n", 2, 0, "", "3 fields"},
		{"1,2,3\n", 1, 0, "", "3 fields"},
		{"t,value\n", 0, 0, "", "no rows"},
		{"1,2\n3\n", 2, 0, "", "1 field,"},
		{"", 0, 0, "", "empty"},
	} {
		path := write(c.text)
		_, _, err := ReadTable(path)
		checkDataError(t, err, path, c.line, c.column, c.name, c.says)
	}
}

// Memory does not grow with the file: 10⁷ numbers, 84 MB, in a heap of a few.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 84 MB")
	}
	path := writeFile(t, "wide.csv", func(w *bufio.Writer) { writeWide(w, benchCurves, benchSamples) })
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for r.Next() {
		if n++; n%20_000 == 0 {
			if h := heap(); h > before+16<<20 {
				t.Fatalf("heap grew by %d MB after %d curves", (h-before)>>20, n)
			}
		}
	}
	if r.Err() != nil || n != benchCurves {
		t.Fatal(n, r.Err())
	}
	runtime.KeepAlive(r)
}

// No allocation per field, and none per curve of a wide file: the ids of a block
// are one string.
func TestAllocations(t *testing.T) {
	for name, write := range map[string]func(*bufio.Writer, int, int){"wide": writeWide, "long": writeLong} {
		path := writeFile(t, name+".csv", func(w *bufio.Writer) { write(w, 2000, 100) })
		r, err := Open(path, Options{Buffer: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 1000 {
			r.Next()
		}
		const rows = 500
		a := testing.AllocsPerRun(1, func() {
			for range rows {
				r.Next()
			}
		}) / rows
		if most := map[string]float64{"wide": .25, "long": 3}[name]; a > most {
			t.Errorf("%s: %v allocations per curve, at most %v", name, a, most)
		}
	}
}

// FuzzReader: whatever the text and the options, no panic; and what one pass
// accepts, several passes over the file read to the same people.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"id,t,value\nboy01,1,81.3\nboy01,1.25,84.2\nboy02,1,76\nboy02,1.25,NA\nboy02,2,80\n",
		"id,1,1.25\nboy01,81.3,84.2\nboy02,,84\n",
		"id;1;1,25\nboy01;81,3;84,2\n",
		"time,lat,lon\n2008-05-17T21:00:45Z,37.78897,-122.42363\n2008-05-17T23:01:45+02:00,37.79358,-122.4246\n",
		"id,t,value\nboy02,6,1\nboy02,6,2\n", "id,1,adult,2\na,1,2,3\n", "\ufeffid,t,value\r\na,1,2\r\na,2,Inf\r\n",
		"\"id\",\"t\",\"x\"\n\"a\n\",1,2\n", "id,t,a,b\nx,1,2,\nx,2,,3\nx,3,4,5\nx,4,1,1\n",
	} {
		f.Add(seed, "", "", uint16(0))
		f.Add(seed, "id", Wide, uint16(300))
	}
	if names, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "messy", "*.csv")); err == nil {
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				f.Add(string(text), "", "", uint16(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, unit, layout string, buffer uint16) {
		o := Options{Unit: unit, Layout: layout, Constant: buffer%2 == 1}
		once, err := readText(text, o)
		if err != nil {
			return
		}
		for _, id := range once.Units {
			for _, c := range once.Curves[id] {
				for _, s := range c {
					if len(s.T) == 0 || len(s.T) != len(s.X) || !increasing(s.T) || !fit.Finite(s.T) || !fit.Finite(s.X) {
						t.Fatalf("%q: series %v", text, s)
					}
				}
			}
		}
		o.Unsorted, o.Buffer = true, 1+int64(buffer)
		passes, err := readText(text, o)
		if err != nil {
			t.Fatalf("%q: several passes: %v", text, err)
		}
		if once.Schema.ID == "" && once.Schema.Unit == "" {
			return
		}
		if d := cmp.Diff(once.Curves, passes.Curves); d != "" {
			t.Fatalf("%q: one pass and several differ:\n%s", text, d)
		}
	})
}
