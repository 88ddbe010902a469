package lattice

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTallyIsExactAndMergeable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const dim, limit = 3, 1 << 33
		vectors := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(-limit, limit), dim, dim), 1, 40).Draw(rt, "vectors")
		whole, a, b := NewTally(dim, limit), NewTally(dim, limit), NewTally(dim, limit)
		want := make([]int64, dim)
		for i, v := range vectors {
			for j, x := range v {
				want[j] += x
			}
			part := a
			if i%3 == 0 {
				part = b
			}
			if err := part.Add(v, 1); err != nil {
				rt.Fatal(err)
			}
		}
		if err := whole.Add(want, int64(len(vectors))); err != nil {
			rt.Fatal(err)
		}
		data, err := b.MarshalBinary()
		if err != nil {
			rt.Fatal(err)
		}
		back := NewTally(dim, limit)
		if err := back.UnmarshalBinary(data); err != nil {
			rt.Fatal(err)
		}
		if err := a.Merge(back); err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(a.Vector(), whole.Vector()) || a.N() != whole.N() {
			rt.Fatalf("%v of %d in parts, %v of %d at once", a.Vector(), a.N(), whole.Vector(), whole.N())
		}
	})
}

func TestTallyRefusals(t *testing.T) {
	a := NewTally(2, 10)
	if err := a.Add([]int64{20, -20}, 2); err != nil {
		t.Fatal(err)
	}
	if a.Merge(a) == nil || a.Merge(NewTally(3, 10)) == nil || a.Merge(NewTally(2, 11)) == nil {
		t.Error("merged with itself or another kind")
	}
	full := NewTally(1, 1<<40)
	if err := full.Add([]int64{0}, MaxTally(1<<40)); err != nil {
		t.Fatal(err)
	}
	if full.Add([]int64{0}, 1) == nil {
		t.Error("more vectors than 62 bits hold")
	}
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1
		if NewTally(2, 10).UnmarshalBinary(bad) == nil || NewTally(2, 10).UnmarshalBinary(data[:i]) == nil {
			t.Fatalf("damage at byte %d was read", i)
		}
	}
	if NewTally(2, 9).UnmarshalBinary(data) == nil || NewTally(1, 10).UnmarshalBinary(data) == nil {
		t.Error("a tally of another kind was read")
	}
	for _, mistake := range []func(){
		func() { _ = NewTally(2, 10).Add([]int64{1}, 1) }, func() { _ = NewTally(2, 10).Add([]int64{11, 0}, 1) },
		func() { _ = NewTally(2, 10).Add([]int64{0, 0}, -1) }, func() { NewTally(0, 1) }, func() { NewTally(1, 1<<41) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic on a programmer's mistake")
				}
			}()
			mistake()
		}()
	}
}

func FuzzTally(f *testing.F) {
	a := NewTally(2, 10)
	if err := a.Add([]int64{3, -4}, 1); err != nil {
		f.Fatal(err)
	}
	data, err := a.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewTally(2, 10)
		if b.UnmarshalBinary(data) != nil {
			return
		}
		again, err := b.MarshalBinary()
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("%x was written as %x", data, again)
		}
	})
}

func TestDecodeTally(t *testing.T) {
	x := NewTally(3, 10)
	if err := x.Add([]int64{4, -20, 7}, 2); err != nil {
		t.Fatal(err)
	}
	data, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	y, err := DecodeTally(data)
	if err != nil || y.N() != 2 || y.Limit() != 10 || y.Vector()[1] != -20 {
		t.Errorf("%+v, %v", y, err)
	}
	for cut := range data {
		if _, err := DecodeTally(data[:cut]); err == nil {
			t.Errorf("cut at %d accepted", cut)
		}
	}
}
