// How far apart the basis vectors e(x), e(x′) of two points can be: the sensitivity of a mean of e(x) to one
// point. The supremum is certified, not searched for.
//
// Write c_k for the weight of frequency k ≥ 0 times the number 2^{#kᵢ≠0} of its signs, and
// K(u) = Σ_k c_k Π cos 2πkᵢuᵢ, k ≠ 0. With Fourier functions
//
//	Σ_j w_j (e_j(x) − e_j(x′))² = 2(K(0) − K(u)),  u the difference of the points in lengths of the box.
//
// With cosines, Π cos πkᵢxᵢ is the average of cos πk·εx over the signs ε. By Jensen's inequality and the
// symmetry of the set the left side is at most Σ over signed k of c(cos πk·x − cos πk·x′)² =
// 4Σ c sin²(πk·a) sin²(πk·b), a and b half the difference and half the sum; and that, by Cauchy and Schwarz,
// is largest for a = b, where it equals
//
//	Σ_k c(1 − cos πk·y)² = (3/2)K(0) − 2K(y/2) + ½K(y),  y = 2a.
//
// For d = 1, and whenever the maximum lies on an axis or at a corner, the points 0 and y attain it.
//
// Both right sides are trigonometric polynomials p ≥ 0 of some degree N in each variable. On P ≥ 2N equally
// spaced points of a period, max p ≤ max over the grid · 2/(1+cos(πN/P)) per variable: p − ½max p has the
// supremum norm ½max p, so it falls from its maximum no faster than ½max p·cos Nθ (M. Riesz), and the next
// grid point is within π/P. The same holds cell by cell, which sharpens the bound: see refine.

package space

import (
	"encoding/binary"
	"math"
	"sort"
	"sync"
)

// spreadPoints bounds the size of the grid on which the supremum is sought, spreadWork the multiplications that
// refine it.
const (
	spreadPoints = 1 << 21
	spreadWork   = 1 << 27
)

// Spread bounds sup Σ_j w_j (e_j(x) − e_j(x′))² over all pairs of points of the box. Functions of levels in
// (levels[s−1], levels[s]] have the weight weights[s] ≥ 0, the constant and the levels beyond have weight 0.
// levels increase. The bound is never below the supremum, up to 1e-9 of it for rounding included; attained is a value
// that some pair reaches (with cosines in d ≥ 2: that the bounding polynomial reaches). For Fourier functions with
// one weight on a whole cube the two agree: the minimum of a product of Dirichlet kernels is known exactly.
//
// The last few results are kept: it is a function of the ranks, not of the box, and a release asks twice.
func (s *Tensor) Spread(levels, weights []float64) (bound, attained float64) {
	key := s.spreadKey(levels, weights)
	spreads.Lock()
	known, ok := spreads.values[key]
	spreads.Unlock()
	if !ok {
		known[0], known[1] = s.spread(levels, weights)
		spreads.Lock()
		if spreads.values == nil || len(spreads.values) >= 64 {
			spreads.values = map[string][2]float64{}
		}
		spreads.values[key] = known
		spreads.Unlock()
	}
	return known[0], known[1]
}

var spreads struct {
	sync.Mutex
	values map[string][2]float64
}

func (s *Tensor) spreadKey(levels, weights []float64) string {
	key := []byte(s.String())
	for i := range levels {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(levels[i]))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(weights[i]))
	}
	return string(key)
}

func (s *Tensor) spread(levels, weights []float64) (bound, attained float64) {
	c, sum := s.signed(levels, weights)
	if sum == 0 {
		return 0, 0
	}
	if w, ok := s.uniform(levels, weights); ok {
		exact := 2 * w * (float64(s.Dim()) - s.dirichletMin())
		return exact * (1 + 1e-12), exact
	}
	p := s.polynomial(c, sum)
	period := gridPeriods(p.degree)
	table := evenTable(c, s.rank, period)
	best, at := -1.0, []int(nil)
	p.onGrid(table, period, func(v float64, place []int) {
		if v > best {
			best, at = v, append(at[:0], place...)
		}
	})
	attained = p.climb(at, period, best)
	bound = p.refine(table, period, best, attained)
	return math.Min(math.Max(bound, attained), 4*sum) * (1 + 1e-9), attained
}

// SumWeights is Σ_j w_j over the functions, with levels and weights as in Spread.
func (s *Tensor) SumWeights(levels, weights []float64) float64 {
	sum := 0.0
	for _, l := range s.level {
		sum += weightAt(l, levels, weights)
	}
	return sum
}

