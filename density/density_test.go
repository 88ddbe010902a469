package density

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func unitBox(d int) []space.Interval { return slices.Repeat([]space.Interval{{A: 0, B: 1}}, d) }

func newDensity(t testing.TB, c Config) *Density {
	t.Helper()
	if c.Guarantee == nil {
		c.Guarantee = privacy.ZCDP(0.5)
	}
	c.Unit = "rider"
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func randomPoints(seed uint64, n, d int) []float64 {
	r := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, n*d)
	for i := range x {
		x[i] = r.Float64() * r.Float64()
	}
	return x
}

func vector(t testing.TB, d *Density) []int64 {
	t.Helper()
	s, err := d.total()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = d.code.coefficients(s); err != nil {
		t.Fatal(err)
	}
	return s.Vector()
}

var shapes = []Config{
	{Box: unitBox(1), Rank: []int{9}, Basis: Fourier}, {Box: unitBox(1), Rank: []int{12}},
	{Box: unitBox(2), Rank: []int{4}, Basis: Fourier}, {Box: unitBox(2), Rank: []int{3, 5}},
	{Box: unitBox(2), Rank: []int{6}, Set: space.Cross}, {Box: unitBox(3), Rank: []int{2}, Basis: Fourier},
	{Box: unitBox(3), Rank: []int{4}, Set: space.Total}, {Box: unitBox(4), Rank: []int{1}}, {Box: unitBox(4), Rank: []int{3}, Set: space.Cross, Basis: Fourier},
	{Box: unitBox(2), Rank: []int{5}, Set: space.Total, Basis: Fourier},
}

