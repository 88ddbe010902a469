// Pictures in one file, and their sizes.

package reproduce

import (
	"github.com/curveil/curveil/plot"
)

var wide = plot.Size{Width: 20 * 28.35, Height: 9.5 * 28.35, Font: 9}

// join makes the pictures panels of one.
func (r *Result) join(columns int, pictures ...*plot.Picture) error {
	p, err := plot.Panels("", columns, pictures...)
	if err == nil {
		r.Pictures = []Picture{{Picture: p}}
	}
	return err
}
