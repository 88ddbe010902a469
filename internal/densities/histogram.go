package densities

import (
	"math"
	"math/rand/v2"
)

// A private histogram at the same budget, to compare with: counts in equal cells, each with Gaussian noise.
// Replacing one person moves two counts by one, so the sensitivity is √2 and the noise has sd √2/μ = 1/√ρ.

// fineCells is the grid of an axis on which integrals are taken, in one and in two variables; it is a multiple of
// many numbers of bins.
var fineCells = []int{15120, 720}

// binsOf lists the numbers of bins an axis that are tried: divisors of the fine grid.
func binsOf(d int) (bins []int) {
	for m := 1; m <= []int{1260, 120}[d-1]; m++ {
		if fineCells[d-1]%m == 0 {
			bins = append(bins, m)
		}
	}
	return bins
}

// HistogramRisk returns the expected integrated squared error of the private histogram with the best number of
// bins an axis in hindsight, and that number: exact, squared bias + (m^d − Σ p²m^d)/n + m^{2d}/(ρn²).
func HistogramRisk(t Truth, n int64, rho float64) (risk float64, bins int) {
	fine := fineCells[t.D-1]
	values := t.Grid(fine)
	square := 0.0
	for _, v := range values {
		square += v * v / float64(len(values))
	}
	risk = math.Inf(1)
	for _, m := range binsOf(t.D) {
		cells := average(values, fine, m, t.D)
		projected, k := 0.0, float64(len(cells))
		for _, v := range cells {
			projected += v * v / k
		}
		r := square - projected + (k-projected)/float64(n) + k*k/(rho*float64(n)*float64(n))
		if r < risk {
			risk, bins = r, m
		}
	}
	return risk, bins
}

// average is the mean of the fine grid over m cells an axis.
func average(values []float64, fine, m, d int) []float64 {
	cells := make([]float64, int(math.Pow(float64(m), float64(d))))
	each := fine / m
	for i, v := range values {
		at := i / each
		if d == 2 {
			at = i/fine/each*m + i%fine/each
		}
		cells[at] += v
	}
	for i := range cells {
		cells[i] /= math.Pow(float64(each), float64(d))
	}
	return cells
}

// Histogram draws a private histogram of the points with m bins an axis: density per cell, the last axis
// fastest. The noise is seeded, for pictures beside a simulated truth only.
func Histogram(r *rand.Rand, points []float64, d, m int, rho float64) []float64 {
	cells := make([]float64, int(math.Pow(float64(m), float64(d))))
	n := float64(len(points) / d)
	for i := 0; i < len(points); i += d {
		at := 0
		for _, x := range points[i : i+d] {
			at = at*m + min(m-1, int(x*float64(m)))
		}
		cells[at]++
	}
	for i := range cells {
		cells[i] = (cells[i] + r.NormFloat64()/math.Sqrt(rho)) / n * float64(len(cells))
	}
	return cells
}
