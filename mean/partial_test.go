package mean

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

func TestMergeRefusesAnotherRelease(t *testing.T) {
	ok := fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{1, 2, 3}}}
	m := mustNew(t, good(t))
	mustAdd(t, m, ok)
	before := sumOf(t, m)
	for name, edit := range map[string]func(c *Config){
		"space":     func(c *Config) { c.Space = legendre(t, 4) },
		"radius":    func(c *Config) { c.Radius = 2 },
		"guarantee": func(c *Config) { c.Guarantee = privacy.GDP(2) },
		"kind":      func(c *Config) { c.Guarantee = privacy.ZCDP(1) },
		"unit":      func(c *Config) { c.Unit = "adult" },
		"method":    func(c *Config) { c.Method, c.Grid = ProtectThenFit, []float64{0, 0.5, 1} },
		"component": func(c *Config) { c.Components = []string{"hip"} },
		"reference": func(c *Config) { c.Reference = []release.Reference{release.Constant(1)} },
		"raw":       func(c *Config) { c.Raw = true },
		"n":         func(c *Config) { c.N = 9 },
	} {
		c := good(t)
		edit(&c)
		o := mustNew(t, c)
		if name != "component" {
			mustAdd(t, o, ok)
		}
		data, err := o.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Merge(o); err == nil || !strings.HasPrefix(err.Error(), "mean: cannot merge") {
			t.Errorf("merge with another %s: %v", name, err)
		}
		if err := m.UnmarshalBinary(data); err == nil || !strings.HasPrefix(err.Error(), "mean: the partial mean was made with another") {
			t.Errorf("decoding another %s: %v", name, err)
		}
	}
	if err := m.Merge(m); err == nil || !strings.Contains(err.Error(), "itself") {
		t.Errorf("merge with itself: %v", err)
	}
	if err := new(Mean).UnmarshalBinary(nil); err == nil || !strings.Contains(err.Error(), "made by New") {
		t.Errorf("decoding into nothing: %v", err)
	}
	if after := sumOf(t, m); after != before {
		t.Errorf("refusals changed the sum: %s, want %s", after, before)
	}
	o := mustNew(t, good(t))
	mustAdd(t, o, ok)
	if err := m.Merge(o); err != nil {
		t.Fatal(err)
	}
	if err := o.Add(ok); err == nil { // its people are elsewhere: it must not be released as well
		t.Error("an accumulator was used after it was merged")
	}
}

// Sums that together exceed what 64 bits hold are refused, and the accumulator
// goes on working.
func TestTooManyPeople(t *testing.T) {
	ok := fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{0.1, 0.2, 0.3}}}
	m := mustNew(t, good(t))
	full := func(n int64) []byte {
		ball, err := lattice.NewBall(1, 3)
		if err != nil {
			t.Fatal(err)
		}
		s := lattice.NewSum(ball)
		if err := s.Add([]int64{1, 0, 0}); err != nil {
			t.Fatal(err)
		}
		for s.N() < n { // doubling by way of bytes
			o := new(lattice.Sum)
			data, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if err := o.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if err := s.Merge(o); err != nil {
				t.Fatal(err)
			}
		}
		body, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat([]byte(partialMagic), m.print[:], body)
	}
	if err := m.UnmarshalBinary(full(lattice.MaxN / 2)); err != nil {
		t.Fatal(err)
	}
	if err := m.UnmarshalBinary(full(lattice.MaxN)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("too many: %v", err)
	}
	if err := m.UnmarshalBinary(full(lattice.MaxN / 2)); err != nil { // another worker's share
		t.Fatal(err)
	}
	if err := m.Add(ok); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("one too many: %v", err)
	}
	for range 3 {
		if n, err := m.N(); n != lattice.MaxN || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := m.total(); err != nil {
			t.Error(err)
		}
	}
	o := mustNew(t, good(t))
	mustAdd(t, o, ok)
	if err := m.Merge(o); err == nil {
		t.Error("one too many was merged")
	}
	if n, err := o.N(); n != 1 || err != nil {
		t.Errorf("a refused merge took people away: %d, %v", n, err)
	}
	if err := o.Add(ok); err != nil {
		t.Errorf("a refused merge closed the accumulator: %v", err)
	}
}

func TestUnmarshalRefusesDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	o := mustNew(t, good(t))
	mustAdd(t, o, fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{0.1, 0.2, 0.3}}})
	data, err := o.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	m := mustNew(t, good(t))
	for i := range data {
		for _, damaged := range [][]byte{data[:i], slices.Concat(data[:i], []byte{data[i] ^ byte(1+rnd.IntN(255))}, data[i+1:])} {
			if err := m.UnmarshalBinary(damaged); err == nil || !strings.HasPrefix(err.Error(), "mean: ") {
				t.Errorf("damage at byte %d: %v", i, err)
			}
		}
	}
	if n, _ := m.N(); n != 0 {
		t.Errorf("damaged files added %d people", n)
	}
	if err := m.UnmarshalBinary(data); err != nil {
		t.Error(err)
	}
}

func FuzzPartial(f *testing.F) {
	c := good(f)
	o, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	if err := o.Add(fit.Curve{{T: []float64{0, 0.5, 1}, X: []float64{0.1, 0.2, 0.3}}}); err != nil {
		f.Fatal(err)
	}
	data, err := o.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add([]byte(partialMagic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := mustNew(t, c)
		if m.UnmarshalBinary(data) != nil {
			if n, err := m.N(); n != 0 || err != nil {
				t.Fatalf("a refused file left %d people, %v", n, err)
			}
			return
		}
		back, err := m.MarshalBinary()
		if err != nil || !slices.Equal(back, data) {
			t.Fatalf("round trip of %x: %x, %v", data, back, err)
		}
	})
}

// Nodes between shards add texts, and what they make is what merging makes.
func TestMergePartials(t *testing.T) {
	text := func(m *Mean) []byte {
		data, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	curve := func(x ...float64) fit.Curve { return fit.Curve{{T: []float64{0, 0.5, 1}, X: x}} }
	all, a, b := mustNew(t, good(t)), mustNew(t, good(t)), mustNew(t, good(t))
	mustAdd(t, all, curve(1, 2, 3))
	mustAdd(t, all, curve(-1, 0, 3))
	mustAdd(t, a, curve(1, 2, 3))
	mustAdd(t, b, curve(-1, 0, 3))
	for _, pair := range [][2]*Mean{{a, b}, {b, a}} {
		if got, err := MergePartials(text(pair[0]), text(pair[1])); err != nil || string(got) != string(text(all)) {
			t.Errorf("another sum (%v)", err)
		}
	}
	c := good(t)
	c.Radius = 2
	for name, other := range map[string][]byte{"another radius": text(mustNew(t, c)), "nothing": nil, "cut": text(a)[:90]} {
		if _, err := MergePartials(text(a), other); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
