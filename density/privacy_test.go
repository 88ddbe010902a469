package density

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/curveil/curveil/internal/stattest"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

// worstPair is two points that come as far apart as any in units of the noise: for Fourier functions a
// difference, for cosines the corner and a point (see space/spread.go).
func worstPair(a *account) (x, y []float64) {
	d := len(a.space.Box())
	weight := a.weights()
	e, f := make([]float64, a.space.Dim()), make([]float64, a.space.Dim())
	x, y = make([]float64, d), make([]float64, d)
	a.space.Eval(e, x)
	const steps = 4000
	best := 0.0
	try := func(u []float64) {
		a.space.Eval(f, u)
		far := 0.0
		for j := range e {
			far += (e[j] - f[j]) * (e[j] - f[j]) * weight[j]
		}
		if far > best {
			best = far
			copy(y, u)
		}
	}
	u := make([]float64, d)
	if d == 1 {
		for i := range steps + 1 {
			u[0] = float64(i) / steps
			try(u)
		}
		return x, y
	}
	for i := range 61 {
		for k := range 61 {
			u[0], u[1] = float64(i)/60, float64(k)/60
			try(u)
		}
	}
	return x, y
}

// weights is 1/τ_j² of each coefficient, 0 for the constant.
func (a *account) weights() []float64 {
	w := make([]float64, a.space.Dim())
	for j, l := range a.space.Levels() {
		for i := len(a.ranks) - 1; i >= 0; i-- {
			if l > 0 && l <= a.ranks[i] {
				w[j] = 1 / (a.shape[i] * a.shape[i])
			}
		}
	}
	return w
}

// audit releases two neighbouring data sets many times through the public path, projects each release onto the
// direction in which they differ, and returns the shift in units of the noise with its standard error, and the
// errors of the test that takes the middle between the two as its threshold. break changes the accumulator before
// its release.
func audit(t *testing.T, c Config, x, y, other []float64, releases int, broken func(*Density)) (shift, se float64, alpha, beta int64) {
	t.Helper()
	first := newDensity(t, c)
	a := first.account
	weight, e, f := a.weights(), make([]float64, a.space.Dim()), make([]float64, a.space.Dim())
	a.space.Eval(e, x)
	a.space.Eval(f, y)
	direction, norm := make([]float64, len(e)), 0.0
	for j := range e {
		if e[0] = 1; weight[j] > 0 {
			direction[j] = (f[j] - e[j]) * weight[j]
			norm += (f[j] - e[j]) * (f[j] - e[j]) * weight[j]
		}
	}
	values := [2][]float64{}
	for side, own := range [][]float64{x, y} {
		for i := range releases {
			d := newDensity(t, c)
			if err := d.AddPoints(own); err != nil {
				t.Fatal(err)
			}
			if err := d.AddPoints(other); err != nil {
				t.Fatal(err)
			}
			if broken != nil {
				broken(d)
			}
			r, err := d.Release(noise.Seeded(uint64(2*i + side)))
			if err != nil && broken == nil {
				t.Fatal(err)
			}
			rows := r.Raw
			if rows == nil {
				rows = r.Coefficients
			}
			sum := 0.0
			for j, v := range rows[0] {
				sum += v * direction[j]
			}
			values[side] = append(values[side], sum)
		}
	}
	// The sd of the statistic is estimated from the releases themselves, so that too little noise shows.
	var mean, variance [2]float64
	for s, list := range values {
		for _, v := range list {
			mean[s] += v / float64(len(list))
		}
		for _, v := range list {
			variance[s] += (v - mean[s]) * (v - mean[s]) / float64(len(list)-1)
		}
	}
	sd := math.Sqrt((variance[0] + variance[1]) / 2)
	shift = (mean[1] - mean[0]) / sd
	se = math.Sqrt((2 + shift*shift/4) / float64(releases))
	middle := (mean[0] + mean[1]) / 2
	for i := range values[0] {
		if values[0][i] > middle {
			alpha++
		}
		if values[1][i] <= middle {
			beta++
		}
	}
	return shift, se, alpha, beta
}

