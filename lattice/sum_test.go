package lattice

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// vectors returns n vectors of the ball, many of them on its sphere.
func vectors(t interface{ Fatal(...any) }, rnd *rand.Rand, b Ball, n int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		v := make([]float64, b.Dim())
		for j := range v {
			v[j] = b.Radius() * rnd.NormFloat64()
		}
		out[i] = make([]int64, b.Dim())
		if err := b.Round(out[i], v); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func sumOf(t interface{ Fatal(...any) }, b Ball, ks [][]int64) *Sum {
	s := NewSum(b)
	for _, k := range ks {
		if err := s.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func same(a, b *Sum) bool {
	return a.ball == b.ball && a.n == b.n && slices.Equal(a.sum, b.sum)
}

// Any order, any split into shards, any order of merging, through bytes or not:
// one sum.
func TestSumIsIndependentOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		b := mustBall(t, radii().Draw(t, "radius"), 1+rnd.IntN(6))
		ks := vectors(t, rnd, b, rnd.IntN(40))
		want := sumOf(t, b, ks)
		rnd.Shuffle(len(ks), func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
		shards := make([]*Sum, 1+rnd.IntN(5))
		for i := range shards {
			shards[i] = NewSum(b)
		}
		for _, k := range ks {
			if err := shards[rnd.IntN(len(shards))].Add(k); err != nil {
				t.Fatal(err)
			}
		}
		for len(shards) > 1 {
			i := 1 + rnd.IntN(len(shards)-1)
			part := shards[i]
			if rnd.IntN(2) == 0 {
				data, err := part.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				part = new(Sum)
				if err := part.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
			}
			if err := shards[0].Merge(part); err != nil {
				t.Fatal(err)
			}
			shards = slices.Delete(shards, i, i+1)
		}
		if !same(shards[0], want) {
			t.Fatalf("%+v, want %+v", shards[0], want)
		}
	})
}

func TestSumRefusesOverflow(t *testing.T) {
	b := mustBall(t, 1, 1)
	k := []int64{1 << 30}
	s := &Sum{ball: b, n: MaxN - 1, sum: []int64{(MaxN - 1) << 30}}
	if err := s.Add(k); err != nil {
		t.Fatalf("vector number MaxN: %v", err)
	}
	before := s.Vector()
	if err := s.Add(k); err == nil || s.n != MaxN || !slices.Equal(s.sum, before) {
		t.Fatalf("vector number MaxN+1: %v, n=%d", err, s.n)
	}
	for _, n := range []int64{1, MaxN} {
		if err := s.Merge(&Sum{ball: b, n: n, sum: []int64{n}}); err == nil || s.n != MaxN || !slices.Equal(s.sum, before) {
			t.Fatalf("merge of %d more: %v, n=%d", n, err, s.n)
		}
	}
	if err := s.Merge(NewSum(b)); err != nil {
		t.Fatalf("merge of nothing: %v", err)
	}
	if s.sum[0] <= 0 {
		t.Fatalf("sum %d wrapped", s.sum[0])
	}
}

func TestSumRefusesForeignAndSelf(t *testing.T) {
	s := sumOf(t, mustBall(t, 1, 2), [][]int64{{1, 2}})
	for _, o := range []*Sum{NewSum(mustBall(t, 2, 2)), NewSum(mustBall(t, 1, 3)), NewSum(mustBall(t, math.Nextafter(1, 2), 2)), s} {
		if err := s.Merge(o); err == nil || s.n != 1 || !slices.Equal(s.sum, []int64{1, 2}) {
			t.Errorf("merge with %+v: %v, then %+v", o, err, s)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a vector outside the ball was added")
		}
	}()
	_ = s.Add([]int64{1 << 30, 1})
}

func TestVectorIsACopy(t *testing.T) {
	s := sumOf(t, mustBall(t, 1, 2), [][]int64{{1, 2}})
	s.Vector()[0] = 99
	if s.sum[0] != 1 {
		t.Fatal("Vector exposes the sum")
	}
}

// Every cut and every change of one byte is refused.
func TestUnmarshalRefusesDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	b := mustBall(t, 1.1, 3)
	data, err := sumOf(t, b, vectors(t, rnd, b, 7)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var s Sum
	if err := s.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	kept := s
	refuse := func(what string, damaged []byte) {
		t.Helper()
		if err := s.UnmarshalBinary(damaged); err == nil {
			t.Errorf("%s was accepted", what)
		}
		if !same(&s, &kept) {
			t.Fatalf("%s changed the receiver", what)
		}
	}
	for i := range data {
		refuse("a file cut short", data[:i])
		for _, flip := range []byte{1, 0x80, 0xff, byte(1 + rnd.IntN(255))} {
			damaged := slices.Clone(data)
			damaged[i] ^= flip
			refuse("a changed byte", damaged)
		}
	}
	refuse("a longer file", append(slices.Clone(data), 0))
	refuse("two files in one", append(slices.Clone(data), data...))
}

// sealed is the encoding of arbitrary words with a correct checksum.
func sealed(dim uint64, radius float64, n int64, coords ...int64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte(sumMagic), dim)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(radius))
	b = binary.LittleEndian.AppendUint64(b, uint64(n))
	for _, x := range coords {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return seal(b)
}

