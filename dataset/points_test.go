package dataset

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type pointPerson struct {
	Unit string
	X    []float64
	Line int
}

func readPoints(p *Points, err error) ([]pointPerson, error) {
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var all []pointPerson
	for p.Next() {
		x, unit, line := p.Person()
		all = append(all, pointPerson{unit, append([]float64(nil), x...), line})
	}
	if p.Next() {
		return nil, errors.New("Next goes on after the end")
	}
	return all, p.Err()
}

func csvPoints(text string, o PointOptions) ([]pointPerson, error) {
	return readPoints(NewPointsCSV(strings.NewReader(text), "f.csv", o))
}

func TestPointsCSV(t *testing.T) {
	xy := []string{"x", "y"}
	for _, c := range []struct {
		name, text string
		o          PointOptions
		want       []pointPerson
	}{
		{"each row a person", "y,name,x\n1,\"a, b\",2\n3,b,4\n", PointOptions{Columns: xy}, []pointPerson{{"", []float64{2, 1}, 2}, {"", []float64{4, 3}, 3}}},
		{"one column", "d\n618\n1722\n", PointOptions{Columns: []string{"d"}}, []pointPerson{{"", []float64{618}, 2}, {"", []float64{1722}, 3}}},
		{"by unit", "who,x,y\na,1,2\na,3,4\n\nb,5,6\n", PointOptions{Columns: xy, Unit: "who"}, []pointPerson{{"a", []float64{1, 2, 3, 4}, 2}, {"b", []float64{5, 6}, 5}}},
		{"decimal comma", "x;y\n1,5;2\n", PointOptions{Columns: xy}, []pointPerson{{"", []float64{1.5, 2}, 2}}},
		{"byte-order mark and CRLF", "\ufeffx,y\r\n1,-2e3\r\n", PointOptions{Columns: xy}, []pointPerson{{"", []float64{1, -2000}, 2}}},
		{"no rows", "x,y\n", PointOptions{Columns: xy}, nil},
	} {
		got, err := csvPoints(c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		for read := range len(c.want) + 1 {
			p, err := NewPointsCSV(strings.NewReader(c.text), "f.csv", c.o)
			if err != nil {
				t.Fatal(err)
			}
			for range read {
				p.Next()
			}
			if n, err := p.Count(); err != nil || n != int64(len(c.want)-read) || p.Next() {
				t.Errorf("%s: Count after %d people says %d (%v) of %d", c.name, read, n, err, len(c.want))
			}
		}
	}
	for _, damaged := range []struct {
		text string
		o    PointOptions
	}{{"x,y\n1,2\n\"3,4\n", PointOptions{Columns: xy}}, {"x,y,u\n1,2,a\n3,4,b\n1,2,a\n", PointOptions{Columns: xy, Unit: "u"}}} {
		p, err := NewPointsCSV(strings.NewReader(damaged.text), "f.csv", damaged.o)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := p.Count(); err == nil || p.Err() == nil {
			t.Errorf("%q was counted: %d", damaged.text, n)
		}
	}
}

func TestPointsRefusals(t *testing.T) {
	xy := PointOptions{Columns: []string{"x", "y"}}
	unit := PointOptions{Columns: []string{"x"}, Unit: "who"}
	for _, c := range []struct {
		text string
		o    PointOptions
		want string
	}{
		{"", xy, "empty"},
		{"x,z\n1,2\n", xy, "no column 'y'"},
		{"x,y,x\n1,2,3\n", xy, "stands twice"},
		{"x,y\n1,2\n1,\n", xy, "f.csv:3:2 (y): the cell is empty"},
		{"x,y\n1,NaN\n", xy, "f.csv:2:2 (y): the cell is empty"},
		{"x,y\n1,inf\n", xy, "not finite"},
		{"x,y\n1,two\n", xy, "f.csv:2:2 (y): 'two' is not a number"},
		{"x,y\n1,2,3\n", xy, "3 fields"},
		{"x,y\n1\n", xy, "1 fields"},
		{"x,y\n1,1e999\n", xy, "too large"},
		{"x,y\n1,\"2\n", xy, "never closed"},
		{"who,x\na,1\nb,2\na,3\n", unit, "f.csv:4:1: rows of 'a' come back"},
		{"who,x\na,1\n,2\n", unit, "does not say whose"},
		{"x\n1\n", PointOptions{Columns: []string{"x"}, Unit: "x"}, "coordinate and the unit"},
		{"x\n1\n", PointOptions{Columns: []string{"x", "x"}}, "named twice"},
		{"x\n1\n", PointOptions{}, "no columns"},
	} {
		if _, err := csvPoints(c.text, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := OpenPoints("x.xls", xy); err == nil || !strings.Contains(err.Error(), "unknown kind") {
		t.Errorf("a spreadsheet: %v", err)
	}
}

func TestPointsParquet(t *testing.T) {
	type row struct {
		Who  string   `parquet:"who"`
		Lat  float64  `parquet:"lat"`
		Lon  float32  `parquet:"lon"`
		Hour *float64 `parquet:"hour,optional"`
	}
	var rows []row
	var want []pointPerson
	for i := range 1000 {
		who := fmt.Sprintf("p%d", i/3)
		hour := float64(i)
		rows = append(rows, row{who, float64(i), float32(-i), &hour})
		if i%3 == 0 {
			want = append(want, pointPerson{who, nil, i + 1})
		}
		last := &want[len(want)-1]
		last.X = append(last.X, float64(-i), float64(i), hour)
	}
	o := PointOptions{Columns: []string{"lon", "lat", "hour"}, Unit: "who"}
	got, err := readPoints(OpenPoints(writeParquet(t, rows), o))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	rows[7].Hour = nil
	if _, err := readPoints(OpenPoints(writeParquet(t, rows), o)); err == nil || !strings.Contains(err.Error(), "row 8, column") {
		t.Errorf("a null was accepted: %v", err)
	}
	rows[7].Hour, rows[600].Who = rows[6].Hour, "p0"
	if _, err := readPoints(OpenPoints(writeParquet(t, rows), o)); err == nil || !strings.Contains(err.Error(), "come back") {
		t.Errorf("a person came twice: %v", err)
	}
	if _, err := readPoints(OpenPoints(writeParquet(t, rows), PointOptions{Columns: []string{"who"}})); err == nil || !strings.Contains(err.Error(), "no numbers") {
		t.Errorf("text was read as numbers: %v", err)
	}
	damaged := t.TempDir() + "/d.parquet"
	if err := os.WriteFile(damaged, []byte("PAR1 and nothing more PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readPoints(OpenPoints(damaged, o)); err == nil {
		t.Error("a damaged file was read")
	}
}

func FuzzPointsCSV(f *testing.F) {
	for _, text := range []string{"x,y\n1,2\n", "y;x\n1,5;2\n", "x,y\n\"1\",\"2\"\n", "x,y,u\n1,2,a\n1,2,a\n3,4,b\n", "x\ty\n1\t\n"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, grouped bool) {
		o := PointOptions{Columns: []string{"x", "y"}}
		if grouped {
			o.Unit = "u"
		}
		people, err := csvPoints(text, o)
		for _, p := range people {
			if len(p.X) == 0 || len(p.X)%2 != 0 {
				t.Fatalf("%v: %d coordinates", err, len(p.X))
			}
			for _, v := range p.X {
				if v-v != 0 {
					t.Fatalf("coordinate %v came through", v)
				}
			}
		}
	})
}

// Scattered hands a person out again for every stretch of rows; curves carry the ids that tell them apart.
func TestForCallersThatGroup(t *testing.T) {
	p, err := NewPointsCSV(strings.NewReader("who,x\na,1\na,2\nb,3\na,4\n"), "f", PointOptions{Columns: []string{"x"}, Unit: "who", Scattered: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p.Next() {
		x, unit, _ := p.Person()
		got = append(got, fmt.Sprint(unit, x))
	}
	if s := fmt.Sprint(got); p.Err() != nil || s != "[a[1 2] b[3] a[4]]" {
		t.Errorf("%s, %v", s, p.Err())
	}
	r, err := NewCSV(strings.NewReader("who,visit,t,x\na,v1,0,1\na,v1,1,1\nb,v3,0,1\nb,v3,1,1\na,v2,0,1\na,v2,1,1\n"), "f", Options{Unit: "who", ID: "visit"})
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for r.Next() {
		got = append(got, fmt.Sprint(r.Person().Unit, r.Person().IDs))
	}
	if s := fmt.Sprint(got); r.Err() != nil || s != "[a[v1 v2] b[v3]]" {
		t.Errorf("%s, %v", s, r.Err())
	}
}

// Many people at once are the people one by one, up to the same fault.
func TestNextRows(t *testing.T) {
	xy := []string{"x", "y"}
	long := "x,y\n" + strings.Repeat("1,2\n3,4\n", 300)
	for _, text := range []string{"x,y\n", "y,x\n1,2\n", long, long + "5,\n6,7\n", long + "5,x\n", long + "5\n"} {
		for _, size := range []int{1, 100, bufferSize} {
			open := func() *Points {
				p, err := NewPointsCSV(strings.NewReader(text), "f.csv", PointOptions{Columns: xy})
				if err != nil {
					t.Fatal(err)
				}
				p.csv.cutter.size = size
				return p
			}
			want, wantErr := readPoints(open(), nil)
			var one []float64
			for _, w := range want {
				one = append(one, w.X...)
			}
			p := open()
			var all []float64
			for x := p.NextRows(); x != nil; x = p.NextRows() {
				all = append(all, x...)
			}
			if d := cmp.Diff(one, all); d != "" || fmt.Sprint(wantErr) != fmt.Sprint(p.Err()) || p.NextRows() != nil {
				t.Errorf("%.20q in chunks of %d: %v, %v; one by one %v (-want +got):\n%s", text, size, p.Err(), len(all), wantErr, d)
			}
			p.Close()
		}
	}
	p, err := NewPointsCSV(strings.NewReader("who,x,y\na,1,2\n"), "f.csv", PointOptions{Columns: xy, Unit: "who"})
	if err != nil || p.NextRows() != nil || !p.Next() {
		t.Errorf("rows of people who have several: %v", err)
	}
}
