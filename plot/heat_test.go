package plot

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
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

// A degree of longitude is drawn cos(latitude) times as long as one of latitude, and a metre as
// long as a metre.
func TestTrueAspect(t *testing.T) {
	for _, size := range []Size{Paper, Phone, Slide} {
		p, err := Density(densityRelease(t, 2), Options{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		svg := string(render(t, p, nil, "svg"))
		m := regexp.MustCompile(`(?s)<image.*?width="([0-9.]+)" height="([0-9.]+)"`).FindAllStringSubmatch(svg, -1)
		last := m[len(m)-1] // after the scale of the colours
		w, _ := strconv.ParseFloat(last[1], 64)
		h, _ := strconv.ParseFloat(last[2], 64)
		if want := 0.17 * math.Cos(37.71*math.Pi/180) / 0.22; math.Abs(w/h-want) > 0.01*want {
			t.Errorf("%v wide: %g × %g, want a ratio of %g", size.Width, w, h, want)
		}
	}
	for _, c := range []struct {
		names string
		want  float64
	}{{"lon,lat", 0.6113}, {"Longitude,LATITUDE", 0.6113}, {"east,north", 0.7727}, {"x,y", 0.7727}, {"x_m,y_m", 0.7727}, {"x_m,y_s", 0}, {"hour,share", 0}} {
		r := densityRelease(t, 2)
		r.Variables = strings.Split(c.names, ",")
		if got := TrueAspect(r); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: %g, want %g", c.names, got, c.want)
		}
	}
}

// A peaky density is coloured by its square root, which the scale says and its ticks follow.
func TestPeakyScale(t *testing.T) {
	b := bar{top: 64, root: true}
	if b.place(16) != 0.5 || b.place(-1) != 0 || b.place(64) != 1 || (&bar{top: 64}).place(16) != 0.25 {
		t.Error("a value has another place on the scale than its root")
	}
	for _, top := range []float64{5.1, 6, 17, 64, 86.3, 999, 1e5} {
		for _, root := range []bool{false, true} {
			ticks := (&bar{top: top, root: root}).ticks()
			if len(ticks) < 3 || ticks[0].Value != 0 || top-ticks[len(ticks)-1].Value > 0.25*top {
				t.Errorf("up to %g, root %v: ticks %v", top, root, ticks)
			}
			for i := 1; i < len(ticks); i++ {
				if ticks[i].Value <= ticks[i-1].Value || ticks[i].Value > top || ticks[i].Label == ticks[i-1].Label {
					t.Errorf("up to %g, root %v: ticks %v", top, root, ticks)
				}
			}
		}
	}
	flat, err := Density(densityRelease(t, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if flat.bar.root != Peaky(flat.bar.top, 1) || strings.Contains(flat.bar.label, "root") != flat.bar.root {
		t.Errorf("top %g: %q", flat.bar.top, flat.bar.label)
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
