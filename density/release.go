package density

import (
	"errors"
	"fmt"
	"sort"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Release draws the noise from the source and returns the private density, in units of one over the volume of
// the box. It can be called once; the expense is one release at the configured guarantee.
//
// The claim: replacing all points of one person by others (n is public) changes the law of the released
// object within the guarantee; see account for the sensitivity. What follows the noisy integer sum — division
// by n, the choice of the rank, shrinkage, zeros — sees the noisy coefficients only. Proof note:
// docs/privacy.md#density.
func (d *Density) Release(src *noise.Source) (*release.Release, error) {
	noisy, n, err := d.draw(src)
	if err != nil {
		return nil, err
	}
	r := d.finish(noisy, n)
	r.Private = src.Private()
	return r, r.Validate()
}

// Members releases all members of a family, each a projection that states its own part of the budget, in place of the
// one that the rule chooses. Together they are the one expense at the configured guarantee that Release is, which covers
// everybody who sees them all. It can be called once, and not after Release. Proof note: docs/privacy.md#density.
func (d *Density) Members(src *noise.Source) ([]*release.Release, error) {
	if d.cfg.Method != Family {
		return nil, fmt.Errorf("density: the method %s has one release, no members: take the method %s, or Release", d.cfg.Method, Family)
	}
	noisy, n, err := d.draw(src)
	if err != nil {
		return nil, err
	}
	var out []*release.Release
	for i, m := range d.members {
		r := d.stated(m, noisy[i], n)
		r.Method, r.Private = string(Projection), src.Private()
		r.Privacy.Guarantee = m.mu
		if err := r.Validate(); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// draw is the only place where noise is drawn: the noisy coefficients of each member, or of the one account, and the
// number of people.
func (d *Density) draw(src *noise.Source) (noisy [][]float64, n int64, err error) {
	if d.done {
		return nil, 0, errReleased
	}
	t, err := d.total()
	if err != nil {
		return nil, 0, err
	}
	n = t.N()
	if d.cfg.N != 0 && n != d.cfg.N {
		return nil, 0, fmt.Errorf("density: %d people were added, but the public number was stated as %d", n, d.cfg.N)
	}
	if n < 1 {
		return nil, 0, errors.New("density: nothing to release: no person was added")
	}
	if t, err = d.code.coefficients(t); err != nil {
		return nil, 0, fmt.Errorf("density: %w", err)
	}
	accounts := d.members
	if d.cfg.Method != Family {
		accounts = []*account{d.account}
	}
	for _, a := range accounts {
		m, err := a.mechanism(d.code.unit)
		if err != nil {
			return nil, 0, err
		}
		theta, err := m.Release(t, d.code.unit, src)
		if err != nil {
			return nil, 0, err
		}
		theta[0] = 1
		for j, l := range a.space.Levels() {
			if l > a.ranks[len(a.ranks)-1] {
				theta[j] = 0
			}
		}
		noisy = append(noisy, theta)
	}
	d.done = true
	return noisy, n, nil
}

// finish is post-processing of the noisy coefficients.
func (d *Density) finish(noisy [][]float64, n int64) *release.Release {
	a, theta := d.account, noisy[0]
	var choice *release.Selection
	estimate := theta
	if d.cfg.Method == Family {
		i := chooseFamily(d.cfg, d.members, noisy, n)
		choice = &release.Selection{Rule: string(d.cfg.Rule), Kappa: d.cfg.Kappa, Shrink: !d.cfg.Plain}
		if i > 0 {
			choice.Rank = d.members[i-1].ranks[0]
		}
		i = max(i-1, 0)
		a, theta = d.members[i], noisy[i]
		estimate = a.estimate(theta, n, choice)
	} else if d.cfg.Method == Layered {
		choice = &release.Selection{Rule: string(d.cfg.Rule), Kappa: d.cfg.Kappa, Shrink: !d.cfg.Plain}
		choice.Rank = a.choose(d.cfg.Rule, d.cfg.Kappa, theta, n)
		estimate = a.estimate(theta, n, choice)
	}
	r := d.stated(a, estimate, n)
	r.Selection = choice
	if choice != nil {
		r.Raw = [][]float64{scaled(theta, 1/volume(d.cfg.Box))}
	}
	return r
}

// stated is the coefficients with the account of their noise.
func (d *Density) stated(a *account, coefficients []float64, n int64) *release.Release {
	per := 1 / volume(d.cfg.Box)
	r := &release.Release{
		Verb: release.Density, Method: string(d.cfg.Method), Components: []string{"density"},
		Coefficients: [][]float64{scaled(coefficients, per)}, Privacy: d.cfg.statement(), N: n,
		Noise: release.Noise{Law: release.GaussianLayered, Ranks: a.ranks},
	}
	for i := range a.ranks {
		r.Noise.Scales = append(r.Noise.Scales, a.sigma(i, n)*per)
	}
	if len(d.cfg.Box) == 1 {
		r.Space = a.space.Axis(0)
		r.YLabel = "density"
		if d.cfg.Names != nil {
			r.XLabel = d.cfg.Names[0]
		}
	} else {
		r.Box = a.space
		if d.cfg.Names != nil {
			r.Variables = d.cfg.Names
		}
	}
	return r
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

// energies is the sum of squares of each shell, with a zero for the constant before them.
func energies(s *space.Tensor, ranks, theta []float64) []float64 {
	e := make([]float64, len(ranks)+1)
	for j, l := range s.Levels() {
		if i := sort.SearchFloat64s(ranks, l); l > 0 && i < len(ranks) {
			e[i+1] += theta[j] * theta[j]
		}
	}
	return e
}

// choose is the rank that the rule takes, 0 for the uniform density.
func (a *account) choose(rule Rule, kappa, theta []float64, n int64) float64 {
	i := choose(rule, kappa, energies(a.space, a.ranks, theta), a.variance(n))
	if i == 0 {
		return 0
	}
	return a.ranks[i-1]
}

// estimate is the noisy coefficients up to the chosen rank, shrunk by shells if wanted.
func (a *account) estimate(theta []float64, n int64, s *release.Selection) []float64 {
	out := make([]float64, len(theta))
	out[0] = 1
	energy, v := energies(a.space, a.ranks, theta), a.variance(n)
	for j, l := range a.space.Levels() {
		if l == 0 || l > s.Rank {
			continue
		}
		out[j] = theta[j]
		if i := sort.SearchFloat64s(a.ranks, l); s.Shrink {
			out[j] *= shrinkage(energy[i+1], v[i+1]-v[i])
		}
	}
	return out
}

// chooseFamily applies the rule to estimates with noise of their own each.
func chooseFamily(c Config, members []*account, noisy [][]float64, n int64) int {
	v := []float64{0}
	uniform := make([]float64, len(noisy[0]))
	uniform[0] = 1
	all := [][]float64{uniform}
	for i, m := range members {
		v = append(v, m.variance(n)[1])
		all = append(all, noisy[i])
	}
	return chooseBy(c.Rule, c.Kappa, v, func(i, j int) float64 {
		sum := 0.0
		for k, x := range all[i] {
			sum += (x - all[j][k]) * (x - all[j][k])
		}
		return sum
	})
}
