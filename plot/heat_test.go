package plot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func densityRelease(t *testing.T, d int) *release.Release {
	t.Helper()
	box := []space.Interval{{A: -122.52, B: -122.35}, {A: 37.6, B: 37.82}, {A: 0, B: 24}, {A: 0, B: 1}}[:d]
	acc, err := density.New(density.Config{Box: box, Rank: []int{3}, Names: []string{"lon", "lat", "hour", "share"}[:d], Guarantee: privacy.ZCDP(0.5), Unit: "rider"})
	if err != nil {
		t.Fatal(err)
	}
	src := noise.Seeded(3)
	for range 500 {
		x := make([]float64, d)
		for i, b := range box {
			u := float64(src.Uint64()>>11) * 0x1p-53
			x[i] = b.A + b.Length()*u*u
		}
		if err := acc.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	r, err := acc.Release(noise.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDensityPictures(t *testing.T) {
	for d := 1; d <= 4; d++ {
		r := densityRelease(t, d)
		p, err := Density(r, Options{Title: "pick-ups", Size: Phone})
		if err != nil {
			t.Fatal(err)
		}
		if want := max(1, d*(d-1)/2); len(p.panels) != want {
			t.Errorf("%d variables: %d panels, want %d", d, len(p.panels), want)
		}
		var svg, again bytes.Buffer
		if err := p.Encode(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&again, "svg"); err != nil || !bytes.Equal(svg.Bytes(), again.Bytes()) {
			t.Errorf("%d variables: the picture differs from itself (%v)", d, err)
		}
		for _, want := range []string{"Not private", "ρ = 0.5"} {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("%d variables: the picture does not say %q", d, want)
			}
		}
		if d > 1 && (!strings.Contains(svg.String(), "lon") || !strings.Contains(svg.String(), "<image")) {
			t.Errorf("%d variables: no names or no heat map", d)
		}
	}
	r := densityRelease(t, 2)
	p, err := Density(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"png", "pdf"} {
		var out bytes.Buffer
		if err := p.Encode(&out, format); err != nil || out.Len() < 1000 {
			t.Errorf("%s: %d bytes (%v)", format, out.Len(), err)
		}
	}
	if _, err := Release(r, Options{}); err == nil || !strings.Contains(err.Error(), "Density") {
		t.Errorf("a density of two variables was drawn as a curve: %v", err)
	}
	if _, err := Density(sample(t, 0, 1), Options{}); err == nil {
		t.Error("a mean was drawn as a density")
	}
	if _, err := Density(r, Options{Overlay: []Line{{T: []float64{0}, X: []float64{0}}}}); err == nil {
		t.Error("an overlay was lost without a word")
	}
}

func TestShades(t *testing.T) {
	last := -1.0
	for i := range 101 {
		c := shade(float64(i) / 100)
		light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if light < last {
			t.Fatalf("shade %d is darker than the one before: the scale cannot be read in grey", i)
		}
		last = light
	}
	if shade(-1) != cividis[0] || shade(2) != cividis[len(cividis)-1] {
		t.Error("values beyond the scale have other colours than its ends")
	}
}
