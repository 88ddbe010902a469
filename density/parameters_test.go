package density

import (
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// What is written and read back makes sums of the same release.
func TestConfigRoundTrip(t *testing.T) {
	box := []space.Interval{{A: -122.52, B: -122.35}, {A: 37.6, B: 37.82}}
	for _, c := range []Config{
		{Box: box, Guarantee: privacy.ZCDP(0.5), Unit: "rider", N: 1000},
		{Box: box[:1], Names: []string{"lon"}, Guarantee: privacy.GDP(0.1), Unit: "rider", Rank: []int{4}, Method: Projection, Basis: Fourier, Periodic: true},
		{Box: box, Guarantee: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Unit: "row", Rank: []int{2}, Rule: Lepskii2, Outside: Clamp, Plain: true},
	} {
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		data, err := d.Config().Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeConfig(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		e, err := New(back)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Merge(e); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	}
	for _, text := range []string{``, `{}`, `{"box":[[0,1]],"extra":1}`, `[]`} {
		if _, err := DecodeConfig([]byte(text)); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

// Nodes between shards add texts, and what they make is what merging makes.
func TestMergePartials(t *testing.T) {
	c := Config{Box: []space.Interval{{A: 0, B: 1}}, Guarantee: privacy.ZCDP(0.5), Unit: "rider", Rank: []int{4}}
	text := func(points ...float64) []byte {
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range points {
			if err := d.Add([]float64{x}); err != nil {
				t.Fatal(err)
			}
		}
		data, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	all, a, b := text(0.1, 0.7, 0.2), text(0.1, 0.7), text(0.2)
	if got, err := MergePartials(a, b); err != nil || string(got) != string(all) {
		t.Errorf("another sum (%v)", err)
	}
	c.Rank = []int{5}
	for name, other := range map[string][]byte{"another rank": text(0.2), "nothing": nil, "cut": b[:90]} {
		if _, err := MergePartials(a, other); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