func weightAt(level float64, levels, weights []float64) float64 {
	if level == 0 {
		return 0
	}
	i := sort.SearchFloat64s(levels, level)
	if i == len(levels) {
		return 0
	}
	return weights[i]
}

// signed returns c_k over the array of frequencies 0…Mᵢ, last axis fastest, and its sum K(0).
func (s *Tensor) signed(levels, weights []float64) (c []float64, sum float64) {
	size := 1
	for _, m := range s.rank {
		size *= m + 1
	}
	c = make([]float64, size)
	for j, l := range s.level {
		w := weightAt(l, levels, weights)
		if w == 0 {
			continue
		}
		at, signs := 0, 1.0
		for i, m := range s.rank {
			k := s.Frequency(j, i)
			at = at*(m+1) + k
			if k > 0 && s.kind == "cosine" {
				signs *= 2 // the Fourier basis has a function for each sign already
			}
		}
		c[at] += w * signs
		sum += w * signs
	}
	return c, sum
}

// uniform reports whether all functions of a Fourier cube but the constant have one weight.
func (s *Tensor) uniform(levels, weights []float64) (float64, bool) {
	if s.kind != "fourier" || s.set != Cube || levels[len(levels)-1] < float64(s.Rank()) {
		return 0, false
	}
	for i, w := range weights {
		if w != weights[0] && levels[i] > 0 {
			return 0, false
		}
	}
	return weights[0], true
}

// dirichletMin is the minimum of Π D_{Mᵢ}(uᵢ): one factor at its minimum, the others at their maximum 2Mᵢ+1,
// for |D| ≤ 2M+1.
func (s *Tensor) dirichletMin() float64 {
	least := 0.0
	for _, m := range s.rank {
		least = math.Min(least, dirichletMin(m)*float64(s.Dim())/float64(2*m+1))
	}
	return least
}

