package beam

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Parquet has the sums of CSV with the same rows, to the byte: those of one process.

type longRow struct {
	Person string  `parquet:"person"`
	Visit  string  `parquet:"visit"`
	T      float64 `parquet:"t"`
	X      float64 `parquet:"x"`
	Y      float64 `parquet:"y"`
}

type wideRow struct {
	ID string   `parquet:"id"`
	A  *float64 `parquet:"0,optional"`
	B  *float64 `parquet:"0.25,optional"`
	C  *float64 `parquet:"0.5,optional"`
	D  *float64 `parquet:"0.75,optional"`
	E  *float64 `parquet:"1,optional"`
}

type pointRow struct {
	Rider string  `parquet:"rider"`
	X     float64 `parquet:"x"`
	Y     float64 `parquet:"y"`
}

func writeRows[T any](t *testing.T, name string, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f, parquet.MaxRowsPerRowGroup(13))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func longParquet(t *testing.T, name string, rows []string) string {
	out := make([]longRow, len(rows))
	for i, r := range rows {
		f := strings.Split(r, ",")
		out[i] = longRow{f[0], f[1], number(t, f[2]), number(t, f[3]), number(t, f[4])}
	}
	return writeRows(t, name, out)
}

func wideParquet(t *testing.T, name string, rows []string) string {
	out := make([]wideRow, len(rows))
	for i, r := range rows {
		f := strings.Split(r, ",")
		out[i].ID = f[0]
		for j, to := range []**float64{&out[i].A, &out[i].B, &out[i].C, &out[i].D, &out[i].E} {
			if f[j+1] != "" {
				v := number(t, f[j+1])
				*to = &v
			}
		}
	}
	return writeRows(t, name, out)
}

func pointParquet(t *testing.T, name string, rows []string) string {
	out := make([]pointRow, len(rows))
	for i, r := range rows {
		f := strings.Split(r, ",")
		out[i] = pointRow{f[0], number(t, f[1]), number(t, f[2])}
	}
	return writeRows(t, name, out)
}

// failOnce lets the fold fail once, at the nth person.
func failOnce(t *testing.T, n int64) {
	var calls atomic.Int64
	inject = func(string) error {
		if calls.Add(1) == n {
			return errors.New("injected failure")
		}
		return nil
	}
	t.Cleanup(func() { inject = func(string) error { return nil } })
}

func TestParquetMean(t *testing.T) {
	long, wide := longRows(40), wideRows(60)
	var complete []string
	for _, r := range wide {
		if !strings.Contains(r+",", ",,") {
			complete = append(complete, r)
		}
	}
	kernel := must(space.Parse("kernel:gauss:20%", domain))
	legendre := must(space.Parse("legendre:4", domain))
	for _, c := range []struct {
		name, header string
		rows         []string
		file         func(t *testing.T, name string, rows []string) string
		o            dataset.Options
		config       mean.Config
	}{
		{"long", longHeader, long, longParquet, dataset.Options{Unit: "person", ID: "visit", Constant: true}, mean.Config{Space: kernel, Radius: 4, Guarantee: privacy.GDP(1), Unit: "person"}},
		{"wide", wideHeader, wide, wideParquet, dataset.Options{}, mean.Config{Space: legendre, Radius: 3, Guarantee: privacy.ZCDP(1), Unit: "id", N: 60}},
		{"ptf", wideHeader, complete, wideParquet, dataset.Options{}, mean.Config{Space: legendre, Radius: 3, Guarantee: privacy.GDP(1), Unit: "id", Method: mean.ProtectThenFit, Grid: []float64{0, 0.25, 0.5, 0.75, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			csv, config, fromCSV := single(t, write(t, "a.csv", c.header, c.rows), c.o, c.config)
			path := c.file(t, "whole.parquet", c.rows)
			want, again, s := single(t, path, c.o, c.config)
			if string(want) != string(csv) || string(again) != string(config) {
				t.Fatal("one process sums CSV and Parquet up differently")
			}
			mixed := shuffled(c.rows)
			half := len(mixed) / 2
			wantSum(t, "whole", want, Mean, s, config, 0, path)
			wantSum(t, "shuffled", want, Mean, s, config, 100, c.file(t, "shuffled.parquet", mixed))
			parts := []string{c.file(t, "b.parquet", mixed[half:]), c.file(t, "a.parquet", mixed[:half])}
			wantSum(t, "split", want, Mean, s, config, 0, parts...)
			// The separator and the decimal sign of CSV files are settled by the first one.
			wantSum(t, "half CSV, half Parquet", want, Mean, fromCSV, config, 300, write(t, "b.csv", c.header, mixed[half:]), parts[1])
			failOnce(t, 17)
			if sum, err := runJob(t, Mean, s, config, 0, parts...); err == nil || sum != nil {
				t.Errorf("the failed job returned %d bytes, %v", len(sum), err)
			}
			wantSum(t, "run again", want, Mean, s, config, 0, parts...)
			twice := c.file(t, "twice.parquet", shuffled(slices.Concat(c.rows, c.rows)))
			if _, err := runJob(t, Mean, s, config, 0, twice); err == nil {
				t.Error("repeated rows were accepted")
			}
			s.Deduplicate = true
			wantSum(t, "repeated and deduplicated", want, Mean, s, config, 0, twice)
			wantSum(t, "a file that was delivered twice", want, Mean, s, config, 0, path, c.file(t, "copy.parquet", mixed))
		})
	}
}

func TestParquetDensity(t *testing.T) {
	rows := make([]string, 0, 100)
	for i, r := range longRows(50) {
		f := strings.Split(r, ",")
		rows = append(rows, fmt.Sprintf("%s,%s,%v", f[0], f[2], float64(i%17)/17+1e-3*float64(i)))
	}
	for _, unit := range []string{"", "rider"} {
		t.Run("unit "+unit, func(t *testing.T) {
			d := must(density.New(density.Config{Box: []space.Interval{domain, domain}, Guarantee: privacy.ZCDP(0.5), Unit: "rider", Rank: []int{3}}))
			config := must(d.Config().Encode())
			mixed := shuffled(rows)
			byRider := slices.Clone(rows)
			slices.SortStableFunc(byRider, func(a, b string) int { return strings.Compare(a[:strings.Index(a, ",")], b[:strings.Index(b, ",")]) })
			path := pointParquet(t, "whole.parquet", byRider)
			file := must(dataset.OpenPoints(path, dataset.PointOptions{Columns: []string{"x", "y"}, Unit: unit}))
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
			s := Source{Components: []string{"x", "y"}, Unit: unit}
			wantSum(t, "whole", want, Density, s, config, 0, path)
			wantSum(t, "shuffled", want, Density, s, config, 0, pointParquet(t, "mixed.parquet", mixed))
			parts := []string{pointParquet(t, "a.parquet", mixed[:70]), pointParquet(t, "b.parquet", mixed[70:])}
			wantSum(t, "split", want, Density, s, config, 0, parts...)
			wantSum(t, "half CSV, half Parquet", want, Density, s, config, 200, write(t, "a.csv", "rider,x,y", mixed[:70]), parts[1])
			if unit == "" {
				return
			}
			failOnce(t, 11)
			if sum, err := runJob(t, Density, s, config, 0, parts...); err == nil || sum != nil {
				t.Errorf("the failed job returned %d bytes, %v", len(sum), err)
			}
			wantSum(t, "run again", want, Density, s, config, 0, parts...)
			s.Deduplicate = true
			wantSum(t, "deduplicated", want, Density, s, config, 0, path, pointParquet(t, "copy.parquet", mixed))
		})
	}
}
