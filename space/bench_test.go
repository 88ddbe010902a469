package space

import "testing"

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"legendre:6", "legendre:65", "fourier:9", "fourier:129", "cosine:8", "cosine:128", "bspline:12", "bspline:150",
		"kernel:gauss:20%", "kernel:gauss:5%", "kernel:gauss:20%:100", "kernel:laplace:20%", "kernel:matern32:20%", "kernel:matern52:20%",
		"kernel:brownian", "kernel:periodic:20%", "kernel:sobolev1", "kernel:sobolev2"} {
		b.Run(text, func(b *testing.B) {
			s, err := Parse(text, Interval{0, 1})
			if err != nil {
				b.Fatal(err)
			}
			e, x := make([]float64, s.Dim()), 0.0
			b.ReportMetric(float64(s.Dim()), "dim")
			b.ReportAllocs()
			for b.Loop() {
				s.Eval(e, x)
				if x += 0.0137; x > 1 {
					x--
				}
			}
		})
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, text := range []string{"kernel:gauss:20%", "kernel:laplace:20%:200"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(text, Interval{0, 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	s, err := Parse("kernel:gauss:20%", Interval{0, 1})
	if err != nil {
		b.Fatal(err)
	}
	form, err := s.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Unmarshal(form); err != nil {
			b.Fatal(err)
		}
	}
}
