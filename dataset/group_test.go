package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// longText writes people × samples rows, in the order that shuffle gives.
func longText(people, samples int, shuffle func(rows []string)) string {
	var rows []string
	for i := range people {
		for j := range samples {
			rows = append(rows, fmt.Sprintf("p%03d,%d,%g", i, j, benchValue(i, j)))
		}
	}
	if shuffle != nil {
		shuffle(rows)
	}
	return "id,t,value\n" + strings.Join(rows, "\n") + "\n"
}

func shuffled(seed uint64) func([]string) {
	return func(rows []string) {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
}

func TestGroupsAnyOrder(t *testing.T) {
	want, err := readText(longText(30, 12, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		shuffle func([]string)
		o       Options
	}{
		{"in memory", shuffled(1), Options{}},
		{"streaming, together", nil, Options{Buffer: 1}},
		{"streaming, some in the buffer", nil, Options{Buffer: 5000}},
		{"passes, together", nil, Options{Buffer: 3000, Unsorted: true}},
		{"passes", shuffled(2), Options{Buffer: 3000, Unsorted: true}},
		{"passes, tiny buffer", shuffled(3), Options{Buffer: 1, Unsorted: true}},
		{"one pass", shuffled(4), Options{Unsorted: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := longText(30, 12, c.shuffle)
			got, err := readText(text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Curves, got.Curves); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(got.Units) != len(want.Units) {
				t.Errorf("%d people, want %d", len(got.Units), len(want.Units))
			}
			again, err := readText(text, c.o)
			if err != nil || !slices.Equal(got.Units, again.Units) {
				t.Errorf("people come in another order the second time: %v", err)
			}
			if c.shuffle == nil && !c.o.Unsorted && !slices.Equal(got.Units, want.Units) {
				t.Errorf("order %v, want that of the file", got.Units)
			}
		})
	}
}

// Rows of one person inside the buffer may be in any order even where the
// file is larger than the buffer, as long as nobody comes back.
func TestGroupsOverflow(t *testing.T) {
	text := "id,t,value\na,1,1\nb,1,1\na,2,2\nb,2,2\nb,3,3\nc,1,1\nc,2,2\n"
	const row = 28
	buffer := int64(4*row + 2*(personBytes+curveBytes+2)) // a, b, a, b; full at b
	w, err := readText(text, Options{Buffer: buffer})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Units, []string{"a", "b", "c"}) || len(w.Curves["b"][0][0].T) != 3 {
		t.Errorf("got %v, %v", w.Units, w.Curves)
	}
}

// The open person's rows, curves and order outlive the overflow of the buffer.
func TestOverflowKeepsTheOpenPerson(t *testing.T) {
	text := "who,id,t,value\np,a,1,1\nq,x,1,5\np,b,1,3\nq,x,2,6\np,a,2,2\np,b,2,4\np,a,3,7\nr,a,1,1\nr,a,2,2\n"
	want, err := readText(text, Options{Unit: "who"})
	if err != nil {
		t.Fatal(err)
	}
	for buffer := int64(1); buffer < 1500; buffer += 20 {
		got, err := readText(text, Options{Unit: "who", Buffer: buffer, Constant: true})
		var e *UngroupedError
		if errors.As(err, &e) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Curves, got.Curves); d != "" {
			t.Errorf("buffer %d (-want +got):\n%s", buffer, d)
		}
	}
}

// Every pass hands out somebody, however the hashes lie.
func TestPassesEnd(t *testing.T) {
	counted := &countingSource{rows: 600}
	g := newGroups(counted, origin{file: "x"}, Schema{Components: []string{"v"}}, &columns{unit: -1}, Options{Unsorted: true, Buffer: 1, Constant: true})
	var p Person
	n := 0
	for {
		ok, err := g.next(&p)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		n++
	}
	if n != 600 || counted.passes > 600 {
		t.Errorf("%d people in %d passes, want 600 in at most 600", n, counted.passes)
	}
}

// countingSource gives one row to each of many people.
type countingSource struct{ rows, at, passes int }

func (s *countingSource) next(run *longRun) (bool, error) {
	if s.at == 0 {
		s.passes++
	}
	if s.at == s.rows {
		return false, nil
	}
	s.at++
	*run = longRun{id: fmt.Append(nil, s.at), t: []float64{1}, v: [][]float64{{2}}, line: []int{s.at}}
	return true, nil
}

func (s *countingSource) rewind() error {
	s.at = 0
	return nil
}