func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func TestUnmarshalRefusesImpossibleSums(t *testing.T) {
	const r = 1 << 30 // R/η of radius 1
	for _, c := range []struct {
		name string
		data []byte
		ok   bool
	}{
		{"empty sum", sealed(2, 1, 0, 0, 0), true},
		{"nobody but something", sealed(2, 1, 0, 1, 0), false},
		{"one vector on the sphere", sealed(2, 1, 1, r, 0), true},
		{"one vector outside", sealed(2, 1, 1, r, 1), false},
		{"one vector outside below zero", sealed(2, 1, 1, -r-1, 0), false},
		{"three vectors on the sphere", sealed(2, 1, 3, -3*r, 0), true},
		{"three vectors outside jointly", sealed(2, 1, 3, 3*r/5*4, 3*r/5*4), false},
		{"most vectors", sealed(1, 1, MaxN, MaxN*r), true},
		{"most vectors and one step", sealed(1, 1, MaxN, MaxN*r+1), false},
		{"too many vectors", sealed(1, 1, MaxN+1, 0), false},
		{"a negative number of vectors", sealed(1, 1, -1, 0), false},
		{"the lowest integer", sealed(1, 1, MaxN, math.MinInt64), false},
		{"the highest integers", sealed(2, 1, MaxN, math.MaxInt64, math.MaxInt64), false},
		{"no dimension", sealed(0, 1, 0), false},
		{"a dimension too small", sealed(1, 1, 1, 0, 0), false},
		{"a dimension too large", sealed(3, 1, 1, 0, 0), false},
		{"a huge dimension", sealed(1<<61, 1, 1), false},
		{"the largest dimension", sealed(math.MaxUint64, 1, 1, 0), false},
		{"half a coordinate", seal(sealed(1, 1, 1, 0)), false},
		{"radius NaN", sealed(1, math.NaN(), 1, 0), false},
		{"radius zero", sealed(1, 0, 1, 0), false},
		{"radius infinite", sealed(1, math.Inf(1), 1, 0), false},
	} {
		var s Sum
		if err := s.UnmarshalBinary(c.data); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// FuzzSum decodes anything, with its checksum put right, and holds what is
// accepted to the invariants that the sensitivity rests on.
func FuzzSum(f *testing.F) {
	f.Add(sealed(2, 1, 3, 5, -7))
	f.Add(sealed(1, 1, MaxN, MaxN<<30))
	f.Add(sealed(1, MinRadius, 1, 1<<30))
	f.Add(sealed(3, MaxRadius, 0, 0, 0, 0))
	f.Add([]byte(sumMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Sum
		if err := s.UnmarshalBinary(data); err != nil {
			if len(data) < sumTail {
				return
			}
			data = seal(slices.Clone(data[:len(data)-sumTail]))
			if s.UnmarshalBinary(data) != nil {
				return
			}
		}
		if s.n < 0 || s.n > MaxN || len(s.sum) != s.ball.dim || !possible(s.ball, s.n, s.sum) {
			t.Fatalf("accepted %+v", s)
		}
		back, err := s.MarshalBinary()
		if err != nil || !slices.Equal(back, data) {
			t.Fatalf("round trip: %x, want %x (%v)", back, data, err)
		}
	})
}
