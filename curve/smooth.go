// How rough the path is, where, and for how long its velocity persists:
// empirical Bayes on the noisy values alone.

package curve

import (
	"math"
	"sync"
)

// field is the roughness of n components over N cells: the rate of component k in
// cell i is scale[k]·q[i]. The scales tell components apart, q tells stops from
// drives.
type field struct {
	motion *motion
	paths  []*path
	scale  []float64
	q      []float64
	spare  []float64
	offset []float64 // by component: taken off the coordinates, which the flat prior of the value allows
	sd     float64   // the noise that the paths are in units of
}

const (
	globalSteps = 12 // of EM for one roughness for all cells, for each persistence
	localSteps  = 20 // of EM for local roughness, from there
	reach       = 4  // a cell's roughness is pooled with that of so many on each side
	// leastPersistence, in cells, is as good as none.
	leastPersistence = 0.02
	// leastNoise, as a part of the change from cell to cell, is the least noise that
	// the algebra is done with; where there is less, there is nothing to smooth.
	leastNoise = 1e-5
	lowering   = 8    // from one trial of a lower start to the next
	leastRough = 1e-9 // in units of the noise variance: keeps a straight line from dividing by zero
)

// motionsOver returns the priors to choose from for a number of cells.
func motionsOver(cells int) []*motion {
	list := make([]*motion, len(persistences))
	var wg sync.WaitGroup
	for i, part := range persistences {
		wg.Go(func() { list[i] = newMotion(max(part*float64(cells), leastPersistence)) })
	}
	wg.Wait()
	return list
}

// persistences are the times, as parts of the window, that the velocity may
// persist for.
var persistences = []float64{1. / 4096, 1. / 1024, 1. / 256, 1. / 64, 1. / 16}

// smooth fits persistence and roughness to coordinates by cell, degree 0 and 1,
// component, whose noise has standard deviation sd, under the given priors: first one rate for all cells,
// by EM, under each prior, of which the most likely is kept; then local rates,
// by EM, pooled over neighbours with triangular weights. All of it looks at
// released values only.
func smooth(noisy []float64, cells, n int, sd float64, priors []*motion) *field {
	fields := make([]*field, len(priors))
	var wg sync.WaitGroup
	for i, m := range priors {
		wg.Go(func() {
			fields[i] = newField(noisy, cells, n, sd, m)
			fields[i].globalise()
		})
	}
	wg.Wait()
	best := fields[0]
	for _, f := range fields[1:] {
		if f.evidence() > best.evidence() {
			best = f
		}
	}
	best.backward()
	best.localise()
	return best
}

// globalise finds one roughness for all cells, and its evidence.
func (f *field) globalise() {
	f.start()
	for range globalSteps {
		f.solve()
		f.backward()
		for k, p := range f.paths {
			p.expect(f.motion)
			f.scale[k] = max(mean(p.stat), leastRough)
		}
	}
	f.solve()
}

// start lowers the roughness, by as much as makes the values more likely, before EM, which from a start far
// above would take hundreds of steps: where noise hides a smooth curve, its steps are as small as what they learn.
func (f *field) start() {
	f.solve()
	for before := f.evidence(); ; before = f.evidence() {
		for k := range f.scale {
			f.scale[k] = max(f.scale[k]/lowering, leastRough)
		}
		f.solve()
		if f.evidence() <= before {
			break
		}
	}
	for k := range f.scale {
		f.scale[k] *= lowering
	}
}

func newField(noisy []float64, cells, n int, sd float64, m *motion) *field {
	f := &field{motion: m, scale: make([]float64, n), q: make([]float64, cells), spare: make([]float64, cells),
		offset: make([]float64, n), sd: max(sd, leastNoise*spread(noisy, cells, n))}
	for k := range n {
		for i := range cells {
			f.offset[k] += noisy[2*i*n+k] / float64(cells)
		}
		// Coordinates of the window's basis are those of a cell over √cells, and so
		// is their noise.
		p := newPath(cells)
		for i := range cells {
			p.y[i] = [2]float64{(noisy[2*i*n+k] - f.offset[k]) / f.sd, noisy[(2*i+1)*n+k] / f.sd}
		}
		// A start from neighbouring cells. For Brownian motion their averages differ by
		// 2q/3 and noise; a smooth path's rate is larger by about the square of its
		// persistence.
		var jumps float64
		for i := range cells - 1 {
			d := p.y[i+1][0] - p.y[i][0]
			jumps += d * d / float64(cells-1)
		}
		f.scale[k] = max(max(1.5*(jumps-2), jumps*1e-2)/m.sigma[0], leastRough)
		f.paths = append(f.paths, p)
	}
	for i := range f.q {
		f.q[i] = 1
	}
	return f
}

// spread is the root mean square change from cell to cell.
func spread(noisy []float64, cells, n int) float64 {
	var sum float64
	for i := 2 * n; i < len(noisy); i++ {
		if i/n%2 == 0 {
			d := noisy[i] - noisy[i-2*n]
			sum += d * d / float64(n*(cells-1))
		}
	}
	return math.Sqrt(sum)
}

func (f *field) evidence() float64 {
	var sum float64
	for _, p := range f.paths {
		sum += p.evidence
	}
	return sum
}

func (f *field) localise() {
	for range localSteps {
		clear(f.spare)
		for k, p := range f.paths {
			p.expect(f.motion)
			var sum float64
			for i, v := range p.stat {
				sum += v / f.q[i]
				f.spare[i] += v / f.scale[k] / float64(len(f.paths))
			}
			f.scale[k] = max(sum/float64(len(f.q)), leastRough)
		}
		pool(f.q, f.spare, reach)
		f.solve()
		f.backward()
	}
}

// solve computes the evidence, and what backward needs.
func (f *field) solve() {
	for k, p := range f.paths {
		for i, q := range f.q {
			p.q[i] = max(f.scale[k]*q, leastRough)
		}
		p.forward(f.motion)
	}
}

func (f *field) backward() {
	for _, p := range f.paths {
		p.backward()
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
