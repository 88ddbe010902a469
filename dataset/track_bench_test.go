//go:build unix

package dataset

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// Reading and writing one track of 100,000 points, and one a hundred times
// shorter: megabytes a second must not fall with the length. MB/cpu-s is by the
// time computed, which is what counts on a machine that others use too.

func reportSpeed(b *testing.B, bytes int64, start time.Duration) {
	b.ReportMetric(float64(bytes)*float64(b.N)/1e6/(cpu()-start).Seconds(), "MB/cpu-s")
}

func benchmarkFormats(b *testing.B, run func(b *testing.B, format Format, out Output, text []byte)) {
	for _, format := range []Format{GPX, GeoJSON, CSV} {
		for _, n := range []int{1_000, 100_000} {
			out := ground(n)
			w, err := CreateTracks(b.TempDir()+"/a", format, false)
			if err != nil {
				b.Fatal(err)
			}
			var text bytes.Buffer
			w.w.Reset(&text)
			if err := w.Write(out); err != nil {
				b.Fatal(err)
			}
			if err := w.Commit(); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", format, n), func(b *testing.B) {
				b.SetBytes(int64(text.Len()))
				b.ReportAllocs()
				start := cpu()
				run(b, format, out, text.Bytes())
				reportSpeed(b, int64(text.Len()), start)
			})
		}
	}
}

func BenchmarkReadTracks(b *testing.B) {
	benchmarkFormats(b, func(b *testing.B, format Format, out Output, text []byte) {
		for b.Loop() {
			r, err := NewTracks(bytes.NewReader(text), format, "bench", TrackOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if !r.Next() || len(r.Track().Curve[0].T) != len(out.T) {
				b.Fatal(r.Err())
			}
		}
	})
}

func BenchmarkWriteTracks(b *testing.B) {
	benchmarkFormats(b, func(b *testing.B, format Format, out Output, _ []byte) {
		path := b.TempDir() + "/a"
		for b.Loop() {
			w, err := CreateTracks(path, format, false)
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Write(out); err != nil {
				b.Fatal(err)
			}
			if err := w.Discard(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWFDB(b *testing.B) {
	for _, format := range []int{16, 80, 212} {
		const n = 1_000_000
		data := make([]byte, wfdbWidth(format)*n/8)
		for i := range data {
			data[i] = byte(i * 31)
		}
		header := fmt.Appendf(nil, "r 2 360\nr.dat %d 200\nr.dat %d 200\n", format, format)
		b.Run(fmt.Sprint(format), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			start := cpu()
			for b.Loop() {
				if _, err := readWFDB("r.hea", header, nil, func(string) ([]byte, error) { return data, nil }); err != nil {
					b.Fatal(err)
				}
			}
			reportSpeed(b, int64(len(data)), start)
		})
	}
}

func BenchmarkSpeedBound(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		out := ground(n)
		for i := range n {
			out.X[0][i], out.X[1][i] = 45+1e-6*float64(i), 7
			if i%10 == 3 {
				out.X[0][i] += 5
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := &run{t: out.T, p: make([][3]float64, n), speed: 50}
			for i := range n {
				r.p[i] = geocentric(out.X[0][i], out.X[1][i])
			}
			for b.Loop() {
				if chain, ok := r.longestChain(); !ok || len(chain) < n*9/10 {
					b.Fatal(len(chain), ok)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
		})
	}
}
