package dataset

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Files made for the tests of speed and memory.

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