func TestUngrouped(t *testing.T) {
	const text = "id,t,value\na,1,1\na,2,2\nb,1,1\nb,2,2\na,3,3\n"
	for _, buffer := range []int64{1, 400, 700} {
		w, err := readText(text, Options{Buffer: buffer})
		var e *UngroupedError
		if !errors.As(err, &e) {
			t.Fatalf("buffer %d: %v, %v; want an UngroupedError", buffer, w.Units, err)
		}
		if e.Line != 6 || e.First != 2 || e.ID != "a" || !strings.Contains(e.Error(), "test.csv:6: ") {
			t.Errorf("buffer %d: %+v", buffer, e)
		}
	}
	if w, err := readText(text, Options{}); err != nil || len(w.Curves["a"][0][0].T) != 3 {
		t.Errorf("in memory: %v, %v", w.Curves, err)
	}
	// As a unit: person p comes back with another curve.
	_, err := readText("who,id,t,value\np,a,1,1\np,a,2,2\nq,b,1,1\nq,b,2,2\np,c,1,1\np,c,2,2\n", Options{Unit: "who", Buffer: 1})
	var e *UngroupedError
	if !errors.As(err, &e) || e.ID != "p" || e.Line != 6 {
		t.Errorf("unit comes back: %v", err)
	}
}

func TestUnitLong(t *testing.T) {
	text := "who,id,t,value\np,a,1,1\np,a,2,2\nq,a,1,3\nq,a,2,4\np,c,1,5\np,c,2,6\n"
	for _, o := range []Options{{Unit: "who"}, {Unit: "who", Unsorted: true, Buffer: 1}} {
		w, err := readText(text, o)
		if err != nil {
			t.Fatal(err)
		}
		p, q := w.Curves["p"], w.Curves["q"]
		if len(w.Units) != 2 || len(p) != 2 || len(q) != 1 {
			t.Fatalf("units %v, curves %v", w.Units, w.Curves)
		}
		if p[0][0].X[0] != 1 || p[1][0].X[0] != 5 || q[0][0].X[1] != 4 {
			t.Errorf("curves %v", w.Curves)
		}
	}
}

func TestUnitWide(t *testing.T) {
	for name, text := range map[string]string{
		"with ids":     "who,id,1,2,3\np,a,1,2,3\nq,b,4,NA,6\np,c,7,8,9\n",
		"same ids":     "who,id,1,2,3\np,a,1,2,3\nq,a,4,NA,6\np,b,7,8,9\n",
		"without ids":  "who,1,2,3\np,1,2,3\nq,4,NA,6\np,7,8,9\n",
		"id is a unit": "id,1,2,3\np,1,2,3\nq,4,NA,6\np,7,8,9\n",
	} {
		unit := "who"
		if name == "id is a unit" {
			unit = "id"
		}
		for _, buffer := range []int64{0, 1} {
			w, err := readText(text, Options{Unit: unit, Unsorted: buffer > 0, Buffer: buffer})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			p, q := w.Curves["p"], w.Curves["q"]
			if len(w.Units) != 2 || len(p) != 2 || len(q) != 1 || p[1][0].X[2] != 9 || len(q[0][0].T) != 2 || q[0][0].T[1] != 3 {
				t.Errorf("%s: units %v, curves %v", name, w.Units, w.Curves)
			}
		}
	}
	_, err := readText("who,id,1,2\np,a,1,2\np,a,1,2\n", Options{Unit: "who"})
	if err == nil || !strings.Contains(err.Error(), "already on line 2") {
		t.Errorf("one curve twice: %v", err)
	}
}

func TestDuplicateWideID(t *testing.T) {
	_, err := readText("id,1,2\na,1,2\nb,1,2\na ,3,4\n", Options{})
	checkDataError(t, err, "test.csv", 4, 1, "id", "'a' is already on line 2", "unit option")
}

func TestUnsortedStandardInput(t *testing.T) {
	if _, err := Open("-", Options{Unsorted: true}); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("got %v", err)
	}
}

// A file that is read in passes may begin with a byte order mark.
func TestPassesOverBOM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bom.csv")
	if err := os.WriteFile(path, []byte("\ufeff"+longText(20, 5, shuffled(5))), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := readFile(path, Options{Unsorted: true, Buffer: 2000})
	if err != nil || len(w.Units) != 20 {
		t.Errorf("%d people, %v; want 20", len(w.Units), err)
	}
}

func TestIDSet(t *testing.T) {
	s := newIDSet()
	for i := range 5000 {
		if first, again := s.add([]byte(fmt.Sprint(i)), i+1); again {
			t.Fatalf("%d is said to be on line %d", i, first)
		}
	}
	for i := range 5000 {
		if first, again := s.add([]byte(fmt.Sprint(i)), 9); !again || first != i+1 {
			t.Fatalf("%d: line %d, %v", i, first, again)
		}
	}
}

// In order, by either order, and out of it, the set says what a map says.
func TestIDSetOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(t, "ordered")
		format := rapid.SampledFrom([]string{"%d", "%05d", "p%d", "%x"}).Draw(t, "format")
		s, want := newIDSet(), map[string]int{}
		add := func(id string, line int) {
			first, again := s.add([]byte(id), line)
			before, known := want[id]
			if again != known || first != before {
				t.Fatalf("%q on line %d: %v, first on line %d; want %v, %d", id, line, again, first, known, before)
			}
			if !known {
				want[id] = line
			}
		}
		for i := range n {
			add(fmt.Sprintf(format, i), i+1)
		}
		for i, id := range rapid.SliceOf(rapid.IntRange(0, n+20)).Draw(t, "then") {
			add(fmt.Sprintf(format, id), n+1+i)
		}
	})
}
