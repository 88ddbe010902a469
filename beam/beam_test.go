package beam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

func TestMain(m *testing.M) {
	beam.Init()
	os.Exit(m.Run())
}

var domain = space.Interval{A: 0, B: 1}

// longRows are people with times of their own, one or two curves each.
func longRows(people int) []string {
	rnd := rand.New(rand.NewPCG(8, 1))
	var rows []string
	for p := range people {
		for c := range 1 + p%2 {
			for range 3 + rnd.IntN(6) {
				t := rnd.Float64()
				rows = append(rows, fmt.Sprintf("p%d,p%d-%d,%v,%v,%v", p, p, c, t, 3*math.Sin(6*t)+rnd.NormFloat64(), rnd.NormFloat64()))
			}
		}
	}
	return rows
}

const longHeader = "person,visit,t,x,y"

func wideRows(people int) []string {
	rnd := rand.New(rand.NewPCG(8, 2))
	var rows []string
	for p := range people {
		row := fmt.Sprintf("p%d", p)
		for j := range 5 {
			if p%7 == 3 && j == p%5 {
				row += "," // missing
			} else {
				row += fmt.Sprintf(",%v", float64(j)+rnd.NormFloat64())
			}
		}
		rows = append(rows, row)
	}
	return rows
}

const wideHeader = "id,0,0.25,0.5,0.75,1"

