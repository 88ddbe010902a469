// Heat maps of densities of two variables, alone or for each pair of several.

package plot

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// cividis (Nuñez, Anderton and Renslow 2018) grows evenly in lightness, also for readers who do not tell red from
// green, and in grey.
var cividis = []color.RGBA{
	{0x00, 0x20, 0x4D, 0xFF}, {0x00, 0x33, 0x6F, 0xFF}, {0x39, 0x48, 0x6B, 0xFF}, {0x57, 0x5C, 0x6D, 0xFF}, {0x70, 0x71, 0x73, 0xFF},
	{0x8A, 0x87, 0x79, 0xFF}, {0xA6, 0x9D, 0x75, 0xFF}, {0xC4, 0xB5, 0x6C, 0xFF}, {0xE4, 0xCF, 0x5B, 0xFF}, {0xFF, 0xEA, 0x46, 0xFF},
}

// shade is the colour of v in [0,1].
func shade(v float64) color.RGBA {
	at := math.Max(0, math.Min(1, v)) * float64(len(cividis)-1)
	i := min(int(at), len(cividis)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + part*(float64(b)-float64(a)) + 0.5) }
	a, b := cividis[i], cividis[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}

// heat is a table of values on cells, drawn as an image.
type heat struct {
	box    [4]float64 // x from, x to, y from, y to
	nx, ny int
	values []float64 // nx × ny, y fastest
	scale  *bar      // of the colours
}

// heatCells is the number of cells an axis of a heat map.
const heatCells = 240

// Density draws a released density: in one variable the curve with its bands, in two a heat map with a scale, in
// more a heat map for each pair. Heat maps show the nearest proper density (never negative).
func Density(r *release.Release, o Options) (*Picture, error) {
	if r == nil || r.Verb != release.Density {
		return nil, errors.New("plot: no density to draw")
	}
	if r.Box == nil {
		return Release(r, o)
	}
	if len(o.Overlay) > 0 {
		return nil, errors.New("plot: an overlay is a curve, and a heat map has no place for it")
	}
	size, err := o.Size.orPaper()
	if err != nil {
		return nil, err
	}
	d := len(r.Box.Box())
	cells := []int{}
	if d == 2 {
		cells = []int{heatCells}
	}
	table, err := density.Of(r, cells...)
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	p := &Picture{title: o.Title, columns: 1, look: size}
	p.caption = remarked(guaranteeOf(r)+". The nearest density to what was released that is nowhere negative; sharp peaks leave ripples beside them", "", r)
	if !r.Private {
		p.caption = "Not private: made with seeded noise, as a demonstration. " + p.caption
	}
	if d > 2 {
		p.columns = 2
		if d > 3 && size.Width > size.Height {
			p.columns = 3
		}
	}
	p.bar = &bar{label: "density, times the uniform one"}
	for i := range d {
		for k := i + 1; k < d; k++ {
			pair, err := table.Marginal(i, k)
			if err != nil {
				return nil, fmt.Errorf("plot: %w", err)
			}
			p.addHeat(pair, r, i, k, o)
		}
	}
	if p.bar.root = Peaky(p.bar.top, 1); p.bar.root {
		p.bar.label += ", colours by its square root"
	}
	for _, q := range p.panels {
		q.heat.scale = p.bar
	}
	if d == 2 {
		q := p.panels[0]
		if q.aspect = TrueAspect(r); q.aspect == 0 {
			q.square = size.Width <= size.Height
		}
	}
	return p, nil
}

// peaky is the largest density, times the uniform one, up to which colours are in proportion to it:
// above, all but the peaks would be of the darkest.
const peaky = 5

// Peaky says whether a density, given by the largest of its values and their average, is shown by its square root.
func Peaky(top, average float64) bool { return top > peaky*average }

// TrueAspect is the width over the height that the box of a density of two variables is drawn in where both variables are lengths: degrees of
// longitude, which shrink with the latitude, and of latitude, or places in one unit. It is 0
// where they are not known to be.
func TrueAspect(r *release.Release) float64 {
	if len(r.Variables) != 2 {
		return 0
	}
	x, y := strings.ToLower(r.Variables[0]), strings.ToLower(r.Variables[1])
	box := r.Box.Box()
	aspect := box[0].Length() / box[1].Length()
	isLat := func(s string) bool { return slices.Contains([]string{"lat", "latitude"}, s) }
	isLon := func(s string) bool { return slices.Contains([]string{"lon", "lng", "long", "longitude"}, s) }
	inRange := func(d space.Interval) bool { return d.A >= -89 && d.B <= 89 }
	shrink := func(d space.Interval) float64 { return math.Cos((d.A + d.B) / 2 * math.Pi / 180) }
	switch {
	case isLon(x) && isLat(y) && inRange(box[1]):
		aspect *= shrink(box[1])
	case isLat(x) && isLon(y) && inRange(box[0]):
		aspect /= shrink(box[0])
	case x == "east" && y == "north" || x == "x" && y == "y" || strings.TrimPrefix(x, "x") == strings.TrimPrefix(y, "y"):
	default:
		return 0
	}
	if aspect < 1./3 || aspect > 3 { // a strip, in which nothing would be seen
		return 0
	}
	return aspect
}

