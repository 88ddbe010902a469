package noise

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var benchmarkScales = []float64{1, 1000, 1 << 30}

func BenchmarkRoundedNormal(b *testing.B) {
	for _, scale := range benchmarkScales {
		b.Run(fmt.Sprintf("scale=%g", scale), func(b *testing.B) {
			s := Crypto()
			b.ReportAllocs()
			for b.Loop() {
				s.RoundedNormal(scale)
			}
		})
	}
}

// BenchmarkRoundedNormalParallel gives each goroutine its own Source: compare
// ns/op at -cpu 1,2.
func BenchmarkRoundedNormalParallel(b *testing.B) {
	for _, scale := range benchmarkScales {
		b.Run(fmt.Sprintf("scale=%g", scale), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				s := Crypto()
				for pb.Next() {
					s.RoundedNormal(scale)
				}
			})
		})
	}
}

// BenchmarkNormFloat64 is the inexact floating-point normal of the standard
// library, for comparison only.
func BenchmarkNormFloat64(b *testing.B) {
	b.Run("ChaCha8", func(b *testing.B) {
		r := rand.New(rand.NewChaCha8([32]byte{1}))
		for b.Loop() {
			r.NormFloat64()
		}
	})
	b.Run("PCG", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 2))
		for b.Loop() {
			r.NormFloat64()
		}
	})
}

func BenchmarkNormFloat64Parallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		r := rand.New(rand.NewChaCha8([32]byte{1}))
		for pb.Next() {
			r.NormFloat64()
		}
	})
}

func BenchmarkRoundedLaplace(b *testing.B) {
	s := Crypto()
	for b.Loop() {
		s.RoundedLaplace(1000)
	}
}

func BenchmarkRoundedSphericalLaplace(b *testing.B) {
	for _, m := range []int{1, 20, 200} {
		b.Run(fmt.Sprintf("m=%d", m), func(b *testing.B) {
			s := Crypto()
			dst := make([]int64, m)
			b.ReportAllocs()
			for b.Loop() {
				s.RoundedSphericalLaplace(dst, 1<<30)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m), "ns/coordinate")
		})
	}
}

func BenchmarkUint64(b *testing.B) {
	s := Crypto()
	for b.Loop() {
		s.Uint64()
	}
}

func BenchmarkCrypto(b *testing.B) {
	for b.Loop() {
		Crypto()
	}
}