// With worst-case neighbours the shift of the release is the μ of its guarantee, no more and, up to the
// certificate and the rounding slack, no less. Noise of 0.9 of the scale and an account that forgets that the shells
// describe the same person are both found. Each comparison allows 5 standard errors: a false alarm of 6e-7.
func TestWorstNeighbours(t *testing.T) {
	const mu, releases = 3, 5000
	for _, c := range []Config{
		{Box: unitBox(1), Rank: []int{4}, Basis: Fourier}, {Box: unitBox(1), Rank: []int{4}},
		{Box: unitBox(1), Rank: []int{3}, Basis: Fourier, Method: Projection}, {Box: unitBox(2), Rank: []int{2}, Basis: Fourier}, {Box: unitBox(2), Rank: []int{2}},
	} {
		c.Guarantee = privacy.ZCDP(mu * mu / 2.0)
		if len(c.Box) == 2 && testing.Short() {
			continue
		}
		a := newDensity(t, c).account
		x, y := worstPair(a)
		other := make([]float64, len(x))
		least := 0.97 * mu // what a pair of a coarse search, a certificate and the slack leave
		shift, se, alpha, beta := audit(t, c, x, y, other, releases, nil)
		t.Logf("%v %s: μ = %d claimed, %.3f ± %.3f found between %v and %v", a.space, c.Method, mu, shift, se, x, y)
		if shift > mu+5*se {
			t.Errorf("%v: the release shifts by %v ± %v, more than μ = %v", a.space, shift, se, mu)
		}
		if shift < least-5*se {
			t.Errorf("%v: the release shifts by %v ± %v only: more noise than μ = %v needs", a.space, shift, se, mu)
		}
		_, alphaUp := stattest.ClopperPearson(alpha, releases, 1-1e-7)
		_, betaUp := stattest.ClopperPearson(beta, releases, 1-1e-7)
		if betaUp < privacy.GDP(mu).Tradeoff(alphaUp) {
			t.Errorf("%v: a test errs with (%d, %d) of %d: below the trade-off function of μ = %v", a.space, alpha, beta, releases, mu)
		}
		if len(c.Box) == 2 {
			continue
		}
		found := func(what string, broken func(*Density)) {
			shift, se, _, _ := audit(t, c, x, y, other, releases, broken)
			if shift <= mu+5*se {
				t.Errorf("%v: %s goes unnoticed: shift %v ± %v", a.space, what, shift, se)
			}
		}
		found("noise at 0.9", func(d *Density) { d.account.distance *= 0.9 })
		if c.Method == "" {
			found("an account without the joint factor", func(d *Density) {
				worst := 0.0
				for i := range d.account.ranks {
					w := make([]float64, len(d.account.ranks))
					w[i] = 1 / (d.account.shape[i] * d.account.shape[i])
					s, _ := d.account.space.Spread(d.account.ranks, w)
					worst = math.Max(worst, math.Sqrt(s))
				}
				d.account.distance = worst
			})
		}
	}
}

// An invalid release is refused by its own validation: the broken accounts above cannot be written to a file.
func TestTooLittleNoiseIsRefused(t *testing.T) {
	d := newDensity(t, Config{Box: unitBox(2), Rank: []int{4}})
	if err := d.AddPoints([]float64{0.5, 0.5}); err != nil {
		t.Fatal(err)
	}
	d.account.distance *= 0.98
	if _, err := d.Release(noise.Seeded(1)); err == nil {
		t.Error("a release with less noise than its guarantee needs was accepted")
	}
}

