// Writing pictures: the suffix of the file decides the format, and a file
// appears under its name only when it is complete.

package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// CheckPath says whether pictures can be written to a file of this name, so
// that a wrong suffix is found before any work or spending.
func CheckPath(path string) error {
	_, err := formatOf(path)
	return err
}

func formatOf(path string) (string, error) {
	switch suffix := strings.ToLower(filepath.Ext(path)); suffix {
	case ".svg", ".png", ".pdf":
		return suffix[1:], nil
	case "":
		return "", fmt.Errorf("plot: %q has no suffix; end it in .svg, .png or .pdf", path)
	default:
		return "", fmt.Errorf("plot: suffix %q of %q is no format of pictures; use .svg, .png or .pdf", suffix, path)
	}
}

// Save writes the picture to a file whose suffix is .svg, .png or .pdf. It is
// written beside its place and renamed into it; after an error nothing is left
// and a former file of that name is untouched.
func (p *Picture) Save(path string) (err error) {
	format, err := formatOf(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*."+format)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("plot: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	if err := errors.Join(p.Encode(f, format), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Encode writes the picture as "svg", "png" or "pdf". Equal pictures give equal
// bytes: no file holds its time of creation.
func (p *Picture) Encode(w io.Writer, format string) error {
	data, err := p.render(format)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("plot: writing %s: %w", format, err)
	}
	return nil
}

// pdfDate is replaced in place, since a PDF counts its bytes.
var pdfDate = regexp.MustCompile(`Date \(D:\d{14}`)

func (p *Picture) render(format string) ([]byte, error) {
	width, height := p.size()
	var out bytes.Buffer
	switch format {
	case "svg":
		c := &measured{Canvas: vgsvg.New(width, height)}
		p.draw(draw.NewCanvas(c, width, height))
		return c.document(strings.TrimSpace(p.title + " " + p.caption))
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		p.draw(draw.New(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(&out)
		return out.Bytes(), err
	case "pdf":
		c := vgpdf.New(width, height)
		p.draw(draw.NewCanvas(outlined{c}, width, height))
		_, err := c.WriteTo(&out)
		return pdfDate.ReplaceAll(out.Bytes(), []byte("Date (D:20000101000000")), err
	}
	return nil, fmt.Errorf("unknown format %q; known are svg, png, pdf", format)
}

var (
	_ vg.Canvas = outlined{}
	_ vg.Canvas = (*measured)(nil)
)
