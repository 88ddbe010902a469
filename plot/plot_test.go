package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// sample is a valid release of the given components over [a, b].
func sample(t testing.TB, a, b float64, components ...string) *release.Release {
	t.Helper()
	s, err := space.Parse("legendre:4", space.Interval{A: a, B: b})
	if err != nil {
		t.Fatal(err)
	}
	r := &release.Release{
		Verb: release.Mean, Method: release.FitThenProtect, Space: s, Components: components,
		Noise:   release.Noise{Law: release.Gaussian, Scale: 0.7},
		Privacy: privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "patient"},
		N:       93, Radius: 30, Private: true, XLabel: "age (years)", YLabel: "height <cm> & \"more\"",
	}
	for k := range components {
		r.Coefficients = append(r.Coefficients, []float64{100, float64(k) - 3, 2, 1})
	}
	return r
}

func render(t *testing.T, p *Picture, err error, format string) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Encode(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func audit(t *testing.T) (*Picture, error) {
	t.Helper()
	return Tradeoff([]TradeoffPoint{{0.1, 0.7, 0.65, 0.75}, {0.5, 0.05, 0.04, 0.06}, {0, 1, 1, 1}}, 1, Options{Title: "Audit", Level: 0.99})
}

var drawn map[string]*Picture

func pictures(t *testing.T) map[string]*Picture {
	t.Helper()
	if drawn == nil {
		drawn = makePictures(t)
	}
	return drawn
}

func makePictures(t *testing.T) map[string]*Picture {
	t.Helper()
	table, err := release.Table([]float64{0, 1, 20}, []float64{90, 80, 110})
	if err != nil {
		t.Fatal(err)
	}
	one, two := sample(t, 2, 18, "height"), sample(t, 0, 1, "hip", "knee")
	two.Reference = []release.Reference{release.Constant(3), table}
	two.Private = false
	unix := sample(t, 1211058000, 1211101200, "x")
	unix.XLabel = ""
	all := make(map[string]*Picture)
	add := func(name string, p *Picture, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = p
	}
	p, err := Release(one, Options{Title: "One <component>"})
	add("one", p, err)
	p, err = Release(two, Options{Size: Phone, Level: 0.9})
	add("two on a phone", p, err)
	p, err = Release(sample(t, 0, 1, "a", "b", "c", "d", "e"), Options{NoBand: true})
	add("five", p, err)
	p, err = Release(unix, Options{UnixTime: true, Size: Slide})
	add("time", p, err)
	p, err = Release(unix, Options{Size: Phone})
	add("large numbers on a phone", p, err)
	p, err = Compare([]Entry{{"fit-then-protect", one, true}, {"protect-then-fit", sample(t, 2, 18, "height"), true}},
		Options{Overlay: []Line{{Name: "truth", T: []float64{2, 10, 18}, X: []float64{90, 100, 110}}, {Name: "visit", T: []float64{5}, X: []float64{99}}}})
	add("comparison", p, err)
	p, err = audit(t)
	add("audit", p, err)
	p, err = Lines([]Series{
		{Name: "measured", X: []float64{10, 100, 1e6}, Y: []float64{1, 0.1, 1e-7}, Lo: []float64{0.5, 0, 1e-8}, Hi: []float64{2, 0.2, 1e-6}},
		{Name: "predicted", X: []float64{10, 1e6}, Y: []float64{1, 1e-7}, Theory: true},
	}, Axes{XLabel: "n", YLabel: "error", LogX: true, LogY: true, Caption: "1000 repetitions"})
	add("lines", p, err)
	p, err = Lines([]Series{{Name: "one point", X: []float64{3}, Y: []float64{-7}}}, Axes{})
	add("one point", p, err)
	return all
}

func TestFormatsDecode(t *testing.T) {
	for name, p := range pictures(t) {
		img, err := png.Decode(bytes.NewReader(render(t, p, nil, "png")))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w, _ := p.size()
		if got, want := float64(img.Bounds().Dx()), w.Points()/72*dpi; math.Abs(got-want) > 1 {
			t.Errorf("%s: %v pixels wide, want %v", name, got, want)
		}
		colours := make(map[[3]uint32]bool)
		for y := 0; y < img.Bounds().Dy(); y += 3 {
			for x := 0; x < img.Bounds().Dx(); x += 3 {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		if len(colours) < 4 {
			t.Errorf("%s: %d colours only, nothing was drawn", name, len(colours))
		}
		if pdf := render(t, p, nil, "pdf"); !bytes.HasPrefix(pdf, []byte("%PDF-1.")) || !bytes.Contains(pdf[len(pdf)-16:], []byte("%%EOF")) {
			t.Errorf("%s: not a whole PDF file", name)
		}
		dec := xml.NewDecoder(bytes.NewReader(render(t, p, nil, "svg")))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: SVG is not well-formed: %v", name, err)
			}
		}
	}
	p := pictures(t)["one"]
	if err := p.Encode(io.Discard, "gif"); err == nil {
		t.Error("gif accepted")
	}
	for _, f := range []string{"png", "svg", "pdf"} {
		if !bytes.Equal(render(t, p, nil, f), render(t, p, nil, f)) {
			t.Errorf("%s: drawn twice, differs", f)
		}
	}
	if pdf := render(t, p, nil, "pdf"); !bytes.Contains(pdf, []byte("/CreationDate (D:20000101000000)")) {
		t.Error("the PDF tells when it was made")
	}
}

func TestLabels(t *testing.T) {
	all := pictures(t)
	for name, want := range map[string][]string{
		"one":            {"One &lt;component&gt;", "age (years)", "height &lt;cm&gt; &amp; &#34;more&#34;", "released mean", "95\u00a0% pointwise", "95\u00a0% simultaneous", "μ = 1 (GDP) per patient, n = 93", "privacy noise only"},
		"two on a phone": {">hip<", ">knee<", "public reference", "Not private", "90\u00a0% pointwise"},
		"five":           {">a<", ">e<"},
		"time":           {"time (UTC)", "18 May 00:00"},
		"comparison":     {"fit-then-protect", "protect-then-fit", "truth", "visit"},
		"audit":          {"attack below the curve", "μ = 1", "99\u00a0% interval", "guessing"},
		"lines":          {"measured", "predicted", "1000 repetitions", ">10<", ">−7<", "error"},
	} {
		svg := string(render(t, all[name], nil, "svg"))
		for _, w := range want {
			if !strings.Contains(svg, w) {
				t.Errorf("%s: %q is missing", name, w)
			}
		}
	}
	if svg := string(render(t, all["five"], nil, "svg")); strings.Contains(svg, "pointwise") {
		t.Error("a picture without bands explains them")
	}
}

var (
	textTag = regexp.MustCompile(`<text textLength="([\d.]+)" [^>]*x="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]*)<|<g transform="rotate|</g>`)
)

// Every text lies inside the page, and no two texts of the legend and the axes
// lie on each other; rotated ones are left out.
func TestNothingClipped(t *testing.T) {
	type box struct {
		x0, x1, y float64
		text      string
	}
	all := pictures(t)
	for d := 1; d <= 3; d++ {
		for _, size := range []Size{Paper, Phone, Slide} {
			p, err := Density(densityRelease(t, d), Options{Size: size})
			if err != nil {
				t.Fatal(err)
			}
			all[fmt.Sprintf("density of %d on %v", d, size.Width)] = p
		}
	}
	for name, p := range all {
		w, h := p.size()
		var boxes []box
		rotated := false
		for _, m := range textTag.FindAllStringSubmatch(string(render(t, p, nil, "svg")), -1) {
			switch {
			case strings.HasPrefix(m[0], "<g"):
				rotated = true
			case m[0] == "</g>":
				rotated = false
			case !rotated:
				length, _ := strconv.ParseFloat(m[1], 64)
				x, _ := strconv.ParseFloat(m[2], 64)
				y, _ := strconv.ParseFloat(m[3], 64)
				boxes = append(boxes, box{x, x + length, -y, m[4]})
			}
		}
		if len(boxes) < 4 {
			t.Fatalf("%s: only %d texts found", name, len(boxes))
		}
		for i, b := range boxes {
			if b.x0 < 0 || b.x1 > w.Points() || b.y < 0 || b.y > h.Points()-5 {
				t.Errorf("%s: %q at [%.1f, %.1f], %.1f leaves the page of %.0f × %.0f", name, b.text, b.x0, b.x1, b.y, w.Points(), h.Points())
			}
			for _, c := range boxes[:i] {
				exponent := math.Abs(b.x0-c.x1) < 0.1
				if math.Abs(b.y-c.y) < 5 && b.x0 < c.x1 && c.x0 < b.x1 && !exponent {
					t.Errorf("%s: %q and %q lie on each other", name, b.text, c.text)
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	nan := math.NaN()
	bad := sample(t, 2, 18, "height")
	bad.Coefficients[0][1] = nan
	huge := sample(t, 2, 18, "height")
	huge.Coefficients[0] = []float64{1e308, 1e308, 1e308, 1e308}
	ok := sample(t, 2, 18, "height")
	overlay := func(l Line) Options { return Options{Overlay: []Line{l}} }
	two := func(o *release.Release) []Entry { return []Entry{{"a", ok, true}, {"b", o, false}} }
	of := func(p *Picture, err error) error { return err }
	many := make([]string, 13)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for name, err := range map[string]error{
		"nil release":             of(Release(nil, Options{})),
		"no entries":              of(Compare(nil, Options{})),
		"nil entry":               of(Compare([]Entry{{"a", ok, true}, {}}, Options{})),
		"NaN coefficient":         of(Release(bad, Options{})),
		"overflow":                of(Release(huge, Options{})),
		"level":                   of(Release(ok, Options{Level: 1.5})),
		"tiny":                    of(Release(ok, Options{Size: Size{10, 10, 9}})),
		"NaN size":                of(Release(ok, Options{Size: Size{vg.Length(nan), 100, 9}})),
		"too many components":     of(Release(sample(t, 0, 1, many...), Options{})),
		"other components":        of(Compare(two(sample(t, 2, 18, "weight")), Options{})),
		"other domain":            of(Compare(two(sample(t, 2, 17, "height")), Options{})),
		"overlay empty":           of(Release(ok, overlay(Line{Name: "x"}))),
		"overlay lengths":         of(Release(ok, overlay(Line{T: []float64{3, 4}, X: []float64{1}}))),
		"overlay NaN":             of(Release(ok, overlay(Line{T: []float64{3}, X: []float64{nan}}))),
		"overlay outside":         of(Release(ok, overlay(Line{T: []float64{1}, X: []float64{1}}))),
		"overlay unsorted":        of(Release(ok, overlay(Line{T: []float64{4, 3}, X: []float64{1, 1}}))),
		"overlay component":       of(Release(ok, overlay(Line{Component: 1, T: []float64{3}, X: []float64{1}}))),
		"no series":               of(Lines(nil, Axes{})),
		"series empty":            of(Lines([]Series{{}}, Axes{})),
		"series NaN":              of(Lines([]Series{{X: []float64{1}, Y: []float64{nan}}}, Axes{})),
		"series infinite":         of(Lines([]Series{{X: []float64{math.Inf(1)}, Y: []float64{1}}}, Axes{})),
		"series half a bar":       of(Lines([]Series{{X: []float64{1}, Y: []float64{1}, Lo: []float64{1}}}, Axes{})),
		"bar beside its point":    of(Lines([]Series{{X: []float64{1}, Y: []float64{1}, Lo: []float64{2}, Hi: []float64{3}}}, Axes{})),
		"zero on a log axis":      of(Lines([]Series{{X: []float64{0}, Y: []float64{1}}}, Axes{LogX: true})),
		"negative on a log axis":  of(Lines([]Series{{X: []float64{1}, Y: []float64{-1}}}, Axes{LogY: true})),
		"range beyond float64":    of(Lines([]Series{{X: []float64{-1.7e308, 1.7e308}, Y: []float64{1, 2}}}, Axes{})),
		"no attacks":              of(Tradeoff(nil, 1, Options{})),
		"attack NaN":              of(Tradeoff([]TradeoffPoint{{nan, 0.5, 0.4, 0.6}}, 1, Options{})),
		"attack outside its bars": of(Tradeoff([]TradeoffPoint{{0.5, 0.5, 0.6, 0.7}}, 1, Options{})),
		"no μ":                    of(Tradeoff([]TradeoffPoint{{0.5, 0.5, 0.4, 0.6}}, 0, Options{})),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if !strings.HasPrefix(err.Error(), "plot: ") {
			t.Errorf("%s: error %q does not say where it is from", name, err)
		}
	}
}

func TestSave(t *testing.T) {
	p := pictures(t)["one"]
	dir := t.TempDir()
	for _, name := range []string{"a.svg", "b.PNG", "c.pdf"} {
		if err := p.Save(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if got := list(t, dir); got != "a.svg b.PNG c.pdf" {
		t.Errorf("files: %s", got)
	}
	for _, name := range []string{"a", "a.gif", "a.svg.bak"} {
		if p.Save(filepath.Join(dir, name)) == nil || CheckPath(name) == nil {
			t.Errorf("%s accepted", name)
		}
	}
	if err := p.Save(filepath.Join(dir, "missing", "a.svg")); err == nil {
		t.Error("saved into a missing directory")
	}
	// A rename that fails: the target is a directory that is not empty.
	target := filepath.Join(dir, "d.svg")
	if err := os.MkdirAll(filepath.Join(target, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.Save(target); err == nil {
		t.Error("saved over a directory")
	}
	if got := list(t, dir); got != "a.svg b.PNG c.pdf d.svg" {
		t.Errorf("left behind: %s", got)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
