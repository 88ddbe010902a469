// Powers of ten on axes. The font has no superscript 0, 9 or minus, so
// exponents are drawn small and raised: whatever follows the mark.

package plot

import (
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

const (
	raise = "\u2060" // WORD JOINER: invisible should it ever reach a reader
	small = 0.72     // size of an exponent
	lift  = 0.38     // of the size of the base
)

var plain = text.Plain{Fonts: font.NewCache(liberation.Collection())}

// superscripts is a handler of plain text, except that a text of one line that
// is not rotated may hold one raise mark.
type superscripts struct{ text.Plain }

func (h superscripts) faces(txt string, f font.Font) (base, exponent string, big, little font.Face) {
	base, exponent, _ = strings.Cut(txt, raise)
	return base, exponent, h.Fonts.Lookup(f, f.Size), h.Fonts.Lookup(f, small*f.Size)
}

// Box returns the size of one line. The exponent adds to the width only, so
// that labels with and without one share a baseline.
func (h superscripts) Box(line string, f font.Font) (width, height, depth vg.Length) {
	base, exponent, _, little := h.faces(line, f)
	width, height, depth = h.Plain.Box(base, f)
	if exponent != "" {
		width += little.Width(exponent)
	}
	return width, height, depth
}

// Draw draws text at pt.
func (h superscripts) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	base, exponent, big, little := h.faces(txt, sty.Font)
	if exponent == "" {
		h.Plain.Draw(c, txt, sty, pt)
		return
	}
	width, height, depth := h.Box(txt, sty.Font)
	pt.X += vg.Length(sty.XAlign) * width
	pt.Y += vg.Length(sty.YAlign)*(height+depth) - big.Extents().Ascent + sty.Font.Size
	c.SetColor(sty.Color)
	c.FillString(big, pt, base)
	c.FillString(little, pt.Add(vg.Point{X: big.Width(base), Y: lift * sty.Font.Size}), exponent)
}
