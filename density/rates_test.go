package density_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Rates by simulation, through the public functions only: points are drawn, added and released with the rank chosen
// from the noisy coefficients, and the logarithm of the mean error is regressed on that of n ([DEN] Theorem 4.2).

// power is a density on the unit box whose cosine coefficients fall like a power of the frequency and of nothing else,
// with random signs: |θ_k| = a·|k|_∞^{−β−d/2}, so that those beyond rank M have squares of sum a²·c·M^{−2β}. It is
// constant on the cells of a fine grid, which makes it exact: points are drawn by alias (Walker 1977).
type power struct {
	d, cells int
	beta, a  float64
	square   float64 // ∫f²
	values   []float64
	keep     []float64
	alias    []int
}

func newPower(d int, beta float64) *power {
	p := &power{d: d, beta: beta, cells: []int{1 << 13, 1 << 8}[d-1]}
	rank := []int{1023, 63}[d-1]
	s, err := space.CosineBox(slices.Repeat([]space.Interval{{A: 0, B: 1}}, d), []int{rank}, space.Cube)
	if err != nil {
		panic(err)
	}
	r := simulate.New(77)
	theta := make([]float64, s.Dim())
	for j, l := range s.Levels() {
		if l > 0 {
			theta[j] = math.Pow(l, -beta-float64(d)/2) * float64(2*r.IntN(2)-1)
		}
	}
	p.values = s.OnGrid(theta, p.grid())
	least := slices.Min(p.values)
	p.a = -0.9 / least
	n := float64(len(p.values))
	for i, v := range p.values {
		p.values[i] = 1 - 0.9*v/least
	}
	sum := 0.0
	for _, v := range p.values {
		sum += v / n
	}
	for i := range p.values {
		p.values[i] /= sum
		p.square += p.values[i] * p.values[i] / n
	}
	p.keep, p.alias = slices.Clone(p.values), make([]int, len(p.values))
	var small, large []int
	for i, v := range p.keep {
		if v < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		i, k := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		p.alias[i] = k
		if p.keep[k] -= 1 - p.keep[i]; p.keep[k] < 1 {
			large = large[:len(large)-1]
			small = append(small, k)
		}
	}
	for _, i := range append(small, large...) {
		p.keep[i], p.alias[i] = 1, i
	}
	return p
}

func (p *power) grid() [][]float64 {
	mid := make([]float64, p.cells)
	for i := range mid {
		mid[i] = (float64(i) + 0.5) / float64(p.cells)
	}
	return slices.Repeat([][]float64{mid}, p.d)
}

func (p *power) draw(r *rand.Rand, x []float64) {
	for ; len(x) > 0; x = x[p.d:] {
		u := r.Float64() * float64(len(p.values))
		i := int(u)
		if u-float64(i) >= p.keep[i] {
			i = p.alias[i]
		}
		for a := p.d - 1; a >= 0; a-- {
			x[a] = (float64(i%p.cells) + r.Float64()) / float64(p.cells)
			i /= p.cells
		}
	}
}

// coefficients are exact: averages of the functions over the cells.
func (p *power) coefficients(s *space.Tensor) []float64 {
	full := p.values
	for range p.d { // replaces the last axis by frequencies, and brings it to the front
		rows := len(full) / p.cells
		next := make([]float64, (s.Rank()+1)*rows)
		for k := range s.Rank() + 1 {
			h := math.Pi * float64(k) / float64(p.cells) / 2
			scale := 1 / float64(p.cells)
			if k > 0 {
				scale *= math.Sqrt2 * math.Sin(h) / h
			}
			for i := range p.cells {
				cos := scale * math.Cos(h*float64(2*i+1))
				for r := range rows {
					next[k*rows+r] += cos * full[r*p.cells+i]
				}
			}
		}
		if p.d == 1 {
			return next
		}
		full = make([]float64, len(next)) // transpose: rows × frequencies
		for k := range s.Rank() + 1 {
			for r := range rows {
				full[r*(s.Rank()+1)+k] = next[k*rows+r]
			}
		}
		if rows == s.Rank()+1 {
			break
		}
		// The other axis last.
		turned := make([]float64, len(full))
		for r := range rows {
			for k := range s.Rank() + 1 {
				turned[k*rows+r] = full[r*(s.Rank()+1)+k]
			}
		}
		full = turned
	}
	out := make([]float64, s.Dim())
	for j := range out {
		out[j] = full[s.Frequency(j, 1)*(s.Rank()+1)+s.Frequency(j, 0)]
	}
	return out
}

