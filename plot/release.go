// Pictures of releases.

package plot

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"github.com/curveil/curveil/release"
)

// Options of a picture of releases. The zero value is a good picture.
type Options struct {
	Title          string
	XLabel, YLabel string  // instead of the release's own
	Level          float64 // of the bands; 0 means 0.95
	NoBand         bool
	Overlay        []Line // curves to draw along, such as a known truth
	UnixTime       bool   // t counts seconds since 1970: label the axis with UTC dates
	Size           Size   // zero: Paper
	Private        string // a warning that the caption begins with, of a picture that shows what is not released
}

// Line is a public curve given by points: T strictly increasing, inside the
// domain of the release. One point is drawn as a dot.
type Line struct {
	Name      string
	Component int // index of the component whose panel it belongs to
	T, X      []float64
}

// Entry is one of several releases in a picture. A first entry with Band set
// has its bands shaded, further ones have theirs drawn as thin lines.
type Entry struct {
	Name    string
	Release *release.Release
	Band    bool
}

// samples is the number of points a curve is drawn through.
const samples = 400

// maxPanels is the number of components that one picture can show.
const maxPanels = 12

// Release draws a release: a panel per component with the curve, its pointwise
// band (shaded) and simultaneous band (lighter), a reference that is not
// constant (dashed; the center of a regression also where it is), and a caption with the guarantee.
func Release(r *release.Release, o Options) (*Picture, error) {
	if r == nil {
		return nil, errors.New("plot: no release to draw")
	}
	if r.Verb == release.Regression && r.Box != nil {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("plot: %w", err)
		}
		return surface(r, o)
	}
	return Compare([]Entry{{Name: "released " + r.Verb, Release: r, Band: !o.NoBand}}, o)
}

