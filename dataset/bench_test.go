//go:build unix

package dataset

import (
	"bufio"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// 10⁷ numbers three ways. Each benchmark reads one file per iteration; the
// bare parse is encoding/csv with ReuseRecord and strconv.ParseFloat, and
// nothing else. Make the files once: about 170 MB in the benchmark's own folder.

// cpu is the time that this process has computed, the fair measure on a
// machine that others use too.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func reportCPU(b *testing.B, start time.Duration) {
	b.ReportMetric(float64((cpu()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
}

func benchmarkRead(b *testing.B, path string, o Options) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	start := cpu()
	defer func() { reportCPU(b, start) }()
	for b.Loop() {
		r, err := Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for r.Next() {
			n += len(r.Person().Curves[0][0].X)
		}
		if r.Err() != nil || n != benchCurves*benchSamples {
			b.Fatal(n, r.Err())
		}
		r.Close()
	}
}

func benchmarkBare(b *testing.B, path string, first int) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	start := cpu()
	defer func() { reportCPU(b, start) }()
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		r := csv.NewReader(bufio.NewReaderSize(f, bufferSize))
		r.ReuseRecord = true
		r.Read()
		sum := 0.0
		for {
			rec, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			for _, field := range rec[first:] {
				x, err := strconv.ParseFloat(field, 64)
				if err != nil {
					b.Fatal(err)
				}
				sum += x
			}
		}
		if sum == 0 {
			b.Fatal("no sum")
		}
		f.Close()
	}
}

func BenchmarkWide(b *testing.B) {
	path := writeFile(b, "wide.csv", func(w *bufio.Writer) { writeWide(w, benchCurves, benchSamples) })
	b.Run("csv", func(b *testing.B) { benchmarkRead(b, path, Options{}) })
	b.Run("bare", func(b *testing.B) { benchmarkBare(b, path, 1) })
}

func BenchmarkLong(b *testing.B) {
	path := writeFile(b, "long.csv", func(w *bufio.Writer) { writeLong(w, benchCurves, benchSamples) })
	b.Run("csv", func(b *testing.B) { benchmarkRead(b, path, Options{}) })
	b.Run("bare", func(b *testing.B) { benchmarkBare(b, path, 1) })
}

func BenchmarkParquet(b *testing.B) {
	long := filepath.Join(b.TempDir(), "long.parquet")
	type sample struct {
		ID    string  `parquet:"id,dict"`
		T     float64 `parquet:"t,dict"`
		Value float64 `parquet:"value"`
	}
	f, err := os.Create(long)
	if err != nil {
		b.Fatal(err)
	}
	w := parquet.NewGenericWriter[sample](f, parquet.Compression(&parquet.Snappy))
	rows := make([]sample, benchSamples)
	for i := range benchCurves {
		for j := range rows {
			rows[j] = sample{"p" + strconv.Itoa(i), float64(j) / 100, benchValue(i, j)}
		}
		if _, err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
		if i%10_000 == 9999 {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	f.Close()

	list := filepath.Join(b.TempDir(), "list.parquet")
	type curve struct {
		ID string    `parquet:"id"`
		X  []float64 `parquet:"x,list"`
	}
	f, err = os.Create(list)
	if err != nil {
		b.Fatal(err)
	}
	lw := parquet.NewGenericWriter[curve](f, parquet.Compression(&parquet.Snappy))
	times := make([]float64, benchSamples)
	for j := range times {
		times[j] = float64(j) / 100
	}
	for i := range benchCurves {
		c := curve{ID: "p" + strconv.Itoa(i), X: make([]float64, benchSamples)}
		for j := range c.X {
			c.X[j] = benchValue(i, j)
		}
		if _, err := lw.Write([]curve{c}); err != nil {
			b.Fatal(err)
		}
	}
	if err := lw.Close(); err != nil {
		b.Fatal(err)
	}
	f.Close()

	for _, codec := range []struct {
		name    string
		options []parquet.WriterOption
	}{
		{"wide", nil},
		{"wide-snappy", []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}},
	} {
		wide := filepath.Join(b.TempDir(), codec.name+".parquet")
		names, nodes := []string{"id"}, []parquet.Node{parquet.String()}
		for j := range benchSamples {
			names = append(names, strconv.FormatFloat(times[j], 'f', 2, 64))
			nodes = append(nodes, parquet.Optional(parquet.Leaf(parquet.DoubleType)))
		}
		parquetOf(b, wide, names, nodes, func(yield func(parquet.Row) bool) {
			row := make(parquet.Row, len(names))
			for i := range benchCurves {
				for j := range benchSamples {
					row[j] = parquet.ValueOf(benchValue(i, j)).Level(0, 1, j)
				}
				row[benchSamples] = parquet.ValueOf("p"+strconv.Itoa(i)).Level(0, 0, benchSamples)
				if !yield(row) {
					return
				}
			}
		}, codec.options...)
		b.Run(codec.name, func(b *testing.B) { benchmarkRead(b, wide, Options{ID: "id"}) })
	}
	b.Run("list-snappy", func(b *testing.B) { benchmarkRead(b, list, Options{Times: times}) })
	b.Run("long-snappy", func(b *testing.B) { benchmarkRead(b, long, Options{}) })
}
