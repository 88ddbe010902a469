package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// aheadOf finds what reads ahead below a reader of CSV.
func aheadOf(r *Reader) *ahead {
	switch s := r.source.(type) {
	case *wide:
		return s.src.(wideRows).blocks.(*ahead)
	case *groups:
		if w, ok := s.src.(*rowsOfWide); ok {
			return w.src.(wideRows).blocks.(*ahead)
		}
		return s.src.(longRows).blocks.(*ahead)
	}
	panic("no reader of CSV")
}

// inOrder makes the reader parse row by row out of the file's scanner: what
// reading ahead must not be told from.
func inOrder(r *Reader) {
	a := aheadOf(r)
	switch p := a.parser.(type) {
	case *csvWide:
		p.csvTable = a.table
		if w, ok := r.source.(*wide); ok {
			w.src = named{p}
		} else {
			r.source.(*groups).src.(*rowsOfWide).src = p
		}
	case *csvLong:
		p.csvTable = a.table
		r.source.(*groups).src = single{p}
	}
}

type single struct{ *csvLong }

func (s single) next(run *longRun) (bool, error) {
	var row longRow
	ok, err := s.csvLong.next(&row)
	*run = longRun{id: row.id, unit: row.unit, t: []float64{row.t}, line: []int{row.line}}
	for _, v := range row.v {
		run.v = append(run.v, []float64{v})
	}
	return ok && err == nil, err
}

type named struct{ *csvWide }

func (n named) next(row *wideRow) (bool, error) {
	ok, err := n.csvWide.next(row)
	row.name = string(row.id)
	return ok, err
}

// sameAhead reads a text in chunks of about size bytes and in order.
func sameAhead(t *testing.T, text string, o Options, size int) {
	t.Helper()
	chunked, err := NewCSV(strings.NewReader(text), "f.csv", o)
	if err != nil {
		return
	}
	defer chunked.Close()
	aheadOf(chunked).cutter.size = size
	ordered, err := NewCSV(strings.NewReader(text), "f.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	inOrder(ordered)
	got, gotErr := readAll(chunked)
	want, wantErr := readAll(ordered)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
		t.Errorf("chunks of %d: %s\n%q", size, diff, text)
	}
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Errorf("chunks of %d: %v, in order %v\n%q", size, gotErr, wantErr, text)
	}
}

// A fault far down the file, at each kind of place, is the same fault.
func TestAheadIsInOrder(t *testing.T) {
	for name, write := range map[string]func(*bufio.Writer, int, int){Wide: writeWide, Long: writeLong} {
		var b strings.Builder
		w := bufio.NewWriter(&b)
		write(w, 60, 8)
		w.Flush()
		text := b.String()
		rows := strings.SplitAfter(text, "\n")
		fields := strings.Split(rows[40], ",")
		for _, bad := range []string{
			rows[40],
			rows[1], // comes twice
			"\n\r\n" + rows[40],
			strings.Replace(rows[40], fields[0], `"`+fields[0]+`"`, 1),
			strings.Replace(rows[40], fields[0], `"a`+"\n\n"+`""b"`, 1),
			strings.Replace(rows[40], fields[0], `a"b`, 1),
			strings.Replace(rows[40], fields[0], `"open`, 1),
			strings.Replace(rows[40], fields[1], "x", 1),
			strings.Replace(rows[40], fields[1], "1e999", 1),
			strings.Replace(rows[40], fields[1], "2020-01-01T00:00:00Z", 1),
			strings.Replace(rows[40], fields[0], "", 1),
			fields[0] + ",1\n",
			"1,2,3,4,5\n",
			strings.TrimSuffix(rows[40], "\n"),
		} {
			text := strings.Join(rows[:40], "") + bad + strings.Join(rows[41:], "")
			for _, size := range []int{1, 100, 1000, bufferSize} {
				for _, o := range []Options{{}, {Buffer: 1000}, {Buffer: 1000, Unsorted: true}} {
					sameAhead(t, text, o, size)
				}
			}
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// FuzzAhead: whatever the text, chunks of any size give the people and the fault
// that the rows in order give.
func FuzzAhead(f *testing.F) {
	for _, seed := range []string{
		"id,t,value\na,1,81.3\na,1.25,84.2\nb,1,76\nb,1.25,NA\nb,2,80\n",
		"id,1,1.25\na,81.3,84.2\n\n\"b\n\",1,2\r\nb,,84\n",
		"time,lat,lon\n2008-05-17T21:00:45Z,37.78897,-122.42363\n7,1,2\n",
		"id,1,2\n\"a\"\"\n\",1,2\nb\",3,4\n\"c,5,6\n",
		"u,id,1,2\na,x,1,2\na,x,3,4\n",
	} {
		f.Add(seed, uint8(1), uint16(0))
		f.Add(seed, uint8(30), uint16(100))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8, buffer uint16) {
		sameAhead(t, text, Options{Buffer: int64(buffer)}, 1+int(size))
		sameAhead(t, text, Options{Unit: "u", Buffer: int64(buffer)}, 1+int(size))
	})
}

// goroutines waits until no more than n run.
func goroutines(t *testing.T, n int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), n)
}

// The parsers end with the file, with its first fault, and with Close.
func TestAheadEnds(t *testing.T) {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	writeWide(w, 3000, 100)
	w.Flush()
	before := runtime.NumGoroutine()

	read := func(in io.Reader, people int) error {
		r, err := NewCSV(in, "f.csv", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for n := 0; n != people && r.Next(); n++ {
		}
		if people >= 0 {
			r.Close()
			if r.Err() != nil || r.Next() || r.Err() != errClosed {
				t.Errorf("after Close: %v", r.Err())
			}
			return nil
		}
		return r.Err()
	}
	if err := read(strings.NewReader(b.String()), -1); err != nil {
		t.Error(err)
	}
	goroutines(t, before)
	if err := read(strings.NewReader(b.String()+"x\n"+b.String()), -1); err == nil || !strings.Contains(err.Error(), "f.csv:3002") {
		t.Error(err)
	}
	goroutines(t, before)
	if err := read(strings.NewReader(b.String()), 2000); err != nil {
		t.Error(err)
	}
	goroutines(t, before)

	broken := io.MultiReader(strings.NewReader(b.String()+"x,1"), iotest.ErrReader(errors.New("the cable is out")))
	if err := read(broken, -1); err == nil || !strings.Contains(err.Error(), "after line 3001: the cable is out") {
		t.Error(err)
	}
	goroutines(t, before)
}
