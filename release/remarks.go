// What a release shows of itself: computed from its noisy coefficients and the law of their noise, which are public, so that
// it costs nothing. A remark is no part of the guarantee, and its absence proves nothing.

package release

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/curveil/curveil/space"
)

// Remark is something that a reader of the release should know before it is used.
type Remark struct {
	Short string // for captions
	Long  string // a sentence or two, with what to do
}

// Parts of the rules below. Each that could be raised by the noise alone is raised with probability at most falseAlarm
// where what it says is not so.
const (
	falseAlarm  = 0.01
	nearRadius  = 0.85 // of the radius: as far out as a mean lies when nearly everybody is at the ball's edge or near it
	concentrate = 10   // times shorter that each side of a box could be
)

// Remarks returns what the release itself shows to be doubtful.
//
//   - A mean whose norm without noise surely exceeds 0.85 of the radius: the bound was probably too small. (People whose
//     curves are much alike, and all nearly as far from the center as the bound allows, look the same.) For protect-then-fit the law of
//     the noise is of first order, and so is the probability of a false alarm.
//   - A density at the largest rank that was offered to the rule; one whose mass lies in a small part of its box.
//   - Denoised curves that move less than the noise would move them.
//
// What is true of all releases of a kind is said by [Release.BandCaveat] and [Release.Caveat].
func (r *Release) Remarks() []Remark {
	switch {
	case r.Verb == Mean:
		return r.meanRemarks()
	case r.Verb == Density:
		return r.densityRemarks()
	case r.Verb == Curve && r.Method == Denoised:
		return r.shapeRemarks()
	}
	return nil
}

func (r *Release) meanRemarks() []Remark {
	if !r.beyond(r.noisy(), nearRadius*r.Radius) {
		return nil
	}
	return []Remark{{
		Short: "the bound was probably too small: curves beyond it were pulled in, which the band does not show",
		Long: fmt.Sprintf("the bound was probably too small: without its noise the mean would still lie at %g times the radius or more, as it does when most curves are at the radius or beyond. "+
			"Curves beyond it were pulled in, so that the mean is too near the center, and the band does not show that. (Seen from the release, at no cost; by chance in at most %g %% of the cases.)", nearRadius, 100*falseAlarm),
	}}
}

func (r *Release) densityRemarks() (out []Remark) {
	t, ok := r.Tensor()
	if !ok {
		return nil
	}
	if s := r.Selection; s != nil && r.Method == Layered && s.Rank > 0 && s.Rank == r.Noise.Ranks[len(r.Noise.Ranks)-1] {
		out = append(out, Remark{
			Short: fmt.Sprintf("rank %g is the largest that was offered: finer detail is probably lost", s.Rank),
			Long: fmt.Sprintf("rank %g is the largest that was offered: the density is probably rougher than what is shown, and detail finer than %s is lost. "+
				"A larger --rank, where the budget bears it, or a smaller box shows more.", s.Rank, r.resolution(t, s.Rank)),
		})
	}
	x := make([]float64, 0, t.Dim())
	for _, v := range r.noisy()[1:] { // all but the constant, in units of the uniform density
		x = append(x, v*r.Volume())
	}
	d := float64(len(t.Box()))
	if energy := math.Pow(concentrate, d); r.beyond(x, math.Sqrt(energy-1)) {
		out = append(out, Remark{
			Short: "nearly all of the mass lies in a small part of the box, which was probably chosen too large",
			Long: fmt.Sprintf("the mass lies in less than %.2g %% of the box, as far as its unevenness tells: a box with sides some %g times shorter, chosen from public knowledge, would show more for the same budget.",
				100/energy, float64(concentrate)),
		})
	}
	return out
}

// resolution is half the length of the shortest wave, in the units of the variables.
func (r *Release) resolution(t *space.Tensor, rank float64) string {
	waves := 2.0
	if t.Kind() == "cosine" {
		waves = 1
	}
	words := ""
	for i, d := range t.Box() {
		if i > 0 {
			words += " × "
		}
		words += fmt.Sprintf("%.2g", d.Length()/(waves*rank))
	}
	return words
}

