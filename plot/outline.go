// Text as outlines. The PDF canvas of gonum/plot knows the 256 characters of
// code page 1252 only: no μ, no minus sign. Glyphs drawn as paths look the same
// everywhere and need no font; the price is that they cannot be searched.

package plot

import (
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

type outlined struct{ vg.CanvasSizer }

// FillString draws str with its baseline's left end at pt.
func (c outlined) FillString(face plotfont.Face, pt vg.Point, str string) {
	var buf sfnt.Buffer
	f := face.Face
	em := fixed.Int26_6(f.UnitsPerEm()) // one font unit is 1/64 pixel at this size
	scale := face.Font.Size / vg.Length(em)
	at := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: pt.X + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
	}
	var previous sfnt.GlyphIndex
	for i, r := range str {
		g, err := f.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := f.Kern(&buf, previous, g, em, font.HintingNone); err == nil {
				pt.X += vg.Length(kern) * scale
			}
		}
		previous = g
		if segments, err := f.LoadGlyph(&buf, g, em, nil); err == nil {
			if path := trace(segments, at); len(path) > 0 {
				c.Fill(path)
			}
		}
		if advance, err := f.GlyphAdvance(&buf, g, em, font.HintingNone); err == nil {
			pt.X += vg.Length(advance) * scale
		}
	}
}

func trace(segments sfnt.Segments, at func(fixed.Point26_6) vg.Point) vg.Path {
	var p vg.Path
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(p) > 0 {
				p.Close()
			}
			p.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	if len(p) > 0 {
		p.Close()
	}
	return p
}
