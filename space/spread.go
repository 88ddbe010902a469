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
// supremum norm ½max p at most, so along one axis it falls from its maximum there no faster than ½max p·cos Nθ (M.
// Riesz), and the next grid point is within π/P; its line along the next axis has a maximum of its own. That says
// nothing about the grid point NEXT to a maximum, from which p may fall on all axes together; its second derivatives
// do, which sharpens the bound cell by cell: see drop and refine.

package space

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"sync"
)

// spreadPoints bounds the size of the grid on which the supremum is sought, spreadLimit the points times functions
// of the coarsest grid that certifies it, spreadWork the multiplications that refine it.
const (
	spreadPoints = 1 << 21
	spreadLimit  = 1 << 34
	spreadWork   = 1 << 27
)

// Spread bounds sup Σ_j w_j (e_j(x) − e_j(x′))² over all pairs of points of the box. Functions of levels in
// (levels[s−1], levels[s]] have the weight weights[s] ≥ 0, the constant and the levels beyond have weight 0.
// levels increase. The bound is never below the supremum, up to 1e-9 of it for rounding included; attained is a value
// that some pair reaches (with cosines in d ≥ 2: that the bounding polynomial reaches). For Fourier functions with
// one weight on a whole cube the two agree: the minimum of a product of Dirichlet kernels is known exactly. For huge sets
// other than cubes (of ranks of some hundreds in two variables) the bound is the trivial one, up to twice the supremum.
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
	k := s.newKernel(levels, weights)
	if k.sum == 0 {
		return 0, 0
	}
	if w, ok := s.uniform(levels, weights); ok {
		exact := 2 * w * (float64(s.Dim()) - s.dirichletMin())
		return exact * (1 + 1e-12), exact
	}
	p := s.polynomial(k)
	period := gridPeriods(p.degree)
	points := float64(s.Dim())
	for _, n := range period {
		points *= float64(n/2 + 1)
	}
	huge := s.set != Cube && points > spreadLimit
	if huge {
		period = slices.Repeat([]int{2}, len(period))
	}
	best, at := -1.0, []int(nil)
	p.onGrid(period, func(v float64, place []int) {
		if v > best {
			best, at = v, append(at[:0], place...)
		}
	})
	if huge {
		return 4 * k.sum * (1 + 1e-9), best
	}
	attained = p.climb(at, period, best)
	bound = p.refine(period, best, attained)
	return math.Min(math.Max(bound, attained), 4*k.sum) * (1 + 1e-9), attained
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

// polynomial is p.
type polynomial struct {
	*kernel
	cosine    bool
	symmetric bool // in its variables
	degree    []int
}

func (s *Tensor) polynomial(k *kernel) *polynomial {
	p := &polynomial{kernel: k, cosine: s.kind == "cosine", symmetric: true}
	for _, m := range s.rank {
		p.symmetric = p.symmetric && m == s.rank[0]
		if p.cosine {
			m *= 2
		}
		p.degree = append(p.degree, m)
	}
	return p
}

// value is p where K and, for cosines, K at twice the point are given.
func (p *polynomial) value(once, twice float64) float64 {
	if p.cosine {
		return 1.5*p.sum - 2*once + 0.5*twice
	}
	return 2 * (p.sum - once)
}

func (p *polynomial) at(u []float64) float64 {
	if p.cosine {
		return p.value(p.kernel.at(u, 1), p.kernel.at(u, 2))
	}
	return p.value(p.kernel.at(u, 1), 0)
}

// onGrid calls f with the value at each point of half a period of the grid (K is even in each variable) and its
// place; where p is symmetric, at the points of places that do not increase.
func (p *polynomial) onGrid(period []int, f func(v float64, place []int)) {
	d := len(period)
	factors := make([][][]float64, d) // of K, at each point of an axis
	for i, n := range period {
		factors[i] = make([][]float64, n/2+1)
		for j := range factors[i] {
			factors[i][j] = p.onAxis(i, j, n)
		}
	}
	once, twice := p.states(), p.states()
	place := make([]int, d)
	var walk func(axis int)
	walk = func(axis int) {
		if axis == d {
			f(p.value(p.end(once[d]), p.end(twice[d])), place)
			return
		}
		n, last := period[axis], period[axis]/2
		if p.symmetric && axis > 0 {
			last = place[axis-1]
		}
		for j := 0; j <= last; j++ {
			place[axis] = j
			p.step(once[axis+1], once[axis], factors[axis][j])
			if p.cosine {
				p.step(twice[axis+1], twice[axis], factors[axis][min(2*j, n-2*j+n*(2*j/n))%n])
			}
			walk(axis + 1)
		}
	}
	walk(0)
}

// fall is the least part of the maximum that the maximum over the grid, P points of a period, keeps.
func (p *polynomial) fall(period []int) float64 {
	part := 1.0
	for i, n := range p.degree {
		part *= (1 + math.Cos(math.Pi*float64(n)/float64(period[i]))) / 2
	}
	return part
}

// drop is the most by which p is below its maximum within half a step of the place of it on every axis, P =
// 2^level·period points of a period. The gradient is zero there, and no second derivative in a direction θ is
// below −b Σ c(2πk·θ)² over signed k, b = 2 with Fourier functions (2cos φ ≥ −2), 4 with cosines (2cos φ − 2cos 2φ ≥
// −4); the signs make that −b Σᵢ θᵢ² Σ c(2πkᵢ)².
func (p *polynomial) drop(period []int, level int) float64 {
	b := 2.0
	if p.cosine {
		b = 4
	}
	sum := 0.0
	for i, c := range p.curvature() {
		half := math.Pi / math.Ldexp(float64(period[i]), level) // 2π times half a step
		sum += half * half * c
	}
	return b / 2 * sum * (1 + 1e-9)
}

// refine sharpens the certificate: a maximum can only lie in the cell of a grid point whose value is at least the
// attained value less drop. Such cells are halved on each axis, again and again, as far as the work allows. It
// returns the bound. Of a symmetric p only cells with coordinates that do not increase are looked at: every other
// point has its value at such a one.
func (p *polynomial) refine(period []int, best, attained float64) float64 {
	rounding := 1e-9 * attained
	bound := math.Min(best/p.fall(period), best+p.drop(period, 0)+rounding)
	budget := spreadWork/p.cost + 1
	var cells [][]float64
	least := attained - p.drop(period, 0) - rounding
	p.onGrid(period, func(v float64, place []int) {
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
	w := make([]float64, len(period))
	for level := 1; level <= 6; level++ {
		if budget -= children * len(cells); budget < 0 {
			return bound
		}
		drop := p.drop(period, level)
		least, best = attained-drop-rounding, 0
		var next [][]float64
		for _, u := range cells {
		corners:
			for corner := range children {
				for i := range u {
					quarter := 0.25 / math.Ldexp(float64(period[i]), level-1)
					if corner>>i&1 == 1 {
						quarter = -quarter
					}
					w[i] = u[i] + quarter
					if p.symmetric && i > 0 && w[i] > w[i-1] {
						continue corners
					}
				}
				if v := p.at(w); v >= least {
					next = append(next, slices.Clone(w))
					best = math.Max(best, v)
				}
			}
		}
		cells = next
		bound = math.Min(bound, best+drop+rounding)
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
