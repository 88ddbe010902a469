// Exact L² projections of a piecewise linear curve on polynomials over 2^j equal
// pieces of a window, for all j at once: moments of the finest level in one
// pass, then pairs of pieces merge by the two-scale relation. O(N + 2^J).

package fit

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/space"
	"gonum.org/v1/gonum/integrate/quad"
)

// MaxDegree is the largest number of polynomials per piece.
const MaxDegree = 64

// Pyramid holds the projections of one curve q on the piecewise polynomials of
// degree < m over 2^j equal pieces, j = 0 … J. Coordinates refer to the basis of
// space.Piecewise over space.Legendre, orthonormal in the average over the whole
// window, so sums of squares of coordinates are mean squares of q.
type Pyramid struct {
	m, n     int         // polynomials per piece, components
	coef     [][]float64 // [level] piece, degree, component
	residual [][]float64 // [level] piece: mean square of q minus its projection there, over all components
	stepUp   []float64   // m×2m: coordinates of a pair of pieces → of their union
	meanSq   float64
	breaks   []float64 // of the finest level
	line     *liner
}

// NewPyramid projects the piecewise linear interpolant of the curve, constant
// before its first and after its last sample, on 2^0 … 2^levels pieces with m
// polynomials each. The curve must have passed Check on the window; levels is
// at most 20, m between 1 and MaxDegree.
func NewPyramid(c Curve, window space.Interval, m, levels int) (*Pyramid, error) {
	if m < 1 || m > MaxDegree {
		return nil, fmt.Errorf("fit: %d polynomials per piece: give 1 to %d", m, MaxDegree)
	}
	if levels < 0 || levels > 20 {
		return nil, fmt.Errorf("fit: 2^%d pieces: give 2^0 to 2^20", levels)
	}
	p := &Pyramid{m: m, n: len(c), coef: make([][]float64, levels+1), residual: make([][]float64, levels+1),
		stepUp: twoScale(m), breaks: space.EqualPieces(window, 1<<levels), line: newLiner(m)}
	for j := range p.coef {
		p.coef[j] = make([]float64, m*len(c)<<j)
		p.residual[j] = make([]float64, 1<<j)
	}
	p.Project(c)
	return p, nil
}

// Project replaces the curve by another with as many components, on the same
// window, and reuses the memory.
func (p *Pyramid) Project(c Curve) {
	if len(c) != p.n {
		panic(fmt.Sprintf("fit: Project of %d components into a pyramid of %d", len(c), p.n))
	}
	finest := p.Levels()
	clear(p.residual[finest])
	p.meanSq = 0
	for k, s := range c {
		p.meanSq += p.line.project(s, p.breaks, p.coef[finest][k:], p.residual[finest], p.n)
	}
	for j := finest - 1; j >= 0; j-- {
		p.merge(j)
	}
}

// Levels is the finest level J.
func (p *Pyramid) Levels() int { return len(p.coef) - 1 }

// Coordinates are those of level j by piece, degree, component. Read only.
func (p *Pyramid) Coordinates(j int) []float64 { return p.coef[j] }

// PieceResidual is the mean square, over the whole window, of q minus its
// projection, restricted to pieces first ≤ i < end of level j.
func (p *Pyramid) PieceResidual(j, first, end int) float64 {
	var sum float64
	for _, r := range p.residual[j][first:end] {
		sum += r
	}
	return sum
}

// Residual is the root mean square distance of q from its projection on level j.
func (p *Pyramid) Residual(j int) float64 {
	return math.Sqrt(p.PieceResidual(j, 0, len(p.residual[j])))
}

// MeanSquare is that of q over the window, over all components.
func (p *Pyramid) MeanSquare() float64 { return p.meanSq }

// merge computes level j from level j+1. The residual of a union is that of its
// halves plus the part of their projection that the union cannot hold: only
// sums of squares, so that small residuals of large curves keep their digits.
func (p *Pyramid) merge(j int) {
	m, n := p.m, p.n
	below, above := p.coef[j+1], p.coef[j]
	for i := range p.residual[j] {
		sum := p.residual[j+1][2*i] + p.residual[j+1][2*i+1]
		for k := range n {
			pair := below[2*i*m*n+k:]
			one := above[i*m*n+k:]
			for r := range m {
				var v float64
				for c, w := range p.stepUp[2*m*r : 2*m*(r+1)] {
					v += w * pair[c*n]
				}
				one[r*n] = v
			}
			for c := range 2 * m {
				d := pair[c*n]
				for r := range m {
					d -= p.stepUp[2*m*r+c] * one[r*n]
				}
				sum += d * d
			}
		}
		p.residual[j][i] = sum
	}
}

// TwoScale returns the m×2m matrix that takes the coordinates of two equal
// neighbouring pieces, left before right, to those of the best approximation
// on their union. Its rows are orthonormal.
func TwoScale(m int) []float64 { return twoScale(m) }