// Compare draws several releases of the same components on the same domain
// into the same axes, such as two methods at the same guarantee, with a known
// truth in Options.Overlay.
func Compare(entries []Entry, o Options) (*Picture, error) {
	if err := check(entries, &o); err != nil {
		return nil, err
	}
	first := entries[0].Release
	o.UnixTime = o.UnixTime || first.UnixTime
	p := &Picture{title: o.Title, columns: 1, look: o.Size, caption: caption(entries, o)}
	components := len(first.Components)
	if components > 3 && o.Size.Width > o.Size.Height {
		p.columns = 2
	}
	for k, name := range first.Components {
		q := &panel{x: axis{label: pick(o.XLabel, first.XLabel), unix: o.UnixTime, ends: true}, y: axis{label: pick(o.YLabel, first.YLabel)}}
		if components > 1 {
			q.title = name
		} else {
			q.y.label = pick(q.y.label, name)
		}
		if k+p.columns < components {
			q.x.label = "" // the panel below says it
		}
		if q.x.label == "" && k+p.columns >= components && o.UnixTime {
			q.x.label = "time (UTC)"
		}
		if q.x.label == "" && k+p.columns >= components {
			q.x.label = "t"
		}
		p.panels = append(p.panels, q)
	}
	for i, e := range entries {
		if err := p.addRelease(i, e, o); err != nil {
			return nil, err
		}
	}
	p.addReference(first)
	for i, l := range o.Overlay {
		look := stroke{ink, 1, [][]vg.Length{nil, dashed, dotted}[p.overlayStyle(i, o.Overlay)%3]}
		q := p.panels[l.Component]
		q.lines = append(q.lines, line{l.T, l.X, look})
		p.addCurveKey(key{label: l.Name, line: &look})
	}
	for _, q := range p.panels {
		if err := q.fit(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// addRelease draws one entry into all panels.
func (p *Picture) addRelease(i int, e Entry, o Options) error {
	r := e.Release
	look := stroke{color: palette[i], width: 1.6}
	if i > 0 {
		look.dashes = [][]vg.Length{nil, {7, 2}, {4, 1.5, 1, 1.5}}[i%3] // apart in grey too
	}
	ts := domainPoints(r)
	values := make([][]float64, len(r.Components))
	y := make([]float64, len(r.Components))
	for _, t := range ts {
		if err := r.Eval(y, t); err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		for k := range y {
			values[k] = append(values[k], y[k])
		}
	}
	if e.Band {
		if err := p.addBands(i == 0, ts, look, r, o.Level); err != nil {
			return err
		}
	}
	for k, v := range values {
		if err := finite(e.Name, v); err != nil {
			return err
		}
		p.panels[k].lines = append(p.panels[k].lines, line{ts, v, look})
	}
	p.addCurveKey(key{label: e.Name, line: &look})
	return nil
}

func (p *Picture) addBands(shaded bool, ts []float64, look stroke, r *release.Release, level float64) error {
	for _, simultaneous := range []bool{true, false} { // the wider one lies below
		lo, hi, err := r.Bands(ts, level, simultaneous)
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		name, strength := "pointwise", 0.36
		if simultaneous {
			name, strength = "simultaneous", 0.16
		}
		for k := range lo {
			if err := finite(name+" band", lo[k], hi[k]); err != nil {
				return err
			}
			if shaded {
				p.panels[k].bands = append(p.panels[k].bands, band{ts, lo[k], hi[k], stroke{color: tint(look.color, strength)}})
				continue
			}
			if !simultaneous {
				thin := stroke{look.color, 0.7, dotted}
				p.panels[k].lines = append(p.panels[k].lines, line{ts, lo[k], thin}, line{ts, hi[k], thin})
			}
		}
		if shaded {
			fill := stroke{color: tint(look.color, strength)}
			p.keys = slices.Insert(p.keys, 0, key{label: percent(level) + " " + name, fill: &fill})
		}
	}
	return nil
}

func (p *Picture) addReference(r *release.Release) {
	look := stroke{soft, 0.8, dashed}
	references, name := r.Reference, "public reference"
	if r.Verb == release.Regression { // whose curve began there
		if name = "center"; references == nil {
			references = []release.Reference{release.Constant(0)}
		}
	}
	for k, ref := range references {
		if _, constant := ref.IsConstant(); constant && r.Verb != release.Regression {
			continue
		}
		ts := domainPoints(r)
		x := make([]float64, len(ts))
		for i, t := range ts {
			x[i] = ref.At(t)
		}
		p.panels[k].lines = append(p.panels[k].lines, line{ts, x, look})
		p.addKey(key{label: name, line: &look})
	}
}

// addCurveKey adds the entry of a curve before those of bands and references.
func (p *Picture) addCurveKey(k key) {
	others := len(p.keys)
	p.addKey(k)
	if len(p.keys) > others {
		p.keys = slices.Insert(p.keys[:others], p.curves, k)
		p.curves++
	}
}

// addKey adds an entry to the legend unless one of that name is there.
func (p *Picture) addKey(k key) {
	if k.label != "" && !slices.ContainsFunc(p.keys, func(o key) bool { return o.label == k.label }) {
		p.keys = append(p.keys, k)
	}
}

// overlayStyle is the number of the line's name among the names of the overlay,
// so that one name looks alike in all panels.
func (p *Picture) overlayStyle(i int, lines []Line) int {
	var names []string
	for _, l := range lines[:i+1] {
		if !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return slices.Index(names, lines[i].Name)
}

func domainPoints(r *release.Release) []float64 {
	d := r.Space.Domain()
	ts := make([]float64, samples)
	for i := range ts {
		ts[i] = math.Min(d.A+d.Length()*float64(i)/(samples-1), d.B)
	}
	return ts
}

func caption(entries []Entry, o Options) string {
	var parts []string
	bands, seeded := false, false
	same := true
	for _, e := range entries {
		bands = bands || e.Band
		seeded = seeded || !e.Release.Private
		same = same && guaranteeOf(e.Release) == guaranteeOf(entries[0].Release)
	}
	for _, e := range entries {
		text := guaranteeOf(e.Release)
		if !same {
			text = e.Name + ": " + text
		}
		parts = append(parts, text)
		if same {
			break
		}
	}
	text := strings.Join(parts, "; ")
	if bands {
		text += " – band, " + percent(o.Level) + ": " + entries[0].Release.BandCaveat()
	}
	for _, e := range entries {
		name := ""
		if len(entries) > 1 {
			name = e.Name + ": "
		}
		text = remarked(text, name, e.Release)
	}
	if o.Private != "" {
		return o.Private + " " + text
	}
	if seeded {
		text = "Not private: made with seeded noise, as a demonstration. " + text
	}
	return text
}

// remarked adds what the release itself shows to be doubtful.
func remarked(text, name string, r *release.Release) string {
	for _, remark := range r.Remarks() {
		text += ". " + name + upper(remark.Short)
	}
	return text
}

// upper begins a sentence, unless a name came before.
func upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

func guaranteeOf(r *release.Release) string {
	return fmt.Sprintf("%v per %s, n = %s", r.Privacy.Guarantee, r.Privacy.Unit, group(strconv.FormatInt(r.N, 10)))
}

func percent(level float64) string {
	return strconv.FormatFloat(100*level, 'g', 6, 64) + "\u00a0%"
}

func pick(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