// What a release says about its noise is the noise it has: of people who are all outside the box it holds nothing else.
// And the noise of a family's members, which one adversary can see together, is that of the guarantee: Σμᵢ² ≤ μ².
func TestNoiseIsWhatIsStated(t *testing.T) {
	const n, releases = 20, 400
	for _, method := range []Method{Layered, Projection, Family} {
		c := Config{Box: unitBox(1), Rank: []int{16}, Method: method, Guarantee: privacy.GDP(1.5), Kappa: []float64{0}, Plain: true}
		if method == Projection {
			c.Kappa = nil
		}
		var a *account
		sum, count := 0.0, 0.0
		for i := range releases {
			d := newDensity(t, c)
			a = d.account
			if err := d.AddPoints(slices.Repeat([]float64{7}, n)); err != nil {
				t.Fatal(err)
			}
			r, err := d.Release(noise.Seeded(uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			rows := r.Raw
			if rows == nil {
				rows = r.Coefficients
			}
			for j, l := range a.space.Levels() {
				if s := sort.SearchFloat64s(r.Noise.Ranks, l); l > 0 && s < len(r.Noise.Ranks) {
					sum += math.Pow(rows[0][j]/r.Noise.Scales[s], 2)
					count++
				}
			}
			accounts, total := []*account{d.account}, 0.0
			if method == Family {
				accounts = d.members
			}
			for _, m := range accounts {
				noise, err := m.mechanism(d.code.unit)
				if err != nil {
					t.Fatal(err)
				}
				// Coefficient j of a shell has the noise τ·distance/μ.
				for j, l := range m.space.Levels() {
					if s := sort.SearchFloat64s(m.ranks, l); l > 0 && l <= m.ranks[0] {
						total += math.Pow(m.shape[s]*m.distance/(noise.Scale(j)*d.code.unit), 2)
						break
					}
				}
			}
			if total > 1.5*1.5 {
				t.Fatalf("%s: noise of μ = %v, claimed 1.5", method, math.Sqrt(total))
			}
		}
		// The mean of squares of count normal variables, to 6 standard deviations.
		if got, sd := sum/count, math.Sqrt(2/count); math.Abs(got-1) > 6*sd {
			t.Errorf("%s: the noise has %v times the stated variance", method, got)
		}
	}
}

// No pair of persons, with several points each, inside, on the edge or outside, comes further apart than the
// account says.
func TestPersonsStayWithinTheAccount(t *testing.T) {
	for _, c := range shapes {
		d := newDensity(t, c)
		w := make([]float64, len(d.account.shape))
		for i, tau := range d.account.shape {
			w[i] = 1 / (tau * tau)
		}
		_, attained := d.Space().Spread(d.account.ranks, w)
		if least := math.Sqrt(attained) + 2*(d.code.slack+d.code.mean)*math.Sqrt(d.Space().SumWeights(d.account.ranks, w)); d.account.distance < least*(1-1e-12) {
			t.Errorf("%v: the account says %v, two points with the rounding of their integers can be %v apart", d.Space(), d.account.distance, least)
		}
		r := newPoints(len(c.Box))
		weight := d.account.weights()
		vectorOf := func() []int64 {
			w := newWork(d.code)
			return w.vector(t, func() {
				if x := r.person(); len(x) == len(c.Box) {
					w.points(x, d.keep)
				} else {
					w.person(x, d.keep)
				}
			})
		}
		for range 300 {
			p, q := vectorOf(), vectorOf()
			far := 0.0
			for j, w := range weight {
				diff := float64(p[j]-q[j]) * d.code.unit
				far += w * diff * diff
			}
			if math.Sqrt(far) > d.account.distance {
				t.Fatalf("%v: two persons are %v apart, the account says %v", d.Space(), math.Sqrt(far), d.account.distance)
			}
		}
	}
}

type pointSource struct {
	d    int
	next func() float64
}

func newPoints(d int) pointSource {
	src := noise.Seeded(11)
	return pointSource{d, func() float64 { return float64(src.Uint64()>>11) * 0x1p-53 }}
}

// person is one to three points, often at corners, sometimes outside.
func (p pointSource) person() []float64 {
	var x []float64
	for range 1 + int(3*p.next()*p.next()) {
		for range p.d {
			v := p.next()
			switch u := p.next(); {
			case u < 0.3:
				v = math.Round(v)
			case u < 0.35:
				v = 7
			case u < 0.4:
				v = math.Inf(-1)
			}
			x = append(x, v)
		}
	}
	return x
}

// The members of a family state budgets that add up to the whole, one of them is what Release publishes, and nobody sees
// them twice.
func TestMembers(t *testing.T) {
	c := Config{Box: unitBox(1), Rank: []int{8}, Method: Family, Guarantee: privacy.GDP(1.5), Plain: true}
	fill := func() *Density {
		d := newDensity(t, c)
		if err := d.AddPoints(randomPoints(6, 500, 1)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := fill()
	members, err := d.Members(noise.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for i, r := range members {
		mu, err := privacy.GaussianMu(r.Privacy.Guarantee)
		if err != nil {
			t.Fatal(err)
		}
		total += float64(mu) * float64(mu)
		if want := math.Ldexp(1, i); r.Noise.Ranks[0] != want || r.Private {
			t.Errorf("member %d has rank %v, private %v", i, r.Noise.Ranks[0], r.Private)
		}
	}
	if len(members) != 4 || total > 1.5*1.5 || total < 1.5*1.5*(1-1e-9) {
		t.Errorf("%d members have Σμ² = %v", len(members), total)
	}
	if _, err := d.Release(noise.Seeded(2)); err == nil {
		t.Error("a release after the members was made")
	}
	r, err := fill().Release(noise.Seeded(2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(members, func(m *release.Release) bool { return slices.Equal(m.Coefficients[0], r.Raw[0]) }) {
		t.Error("the release is none of the members")
	}
	c.Method = Layered
	if _, err := fill().Members(noise.Seeded(2)); err == nil {
		t.Error("a layered release has members")
	}
}
