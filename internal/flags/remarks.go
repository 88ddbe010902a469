package flags

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// What a call with legal parameters will hardly have meant, said before the budget is
// spent and from public numbers alone.

// MeanRemarks looks at the parameters of a mean of n people.
func MeanRemarks(c mean.Config, n int64) (out []string) {
	if n < 1 {
		return nil
	}
	if n == 1 {
		out = append(out, "n = 1: this is no mean, but one person's curve, which the noise has to hide by itself")
	}
	out = append(out, deltaRemark(c.Guarantee, n)...)
	if ratio := NoiseRatio(c, n); ratio >= 0.5 {
		out = append(out, fmt.Sprintf("the expected noise is %.2g times the bound: the release will say little beyond the center; more people, a larger budget, a smaller bound or fewer basis functions ('curveil plan mean' predicts it)", ratio))
	}
	_, kernel := c.Space.(*space.KernelSpace)
	if times := len(c.Grid); times > 0 && !kernel && c.Space.Dim() > times {
		out = append(out, fmt.Sprintf("%d basis functions, but only %d times at which curves are known: each function costs noise, and between the times they are free; take fewer", c.Space.Dim(), times))
	}
	if size := centerSize(c.Reference, c.Space.Domain()); c.Radius < size/1000 {
		out = append(out, fmt.Sprintf("the bound %g is less than a thousandth of the center, about %.3g: curves that are further away than that are pulled in, and the release will be the center; the bound is a distance from the center, in the values' units", c.Radius, size))
	}
	return append(out, DomainRemarks(c.Grid, c.Space.Domain())...)
}

// deltaRemark is about a δ that publishing somebody's record would satisfy.
func deltaRemark(g privacy.Guarantee, n int64) []string {
	if a, ok := g.(privacy.Approx); ok && a.Delta > 1/float64(n) {
		return []string{fmt.Sprintf("δ = %g is above one over the number of people, 1/%d: what publishes one person's data in full may be as much; take δ far below %.1g", a.Delta, n, 1/float64(n))}
	}
	return nil
}

// DomainRemarks looks at the public times of curves.
func DomainRemarks(times []float64, domain space.Interval) []string {
	if covered := span(times, domain); covered < 0.5 {
		return []string{fmt.Sprintf("the public times cover %.2g%% of the domain: in the rest there are no data, and the curve there, and with few times everywhere, is the center and noise; --domain should be where curves are observed", 100*covered)}
	}
	return nil
}

// span is the share of the domain between the first and the last of the times, 1 where
// there are none.
func span(times []float64, domain space.Interval) float64 {
	if len(times) < 2 {
		return 1
	}
	return (times[len(times)-1] - times[0]) / domain.Length()
}

// SparseDomain says that the times of the data, which are private in a long file, lie in a
// small part of the domain.
func SparseDomain(first, last float64, domain space.Interval) []string {
	if !(first < last) || (last-first)/domain.Length() >= 0.5 {
		return nil
	}
	return []string{"all times in the data lie in less than half of the domain: in the rest the curve is the center and noise. This is for the curator: take the domain from how the study was designed, not from the data"}
}

// NoiseRatio is the expected size of the noise against that of the largest curve that the
// bound allows: 2√m/(nμ) in m dimensions ([FTP] Theorem 10); for protect-then-fit, whose noise
// the fit reduces from that of the samples, about 2m/(nμ), as of the spherical Laplace noise
// of pure ε. In a kernel space both are taken at one time, where m is the number of
// components.
func NoiseRatio(c mean.Config, n int64) float64 {
	m := float64(len(c.Components))
	if _, kernel := c.Space.(*space.KernelSpace); !kernel {
		m *= float64(c.Space.Dim())
	}
	if eps, pure := c.Guarantee.(privacy.Pure); pure {
		return 2 * m / (float64(n) * float64(eps))
	}
	mu, err := privacy.GaussianMu(c.Guarantee)
	if err != nil {
		return 0
	}
	ratio := 2 * math.Sqrt(m) / (float64(n) * float64(mu))
	if c.Method == mean.ProtectThenFit {
		ratio *= math.Sqrt(m)
	}
	return ratio
}

// centerSize is the root-mean-square of the reference over the domain, 0 without one.
func centerSize(refs []release.Reference, d space.Interval) float64 {
	const points = 101
	var sum float64
	for _, r := range refs {
		for _, t := range space.Uniform(d.A, d.B, points).T {
			v := r.At(t)
			sum += v * v / points
		}
	}
	return math.Sqrt(sum)
}

// BoundRemarks looks at the parameters of a bound that n people buy.
func BoundRemarks(c mean.BoundConfig, n int64) []string {
	c.N = n
	within, err := mean.PlanBound(c)
	if err != nil || within[0] >= 0.25 {
		return nil
	}
	return []string{fmt.Sprintf("with n = %d and this budget the bound may hold only %.0f%% of the people: a larger budget, or a narrower --bound-range, makes it mean something", n, 100*within[0])}
}

// DensityRemarks looks at the parameters of a density of n people.
func DensityRemarks(c density.Config, n int64) (out []string) {
	if n == 1 {
		out = append(out, "n = 1: this is no density of a population, but one person's points, which the noise has to hide by itself")
	}
	out = append(out, deltaRemark(c.Guarantee, n)...)
	c.N, c.Rank, c.Method, c.Kappa = n, []int{1}, density.Projection, nil
	plan, err := density.NewPlan(density.PlanConfig{Config: c})
	if err != nil || len(plan.Fixed) == 0 {
		return out
	}
	if noise := math.Sqrt(plan.Fixed[0].Privacy); noise >= 0.5 {
		out = append(out, fmt.Sprintf("the expected noise in the coarsest shape alone is %.2g times the uniform density: hardly anything will rise above it; more people or a larger budget ('curveil plan density' predicts it)", noise))
	}
	return out
}
