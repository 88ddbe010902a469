package density

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Table is a proper density, non-negative and of mass one, constant on the cells of a regular grid. It is what
// a release becomes when it is used: everything here is post-processing and free.
type Table struct {
	Box     []space.Interval
	Names   []string  // of the variables; nil for none
	Cells   []int     // on each axis
	Density []float64 // of each cell, per unit of volume, the last axis fastest
}

// maxCells bounds a table.
const maxCells = 1 << 22

// Of projects a released density onto the densities on a grid: the nearest, in mean square, of all non-negative
// tables of mass one to the released function's averages over the cells. cells holds the number of cells of
// each axis, or of all; none chooses a grid that shows all frequencies of the release.
func Of(r *release.Release, cells ...int) (*Table, error) {
	if r.Verb != release.Density {
		return nil, fmt.Errorf("density: the release is a %s, not a density", r.Verb)
	}
	s, ok := r.Tensor()
	if !ok {
		return nil, fmt.Errorf("density: the release has no fourier or cosine space")
	}
	d := len(s.Box())
	if len(cells) == 0 {
		for _, m := range s.Ranks() {
			waves := m
			if s.Kind() == "cosine" {
				waves = (m + 1) / 2
			}
			cells = append(cells, max([]int{512, 128, 32, 16}[d-1], 8*waves))
		}
	}
	if len(cells) == 1 {
		cells = slices.Repeat(cells, d)
	}
	if len(cells) != d {
		return nil, fmt.Errorf("density: %d numbers of cells for %d variables: give one, or one for each", len(cells), d)
	}
	total := 1
	points := make([][]float64, d)
	for i, m := range cells {
		if m < 1 || m > maxCells || total > maxCells/m {
			return nil, fmt.Errorf("density: a grid of %v cells: at most %d in all, and at least one on each axis", cells, maxCells)
		}
		total *= m
		for k := range m {
			points[i] = append(points[i], s.Box()[i].A+s.Box()[i].Length()*(float64(k)+0.5)/float64(m))
		}
	}
	t := &Table{Box: slices.Clone(s.Box()), Cells: slices.Clone(cells)}
	switch {
	case r.Variables != nil:
		t.Names = slices.Clone(r.Variables)
	case r.Space != nil && r.XLabel != "":
		t.Names = []string{r.XLabel}
	}
	t.Density = s.OnGrid(cellCoefficients(s, r.Coefficients[0], cells), points)
	volume := r.Volume()
	for i := range t.Density {
		t.Density[i] *= volume
	}
	projectOntoDensities(t.Density)
	for i := range t.Density {
		t.Density[i] /= volume
	}
	return t, nil
}

// cellCoefficients turns values at the midpoints into averages over the cells: the average of a wave of
// frequency k over a cell of width h is its value in the middle times sin(πkh)/(πkh), with k/2 for cosines.
func cellCoefficients(s *space.Tensor, coefficients []float64, cells []int) []float64 {
	out := slices.Clone(coefficients)
	for j := range out {
		for i, m := range cells {
			a := math.Pi * float64(s.Frequency(j, i)) / float64(m)
			if s.Kind() == "cosine" {
				a /= 2
			}
			if a > 0 {
				out[j] *= math.Sin(a) / a
			}
		}
	}
	return out
}

// projectOntoDensities replaces values of mean 1 by the nearest non-negative ones of mean 1: (v − τ)₊ for the τ
// that keeps the mean (projection onto a simplex, Held, Wolfe and Crowder 1974).
func projectOntoDensities(v []float64) {
	sorted := slices.Clone(v)
	sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
	n, sum, tau := float64(len(v)), 0.0, 0.0
	for i, x := range sorted {
		sum += x
		if t := (sum - n) / float64(i+1); x > t {
			tau = t
		} else {
			break
		}
	}
	sum = 0
	for i, x := range v {
		v[i] = math.Max(0, x-tau)
		sum += v[i]
	}
	for i := range v { // rounding only
		v[i] *= n / sum
	}
}

// At is the density at the point x, 0 outside the box.
func (t *Table) At(x []float64) float64 {
	if len(x) != len(t.Box) {
		panic(fmt.Sprintf("density: a point of %d coordinates, the table has %d variables", len(x), len(t.Box)))
	}
	at := 0
	for i, d := range t.Box {
		if !d.Contains(x[i]) {
			return 0
		}
		at = at*t.Cells[i] + t.cell(i, x[i])
	}
	return t.Density[at]
}

func (t *Table) cell(axis int, x float64) int {
	d, m := t.Box[axis], t.Cells[axis]
	return max(0, min(m-1, int((x-d.A)/d.Length()*float64(m))))
}