// risk is the mean integrated squared error, with its standard error over data sets and noise, and the mean rank.
//
// The rank is chosen up to four times the one that the plan finds best from n, ρ and the smoothness. (A family that
// reaches further costs more than a constant: the low shells pay for the number of coefficients of the high ones.)
func (p *power) risk(t *testing.T, n int64, rho float64, sets, releases int) (mean, se, rank float64) {
	t.Helper()
	c := density.Config{Box: slices.Repeat([]space.Interval{{A: 0, B: 1}}, p.d), Guarantee: privacy.ZCDP(rho), Unit: "point", N: n}
	energy := p.a * math.Pow(math.Pi, p.beta) / math.Sqrt([]float64{2 * p.beta, p.beta}[p.d-1])
	plan, err := density.NewPlan(density.PlanConfig{Config: c, Smoothness: p.beta, Energy: energy})
	if err != nil {
		t.Fatal(err)
	}
	c.Rank = []int{4 * plan.Best}
	var means, theta, all []float64
	block := make([]float64, 4096*p.d)
	for set := range sets {
		d, err := density.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate.New(uint64(1000*set) + uint64(n))
		for left := int(n); left > 0; {
			own := block[:min(left*p.d, len(block))]
			p.draw(r, own)
			if err := d.AddPoints(own); err != nil {
				t.Fatal(err)
			}
			left -= len(own) / p.d
		}
		if theta == nil {
			theta = p.coefficients(d.Space())
		}
		sum, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var errors []float64
		for k := range releases {
			again, err := density.New(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.UnmarshalBinary(sum); err != nil {
				t.Fatal(err)
			}
			released, err := again.Release(noise.Seeded(uint64(set*releases + k)))
			if err != nil {
				t.Fatal(err)
			}
			ise := p.square
			for j, v := range released.Coefficients[0] {
				ise += (v-theta[j])*(v-theta[j]) - theta[j]*theta[j]
			}
			errors = append(errors, ise)
			rank += released.Selection.Rank / float64(sets*releases)
		}
		all = append(all, errors...)
		means = append(means, stat.Mean(errors, nil))
	}
	// Releases of one data set share its sampling error: the spread between data sets counts where there are enough.
	se = stat.StdDev(all, nil) / math.Sqrt(float64(len(all)))
	if sets > 1 {
		se = math.Max(se, stat.StdDev(means, nil)/math.Sqrt(float64(sets)))
	}
	return stat.Mean(all, nil), se, rank
}

func regression(ns []int64, mean, se []float64) (slope, error float64) {
	x, y := make([]float64, len(ns)), make([]float64, len(ns))
	for i, n := range ns {
		x[i], y[i] = math.Log(float64(n)), math.Log(mean[i])
	}
	_, slope = stat.LinearRegression(x, y, nil, false)
	mx, xx, v := stat.Mean(x, nil), 0.0, 0.0
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		v += (x[i] - mx) * (x[i] - mx) * se[i] * se[i] / (mean[i] * mean[i])
	}
	return slope, math.Sqrt(v) / xx
}

type rate struct {
	name           string
	d              int
	beta           float64
	rho            float64
	ns             []int64
	sets, releases int
	want           float64
	room           float64
}

func (c rate) check(t *testing.T) {
	p := newPower(c.d, c.beta)
	var mean, se []float64
	text := ""
	for _, n := range c.ns {
		m, s, rank := p.risk(t, n, c.rho, c.sets, c.releases)
		mean, se = append(mean, m), append(se, s)
		text += fmt.Sprintf(" n=%d: %.4g±%.2g (rank %.1f);", n, m, s, rank)
	}
	slope, err := regression(c.ns, mean, se)
	t.Logf("%s, d=%d, β=%g, ρ=%.3g: slope %.3f ± %.3f, theory %.3f;%s", c.name, c.d, c.beta, c.rho, slope, err, c.want, text)
	if math.Abs(slope-c.want) > c.room+5*err {
		t.Errorf("%s, d=%d, ρ=%g: the error falls with slope %v ± %v, not %v", c.name, c.d, c.rho, slope, err, c.want)
	}
}

// In the first setting sampling has nearly all the variance; in the others noise has, over the whole range of n: ρn is
// far below the number of coefficients. The sizes are such that the best rank doubles from one to the next. The room
// is for what bends the line: the best rank is a power of two, and its neighbours are nearly as good. Beside it five
// standard errors are allowed: a false alarm of 6e-7.
func TestRates(t *testing.T) {
	for _, c := range []rate{
		{"sampling", 1, 1.5, 1, []int64{1455, 23300, 372000}, 16, 2, -0.75, 0.07},
		{"privacy", 1, 1.5, 1e-6, []int64{27000, 150000, 860000}, 1, 30, -1.2, 0.12},
	} {
		c.check(t)
	}
	if os.Getenv("CURVEIL_EXPERIMENT") == "" {
		return
	}
	for _, c := range []rate{
		{"sampling", 1, 1.5, 1, []int64{1455, 23300, 372000, 5960000}, 40, 2, -0.75, 0.05},
		{"sampling", 2, 1.5, 10, []int64{1000, 32000, 1020000}, 16, 2, -0.6, 0.05},
		{"privacy", 1, 1.5, 4.2e-8, []int64{130000, 750000, 4200000, 24000000, 136000000}, 2, 80, -1.2, 0.05},
		{"privacy", 2, 1.5, 1e-6, []int64{760000, 4400000, 25500000}, 2, 80, -6.0 / 7, 0.05},
	} {
		c.check(t)
	}
}
