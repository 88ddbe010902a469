package curve

import (
	"math"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

func TestGrid(t *testing.T) {
	r, err := Privatize(base(privacy.Geo(1), Segment), wander(1, 30, 2), noise.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	at, x, err := Grid(r.Release, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	if len(at) != 65 || at[0] != 100 || at[64] != 116 || len(x) != 2 || len(x[1]) != 65 {
		t.Errorf("%d times from %g to %g", len(at), at[0], at[len(at)-1])
	}
	if x[0][7] != r.Release.At(at[7]) {
		t.Errorf("%g at %g, want %g", x[0][7], at[7], r.Release.At(at[7]))
	}
	for _, every := range []float64{0, -1, math.NaN(), 1e-12} {
		if _, _, err := Grid(r.Release, every); err == nil {
			t.Errorf("step %g is accepted", every)
		}
	}
}
