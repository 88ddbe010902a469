// Laying a picture out: title, legend, panels, caption, from top to bottom. The
// legend has its own rows, so it never covers a curve.

package plot

import (
	"math"
	"strings"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// key is an entry of the legend.
type key struct {
	label string
	fill  *stroke // a swatch of a band
	line  *stroke
	mark  *marks
}

func (p *Picture) draw(c draw.Canvas) {
	c.SetColor(tint(ink, 0))
	c.Fill(c.Rectangle.Path())
	size := p.look.Font
	c = draw.Crop(c, size*0.7, -size*0.9, size*0.6, -size*0.6)
	c = drawText(c, style(1.2*size, ink, true), p.title, 0.5*size)
	c = drawLegend(c, style(size, ink, false), p.keys)
	if p.bar != nil {
		c = p.bar.draw(c, style(size, ink, false))
	}
	c = drawCaption(c, style(0.85*size, soft, false), p.caption)

	plots := make([][]*gplot.Plot, p.rows())
	tiles := draw.Tiles{Rows: p.rows(), Cols: p.columns, PadX: size, PadY: size}
	width := c.Size().X / vg.Length(p.columns)
	height := c.Size().Y / vg.Length(p.rows())
	for i := range plots {
		plots[i] = make([]*gplot.Plot, p.columns)
		for j := range plots[i] {
			if k := i*p.columns + j; k < len(p.panels) {
				plots[i][j] = p.panels[k].build(size, width-6*size, height-5*size)
			}
		}
	}
	for i, row := range gplot.Align(plots, tiles, c) {
		for j, cell := range row {
			if plots[i][j] != nil {
				plots[i][j].Draw(p.panels[i*p.columns+j].cut(plots[i][j], cell))
			}
		}
	}
}

// cut takes from the right, or from above, what the frame's shape leaves over.
func (p *panel) cut(g *gplot.Plot, cell draw.Canvas) draw.Canvas {
	if p.aspect == 0 {
		return cell
	}
	frame := g.DataCanvas(cell).Size()
	if over := frame.X - frame.Y*vg.Length(p.aspect); over > 0 {
		cell.Max.X -= over
	} else {
		cell.Max.Y -= frame.Y - frame.X/vg.Length(p.aspect)
	}
	return cell
}

// wrap breaks text into lines at most width wide.
func wrap(sty text.Style, txt string, width vg.Length) []string {
	var lines []string
	for _, word := range strings.Fields(txt) {
		if n := len(lines); n > 0 && sty.Width(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// drawText writes at the top of c and returns what is left of it.
func drawText(c draw.Canvas, sty text.Style, txt string, gap vg.Length) draw.Canvas {
	lines := wrap(sty, txt, c.Size().X)
	for _, l := range lines {
		c.Max.Y -= sty.Font.Size
		c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y}, l)
		c.Max.Y -= 0.3 * sty.Font.Size
	}
	if len(lines) > 0 {
		c.Max.Y -= gap
	}
	return c
}

// drawCaption leaves room at the right: an SVG reader may put a wider font.
func drawCaption(c draw.Canvas, sty text.Style, txt string) draw.Canvas {
	lines := wrap(sty, txt, 0.87*c.Size().X)
	step := 1.3 * sty.Font.Size
	for i, l := range lines {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Min.Y + step*vg.Length(len(lines)-1-i)}, l)
	}
	if len(lines) > 0 {
		c.Min.Y += step*vg.Length(len(lines)) + 0.5*sty.Font.Size
	}
	return c
}

func drawLegend(c draw.Canvas, sty text.Style, keys []key) draw.Canvas {
	size := sty.Font.Size
	sample, gap := 2.2*size, 1.4*size
	x, y := c.Min.X, c.Max.Y-size
	for _, k := range keys {
		width := sample + 0.5*size + sty.Width(k.label)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-1.5*size
		}
		k.draw(c, vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + sample, Y: y + 0.75*size}})
		c.FillText(sty, vg.Point{X: x + sample + 0.5*size, Y: y}, k.label)
		x += width + gap
	}
	if len(keys) > 0 {
		c.Max.Y = y - 0.9*size
	}
	return c
}

func (k key) draw(c draw.Canvas, box vg.Rectangle) {
	mid := (box.Min.Y + box.Max.Y) / 2
	if k.fill != nil {
		c.FillPolygon(k.fill.color, []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}})
	}
	if k.line != nil {
		c.StrokeLine2(k.line.style(), box.Min.X, mid, box.Max.X, mid)
	}
	if k.mark != nil {
		c.DrawGlyph(k.mark.glyph(), vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: mid})
	}
}