// Marginal is the density of the variables on the given axes alone, in that order.
func (t *Table) Marginal(axes ...int) (*Table, error) {
	if len(axes) == 0 {
		return nil, errors.New("density: a marginal of no variables: name at least one axis")
	}
	out, lost := &Table{}, t.volume()
	for n, a := range axes {
		if a < 0 || a >= len(t.Box) || slices.Contains(axes[:n], a) {
			return nil, fmt.Errorf("density: axis %d of a marginal: give each of 0…%d at most once", a, len(t.Box)-1)
		}
		out.Box, out.Cells = append(out.Box, t.Box[a]), append(out.Cells, t.Cells[a])
		if t.Names != nil {
			out.Names = append(out.Names, t.Names[a])
		}
	}
	total := 1
	for _, m := range out.Cells {
		total *= m
	}
	lost /= out.volume() // volume of what is integrated out
	weight := lost * float64(total) / float64(len(t.Density))
	out.Density = make([]float64, total)
	place := make([]int, len(t.Box))
	for i, v := range t.Density {
		t.place(place, i)
		at := 0
		for _, a := range axes {
			at = at*t.Cells[a] + place[a]
		}
		out.Density[at] += v * weight
	}
	return out, nil
}

// Slice is the density of the other variables given that the one on the axis has the value.
func (t *Table) Slice(axis int, value float64) (*Table, error) {
	if len(t.Box) < 2 || axis < 0 || axis >= len(t.Box) {
		return nil, fmt.Errorf("density: no slice along axis %d of %d variables", axis, len(t.Box))
	}
	if !t.Box[axis].Contains(value) {
		return nil, fmt.Errorf("density: the value %v of axis %d is outside %v", value, axis, t.Box[axis])
	}
	out, cell := &Table{}, t.cell(axis, value)
	for a := range t.Box {
		if a == axis {
			continue
		}
		out.Box, out.Cells = append(out.Box, t.Box[a]), append(out.Cells, t.Cells[a])
		if t.Names != nil {
			out.Names = append(out.Names, t.Names[a])
		}
	}
	place, sum := make([]int, len(t.Box)), 0.0
	for i, v := range t.Density {
		if t.place(place, i); place[axis] == cell {
			out.Density = append(out.Density, v)
			sum += v
		}
	}
	if sum == 0 {
		return nil, fmt.Errorf("density: the released density is zero where variable %d is %v: there is nothing to condition on", axis+1, value)
	}
	scale := float64(len(out.Density)) / (sum * out.volume())
	for i := range out.Density {
		out.Density[i] *= scale
	}
	return out, nil
}

func (t *Table) place(place []int, i int) {
	for a := len(t.Cells) - 1; a >= 0; a-- {
		place[a] = i % t.Cells[a]
		i /= t.Cells[a]
	}
}

func (t *Table) volume() float64 { return volume(t.Box) }

// Probability is the mass of a region, an interval for each variable; what lies outside the box counts for nothing.
func (t *Table) Probability(region []space.Interval) (float64, error) {
	if len(region) != len(t.Box) {
		return 0, fmt.Errorf("density: a region of %d intervals, the density has %d variables", len(region), len(t.Box))
	}
	share := make([][]float64, len(region)) // of each cell
	for i, g := range region {
		if !(g.A <= g.B) {
			return 0, fmt.Errorf("density: interval %d of the region, %v, ends before it starts", i+1, g)
		}
		d, m := t.Box[i], float64(t.Cells[i])
		lo, hi := (g.A-d.A)/d.Length()*m, (g.B-d.A)/d.Length()*m
		for k := range t.Cells[i] {
			share[i] = append(share[i], math.Max(0, math.Min(hi, float64(k+1))-math.Max(lo, float64(k))))
		}
	}
	place, sum := make([]int, len(t.Box)), 0.0
	for i, v := range t.Density {
		t.place(place, i)
		for a, k := range place {
			v *= share[a][k]
		}
		sum += v
	}
	return math.Min(1, sum*t.volume()/float64(len(t.Density))), nil
}

// Quantile is the smallest x with P(X ≤ x) ≥ p, for one variable and p in [0,1].
func (t *Table) Quantile(p float64) (float64, error) {
	if len(t.Box) != 1 {
		return 0, fmt.Errorf("density: quantiles are of one variable, this density has %d: take a marginal first", len(t.Box))
	}
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("density: quantile %v must lie in [0,1]", p)
	}
	width := t.Box[0].Length() / float64(t.Cells[0])
	for i, v := range t.Density {
		mass := v * width
		if p <= mass || i == len(t.Density)-1 {
			inside := 0.0
			if mass > 0 {
				inside = math.Min(1, p/mass)
			}
			return math.Min(t.Box[0].A+width*(float64(i)+inside), t.Box[0].B), nil
		}
		p -= mass
	}
	return t.Box[0].B, nil
}

// Points draws n synthetic points from the density, the coordinates of one after the other, uniform inside their
// cells. They are made from the release alone, so their number costs nothing (docs/privacy.md#density); the source
// protects nobody here, and a seeded one makes the points repeatable.
func (t *Table) Points(src *noise.Source, n int) []float64 {
	uniform := func() float64 { return float64(src.Uint64()>>11) * 0x1p-53 }
	mass := make([]float64, len(t.Density))
	sum := 0.0
	for i, v := range t.Density {
		sum += v
		mass[i] = sum
	}
	x, place := make([]float64, 0, n*len(t.Box)), make([]int, len(t.Box))
	for range n {
		u := uniform() * sum
		t.place(place, min(len(mass)-1, sort.Search(len(mass), func(i int) bool { return mass[i] > u })))
		for a, d := range t.Box {
			x = append(x, math.Min(d.B, d.A+d.Length()*(float64(place[a])+uniform())/float64(t.Cells[a])))
		}
	}
	return x
}