// shapeRemarks compares how far the curve moves from its mean with two coordinates' noise, which is what a drift across the
// window alone would show of it.
func (r *Release) shapeRemarks() []Remark {
	sd, lines, ok := r.beforeDenoising()
	if !ok {
		return nil
	}
	var constant []float64 // the coefficients of the pieces' means
	each := r.Space.Dim() / (lines / 2)
	var moves float64
	for _, c := range r.Coefficients {
		constant = constant[:0]
		for j, v := range c {
			if j%each == 0 {
				constant = append(constant, v)
			}
			moves += v * v
		}
		var sum float64
		for _, v := range constant {
			sum += v
		}
		moves -= sum * sum / float64(len(constant))
	}
	moves = math.Sqrt(math.Max(0, moves))
	if least := 2 * sd * math.Sqrt(float64(len(r.Components))); moves < least {
		return []Remark{{
			Short: "no shape rose above the noise",
			Long:  fmt.Sprintf("hardly any shape rose above the noise: the released curve moves by %.2g root-mean-square, and the noise alone moves a straight line by up to %.2g. 'curveil plan curve --size S --roughness R' says which budget a shape needs.", moves, least),
		}}
	}
	return nil
}

// noisy is the coordinates that carry the noise whose law the release states: before projection or shrinkage.
func (r *Release) noisy() (x []float64) {
	rows := r.Raw
	if rows == nil {
		rows = r.Coefficients
	}
	for _, row := range rows {
		x = append(x, row...)
	}
	return x
}

// beyond reports whether the norm of the coordinates without noise surely exceeds least: with probability at most falseAlarm
// where it does not. Of x = θ + ξ with ξ ~ N(0, Σ), ‖x‖² exceeds
//
//	‖θ‖² + tr Σ + 2√((‖Σ‖² + 2‖θ‖²‖Σ‖∞)u) + 2‖Σ‖∞u
//
// with probability at most e^{−u} (Birgé 2001, Lemma 8.1; Laurent and Massart 2000 for θ = 0).
// Spherical Laplace noise is Gaussian given χ²: half of the probability is for that.
func (r *Release) beyond(x []float64, least float64) bool {
	trace, square, largest := r.covariance(len(x))
	u := -math.Log(falseAlarm)
	if r.Noise.Law == SphericalLaplace {
		v := distuv.ChiSquared{K: float64(len(x) + 1)}.Quantile(1 - falseAlarm/2)
		trace, square, largest, u = trace*v, square*v*v, largest*v, -math.Log(falseAlarm/2)
	}
	n := norm(x)
	return n*n > least*least+trace+2*math.Sqrt((square+2*least*least*largest)*u)+2*largest*u
}

// covariance is the trace, the squared Frobenius norm and a bound on the largest eigenvalue of the noise's covariance in m
// coordinates, the constant of a density left out and its volume 1.
func (r *Release) covariance(m int) (trace, square, largest float64) {
	add := func(v float64) { trace, square, largest = trace+v, square+v*v, math.Max(largest, v) }
	switch r.Noise.Law {
	case GaussianLayered:
		t, ok := r.Tensor()
		if !ok {
			return math.Inf(1), 0, 0
		}
		scales := r.shellScales(t, math.Inf(1))
		for _, s := range scales[1:] {
			add(s * s * r.Volume() * r.Volume())
		}
	case GaussianLinearised:
		// LLᵀ for each component: its Frobenius norm bounds its largest eigenvalue.
		l := r.Noise.Factor
		for i := range l {
			for j := range l {
				v := dot(l[i], l[j])
				square += v * v
				if i == j {
					trace += v
				}
			}
		}
		largest = math.Sqrt(square)
		trace, square = trace*float64(len(r.Components)), square*float64(len(r.Components))
	default:
		for range m {
			add(r.Noise.Scale * r.Noise.Scale)
		}
	}
	return trace, square, largest
}

// Caveat says what readers of every release of this kind should know of the values; "" where there is nothing.
func (r *Release) Caveat() string {
	if r.Verb == Density {
		return "a smooth function and noise, no histogram: it may be negative where few people are, and sharp peaks leave ripples beside them"
	}
	return ""
}
