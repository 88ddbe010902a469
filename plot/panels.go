// Several pictures of series beside each other.

package plot

import "errors"

// Panels joins pictures made by [Lines] into one, in columns, under one title; the title of each becomes that of its
// panel, and equal names of series share a line of the legend. The first gives the size and the caption.
func Panels(title string, columns int, pictures ...*Picture) (*Picture, error) {
	if len(pictures) == 0 || columns < 1 {
		return nil, errors.New("plot: no pictures to join; give at least one, and at least one column")
	}
	p := &Picture{title: title, caption: pictures[0].caption, look: pictures[0].look, columns: min(columns, len(pictures))}
	seen := map[string]bool{}
	for _, q := range pictures {
		if len(q.panels) != 1 || q.bar != nil || q.panels[0].square {
			return nil, errors.New("plot: only pictures of series, of one panel, can be joined")
		}
		q.panels[0].title = q.title
		p.panels = append(p.panels, q.panels[0])
		for _, k := range q.keys {
			if !seen[k.label] {
				seen[k.label] = true
				p.addKey(k)
			}
		}
	}
	return p, nil
}