func twoScale(m int) []float64 {
	x, w := make([]float64, m), make([]float64, m)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	h := make([]float64, 2*m*m)
	whole, half := make([]float64, m), make([]float64, m)
	for q, u := range x {
		legendre(half, u)
		for side := range 2 {
			legendre(whole, (u+2*float64(side)-1)/2)
			for r := range m {
				for c := range m {
					h[2*m*r+side*m+c] += w[q] / 2 * whole[r] * half[c] / math.Sqrt2
				}
			}
		}
	}
	return h
}

// legendre sets e_k(x) = √(2k+1)·P_k(x), orthonormal in the average over [−1,1].
func legendre(e []float64, x float64) {
	before, now := 0.0, 1.0
	for k := range e {
		e[k] = math.Sqrt(float64(2*k+1)) * now
		before, now = now, (float64(2*k+1)*x*now-float64(k)*before)/float64(k+1)
	}
}

// liner integrates linear pieces against Legendre polynomials.
type liner struct {
	m          int
	x, w       []float64 // a rule exact for degree 2m−1 and at least 3, weights of sum 1
	e, c       []float64
	cuts, ends []float64 // sub-pieces of the current piece: x₀, x₁ and v₀, v₁
}

func newLiner(m int) *liner {
	points := max(m, 2)
	l := &liner{m: m, x: make([]float64, points), w: make([]float64, points), e: make([]float64, m), c: make([]float64, m)}
	quad.Legendre{}.FixedLocations(l.x, l.w, -1, 1)
	for i := range l.w {
		l.w[i] /= 2
	}
	return l
}

// project sets every stride-th element of coef to the coordinates of one
// component on the pieces between breaks, in the average over all of them, adds
// what they leave to residual, one per piece, and returns the mean square.
func (l *liner) project(s Series, breaks, coef, residual []float64, stride int) float64 {
	window := breaks[len(breaks)-1] - breaks[0]
	at, meanSq := 0, 0.0 // at: number of samples at or before the left end of the sub-piece
	left, value := breaks[0], s.X[0]
	for at < len(s.T) && s.T[at] <= left {
		value = s.X[at]
		at++
	}
	if at > 0 && at < len(s.T) {
		value = s.At(left)
	}
	for i, b := range breaks[1:] {
		a, h := left, b-left
		l.cuts, l.ends = l.cuts[:0], l.ends[:0]
		for left < b {
			right, v := b, value
			switch {
			case at == len(s.T):
			case s.T[at] <= b:
				right, v = s.T[at], s.X[at]
				at++
			case at > 0:
				// Interpolated between the two samples around b, not from the last cut.
				u := (b - s.T[at-1]) / (s.T[at] - s.T[at-1])
				v = s.X[at-1]*(1-u) + s.X[at]*u
			}
			l.cuts = append(l.cuts, 2*(left-a)/h-1, 2*(right-a)/h-1)
			l.ends = append(l.ends, value, v)
			left, value = right, v
		}
		share := h / window
		r := l.piece() * share
		root := math.Sqrt(share)
		for k, c := range l.c {
			coef[(i*l.m+k)*stride] = c * root
			meanSq += c * c * share
		}
		residual[i] += r
		meanSq += r
	}
	return meanSq
}

// piece sets c to the coordinates of the current piece, in the average over it,
// and returns the mean square of what they leave.
func (l *liner) piece() (residual float64) {
	clear(l.c)
	if len(l.cuts) == 2 {
		v0, v1 := l.ends[0], l.ends[1]
		l.c[0] = v0/2 + v1/2
		half := (v1 - v0) / 2
		if l.m > 1 {
			l.c[1] = half / math.Sqrt(3)
			return 0
		}
		return half * half / 3
	}
	for i := 0; i < len(l.cuts); i += 2 {
		x0, x1, v0, v1 := l.cuts[i], l.cuts[i+1], l.ends[i], l.ends[i+1]
		for q, u := range l.x {
			u = (1 + u) / 2
			legendre(l.e, x0+(x1-x0)*u)
			weight := l.w[q] * (x1 - x0) / 2 * (v0 + (v1-v0)*u)
			for k, e := range l.e {
				l.c[k] += weight * e
			}
		}
	}
	for i := 0; i < len(l.cuts); i += 2 {
		x0, x1, v0, v1 := l.cuts[i], l.cuts[i+1], l.ends[i], l.ends[i+1]
		for q, u := range l.x {
			u = (1 + u) / 2
			legendre(l.e, x0+(x1-x0)*u)
			d := v0 + (v1-v0)*u
			for k, e := range l.e {
				d -= l.c[k] * e
			}
			residual += l.w[q] * (x1 - x0) / 2 * d * d
		}
	}
	return residual
}