// dirichletMin is min_u D_M(u), D_M(u) = sin((2M+1)πu)/sin πu. It lies in the first negative lobe, u between
// 1/(2M+1) and 2/(2M+1): there D reaches −1/sin(1.5π/(2M+1)) at least, and in later lobes |D| ≤ 1/sin πu is
// smaller than that. Inside the lobe D is convex enough to have one minimum.
func dirichletMin(m int) float64 {
	n := float64(2*m + 1)
	d := func(u float64) float64 { return math.Sin(n*math.Pi*u) / math.Sin(math.Pi*u) }
	lo, hi := 1/n, math.Min(2/n, 0.5)
	const golden = 0.6180339887498949
	for range 90 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if d(a) < d(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return math.Min(d((lo+hi)/2), d(hi))
}

// gridPeriods chooses the points of a period on each axis: up to 256 times the degree, as many as the
// budget allows, never less than 8 times.
func gridPeriods(degree []int) []int {
	for r := 64; ; r /= 2 {
		period, points := make([]int, len(degree)), 1.0
		for i, n := range degree {
			period[i] = r * n
			points *= float64(r*n/2 + 1)
		}
		if points <= spreadPoints || r == 8 {
			return period
		}
	}
}

// evenTable is K at uᵢ = iᵢ/Pᵢ for 0 ≤ iᵢ ≤ Pᵢ/2: half a period of each variable, K being even in each.
func evenTable(c []float64, rank, period []int) []float64 {
	values, points := make([][]float64, len(rank)), make([][]float64, len(rank))
	for i, m := range rank {
		p := period[i]
		cos := make([]float64, p)
		for j := range cos {
			cos[j] = math.Cos(2 * math.Pi * float64(j) / float64(p))
		}
		n := p/2 + 1
		points[i] = make([]float64, n)
		values[i] = make([]float64, n*(m+1))
		for j := range n {
			for k := range m + 1 {
				values[i][j*(m+1)+k] = cos[j*k%p]
			}
		}
	}
	return contract(c, values, points)
}

// polynomial is p at u, of which the table holds K on the grid.
type polynomial struct {
	c      []float64 // c_k
	rank   []int
	sum    float64
	cosine bool
	degree []int
	room   [][]float64
}

func (s *Tensor) polynomial(c []float64, sum float64) *polynomial {
	p := &polynomial{c: c, rank: s.rank, sum: sum, cosine: s.kind == "cosine"}
	size := len(c)
	for _, m := range s.rank {
		n := m
		if p.cosine {
			n = 2 * m
		}
		p.degree = append(p.degree, n)
		size /= m + 1
		p.room = append(p.room, make([]float64, size))
	}
	return p
}

func (p *polynomial) kernel(u []float64, times float64) float64 {
	full := p.c
	for i, m := range p.rank {
		next := p.room[i]
		clear(next)
		for k := range m + 1 {
			cos := math.Cos(2 * math.Pi * float64(k) * times * u[i])
			for r, v := range full[k*len(next) : (k+1)*len(next)] {
				next[r] += v * cos
			}
		}
		full = next
	}
	return full[0]
}

func (p *polynomial) at(u []float64) float64 {
	if p.cosine {
		return 1.5*p.sum - 2*p.kernel(u, 1) + 0.5*p.kernel(u, 2)
	}
	return 2 * (p.sum - p.kernel(u, 1))
}

// onGrid calls f with the value at each point of the grid and its place.
func (p *polynomial) onGrid(table []float64, period []int, f func(v float64, place []int)) {
	place := make([]int, len(period))
	for i := range table {
		rest, double := i, 0
		for a := len(period) - 1; a >= 0; a-- {
			n := period[a]/2 + 1
			place[a] = rest % n
			rest /= n
		}
		v := 2 * (p.sum - table[i])
		if p.cosine {
			for a, at := range place {
				twice := 2 * at
				if twice > period[a]/2 {
					twice = period[a] - twice
				}
				double = double*(period[a]/2+1) + twice
			}
			v = 1.5*p.sum - 2*table[i] + 0.5*table[double]
		}
		f(v, place)
	}
}

// fall is the least part of the maximum that p keeps within half a step of it on every axis, P = 2^level·period
// points of a period.
func (p *polynomial) fall(period []int, level int) float64 {
	part := 1.0
	for i, n := range p.degree {
		part *= (1 + math.Cos(math.Pi*float64(n)/math.Ldexp(float64(period[i]), level))) / 2
	}
	return part
}

// refine sharpens the certificate: a maximum can only lie in the cell of a grid point whose value is at least the
// attained value times fall. Such cells are halved on each axis, again and again. It returns the bound.
func (p *polynomial) refine(table []float64, period []int, best, attained float64) float64 {
	bound := best / p.fall(period, 0)
	budget := spreadWork/len(p.c) + 1
	var cells [][]float64
	least := attained * p.fall(period, 0) * (1 - 1e-9)
	p.onGrid(table, period, func(v float64, place []int) {
		if v < least || len(cells) > budget {
			return
		}
		u := make([]float64, len(place))
		for i, at := range place {
			u[i] = float64(at) / float64(period[i])
		}
		cells = append(cells, u)
	})
	children := 1 << len(period)
	for level := 1; level <= 6; level++ {
		if budget -= children * len(cells); budget < 0 {
			return bound
		}
		least, best = attained*p.fall(period, level)*(1-1e-12), 0
		var next [][]float64
		for _, u := range cells {
			for corner := range children {
				w := make([]float64, len(u))
				for i := range u {
					quarter := 0.25 / math.Ldexp(float64(period[i]), level-1)
					if corner>>i&1 == 1 {
						quarter = -quarter
					}
					w[i] = u[i] + quarter
				}
				if v := p.at(w); v >= least {
					next = append(next, w)
					best = math.Max(best, v)
				}
			}
		}
		cells = next
		bound = math.Min(bound, best/p.fall(period, level))
	}
	return bound
}

// climb improves the grid's maximum coordinate by coordinate.
func (p *polynomial) climb(start, period []int, best float64) float64 {
	u := make([]float64, len(start))
	for i, at := range start {
		u[i] = float64(at) / float64(period[i])
	}
	sweeps := 1
	if len(u) > 1 {
		sweeps = 4
	}
	for range sweeps {
		for i := range u {
			centre := u[i]
			lo, hi := centre-1/float64(period[i]), centre+1/float64(period[i])
			for range 34 {
				a, b := hi-0.618034*(hi-lo), lo+0.618034*(hi-lo)
				u[i] = a
				va := p.at(u)
				u[i] = b
				if va > p.at(u) {
					hi = b
				} else {
					lo = a
				}
			}
			u[i] = (lo + hi) / 2
			if v := p.at(u); v > best {
				best = v
			} else {
				u[i] = centre
			}
		}
	}
	return best
}
