package mechanism

import (
	"math"
	"testing"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Each coordinate has noise of its own scale, τ_j·distance/μ rounded up; those of shape 0 have none.
func TestDiagonalScales(t *testing.T) {
	shape := []float64{0, 100, 300}
	d, err := NewDiagonal(shape, 4, privacy.ZCDP(0.5))
	if err != nil {
		t.Fatal(err)
	}
	for j, tau := range shape {
		if s := d.Scale(j); s < 4*tau || s > 4*tau*(1+1e-12) {
			t.Errorf("scale %d is %v, want %v", j, s, 4*tau)
		}
	}
	sum := lattice.NewTally(3, 1<<20)
	if err := sum.Add([]int64{7, 1000, -2000}, 10); err != nil {
		t.Fatal(err)
	}
	const draws, step = 4000, 0.5
	src := noise.Seeded(1)
	var total, square [3]float64
	for range draws {
		got, err := d.Release(sum, step, src)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range got {
			total[j] += v
			square[j] += v * v
		}
	}
	for j, k := range sum.Vector() {
		want, sd := float64(k)/10*step, d.Scale(j)/10*step
		mean := total[j] / draws
		if math.Abs(mean-want) > 5.2*sd/math.Sqrt(draws)+1e-9 { // false alarms below 1e-6
			t.Errorf("mean of coordinate %d is %v, want %v", j, mean, want)
		}
		if v := square[j]/draws - mean*mean; math.Abs(v-sd*sd) > 5.5*sd*sd*math.Sqrt(2.0/draws)+1e-9*want*want {
			t.Errorf("variance of coordinate %d is %v, want %v", j, v, sd*sd)
		}
	}
}

func TestDiagonalRefusals(t *testing.T) {
	for _, g := range []privacy.Guarantee{nil, privacy.Pure(1), privacy.ZCDP(-1), privacy.ZCDP(1e-30)} {
		if _, err := NewDiagonal([]float64{1e9}, 1, g); err == nil {
			t.Errorf("%v was accepted", g)
		}
	}
	d, err := NewDiagonal([]float64{1, 1}, 1, privacy.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Release(lattice.NewTally(2, 1), 1, noise.Seeded(1)); err == nil {
		t.Error("released nobody")
	}
	one := lattice.NewTally(1, 1)
	if err := one.Add([]int64{1}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Release(one, 1, noise.Seeded(1)); err == nil {
		t.Error("released a sum of another dimension")
	}
}
