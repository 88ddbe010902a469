package density

import (
	"math"

	"github.com/curveil/curveil/space"
)

// The functions of one axis at a block of people, without their factor √2: 1, cos πu, cos 2πu, … or
// 1, cos 2πu, sin 2πu, cos 4πu, … at the place u of each in the domain.
//
// Sines and cosines of the first frequency are Taylor polynomials about the middle of the domain; the others follow by
//
//	cos((j+k)v) = 2cos jv cos kv − cos((j−k)v),   e^{i(j+k)v} = e^{ijv}e^{ikv},
//
// with j and k halves of the frequency, so that an error of the first grows to at most some M² times it for
// cosines, some M times for the others. Every product is rounded by itself: no machine may fuse it with a sum.

type waves struct {
	domain  space.Interval
	fourier bool
	dim     int
	slow    space.Space // for ranks at which that error would count
}

// fastRank keeps the error well below what evaluation allows.
const fastRank = 64

func newWaves(s *space.Tensor, axis int) *waves {
	w := &waves{domain: s.Box()[axis], fourier: s.Kind() == "fourier", dim: s.Axis(axis).Dim()}
	if s.Ranks()[axis] > fastRank {
		w.slow = s.Axis(axis)
	}
	return w
}

// sine and cosine are the coefficients of sin πv/v and cos πv in v²; the terms left out are less than 2⁻⁴⁸ for |v| ≤ ½.
var sine, cosine = func() (s, c [10]float64) {
	term := 1.0
	for i := range s {
		c[i] = term
		term *= math.Pi / float64(2*i+1)
		s[i] = term
		term *= -math.Pi / float64(2*i+2)
	}
	return s, c
}()

// polynomial is Σ p_i z^i, in two halves that do not wait for each other.
func polynomial(p *[10]float64, z float64) float64 {
	y := z * z
	even := float64((float64((float64(p[8]*y)+p[6])*y)+p[4])*y) + p[2]
	odd := float64((float64((float64(p[9]*y)+p[7])*y)+p[5])*y) + p[3]
	return float64(even*y) + p[0] + float64(z*(float64(odd*y)+p[1]))
}

// eval sets the rows of dst, one for each function, to its values at the points x. A point outside the domain is
// taken at the nearest end.
func (w *waves) eval(dst, x []float64) {
	rows := len(x)
	if w.slow != nil {
		e := make([]float64, w.dim)
		for r, v := range x {
			w.slow.Eval(e, v)
			dst[r] = 1
			for k := 1; k < w.dim; k++ {
				dst[k*block+r] = e[k] / math.Sqrt2
			}
		}
		return
	}
	one := row(dst, 0, rows)
	for r := range one {
		one[r] = 1
	}
	length := w.domain.B - w.domain.A
	first := row(dst, 1, rows)
	x = x[:len(first)]
	for r, v := range x {
		first[r] = (max(w.domain.A, min(w.domain.B, v))-w.domain.A)/length - 0.5
	}
	if w.fourier {
		w.turns(dst, rows)
		return
	}
	for r, v := range first { // cos πu = −sin π(u − ½)
		first[r] = -v * polynomial(&sine, v*v)
	}
	for k := 2; k < w.dim; k++ {
		j := row(dst, (k+1)/2, rows)
		to, i, first := row(dst, k, len(j)), row(dst, k/2, len(j)), first[:len(j)]
		if k%2 == 0 {
			for r, v := range j {
				to[r] = float64(2*v*v) - 1
			}
			continue
		}
		for r, v := range j {
			to[r] = float64(2*v*i[r]) - first[r]
		}
	}
}

// turns turns u − ½ in the row of the first cosine into all functions: −cos 2πu and −sin 2πu are 1 − 2s² and 2sc of
// half the angle.
func (w *waves) turns(dst []float64, rows int) {
	cos := row(dst, 1, rows)
	sin := row(dst, 2, len(cos))
	for r, v := range cos {
		s, c := v*polynomial(&sine, v*v), polynomial(&cosine, v*v)
		cos[r], sin[r] = float64(2*s*s)-1, float64(-2*s*c)
	}
	for k := 2; 2*k < w.dim; k++ {
		j, i := (k+1)/2, k/2
		cj := row(dst, 2*j-1, rows)
		sj, ci, si := row(dst, 2*j, len(cj)), row(dst, 2*i-1, len(cj)), row(dst, 2*i, len(cj))
		cos, sin := row(dst, 2*k-1, len(cj)), row(dst, 2*k, len(cj))
		for r, a := range cj {
			b, c, d := sj[r], ci[r], si[r]
			cos[r], sin[r] = float64(a*c)-float64(b*d), float64(a*d)+float64(b*c)
		}
	}
}