// The exact sum is the same to the bit in any order, any partition into calls, accumulators and marshalled
// shards, and it is within the slack of the plain mean of the basis.
func TestSumIsExact(t *testing.T) {
	const n = 2600
	for _, c := range shapes {
		dim := len(c.Box)
		x := randomPoints(1, n, dim)
		whole := newDensity(t, c)
		if err := whole.AddPoints(x); err != nil {
			t.Fatal(err)
		}
		want := vector(t, whole)

		single := newDensity(t, c)
		for _, i := range rand.New(rand.NewPCG(2, 2)).Perm(n) {
			if err := single.Add(x[i*dim : (i+1)*dim]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(vector(t, single), want) {
			t.Errorf("%v: another order gives another sum", whole.Space())
		}

		shard, rest := newDensity(t, c), newDensity(t, c)
		cut := 777 * dim
		if err := shard.AddPoints(x[:cut]); err != nil {
			t.Fatal(err)
		}
		data, err := shard.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		twice := newDensity(t, c) // people with the same point twice are people with that point
		for i := cut; i < len(x); i += dim {
			if err := twice.Add(x[i:i+dim], x[i:i+dim]); err != nil {
				t.Fatal(err)
			}
		}
		if err := rest.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if err := rest.Merge(twice); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(vector(t, rest), want) {
			t.Errorf("%v: shards give another sum", whole.Space())
		}

		s := whole.Space()
		mean, e := make([]float64, s.Dim()), make([]float64, s.Dim())
		for i := range n {
			s.Eval(e, x[i*dim:(i+1)*dim])
			for j, v := range e {
				mean[j] += v / n
			}
		}
		for j, k := range want {
			if got := float64(k) * whole.code.unit / n; j > 0 && math.Abs(got-mean[j]) > whole.code.slack {
				t.Fatalf("%v: coefficient %d is %v, want %v ± %v", s, j, got, mean[j], whole.code.slack)
			}
		}
		if want[0] != 0 {
			t.Errorf("%v: the constant was summed: it would count the points inside", s)
		}
	}
}

// Every single person's vector is within the slack.
func TestSlack(t *testing.T) {
	for _, c := range shapes {
		d := newDensity(t, c)
		s, r := d.Space(), rand.New(rand.NewPCG(4, 4))
		w, e := newWork(d.code), make([]float64, d.Space().Dim())
		worst := 0.0
		for range 300 {
			x := make([]float64, len(c.Box))
			for i := range x {
				x[i] = r.Float64()
			}
			s.Eval(e, x)
			for j, k := range w.vector(t, func() { w.points(x, d.keep) }) {
				if j > 0 {
					worst = math.Max(worst, math.Abs(float64(k)*d.code.unit-e[j]))
				}
			}
		}
		if worst > d.code.slack || worst < d.code.slack/20 {
			t.Errorf("%v: largest error %v, slack %v", s, worst, d.code.slack)
		}
	}
}

// vector is the coefficients' integers of what add adds.
func (w *work) vector(t testing.TB, add func()) []int64 {
	t.Helper()
	clear(w.total)
	w.people = 0
	add()
	w.flush()
	tally := lattice.NewTally(w.c.dim, w.c.limit)
	if err := tally.Add(w.total, w.people); err != nil {
		t.Fatal(err)
	}
	tally, err := w.c.coefficients(tally)
	if err != nil {
		t.Fatal(err)
	}
	return tally.Vector()
}

func TestOutside(t *testing.T) {
	inside, nowhere := []float64{0.3, 0.7}, []float64{0.3, 1.0001}
	c := Config{Box: unitBox(2), Rank: []int{3}}
	zero := newDensity(t, c)
	for _, x := range [][]float64{inside, nowhere, {math.Inf(1), 0}, {0.5, math.Inf(-1)}} {
		if err := zero.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	one := newDensity(t, c)
	if err := one.Add(inside); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vector(t, zero), vector(t, one)) {
		t.Error("points outside the box count for more than n")
	}
	if n, _ := zero.N(); n != 4 {
		t.Errorf("n = %d, want 4: a number that depends on who is inside is not public", n)
	}
	c.Outside = Clamp
	clamped, edge := newDensity(t, c), newDensity(t, c)
	if err := clamped.Add([]float64{0.3, math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	if err := edge.Add([]float64{0.3, 1}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vector(t, clamped), vector(t, edge)) {
		t.Error("a clamped point is not the nearest point of the box")
	}
	if zero.AddPoints([]float64{0.1, math.NaN()}) == nil || zero.Add([]float64{0.1}) == nil || zero.Add() == nil ||
		zero.Add(inside, []float64{math.NaN(), 0}) == nil || zero.Add([]float64{1}, []float64{1, 2, 3}) == nil {
		t.Error("NaN, a cut point or nobody was accepted")
	}
	if checkCount(maxPoints) != nil || checkCount(maxPoints+1) == nil {
		t.Error("a person may have so many points that their integers overflow, or fewer than fit")
	}
	if n, _ := zero.N(); n != 4 {
		t.Errorf("refused people were counted: n = %d", n)
	}
	// Half of a person's points outside: half the vector.
	half := newDensity(t, Config{Box: unitBox(2), Rank: []int{3}})
	if err := half.Add(inside, nowhere); err != nil {
		t.Fatal(err)
	}
	for j, k := range vector(t, half) {
		if want := vector(t, one)[j] / 2; k != want {
			t.Fatalf("coordinate %d of a person half outside is %d, want %d", j, k, want)
		}
	}
}

func TestReleaseOnce(t *testing.T) {
	d := newDensity(t, Config{Box: unitBox(2), Rank: []int{8}, N: 1000})
	if err := d.AddPoints(randomPoints(3, 999, 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Release(noise.Seeded(1)); err == nil {
		t.Fatal("another number of people than stated was released")
	}
	if err := d.AddPoints(randomPoints(4, 1, 2)); err != nil {
		t.Fatal(err)
	}
	r, err := d.Release(noise.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if r.Private {
		t.Error("seeded noise passes for private")
	}
	if _, err := d.Release(noise.Seeded(2)); err == nil {
		t.Error("released twice")
	}
	if d.Add([]float64{0, 0}) == nil {
		t.Error("a person was added after the release")
	}
}

// What is in the file is all there is: the rank and the released coefficients follow from the noisy ones.
func TestSelectionFollowsFromTheFile(t *testing.T) {
	for _, c := range []Config{
		{Box: []space.Interval{{A: -3, B: 7}}, Rank: []int{32}}, {Box: unitBox(2), Rank: []int{8}, Basis: Fourier, Rule: Lepskii2},
		{Box: unitBox(2), Rank: []int{6, 3}, Plain: true, Names: []string{"lon", "lat"}}, {Box: unitBox(3), Rank: []int{4}, Set: space.Cross},
	} {
		c.Guarantee = privacy.ZCDP(0.2)
		d := newDensity(t, c)
		if err := d.AddPoints(randomPoints(7, 3000, len(c.Box))); err != nil {
			t.Fatal(err)
		}
		released, err := d.Release(noise.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := released.Encode(&file); err != nil {
			t.Fatal(err)
		}
		again := bytes.Clone(file.Bytes())
		r, err := release.Decode(&file)
		if err != nil {
			t.Fatal(err)
		}
		var back bytes.Buffer
		if err := r.Encode(&back); err != nil || !bytes.Equal(back.Bytes(), again) {
			t.Errorf("the file changes when read and written (%v)", err)
		}
		// Recompute everything from the file alone.
		s, _ := r.Tensor()
		v := make([]float64, len(r.Noise.Ranks)+1)
		energy := make([]float64, len(v))
		for j, l := range s.Levels() {
			if i, _ := slices.BinarySearch(r.Noise.Ranks, l); l > 0 {
				theta, sd := r.Raw[0][j]*r.Volume(), r.Noise.Scales[i]*r.Volume()
				energy[i+1] += theta * theta
				for k := i + 1; k < len(v); k++ {
					v[k] += 1/float64(r.N) + sd*sd
				}
			}
		}
		i := choose(Rule(r.Selection.Rule), r.Selection.Kappa, energy, v)
		if rank := append([]float64{0}, r.Noise.Ranks...)[i]; rank != r.Selection.Rank {
			t.Errorf("%v: the file gives rank %v, the release says %v", s, rank, r.Selection.Rank)
		}
		for j, l := range s.Levels() {
			want := r.Raw[0][j]
			if l > r.Selection.Rank {
				want = 0
			} else if i, _ := slices.BinarySearch(r.Noise.Ranks, l); l > 0 && r.Selection.Shrink {
				want *= shrinkage(energy[i+1], v[i+1]-v[i])
			}
			if got := r.Coefficients[0][j]; math.Abs(got-want) > 1e-12 {
				t.Fatalf("%v: coefficient %d is %v, the file gives %v", s, j, got, want)
			}
		}
	}
}