func write(t *testing.T, name, header string, rows []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(header+"\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func shuffled(rows []string) []string {
	out := slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// single is the sum of one process, and the source and configuration it had.
func single(t *testing.T, path string, o dataset.Options, c mean.Config) (sum, config []byte, s Source) {
	t.Helper()
	file, err := dataset.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c.Components = file.Schema().Components
	if config, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	if c, err = mean.DecodeConfig(config); err != nil {
		t.Fatal(err)
	}
	m, err := mean.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for file.Next() {
		if err := m.Add(file.Person().Curves...); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Err(); err != nil {
		t.Fatal(err)
	}
	if sum, err = m.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if s, err = SourceOf(o, file.Schema()); err != nil {
		t.Fatal(err)
	}
	return sum, config, s
}

func runJob(t *testing.T, verb string, s Source, config []byte, size int64, paths ...string) ([]byte, error) {
	t.Helper()
	chunks, err := Chunks(t.Context(), paths, size)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	total, err := Job{Verb: verb, Source: s, Config: config, Chunks: chunks, Exchange: dir, Runner: "prism"}.Run(t.Context())
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left in the exchange folder: %v", left)
	}
	if err != nil {
		return nil, err
	}
	return total.Sum, nil
}

func wantSum(t *testing.T, what string, want []byte, verb string, s Source, config []byte, size int64, paths ...string) {
	t.Helper()
	got, err := runJob(t, verb, s, config, size, paths...)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if string(got) != string(want) {
		t.Errorf("%s: another sum than in one process (%d and %d bytes)", what, len(got), len(want))
	}
}

// The sums are those of one process for shuffled, split and repeated input.
func TestMeanOfLongFiles(t *testing.T) {
	rows := longRows(40)
	o := dataset.Options{Unit: "person", ID: "visit", Constant: true}
	path := write(t, "long.csv", longHeader, rows)
	c := mean.Config{Space: must(space.Parse("kernel:gauss:20%", domain)), Radius: 4, Guarantee: privacy.GDP(1), Unit: "person"}
	want, config, s := single(t, path, o, c)
	wantSum(t, "whole", want, Mean, s, config, 0, path)
	mixed := shuffled(rows)
	wantSum(t, "shuffled, in ranges", want, Mean, s, config, 500, write(t, "shuffled.csv", longHeader, mixed))
	wantSum(t, "split", want, Mean, s, config, 900, write(t, "a.csv", longHeader, mixed[:100]), write(t, "b.csv", longHeader, mixed[100:]))
	twice := shuffled(slices.Concat(rows, rows))
	if _, err := runJob(t, Mean, s, config, 700, write(t, "twice.csv", longHeader, twice)); err == nil {
		t.Error("repeated rows were accepted")
	}
	s.Deduplicate = true
	wantSum(t, "repeated and deduplicated", want, Mean, s, config, 700, write(t, "twice.csv", longHeader, twice))
}

func TestMeanOfWideFiles(t *testing.T) {
	rows := wideRows(60)
	path := write(t, "wide.csv", wideHeader, rows)
	for _, c := range []mean.Config{
		{Space: must(space.Parse("legendre:4", domain)), Radius: 3, Guarantee: privacy.GDP(1), Unit: "id"},
		{Space: must(space.Parse("fourier:5", domain)), Radius: 3, Guarantee: privacy.ZCDP(1), Unit: "id", N: 60},
	} {
		want, config, s := single(t, path, dataset.Options{}, c)
		wantSum(t, "ranges", want, Mean, s, config, 256, path)
		mixed := shuffled(slices.Concat(rows, rows[:30]))
		if _, err := runJob(t, Mean, s, config, 256, write(t, "again.csv", wideHeader, mixed)); err == nil {
			t.Error("people who come twice were accepted")
		}
		s.Deduplicate = true
		wantSum(t, "deduplicated", want, Mean, s, config, 256, write(t, "again.csv", wideHeader, mixed))
	}
	var complete []string
	for _, r := range rows {
		if !strings.Contains(r+",", ",,") {
			complete = append(complete, r)
		}
	}
	path = write(t, "complete.csv", wideHeader, complete)
	c := mean.Config{Space: must(space.Parse("legendre:3", domain)), Radius: 3, Guarantee: privacy.GDP(1), Unit: "id", Method: mean.ProtectThenFit, Grid: []float64{0, 0.25, 0.5, 0.75, 1}}
	want, config, s := single(t, path, dataset.Options{}, c)
	wantSum(t, "protect-then-fit", want, Mean, s, config, 300, write(t, "shuffled.csv", wideHeader, shuffled(complete)))
}

func TestDensity(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 3))
	var rows []string
	for p := range 50 {
		for range 1 + p%3 {
			rows = append(rows, fmt.Sprintf("r%d,%v,%v", p, rnd.Float64(), rnd.Float64()))
		}
	}
	box := []space.Interval{domain, domain}
	for _, unit := range []string{"", "rider"} {
		c := density.Config{Box: box, Guarantee: privacy.ZCDP(0.5), Unit: "rider", Rank: []int{3}}
		d := must(density.New(c))
		config := must(d.Config().Encode())
		file := must(dataset.OpenPoints(write(t, "points.csv", "rider,x,y", rows), dataset.PointOptions{Columns: []string{"x", "y"}, Unit: unit}))
		defer file.Close()
		for file.Next() {
			x, _, _ := file.Person()
			var points [][]float64
			for ; len(x) > 0; x = x[2:] {
				points = append(points, x[:2])
			}
			if err := d.Add(points...); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Err(); err != nil {
			t.Fatal(err)
		}
		want := must(d.MarshalBinary())
		s := Source{Components: []string{"x", "y"}, Unit: unit, Separator: ',', Decimal: '.'}
		mixed := shuffled(rows)
		wantSum(t, "shuffled, in ranges, unit "+unit, want, Density, s, config, 200, write(t, "mixed.csv", "rider,x,y", mixed))
		wantSum(t, "split, unit "+unit, want, Density, s, config, 0, write(t, "a.csv", "rider,x,y", mixed[:9]), write(t, "b.csv", "rider,x,y", mixed[9:]))
		s.Deduplicate = true
		again := write(t, "again.csv", "rider,x,y", shuffled(slices.Concat(rows, rows)))
		if unit == "" {
			if _, err := runJob(t, Density, s, config, 200, again); err == nil {
				t.Error("deduplication without a unit was accepted")
			}
		} else {
			wantSum(t, "deduplicated", want, Density, s, config, 200, again)
		}
	}
}

// A bundle that fails half-way and is run again counts once. Prism gives up on the
// job instead of retrying: then nothing comes out, and the next run has the same sum.
func TestBundleFailures(t *testing.T) {
	rows := wideRows(30)
	path := write(t, "wide.csv", wideHeader, rows)
	c := mean.Config{Space: must(space.Parse("legendre:4", domain)), Radius: 3, Guarantee: privacy.GDP(1), Unit: "id"}
	want, config, s := single(t, path, dataset.Options{}, c)

	var calls atomic.Int64
	inject = func(string) error {
		if calls.Add(1) == 17 {
			return errors.New("injected failure")
		}
		return nil
	}
	defer func() { inject = func(string) error { return nil } }()
	if sum, err := runJob(t, Mean, s, config, 256, path); err == nil || sum != nil {
		t.Errorf("the failed job returned %d bytes, %v", len(sum), err)
	}
	wantSum(t, "run again", want, Mean, s, config, 256, path)

	// What a runner with retries does with the DoFn: a bundle starts, fails, and
	// starts again on the same worker.
	bundles := map[string][][2]any{}
	if err := s.curves(t.Context(), Chunk{Path: path}, func(name string, b []byte) {
		key := fmt.Sprint(len(name) % 2)
		bundles[key] = append(bundles[key], [2]any{name, b})
	}); err != nil {
		t.Fatal(err)
	}
	f := &foldFn{Verb: Mean, Source: must(marshal(s)), Config: config}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	merge := &mergeFn{Verb: Mean}
	acc := merge.CreateAccumulator()
	for _, people := range bundles {
		for attempt := range 3 {
			var out [][]byte
			emit := func(b []byte) { out = append(out, b) }
			if err := f.StartBundle(context.Background(), emit); err != nil {
				t.Fatal(err)
			}
			for i, p := range people {
				if attempt < 2 && i == len(people)*(attempt+1)/3 {
					break // the attempt fails here
				}
				first := true
				next := func(b *[]byte) bool {
					*b = p[1].([]byte)
					defer func() { first = false }()
					return first
				}
				if err := f.ProcessElement(context.Background(), p[0].(string), next, emit); err != nil {
					t.Fatal(err)
				}
			}
			if attempt < 2 {
				continue
			}
			if err := f.FinishBundle(context.Background(), emit); err != nil {
				t.Fatal(err)
			}
			for _, b := range out {
				acc = must(merge.AddInput(acc, b))
			}
		}
	}
	if _, sum, err := cutCounts(acc); err != nil || string(sum) != string(want) {
		t.Error("retried bundles made another sum")
	}
}

// Errors go to a runner's logs: they must not quote the data.
func TestErrorsAreDiscreet(t *testing.T) {
	c := mean.Config{Space: must(space.Parse("legendre:3", domain)), Radius: 3, Guarantee: privacy.GDP(1), Unit: "id"}
	_, config, s := single(t, write(t, "good.csv", wideHeader, wideRows(3)), dataset.Options{}, c)
	for name, rows := range map[string][]string{
		"text":   {"secretname,1,2,3,4,5", "p,1,2,secretcell,4,5"},
		"number": {"secretname,1,2,3,4,31337"},
	} {
		if name == "number" {
			rows = append(rows, "secretname,1,2,3,4,5")
		}
		_, err := runJob(t, Mean, s, config, 0, write(t, name+".csv", wideHeader, rows))
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "31337") {
			t.Errorf("%s: the error quotes the data: %v", name, err)
		}
	}
	if _, err := runJob(t, Mean, s, config, 9, write(t, "quoted.csv", wideHeader, []string{"\"a\nb\",1,2,3,4,5"})); err == nil {
		t.Error("a field over two lines was cut")
	}
	if _, err := Chunks(t.Context(), []string{filepath.Join(t.TempDir(), "*.csv")}, 0); err == nil {
		t.Error("no files, no error")
	}
	path := write(t, "one.csv", wideHeader, wideRows(1))
	if _, err := Chunks(t.Context(), []string{path, path}, 0); err == nil {
		t.Error("a file given twice was accepted")
	}
}

func FuzzDecodeFragment(f *testing.F) {
	good := fragment{id: "a", curve: must(longCurve())}
	f.Add(good.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeFragment(b)
		if err == nil {
			if _, err := decodeFragment(x.encode()); err != nil {
				t.Error(err)
			}
		}
	})
}
