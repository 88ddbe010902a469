package plot

import "testing"

func TestPanels(t *testing.T) {
	make := func(title string) *Picture {
		p, err := Lines([]Series{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}}}, Axes{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, err := Panels("both", 2, make("left"), make("right"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.panels) != 2 || p.panels[1].title != "right" || len(p.keys) != 1 || p.columns != 2 {
		t.Errorf("%d panels, %d keys, %d columns", len(p.panels), len(p.keys), p.columns)
	}
	if _, err := p.render("svg"); err != nil {
		t.Error(err)
	}
	if _, err := Panels("", 2); err == nil {
		t.Error("no pictures are accepted")
	}
	if _, err := Panels("", 1, p); err == nil {
		t.Error("a picture of two panels is accepted")
	}
}
