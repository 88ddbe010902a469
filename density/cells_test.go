package density

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/space"
)

// Ranks at which cells are full (a power of two) and not, on boxes whose ends are no round numbers.
var lines = []Config{
	{Box: unitBox(1), Rank: []int{1}}, {Box: unitBox(1), Rank: []int{64}}, {Box: []space.Interval{{A: -122.52, B: -122.35}}, Rank: []int{300}},
	{Box: unitBox(1), Rank: []int{1024}}, {Box: unitBox(1), Rank: []int{1}, Basis: Fourier}, {Box: []space.Interval{{A: 1.2e9, B: 1.2e9 + 43200}}, Rank: []int{50}, Basis: Fourier},
	{Box: unitBox(1), Rank: []int{512}, Basis: Fourier},
}

// A point anywhere, at the ends of the domain and on either side of the ends of a cell, is within the slack; and so is
// the average of several points, with what it adds.
func TestCellsStayWithinTheSlack(t *testing.T) {
	for _, c := range lines {
		d := newDensity(t, c)
		s, r, w := d.Space(), rand.New(rand.NewPCG(14, 4)), newWork(d.code)
		side, cells := s.Box()[0], d.code.cells.count
		e, mean := make([]float64, s.Dim()), make([]float64, s.Dim())
		// A coordinate is known to an ulp only, which the functions of the highest frequency see.
		ulp := 2 * math.Pi * float64(s.Rank()) * 0x1p-50 * (1 + math.Max(math.Abs(side.A), math.Abs(side.B))/side.Length())
		point := func(i int) float64 {
			end := math.Max(side.A, math.Min(side.B, side.A+side.Length()*float64(r.IntN(cells+1))/float64(cells)))
			switch i % 5 {
			case 0:
				return end
			case 1:
				return math.Max(side.A, math.Nextafter(end, math.Inf(-1)))
			case 2:
				return math.Min(side.B, math.Nextafter(end, math.Inf(1)))
			}
			return side.A + r.Float64()*side.Length()
		}
		check := func(what string, got []int64, want []float64, slack float64) (worst float64) {
			for j, k := range got {
				if j > 0 {
					worst = math.Max(worst, math.Abs(float64(k)*d.code.unit-want[j]))
				}
			}
			if worst > slack+ulp {
				t.Errorf("%v, %s: error %v, slack %v", s, what, worst, slack)
			}
			return worst
		}
		worst := 0.0
		for i := range 40 {
			x := point(i)
			s.Eval(e, []float64{x})
			worst = math.Max(worst, check("one point", w.vector(t, func() { w.points([]float64{x}, d.keep) }), e, d.code.slack))

			several := make([]float64, 2+r.IntN(6))
			clear(mean)
			for k := range several {
				several[k] = point(i + k)
				s.Eval(e, several[k:k+1])
				for j := range e {
					mean[j] += e[j] / float64(len(several))
				}
			}
			check("several points", w.vector(t, func() { w.person(several, d.keep) }), mean, d.code.slack+d.code.mean)
		}
		if s.Dim() > 20 && ulp < d.code.slack/10 && worst < d.code.slack/2 {
			t.Errorf("%v: the largest error is %v, far below the slack %v", s, worst, d.code.slack)
		}
	}
}

func TestBesselValues(t *testing.T) {
	for _, theta := range []float64{1e-9, 0.01, 0.2, math.Pi / 8} {
		for m, got := range besselAt(theta) {
			want := 2 * math.Sqrt2 * math.Jn(m, theta)
			if m == 0 {
				want /= 2
			}
			if diff := math.Abs(math.Ldexp(float64(got), -tableBits) - want); diff > math.Ldexp(0.51, -tableBits) {
				t.Errorf("J_%d(%v) is off by %v", m, theta, diff)
			}
		}
	}
}

func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		var w wide
		want := new(big.Int)
		for range 50 {
			a, b := r.Int64N(1<<41)-1<<40, r.Int64()-r.Int64()
			w.add(a, b)
			want.Add(want, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
		}
		if got := w.int(); got.Cmp(want) != 0 {
			t.Fatalf("sum of products is %v, want %v", got, want)
		}
	}
}

// Half a billion people in one place fill the moments as far as people can.
func TestCellsDoNotOverflow(t *testing.T) {
	d := newDensity(t, Config{Box: unitBox(1), Rank: []int{40}})
	one := newDensity(t, Config{Box: unitBox(1), Rank: []int{40}})
	const n = maxN
	sums, w := make([]int64, d.code.dim), newWork(d.code)
	w.points([]float64{1}, d.keep)
	for j, v := range w.total {
		sums[j] = n * v
	}
	if err := d.tally.Add(sums, n); err != nil {
		t.Fatal(err)
	}
	if err := one.AddPoints([]float64{1}); err != nil {
		t.Fatal(err)
	}
	single := vector(t, one)
	for j, k := range vector(t, d) {
		if math.Abs(float64(k)/n-float64(single[j])) > 1 {
			t.Fatalf("coefficient %d of %d people is %v each, of one %v", j, n, float64(k)/n, single[j])
		}
	}
}
