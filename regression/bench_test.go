package regression_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// quiet reports the fastest of the batches of 1024 operations: what one takes while nothing else on the machine interrupts.
func quiet(b *testing.B) (tick, done func()) {
	best, start, n := time.Duration(math.MaxInt64), time.Now(), 0
	return func() {
			if n++; n == 1024 {
				now := time.Now()
				best = min(best, now.Sub(start))
				start, n = now, 0
			}
		}, func() {
			if best < math.MaxInt64 {
				b.ReportMetric(float64(best)/1024, "quiet-ns/op")
			}
		}
}

// benchStream has r = 20 coordinates at any number of centres.
func benchStream(b testing.TB, centres int) regression.Stream {
	floor := 1e-8
	for scale := 0.12; ; {
		sp, err := space.Kernel(space.Gaussian(scale), space.Midpoints(0, 1, centres), space.Floor(floor))
		if err != nil {
			b.Fatal(err)
		}
		if sp.Dim() == 20 {
			return regression.Stream{Name: "bench", Basis: regression.OneVariable(sp), Tau: 0.67, Steps: regression.Steps{Gamma0: 0.01, Horizon: 1 << 30},
				Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Staleness: 1 << 20}.WithDefaults()
		}
		if sp.Dim() < 20 {
			floor *= 0.7
		} else {
			floor *= 1.2
		}
	}
}

// BenchmarkServer is one report applied.
func BenchmarkServer(b *testing.B) {
	for _, centres := range []int{50, 200, 800} {
		b.Run(fmt.Sprintf("J=%d", centres), func(b *testing.B) {
			v := newServer(b, benchStream(b, centres))
			c := newClient(b, v, regression.ClientConfig{Source: noise.Seeded(1), Ledger: free{}})
			some := make([]*regression.Report, 1024)
			for i := range some {
				var err error
				if some[i], err = c.Contribute(context.Background(), []float64{rand.Float64()}, 1); err != nil {
					b.Fatal(err)
				}
			}
			next := noise.Seeded(2)
			apply := func() {
				r := some[v.At()%1024]
				w := next.Uint64()
				for j := range 8 {
					r.ID[j] = byte(w >> (8 * j))
				}
				if v.At()-r.At > 1<<19 {
					r.At = v.At()
				}
				if repeated, err := v.Apply(r); repeated || err != nil {
					b.Fatal(repeated, err)
				}
			}
			for range 1<<20 + 1<<18 { // until all the ids that are remembered are
				apply()
			}
			b.ReportAllocs()
			tick, done := quiet(b)
			defer done()
			for b.Loop() {
				tick()
				apply()
			}
		})
	}
}

// BenchmarkClient is one report made, without a ledger's disk.
func BenchmarkClient(b *testing.B) {
	for _, centres := range []int{50, 200, 800} {
		b.Run(fmt.Sprintf("J=%d", centres), func(b *testing.B) {
			v := newServer(b, benchStream(b, centres))
			c := newClient(b, v, regression.ClientConfig{})
			c.Unlimited()
			x := []float64{0}
			b.ReportAllocs()
			tick, done := quiet(b)
			defer done()
			for b.Loop() {
				tick()
				x[0] = math.Mod(x[0]+0.618, 1)
				if _, err := c.Contribute(context.Background(), x, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSGD is one step without privacy, r = 23.
func BenchmarkSGD(b *testing.B) {
	for _, centres := range []int{50, 200, 800} {
		b.Run(fmt.Sprintf("J=%d", centres), func(b *testing.B) {
			s, err := regression.NewSGD(regression.SGDConfig{Basis: benchStream(b, centres).Basis, Tau: 0.67, Steps: regression.Steps{Gamma0: 0.01, Horizon: 1}})
			if err != nil {
				b.Fatal(err)
			}
			x := []float64{0}
			tick, done := quiet(b)
			defer done()
			for b.Loop() {
				tick()
				x[0] = math.Mod(x[0]+0.618, 1)
				if err := s.Add(x, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReportJSON(b *testing.B) {
	v := newServer(b, benchStream(b, 50))
	r, err := newClient(b, v, regression.ClientConfig{}).Contribute(context.Background(), []float64{0.5}, 1)
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		tick, done := quiet(b)
		defer done()
		for b.Loop() {
			tick()
			if _, err := json.Marshal(r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportMetric(float64(len(text)), "bytes")
		tick, done := quiet(b)
		defer done()
		for b.Loop() {
			tick()
			var back regression.Report
			if err := back.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
