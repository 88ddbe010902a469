package mean

import (
	"testing"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// What is written and read back makes sums of the same release.
func TestConfigRoundTrip(t *testing.T) {
	domain := space.Interval{A: 1, B: 18}
	table, err := release.Table([]float64{1, 7, 18}, []float64{75.1, 120, 170.3})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"legendre:6", "fourier:5", "bspline:8", "kernel:gauss:20%", "kernel:brownian"} {
		sp, err := space.Parse(text, domain)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Config{
			{Space: sp, Radius: 60, Guarantee: privacy.GDP(0.1), Unit: "child"},
			{Space: sp, Radius: 60, Guarantee: privacy.ZCDP(0.3), Unit: "child", Reference: []release.Reference{table, release.Constant(0.1)}, Components: []string{"x", "y"}, Raw: true, N: 9},
			{Space: sp, Radius: 0.7, Guarantee: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Unit: "child", Method: ProtectThenFit, Grid: []float64{2, 3.3, 9, 17}, XLabel: "age"},
		} {
			c = c.withDefaults()
			data, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := DecodeConfig(data)
			if err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			a, err := c.fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			if b, err := back.fingerprint(); err != nil || a != b {
				t.Errorf("%s: another fingerprint after a round trip (%v)", data, err)
			}
			if back.XLabel != c.XLabel {
				t.Errorf("label %q", back.XLabel)
			}
		}
	}
}

func TestDecodeConfigRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `[]`, `{"space":{"kind":"legendre","dim":3,"domain":[0,1]},"radius":1,"extra":1}`,
		`{"space":{"kind":"legendre","dim":3,"domain":[0,1]},"radius":-1,"privacy":{"definition":"gdp","mu":1,"adjacency":"replace-one","unit":"p"},"method":"fit-then-protect","components":["value"]}`,
		`{"space":{"kind":"legendre","dim":3,"domain":[0,1]},"radius":1,"privacy":{"definition":"gdp","mu":1,"adjacency":"add-remove","unit":"p"},"method":"fit-then-protect","components":["value"]}`,
	} {
		if _, err := DecodeConfig([]byte(text)); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

func FuzzDecodeConfig(f *testing.F) {
	sp, err := space.Parse("legendre:3", space.Interval{A: 0, B: 1})
	if err != nil {
		f.Fatal(err)
	}
	data, err := Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "p"}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 {
			return
		}
		c, err := DecodeConfig(data)
		if err == nil {
			if _, err := c.Encode(); err != nil {
				t.Errorf("accepted, but cannot be written: %v", err)
			}
		}
	})
}
