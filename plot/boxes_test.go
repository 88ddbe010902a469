package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestBoxes(t *testing.T) {
	good := Series{Name: "a", X: []float64{1, 10}, Boxes: []Box{{1, 2, 3, 4, 5}, {0.1, 0.2, 0.2, 0.4, 1}}}
	p, err := Lines([]Series{good}, Axes{LogX: true, LogY: true})
	if err != nil {
		t.Fatal(err)
	}
	if q := p.panels[0]; q.y.lo > 0.1 || q.y.hi < 5 || q.x.lo >= 1 || q.x.hi <= 10 {
		t.Errorf("axes %+v %+v do not hold the boxes", q.x, q.y)
	}
	var out bytes.Buffer
	if err := p.Encode(&out, "svg"); err != nil || !strings.Contains(out.String(), "<path") {
		t.Errorf("%v: no picture", err)
	}
	for name, s := range map[string]Series{
		"number":     {X: []float64{1}, Boxes: good.Boxes},
		"descending": {X: []float64{1}, Boxes: []Box{{1, 2, 3, 4, 3}}},
		"nan":        {X: []float64{1}, Boxes: []Box{{1, 2, 3, 4, math.NaN()}}},
		"zero":       {X: []float64{1}, Boxes: []Box{{0, 2, 3, 4, 5}}},
		"points":     {X: []float64{1}, Y: []float64{1}, Boxes: good.Boxes[:1]},
	} {
		if _, err := Lines([]Series{s}, Axes{LogY: true}); err == nil {
			t.Errorf("%s: %+v is accepted", name, s)
		}
	}
}

func TestEqual(t *testing.T) {
	line := Series{X: []float64{0, 4}, Y: []float64{0, 1}}
	p, err := Lines([]Series{line}, Axes{Equal: true})
	if err != nil {
		t.Fatal(err)
	}
	q := p.panels[0]
	q.widen(2)
	if x, y := q.x.hi-q.x.lo, q.y.hi-q.y.lo; math.Abs(x/y-2) > 1e-9 || q.y.lo > 0 || q.y.hi < 1 || math.Abs(q.y.lo+q.y.hi-1) > 1e-9 {
		t.Errorf("%v by %v, y %v to %v: a unit is not as long on both axes", x, y, q.y.lo, q.y.hi)
	}
	if _, err := Lines([]Series{line}, Axes{Equal: true, LogX: true}); err == nil {
		t.Error("equal units on a logarithmic axis are accepted")
	}
}

func TestColor(t *testing.T) {
	p, err := Lines([]Series{{X: []float64{0, 1}, Y: []float64{0, 1}, Color: 3}, {X: []float64{0, 1}, Y: []float64{1, 1}}}, Axes{})
	if err != nil {
		t.Fatal(err)
	}
	if l := p.panels[0].lines; l[0].look.color != palette[2] || l[1].look.color != palette[3] {
		t.Errorf("colours %v and %v, want the third and the fourth", l[0].look.color, l[1].look.color)
	}
}
