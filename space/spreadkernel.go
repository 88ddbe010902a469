// The kernel K of spread.go, in a form that is cheap to evaluate.

package space

import "math"

// kernel is K(u) = Σ c_k Π cos 2πkᵢuᵢ without the constant. On a cube, and of one variable, it is a sum over the
// shells of weights of products of Dirichlet kernels,
//
//	K(u) = Σ_s (w_s − w_{s+1}) Π_i D_{m_{s,i}}(uᵢ) − w₁;
//
// else the sum as it stands. Either is folded up axis by axis: a state, times the factors of an axis at a
// point, is the state of the axes that are left.
type kernel struct {
	rank     []int
	sum      float64 // K(0)
	cost     int     // of a value of p, in multiplications or so
	constant float64

	shells [][]int   // m_{s,i}; nil unless it is a sum of products
	height []float64 // w_s − w_{s+1}

	c      []float64 // over the frequencies 0…Mᵢ, last axis fastest
	places [][]int   // of what is not 0, kᵢ
	values []float64
}

func (s *Tensor) newKernel(levels, weights []float64) *kernel {
	k := &kernel{rank: s.rank}
	if s.set == Cube || len(s.rank) == 1 {
		k.products(s, levels, weights)
	} else {
		k.array(s, levels, weights)
	}
	return k
}

func (k *kernel) products(s *Tensor, levels, weights []float64) {
	k.constant = -weights[0]
	if levels[0] == 0 {
		k.constant = 0
	}
	k.sum = k.constant
	for i, l := range levels {
		shell, size := make([]int, len(s.rank)), 1.0
		for axis, m := range s.rank {
			for shell[axis] < m && float64(shell[axis]+1)*float64(s.Rank())/float64(m) <= l { // as in levelOf
				shell[axis]++
			}
			size *= float64(2*shell[axis] + 1)
		}
		h := weights[i]
		if i+1 < len(levels) {
			h -= weights[i+1]
		}
		if levels[i] == 0 { // the constant alone
			h = 0
			if i+1 < len(levels) {
				h = -weights[i+1]
			}
		}
		k.shells, k.height = append(k.shells, shell), append(k.height, h)
		k.sum += h * size
	}
	k.cost = 40 * len(levels) * len(s.rank)
}

func (k *kernel) array(s *Tensor, levels, weights []float64) {
	size := 1
	for _, m := range s.rank {
		size *= m + 1
	}
	k.c = make([]float64, size)
	for j, l := range s.level {
		w := weightAt(l, levels, weights)
		if w == 0 {
			continue
		}
		at, signs := 0, 1.0
		for i, m := range s.rank {
			f := s.Frequency(j, i)
			at = at*(m+1) + f
			if f > 0 && s.kind == "cosine" {
				signs *= 2 // the Fourier basis has a function for each sign already
			}
		}
		k.c[at] += w * signs
		k.sum += w * signs
	}
	k.places = make([][]int, len(s.rank))
	for at, v := range k.c {
		if v == 0 {
			continue
		}
		k.values = append(k.values, v)
		for i := len(s.rank) - 1; i >= 0; i-- {
			k.places[i] = append(k.places[i], at%(s.rank[i]+1))
			at /= s.rank[i] + 1
		}
	}
	k.cost = 2 * len(k.values) * len(s.rank)
}

// at is K(times·u).
func (k *kernel) at(u []float64, times float64) float64 {
	if k.shells != nil {
		sum := k.constant
		for s, shell := range k.shells {
			v := k.height[s]
			for i, m := range shell {
				v *= dirichlet(m, times*u[i])
			}
			sum += v
		}
		return sum
	}
	cos := make([][]float64, len(u))
	for i := range u {
		cos[i] = make([]float64, k.rank[i]+1)
		for f := range cos[i] {
			cos[i][f] = math.Cos(2 * math.Pi * float64(f) * times * u[i])
		}
	}
	sum := 0.0
	for j, v := range k.values {
		for i, at := range k.places {
			v *= cos[i][at[j]]
		}
		sum += v
	}
	return sum
}

// curvature is Σ c_k kᵢ² for each axis.
func (k *kernel) curvature() []float64 {
	out := make([]float64, len(k.rank))
	for i := range out {
		for s, shell := range k.shells {
			m := float64(shell[i])
			v := k.height[s] * m * (m + 1) / 3 // Σ j² over |j| ≤ m is (2m+1)·m(m+1)/3
			for _, n := range shell {
				v *= float64(2*n + 1)
			}
			out[i] += v
		}
		for j, v := range k.values {
			out[i] += v * float64(k.places[i][j]) * float64(k.places[i][j])
		}
	}
	return out
}

// states makes room for the states before each axis and after the last; the first is filled.
func (k *kernel) states() [][]float64 {
	if k.shells != nil {
		states := [][]float64{k.height}
		for range k.rank {
			states = append(states, make([]float64, len(k.height)))
		}
		return states
	}
	states, size := [][]float64{k.c}, len(k.c)
	for _, m := range k.rank {
		size /= m + 1
		states = append(states, make([]float64, size))
	}
	return states
}

// onAxis is the factors of the axis at the point j/n.
func (k *kernel) onAxis(axis, j, n int) []float64 {
	var out []float64
	if k.shells != nil {
		for _, shell := range k.shells {
			out = append(out, dirichlet(shell[axis], float64(j)/float64(n)))
		}
		return out
	}
	for f := range k.rank[axis] + 1 {
		out = append(out, math.Cos(2*math.Pi*float64(j*f%n)/float64(n)))
	}
	return out
}

// step sets next to the state behind an axis.
func (k *kernel) step(next, state, factors []float64) {
	if k.shells != nil {
		for s, f := range factors {
			next[s] = state[s] * f
		}
		return
	}
	clear(next)
	for f, cos := range factors {
		for r, v := range state[f*len(next) : (f+1)*len(next)] {
			next[r] += v * cos
		}
	}
}

// end is K from the state behind the last axis.
func (k *kernel) end(state []float64) float64 {
	sum := k.constant
	for _, v := range state {
		sum += v
	}
	return sum
}

// dirichlet is D_m(u) = sin((2m+1)πu)/sin πu. The distance to the nearest whole number is exact, and both sines are
// of it.
func dirichlet(m int, u float64) float64 {
	u -= math.Round(u)
	if math.Abs(u) < 1e-150 {
		return float64(2*m + 1)
	}
	return math.Sin(float64(2*m+1)*math.Pi*u) / math.Sin(math.Pi*u)
}