// build makes the gonum plot of a panel of about the given size.
func (p *panel) build(size, width, height vg.Length) *gplot.Plot {
	if p.equal {
		p.widen(float64(width / height))
	}
	g := gplot.New()
	g.BackgroundColor = nil
	setAxis(&g.X, p.x, size)
	setAxis(&g.Y, p.y, size)
	g.X.Tick.Label.XAlign, g.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	g.Y.Tick.Label.XAlign, g.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	g.X.Tick.Marker = p.x.ticks(func(t ticker) bool {
		var used vg.Length
		for _, m := range t {
			if m.Label != "" {
				used += g.X.Tick.Label.Width(m.Label) + 1.5*size
			}
		}
		return used <= width
	}, func(a, b gplot.Tick) bool {
		half := (g.X.Tick.Label.Width(a.Label) + g.X.Tick.Label.Width(b.Label)) / 2
		return vg.Length((b.Value-a.Value)/(p.x.hi-p.x.lo))*width > half+0.8*size
	})
	g.Y.Tick.Marker = p.y.ticks(func(t ticker) bool {
		labels := 0
		for _, m := range t {
			if m.Label != "" {
				labels++
			}
		}
		return vg.Length(labels)*2.2*size <= height
	}, nil)
	for _, b := range p.bands {
		g.Add(band{p.x.scale(b.x), p.y.scale(b.lo), p.y.scale(b.hi), b.fill})
	}
	lattice := plotter.NewGrid()
	lattice.Vertical = draw.LineStyle{Color: grid, Width: 0.5}
	lattice.Horizontal = lattice.Vertical
	if p.heat != nil {
		g.Add(p.heat)
	} else {
		g.Add(lattice)
	}
	for _, l := range p.lines {
		g.Add(line{p.x.scale(l.x), p.y.scale(l.y), l.look})
	}
	for _, b := range p.boxes {
		g.Add(b.scaled(p.x, p.y))
	}
	for _, m := range p.marks {
		g.Add(marks{p.x.scale(m.x), p.y.scale(m.y), p.y.scale(m.lo), p.y.scale(m.hi), m.look, m.shape})
	}
	if p.title != "" {
		g.Title.Text = " " // reserves the height; the text stands over the data, not over the labels
		g.Title.TextStyle = style(size, ink, true)
		g.Title.Padding = 0.3 * size
		g.Add(heading{p.title, g.Title.TextStyle})
	}
	return g
}

func setAxis(a *gplot.Axis, from axis, size vg.Length) {
	ends := from.scale([]float64{from.lo, from.hi})
	a.Min, a.Max = ends[0], ends[1]
	a.Padding = 0
	a.LineStyle = draw.LineStyle{Color: rule, Width: 0.6}
	a.Tick.LineStyle = a.LineStyle
	a.Tick.Length = 0.35 * size
	a.Tick.Label = style(0.92*size, ink, false)
	a.Label.Text = from.label
	a.Label.TextStyle = style(size, ink, false)
	a.Label.TextStyle.XAlign = draw.XCenter
	a.Label.Padding = 0.4 * size
}

// scale takes values to the coordinate of the axis. Logarithms are taken here,
// for gonum's log scale places axis labels by the arithmetic middle and
// reserves room above the frame for them.
func (a axis) scale(v []float64) []float64 {
	if !a.log || v == nil {
		return v
	}
	l := make([]float64, len(v))
	for i := range v {
		l[i] = math.Log10(v[i])
	}
	return l
}

// ticks returns the most ticks that fit; apart says whether two labels do not touch.
func (a axis) ticks(fits func(ticker) bool, apart func(a, b gplot.Tick) bool) ticker {
	for n := 8; ; n-- {
		var t ticker
		switch {
		case a.log:
			t = logTicks(a.lo, a.hi, n)
			for i := range t {
				t[i].Value = math.Log10(t[i].Value)
			}
		case a.unix:
			t = timeTicks(a.lo, a.hi, n)
		default:
			t = linearTicks(a.lo, a.hi, n)
			if a.ends {
				t = t.withEnds(a.lo, a.hi, apart)
			}
		}
		if n == 2 || fits(t) {
			return t
		}
	}
}

type heading struct {
	text  string
	style text.Style
}

func (h heading) Plot(c draw.Canvas, _ *gplot.Plot) {
	c.FillText(h.style, vg.Point{X: c.Min.X, Y: c.Max.Y + 0.4*h.style.Font.Size}, h.text)
}

func points(c draw.Canvas, g *gplot.Plot, x, y []float64) []vg.Point {
	tx, ty := g.Transforms(&c)
	p := make([]vg.Point, len(x))
	for i := range x {
		p[i] = vg.Point{X: tx(x[i]), Y: ty(y[i])}
	}
	return p
}

func (b band) Plot(c draw.Canvas, g *gplot.Plot) {
	outline := points(c, g, b.x, b.hi)
	below := points(c, g, b.x, b.lo)
	for i := len(below) - 1; i >= 0; i-- {
		outline = append(outline, below[i])
	}
	c.FillPolygon(b.fill.color, c.ClipPolygonXY(outline))
}

func (l line) Plot(c draw.Canvas, g *gplot.Plot) {
	p := points(c, g, l.x, l.y)
	if len(p) == 1 {
		c.DrawGlyph(draw.GlyphStyle{Color: l.look.color, Radius: 2 * l.look.width, Shape: draw.CircleGlyph{}}, p[0])
		return
	}
	c.StrokeLines(l.look.style(), c.ClipLinesXY(p)...)
}

func (m marks) glyph() draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
	return draw.GlyphStyle{Color: m.look.color, Radius: 1.6 * m.look.width, Shape: shapes[m.shape%len(shapes)]}
}

func (m marks) Plot(c draw.Canvas, g *gplot.Plot) {
	thin := draw.LineStyle{Color: m.look.color, Width: 0.6 * m.look.width}
	cap := 1.5 * m.look.width
	_, ty := g.Transforms(&c)
	inside := func(v float64) vg.Length { return ty(math.Max(g.Y.Min, math.Min(v, g.Y.Max))) }
	for i, at := range points(c, g, m.x, m.y) {
		if m.lo != nil {
			lo, hi := inside(m.lo[i]), inside(m.hi[i])
			c.StrokeLine2(thin, at.X, lo, at.X, hi)
			for _, end := range []vg.Length{lo, hi} {
				c.StrokeLine2(thin, at.X-cap, end, at.X+cap, end)
			}
		}
		c.DrawGlyph(m.glyph(), at)
	}
}
