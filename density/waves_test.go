package density

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/curveil/curveil/space"
)

// turn is cos and sin of 2πkt for a float64 t, the angle reduced exactly.
func turn(k int, t float64) (cos, sin float64) {
	p := new(big.Float).SetPrec(200).SetFloat64(t)
	p.Mul(p, big.NewFloat(float64(k)))
	whole, _ := p.Int(nil)
	p.Sub(p, new(big.Float).SetInt(whole))
	rest, _ := p.Float64()
	sin, cos = math.Sincos(2 * math.Pi * rest)
	return cos, sin
}

// The waves are the functions, at the ends and the middle too, well within what the slack allows.
func TestWaves(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, basis := range []Basis{Fourier, Cosine} {
		for _, rank := range []int{1, 2, 3, 8, 17, fastRank, fastRank + 1, 200} {
			s, err := (Config{Box: unitBox(2), Basis: basis, Set: space.Cross}).space([]int{rank})
			if err != nil {
				t.Fatal(err)
			}
			w := newWaves(s, 1)
			x := []float64{0, 1, 0.5, 0.25, 0x1p-60, 1 - 0x1p-53, 0.5 + 0x1p-53, 1e-9, 1 - 1e-9}
			for len(x) < block {
				x = append(x, r.Float64())
			}
			got, worst := make([]float64, w.dim*block), 0.0
			w.eval(got, x)
			for i, u := range x {
				for k := range w.dim {
					var want float64
					switch {
					case basis == Cosine:
						want, _ = turn(k, u/2)
					case k%2 == 1:
						want, _ = turn((k+1)/2, u)
					default:
						_, want = turn(k/2, u)
						if k == 0 {
							want = 1
						}
					}
					worst = math.Max(worst, math.Abs(got[k*block+i]-want))
				}
			}
			if worst > evaluation/16 {
				t.Errorf("%s, rank %d: error %g, allowed %g", basis, rank, worst, evaluation)
			}
		}
	}
}

// Sums of products as large as they can be are exact: many people at one corner have exactly the integers of one, times
// their number.
func TestSumOfLargestIsExact(t *testing.T) {
	const n = 5<<20 + 77 // beyond 2⁵³ if nothing left the float64s in between
	for _, c := range []Config{{Box: unitBox(2), Rank: []int{1}}} {
		corner := make([]float64, len(c.Box)) // every function is at its largest
		one, many := newDensity(t, c), newDensity(t, c)
		if err := one.Add(corner); err != nil {
			t.Fatal(err)
		}
		many.workers = 1 // all in one sum
		for range cap(many.free) - 1 {
			<-many.free
		}
		if err := many.AddPoints(slices.Repeat(corner, n)); err != nil {
			t.Fatal(err)
		}
		want, largest := vector(t, one), int64(0)
		for j, k := range want {
			largest = max(largest, k)
			want[j] = n * k
		}
		if !slices.Equal(vector(t, many), want) {
			t.Errorf("%v: the sum of %d equal vectors is not %d times one", one.Space(), n, n)
		}
		if largest > 1<<32 || largest < 1<<30 {
			t.Errorf("%v: the largest integer is %d", one.Space(), largest)
		}
	}
}

// Rounding is to the nearest, so that at different places its errors cancel: the mean over n people is off by less
// than six times slack/√n, far below the sampling error and the noise at any n. Only of people all in one place is it
// off by as much as the slack.
func TestRoundingCancels(t *testing.T) {
	const n = 100_000
	for _, c := range []Config{{Box: unitBox(2), Rank: []int{8}}, {Box: unitBox(3), Rank: []int{2}, Basis: Fourier}} {
		d := newDensity(t, c)
		s, x := d.Space(), randomPoints(15, n, len(c.Box))
		if err := d.AddPoints(x); err != nil {
			t.Fatal(err)
		}
		mean, e := make([]float64, s.Dim()), make([]float64, s.Dim())
		for ; len(x) > 0; x = x[len(c.Box):] {
			s.Eval(e, x[:len(c.Box)])
			for j, v := range e {
				mean[j] += v / n
			}
		}
		worst := 0.0
		for j, k := range vector(t, d) {
			if j > 0 {
				worst = math.Max(worst, math.Abs(float64(k)*d.code.unit/n-mean[j]))
			}
		}
		if worst > 6*d.code.slack/math.Sqrt(n) {
			t.Errorf("%v: the mean is off by %g, the slack is %g", s, worst, d.code.slack)
		}
	}
}
