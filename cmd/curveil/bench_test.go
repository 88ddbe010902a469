//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// The whole command against its parts, on 100,000 noiseless curves of 100
// points in the Gaussian kernel's space, half of them outside the ball. What
// counts are ratios within one run:
//
//	go test -run '^$' -bench Mean -benchtime 3x ./cmd/curveil

const benchCurves, benchPoints = 100_000, 100

// cpuTime is what this process has computed so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func measured(b *testing.B, body func()) {
	b.ReportAllocs()
	start := cpuTime()
	for b.Loop() {
		body()
	}
	b.ReportMetric(float64((cpuTime()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// benchCohort draws the curves, to 7 digits, in blocks of one buffer.
func benchCohort(b *testing.B, each func(i int, x []float64)) []float64 {
	b.Helper()
	grid := space.Uniform(0, 1, benchPoints)
	sp, err := space.Kernel(space.Gaussian(0.2), grid)
	if err != nil {
		b.Fatal(err)
	}
	values := make([][]float64, benchPoints)
	for j, t := range grid.T {
		values[j] = make([]float64, sp.Dim())
		sp.Eval(values[j], t)
	}
	r := simulate.New(1)
	coords, x := make([]float64, sp.Dim()), make([]float64, benchPoints)
	for i := range benchCurves {
		var n float64
		for k := range coords {
			coords[k] = r.NormFloat64()
			n += coords[k] * coords[k]
		}
		size := 2 * r.Float64() / math.Sqrt(n)
		for j, row := range values {
			x[j] = 0
			for k, e := range row {
				x[j] += size * e * coords[k]
			}
			x[j] = math.Round(x[j]*1e7) / 1e7
		}
		each(i, x)
	}
	return grid.T
}

func benchFiles(b *testing.B) (csvPath, parquetPath string) {
	b.Helper()
	dir := b.TempDir()
	csvPath, parquetPath = filepath.Join(dir, "curves.csv"), filepath.Join(dir, "curves.parquet")
	c, err := os.Create(csvPath)
	if err != nil {
		b.Fatal(err)
	}
	p, err := os.Create(parquetPath)
	if err != nil {
		b.Fatal(err)
	}
	grid := space.Uniform(0, 1, benchPoints).T
	group := parquet.Group{"id": parquet.Leaf(parquet.Int64Type)}
	names := []string{"id"}
	for _, t := range grid {
		name := strconv.FormatFloat(t, 'g', -1, 64)
		names = append(names, name)
		group[name] = parquet.Leaf(parquet.DoubleType)
	}
	schema := parquet.NewSchema("curves", group)
	column := map[string]int{}
	for i, path := range schema.Columns() {
		column[path[0]] = i
	}
	w := bufio.NewWriterSize(c, 1<<20)
	w.WriteString(strings.Join(names, ",") + "\n")
	pw := parquet.NewWriter(p, schema)
	row := make(parquet.Row, len(names))
	benchCohort(b, func(i int, x []float64) {
		line := strconv.AppendInt(nil, int64(i), 10)
		row[column["id"]] = parquet.Int64Value(int64(i)).Level(0, 0, column["id"])
		for j, v := range x {
			line = strconv.AppendFloat(append(line, ','), v, 'g', -1, 64)
			k := column[names[j+1]]
			row[k] = parquet.DoubleValue(v).Level(0, 0, k)
		}
		w.Write(append(line, '\n'))
		if _, err := pw.WriteRows([]parquet.Row{row}); err != nil {
			b.Fatal(err)
		}
	})
	for _, err := range []error{w.Flush(), c.Close(), pw.Close(), p.Close()} {
		if err != nil {
			b.Fatal(err)
		}
	}
	return csvPath, parquetPath
}

func benchParse(b *testing.B, path string) {
	measured(b, func() {
		r, err := dataset.Open(path, dataset.Options{ID: "id"})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n++
		}
		if r.Err() != nil || n != benchCurves {
			b.Fatal(n, r.Err())
		}
		r.Close()
	})
}

func BenchmarkMean(b *testing.B) {
	csvPath, parquetPath := benchFiles(b)
	whole := func(path string) func(*testing.B) {
		return func(b *testing.B) {
			measured(b, func() {
				code := run(context.Background(), []string{"mean", path, "--space", "kernel:gauss:0.2:100", "--domain", "0:1",
					"--bound", "1", "--mu", "1", "--ledger", "none", "--id", "id"}, strings.NewReader(""), io.Discard, io.Discard)
				if code != exitDone {
					b.Fatal(code)
				}
			})
		}
	}
	b.Run("parse-csv", func(b *testing.B) { benchParse(b, csvPath) })
	b.Run("command-csv", whole(csvPath))
	b.Run("parse-parquet", func(b *testing.B) { benchParse(b, parquetPath) })
	b.Run("command-parquet", whole(parquetPath))
	b.Run("fit-average-noise", func(b *testing.B) { // from memory: no parsing
		all := make([]float64, 0, benchCurves*benchPoints)
		grid := benchCohort(b, func(_ int, x []float64) { all = append(all, x...) })
		sp, err := space.Kernel(space.Gaussian(0.2), space.Uniform(0, 1, benchPoints))
		if err != nil {
			b.Fatal(err)
		}
		measured(b, func() {
			m, err := mean.New(mean.Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person"})
			if err != nil {
				b.Fatal(err)
			}
			for x := range slices.Chunk(all, benchPoints) {
				if err := m.Add(fit.Curve{{T: grid, X: x}}); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := m.Release(noise.Crypto()); err != nil {
				b.Fatal(err)
			}
		})
	})
}
