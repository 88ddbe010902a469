package curve

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/experiment"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// cabs are the taxi curves where they are there, else random ones of their size.
func cabs(tb testing.TB) ([]fit.Curve, space.Interval) {
	const dir = "../../shared/data/taxi"
	if _, err := os.Stat(dir); err == nil {
		curves, err := experiment.Taxi(dir)
		if err != nil {
			tb.Fatal(err)
		}
		return curves, experiment.TaxiWindow
	}
	var curves []fit.Curve
	for i := range uint64(24) {
		curves = append(curves, wander(i, 770, 2))
	}
	return curves, window
}

func cabConfig(w space.Interval, g privacy.Guarantee, m Method) Config {
	return Config{Window: w, Guarantee: g, Metric: privacy.L2, Components: []string{"x", "y"}, Method: m}
}

// One 12-hour cab curve of about 770 points, exact cryptographic noise included.
func BenchmarkCab(b *testing.B) {
	curves, w := cabs(b)
	for _, m := range []Method{Segment, Denoise} {
		for _, g := range []privacy.Guarantee{privacy.Geo(0.001), privacy.Geo(0.01), privacy.Geo(0.1), privacy.ConcentratedGeo(1.25e-6)} {
			p, err := New(cabConfig(w, g, m))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(string(m)+"/"+g.String(), func(b *testing.B) {
				b.ReportAllocs()
				var times []time.Duration
				for i := range b.N {
					start := time.Now()
					if _, err := p.Privatize(curves[i%len(curves)], noise.Crypto()); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "median-µs")
			})
		}
	}
}

// 10,000 cab curves on one and on all processors: the ratio of the two.
func BenchmarkAll(b *testing.B) {
	curves, w := cabs(b)
	many := make([]fit.Curve, 10_000)
	for i := range many {
		many[i] = curves[i%len(curves)]
	}
	p, err := New(cabConfig(w, privacy.Geo(0.01), Segment))
	if err != nil {
		b.Fatal(err)
	}
	for _, cores := range []int{1, runtime.NumCPU()} {
		b.Run(map[bool]string{true: "one", false: "all"}[cores == 1], func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			for range b.N {
				if _, err := p.All(context.Background(), many, noise.Crypto()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(many))*float64(b.N)/b.Elapsed().Seconds(), "curves/s")
		})
	}
}

func BenchmarkContinuous(b *testing.B) {
	base, err := space.Legendre(space.Interval{A: 0, B: 1}, 2)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		sp, err := space.Piecewise(base, space.EqualPieces(space.Interval{A: 0, B: 1}, n))
		if err != nil {
			b.Fatal(err)
		}
		coordinates := make([]float64, 2*n)
		for i := range coordinates {
			coordinates[i] = float64(i % 7)
		}
		b.Run(map[int]string{1_000: "N=1e3", 10_000: "N=1e4", 100_000: "N=1e5", 1_000_000: "N=1e6"}[n], func(b *testing.B) {
			for range b.N {
				if err := Continuous(sp, coordinates, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/piece")
		})
	}
}