func (p *Picture) addHeat(t *density.Table, r *release.Release, i, k int, o Options) {
	name := func(axis int, given string) string {
		if given != "" && len(r.Box.Box()) == 2 {
			return given
		}
		if r.Variables != nil {
			return r.Variables[axis]
		}
		return fmt.Sprintf("x%d", axis+1)
	}
	h := &heat{nx: t.Cells[0], ny: t.Cells[1], values: t.Density, box: [4]float64{t.Box[0].A, t.Box[0].B, t.Box[1].A, t.Box[1].B}}
	area := t.Box[0].Length() * t.Box[1].Length()
	for j, v := range h.values {
		h.values[j] = v * area
		p.bar.top = math.Max(p.bar.top, v*area)
	}
	p.panels = append(p.panels, &panel{heat: h, x: axis{label: name(i, o.XLabel), lo: h.box[0], hi: h.box[1]}, y: axis{label: name(k, o.YLabel), lo: h.box[2], hi: h.box[3]}})
}

func (h *heat) Plot(c draw.Canvas, g *gplot.Plot) {
	tx, ty := g.Transforms(&c)
	img := image.NewRGBA(image.Rect(0, 0, h.nx, h.ny))
	for i := range h.nx {
		for j := range h.ny {
			img.SetRGBA(i, h.ny-1-j, shade(h.scale.place(h.values[i*h.ny+j])))
		}
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: tx(h.box[0]), Y: ty(h.box[2])}, Max: vg.Point{X: tx(h.box[1]), Y: ty(h.box[3])}}, img)
}

// bar is the scale of the colours, from low to top.
type bar struct {
	label    string
	low, top float64
	root     bool // colours by the square root; low is 0 then
}

// place is where on the scale a value is, from 0 to 1.
func (b *bar) place(v float64) float64 {
	if v = math.Max(0, (v-b.low)/(b.top-b.low)); b.root {
		return math.Sqrt(v)
	}
	return v
}

// ticks returns values with labels, also of the top where there is room; by the square root
// those near 0 are further apart.
func (b *bar) ticks() ticker {
	t := linearTicks(b.low, b.top, 5)
	if b.root {
		t = b.rootTicks()
	}
	if 1-b.place(t[len(t)-1].Value) > 0.12 {
		step := math.Pow(10, math.Floor(math.Log10(b.top-b.low))-1) // two digits
		t = append(t, gplot.Tick{Value: b.top, Label: numberLabels([]float64{b.top}, step)(b.top)})
	}
	return t
}

func (b *bar) rootTicks() ticker {
	t := ticker{{Value: 0, Label: "0"}}
	step := niceStep(b.top / 16)
	for _, k := range []float64{1, 4, 9, 16} { // equally far apart, when rounded to steps
		v := math.Round(k/16*b.top/step) * step
		if v > 0 && v <= b.top && v > t[len(t)-1].Value {
			t = append(t, gplot.Tick{Value: v, Label: numberLabels([]float64{b.top}, step)(v)})
		}
	}
	return t
}

func (b *bar) draw(c draw.Canvas, sty text.Style) draw.Canvas {
	size := sty.Font.Size
	x := c.Min.X
	y := c.Max.Y - size
	label := wrap(sty, b.label, c.Size().X)
	for i, line := range label {
		if i > 0 {
			y -= 1.3 * size
		}
		c.FillText(sty, vg.Point{X: x, Y: y}, line)
	}
	if len(label) > 1 { // the bar goes below
		x = c.Max.X
	}
	x += sty.Width(b.label) + 1.2*size
	width := 16 * size
	if x+width+2*size > c.Max.X { // no room beside the label
		x, y = c.Min.X+0.5*size, y-1.8*size
		width = min(width, c.Max.X-x-2*size)
	}
	img := image.NewRGBA(image.Rect(0, 0, 256, 1))
	for i := range 256 {
		img.SetRGBA(i, 0, shade(float64(i)/255))
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + 0.75*size}}, img)
	ticks := sty
	ticks.Font.Size *= 0.85
	ticks.XAlign = draw.XCenter
	for _, t := range b.ticks() {
		at := x + width*vg.Length(b.place(t.Value))
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.6}, at, y, at, y-0.25*size)
		c.FillText(ticks, vg.Point{X: at, Y: y - 1.2*size}, t.Label)
	}
	c.Max.Y = y - 1.9*size
	return c
}
