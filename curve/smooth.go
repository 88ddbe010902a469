// How rough the path is, and where: empirical Bayes on the noisy values alone.

package curve

// field is the roughness of n components over N cells: Q of component k in cell i
// is scale[k]·q[i]. The scales tell components apart, q tells stops from
// drives.
type field struct {
	paths []*path
	scale []float64
	q     []float64
	spare []float64
}

const (
	globalSteps = 25   // of EM for one roughness for all cells
	localSteps  = 20   // of EM for local roughness, from there
	reach       = 4    // a cell's roughness is pooled with that of so many on each side
	leastRough  = 1e-9 // in units of the noise variance: keeps a straight line from dividing by zero
)

// smooth fits the roughness by the EM algorithm to coordinates by cell, degree 0
// and 1, component, whose noise has standard deviation sd: first one Q for all
// cells, then local ones, pooled over neighbours by triangular weights. All of
// it looks at released values only.
func smooth(noisy []float64, cells, n int, sd float64) *field {
	f := &field{scale: make([]float64, n), q: make([]float64, cells), spare: make([]float64, cells)}
	// Coordinates of the window's basis are those of a cell over √cells, and so
	// is their noise.
	for k := range n {
		p := newPath(cells)
		for i := range cells {
			p.y0[i] = noisy[2*i*n+k] / sd
			p.y1[i] = noisy[(2*i+1)*n+k] / sd
		}
		// A start from neighbouring cells, whose averages differ by 2Q/3 and noise.
		var jumps float64
		for i := range cells - 1 {
			d := p.y0[i+1] - p.y0[i]
			jumps += d * d / float64(cells-1)
		}
		f.scale[k] = max(1.5*(jumps-2), jumps*1e-3, leastRough)
		f.paths = append(f.paths, p)
	}
	for i := range f.q {
		f.q[i] = 1
	}
	for range globalSteps {
		f.solve()
		for k, p := range f.paths {
			p.expect()
			f.scale[k] = max(mean(p.stat), leastRough)
		}
	}
	for range localSteps {
		f.solve()
		clear(f.spare)
		for k, p := range f.paths {
			p.expect()
			var sum float64
			for i, v := range p.stat {
				sum += v / f.q[i]
				f.spare[i] += v / f.scale[k] / float64(n)
			}
			f.scale[k] = max(sum/float64(cells), leastRough)
		}
		pool(f.q, f.spare, reach)
	}
	f.solve()
	return f
}

func (f *field) solve() {
	for k, p := range f.paths {
		for i, q := range f.q {
			p.q[i] = max(f.scale[k]*q, leastRough)
		}
		p.solve()
	}
}

// pool sets dst to the average of src over up to reach neighbours on each side,
// with weights that fall linearly.
func pool(dst, src []float64, reach int) {
	for i := range dst {
		var sum, weights float64
		for j := max(0, i-reach); j <= min(len(src)-1, i+reach); j++ {
			w := float64(reach + 1 - max(i-j, j-i))
			sum += w * src[j]
			weights += w
		}
		dst[i] = sum / weights
	}
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
