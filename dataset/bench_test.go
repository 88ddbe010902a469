//go:build unix

package dataset

import (
	"bufio"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// 10⁷ numbers three ways. Each benchmark reads one file per iteration; the
// bare parse is encoding/csv with ReuseRecord and strconv.ParseFloat, and
// nothing else. Make the files once: about 170 MB in the benchmark's own folder.

const (
	benchCurves  = 100_000
	benchSamples = 100
)

// benchValue is a value with four decimals, as people measure.
func benchValue(i, j int) float64 {
	x := math.Sin(float64(i)+0.07*float64(j)) * 20
	return math.Round((100+x)*1e4) / 1e4
}

func writeFile(b testing.TB, name string, write func(*bufio.Writer)) string {
	path := filepath.Join(b.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return path
}

func writeWide(w *bufio.Writer, curves, samples int) {
	var b []byte
	w.WriteString("id")
	for j := range samples {
		b = strconv.AppendFloat(append(b[:0], ','), float64(j)/100, 'g', -1, 64)
		w.Write(b)
	}
	w.WriteByte('\n')
	for i := range curves {
		b = strconv.AppendInt(append(b[:0], 'p'), int64(i), 10)
		for j := range samples {
			b = strconv.AppendFloat(append(b, ','), benchValue(i, j), 'f', -1, 64)
		}
		w.Write(append(b, '\n'))
	}
}

func writeLong(w *bufio.Writer, curves, samples int) {
	var b []byte
	w.WriteString("id,t,value\n")
	for i := range curves {
		for j := range samples {
			b = strconv.AppendInt(append(b[:0], 'p'), int64(i), 10)
			b = strconv.AppendFloat(append(b, ','), float64(j)/100, 'g', -1, 64)
			b = strconv.AppendFloat(append(b, ','), benchValue(i, j), 'f', -1, 64)
			w.Write(append(b, '\n'))
		}
	}
}

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
