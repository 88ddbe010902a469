// SVG keeps text as text, searchable and small; the reader's machine may lack
// the font. So every text carries its width, to which browsers fit any other
// font, and names of fonts of the same metrics.

package plot

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// measured is an SVG canvas that remembers the widths of its texts in order.
type measured struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString leaves out blanks, which have nothing to show.
func (c *measured) FillString(face font.Face, pt vg.Point, str string) {
	if strings.TrimSpace(str) == "" {
		return
	}
	c.Canvas.FillString(face, pt, str)
	c.widths = append(c.widths, face.Width(str))
}

// document returns the SVG with widths, fonts and a title for those who listen
// to it.
func (c *measured) document(title string) ([]byte, error) {
	var raw bytes.Buffer
	if _, err := c.WriteTo(&raw); err != nil {
		return nil, err
	}
	parts := strings.Split(raw.String(), "<text ") // labels are escaped, so only tags match
	if len(parts) != len(c.widths)+1 {
		return nil, fmt.Errorf("%d texts came out of %d", len(parts)-1, len(c.widths))
	}
	var out bytes.Buffer
	head := strings.Replace(parts[0], `xlink">`, `xlink" role="img">`+"\n<title>"+html.EscapeString(title)+"</title>", 1)
	out.WriteString(head)
	for i, w := range c.widths {
		fmt.Fprintf(&out, `<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, w.Points())
		out.WriteString(strings.Replace(parts[i+1], "font-family:Liberation Sans;", "font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;", 1))
	}
	return out.Bytes(), nil
}
