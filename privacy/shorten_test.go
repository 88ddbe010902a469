package privacy

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		x        float64
		up, down float64
	}{
		{1.118033988749895, 1.11804, 1.11803}, {0.1 + 0.2, 0.3, 0.3}, {1, 1, 1}, {0.4483347403951922, 0.448335, 0.448334},
		{0.9999999, 1, 0.999999}, {123456789, 123457000, 123456000}, {1e-300 / 3, 3.33334e-301, 3.33333e-301}, {0, 0, 0},
		{1.0000004, 1.00001, 1},
	} {
		if up, down := Shorten(GDP(c.x), true), Shorten(GDP(c.x), false); up != GDP(c.up) || down != GDP(c.down) {
			t.Errorf("%v: up %v, down %v; want %v, %v", c.x, up, down, c.up, c.down)
		}
	}
	if got := Shorten(Approx{Epsilon: 1.23456789, Delta: 1.00000049e-6}, true); got != (Approx{Epsilon: 1.23457, Delta: 1.00001e-6}) {
		t.Error(got)
	}
}

func TestShortenBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-600, 600).Draw(t, "log"))
		for _, up := range []bool{true, false} {
			y := float64(Shorten(ZCDP(x), up).(ZCDP))
			if (y > x) != up && math.Abs(y-x) > 1e-12*x || math.Abs(y-x) > 1.01e-5*x {
				t.Fatalf("%v became %v (up %v)", x, y, up)
			}
			if s := strconv.FormatFloat(y, 'e', -1, 64); len(s) > len("1.23456e+100") {
				t.Fatalf("%v became %s", x, s)
			}
		}
	})
}
