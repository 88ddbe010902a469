package density

import (
	"testing"
)

// A million people, as in shared/golden/README.md: there NumPy takes 0.2–0.4 s (d = 1) and 0.33–0.42 s (d = 2).
func BenchmarkMillion(b *testing.B) {
	for _, c := range []Config{
		{Box: unitBox(1), Rank: []int{64}, Basis: Fourier}, {Box: unitBox(2), Rank: []int{8}, Basis: Fourier},
		{Box: unitBox(1), Rank: []int{128}}, {Box: unitBox(2), Rank: []int{16}}, {Box: unitBox(2), Rank: []int{16}, Set: "cross", Basis: Fourier},
	} {
		x := randomPoints(1, 1_000_000, len(c.Box))
		d := newDensity(b, c)
		b.Run(d.Space().String(), func(b *testing.B) {
			for b.Loop() {
				if err := d.AddPoints(x); err != nil {
					b.Fatal(err)
				}
				if _, err := d.total(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
