// The look: sizes, fonts, and colours that stay apart for colour-blind readers
// and in grey.

package plot

import (
	"image/color"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size is the size of a picture and of its letters. The zero Size is Paper.
type Size struct {
	Width, Height vg.Length // of a picture with one panel; more rows of panels make it taller
	Font          vg.Length // of the labels
}

// Sizes for one text column of a page, for the screen of a telephone held
// upright, and for a projector.
var (
	Paper = Size{15 * vg.Centimeter, 9.5 * vg.Centimeter, 9}
	Phone = Size{9 * vg.Centimeter, 11 * vg.Centimeter, 9.5}
	Slide = Size{24 * vg.Centimeter, 13.5 * vg.Centimeter, 15}
)

// dpi of PNG files: Paper is 1772 pixels wide, Phone 1063.
const dpi = 300

// Okabe and Ito's colours (jfly.uni-koeln.de/color), in order of use, without
// yellow, which is too light for a line.
var palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
}

var (
	ink  = color.RGBA{0x1A, 0x1A, 0x1A, 0xFF}
	soft = color.RGBA{0x59, 0x59, 0x59, 0xFF} // captions, reference curves
	rule = color.RGBA{0x8C, 0x8C, 0x8C, 0xFF} // axes
	grid = color.RGBA{0xE3, 0xE3, 0xE3, 0xFF}
)

// tint mixes a colour with white; opaque, so that it prints alike everywhere.
func tint(c color.RGBA, strength float64) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - strength*(255-float64(v)) + 0.5) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 0xFF}
}

func style(size vg.Length, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return text.Style{Color: c, Font: f, XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: superscripts{plain}}
}

// stroke is how a line looks.
type stroke struct {
	color  color.RGBA
	width  vg.Length
	dashes []vg.Length
}

func (s stroke) style() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: s.width, Dashes: s.dashes}
}

var (
	dashed = []vg.Length{5, 2.5}
	dotted = []vg.Length{1.2, 2}
)
