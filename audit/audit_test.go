package audit

import (
	"fmt"
	"math"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/simulate"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Every bound below holds at 1−1e-6, so a correct mechanism fails a test with
// at most that probability; the tests are seeded.

func run(t *testing.T, s Subject, err error, releases int) *Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), s, Options{Releases: releases, Source: noise.Seeded(7)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: claimed %g, proven %.4f (α ≤ %.3g, β ≤ %.3g)", s.Name, r.Claimed, r.Bound(), r.Alpha, r.Beta)
	return r
}

func TestSubjectsKeepTheirWord(t *testing.T) {
	subjects, err := Subjects(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects {
		r := run(t, s, nil, 60_000)
		if r.Refuted() {
			t.Errorf("%s: claimed %g, but %g is proven", s.Name, r.Claimed, r.Bound())
		}
		// Close below the claim: noise of much less than it should be would be seen.
		want := 0.86
		if _, pure := s.Claim.(privacy.Pure); pure {
			want = 0.72 // in two dimensions the ratio e^ε is reached only in the limit
		}
		if s.Name == "density/family" {
			want *= 0.928 // no two points are the worst case of all members at once
		}
		if r.Bound() < want*r.Claimed {
			t.Errorf("%s: only %g of %g could be proven: the worst case or the statistic is weak", s.Name, r.Bound(), r.Claimed)
		}
	}
}

// claimed relabels a subject: the mechanism runs as built, the claim is another.
func claimed(s Subject, err error, claim privacy.Guarantee) (Subject, error) {
	s.Claim = claim
	return s, err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestPlantedBugsAreCaught(t *testing.T) {
	sp := must(space.Legendre(space.Interval{A: 0, B: 1}, 2))
	times := []float64{0, 0.5, 1}
	zero := constant(1, times, 0)
	single := func(radius float64) mean.Config {
		return mean.Config{Space: sp, Radius: radius, Guarantee: privacy.GDP(1), Unit: "person", Raw: true}
	}
	for _, bug := range []struct {
		name     string
		releases int
		plant    func() (Subject, error)
	}{
		{"noise at 0.9", 80_000, func() (Subject, error) {
			s, err := MeanFTP(privacy.GDP(1 / 0.9))
			return claimed(s, err, privacy.GDP(1))
		}},
		{"pure noise at half", 20_000, func() (Subject, error) {
			s, err := MeanPure(2)
			return claimed(s, err, privacy.Pure(1))
		}},
		{"sensitivity without the factor 2", 20_000, func() (Subject, error) {
			s, err := MeanFTP(privacy.GDP(2))
			return claimed(s, err, privacy.GDP(1))
		}},
		{"add-remove noise where replace-one is claimed", 20_000, func() (Subject, error) {
			s, err := MeanPTF(privacy.GDP(2)) // B′/n in place of 2B′/n
			return claimed(s, err, privacy.GDP(1))
		}},
		{"sensitivity that forgets a component", 20_000, func() (Subject, error) {
			// Each component at μ = 1 by itself, as if they were two people's.
			one, err := pair(single(1), [2]fit.Curve{constant(1, times, -1), constant(1, times, 1)}, zero)
			return Subject{Name: "components", Claim: privacy.GDP(1), Release: func(k int, src *noise.Source) (float64, error) {
				first, err := one(k, src)
				if err != nil {
					return 0, err
				}
				second, err := one(k, src)
				if err != nil {
					return 0, err
				}
				return first.Coefficients[0][0] + second.Coefficients[0][0], nil
			}}, err
		}},
		{"radius taken from the data", 20_000, func() (Subject, error) {
			big, err := pair(single(1), [2]fit.Curve{zero, constant(1, times, 1)}, zero)
			if err != nil {
				return Subject{}, err
			}
			small, err := pair(single(0.5), [2]fit.Curve{constant(1, times, 0.5), zero}, zero)
			return Subject{Name: "peeking radius", Claim: privacy.GDP(1), Release: func(k int, src *noise.Source) (float64, error) {
				from := small
				if k == 1 {
					from = big
				}
				r, err := from(k, src)
				if err != nil {
					return 0, err
				}
				return r.Noise.Scale, nil
			}}, err
		}},
		{"seeded noise reused in two releases", 20_000, func() (Subject, error) {
			two, err := pair(single(1), [2]fit.Curve{constant(1, times, -1), constant(1, times, 1)}, zero)
			if err != nil {
				return Subject{}, err
			}
			base, err := pair(single(1), [2]fit.Curve{zero, zero}, zero)
			return Subject{Name: "reused seed", Claim: privacy.ComposeGDP(1, 1), Release: func(k int, src *noise.Source) (float64, error) {
				seed := src.Uint64()
				before, err := base(0, noise.Seeded(seed))
				if err != nil {
					return 0, err
				}
				after, err := two(k, noise.Seeded(seed))
				if err != nil {
					return 0, err
				}
				return after.Coefficients[0][0] - before.Coefficients[0][0], nil
			}}, err
		}},
	} {
		s, err := bug.plant()
		if r := run(t, s, err, bug.releases); !r.Refuted() {
			t.Errorf("%s: not caught: claimed %g, proven %g", bug.name, r.Claimed, r.Bound())
		}
	}
}

// lowBits is the attack on floating-point noise (Mironov 2012): the spacing of
// the floats that a release can be gives its data away.
func lowBits(y, step float64) int {
	if k := y / step; k == math.Trunc(k) && math.Abs(k) < 1<<62 {
		return 1
	}
	return 0
}

func TestFloatingPointAttackFails(t *testing.T) {
	const releases = 20_000
	sp := must(space.Legendre(space.Interval{A: 0, B: 1}, 1))
	c := mean.Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Raw: true}
	times := []float64{0, 1}
	var seen [2]map[string]int
	ball := must(lattice.NewBall(1, 1))
	src := noise.Seeded(11)
	sample, err := pair(c, [2]fit.Curve{constant(1, times, 0), constant(1, times, 1.0/3)}, constant(1, times, 0))
	if err != nil {
		t.Fatal(err)
	}
	for k := range seen {
		seen[k] = map[string]int{}
		for range releases {
			r, err := sample(k, src)
			if err != nil {
				t.Fatal(err)
			}
			y := r.Coefficients[0][0]
			// On the lattice: y is k·η/n for an integer k, to the last bit.
			sum := math.Round(y * meanPeople / ball.Step())
			if sum/meanPeople*ball.Step() != y {
				t.Fatalf("release %v is not on the lattice of step η/n", y)
			}
			seen[k][fmt.Sprint(int64(sum)&7)]++
		}
	}
	// The three low bits of the integer are uniform for either data set, up to
	// 6 standard deviations: 16 comparisons, false alarm below 1e-7.
	for k := range seen {
		for bits := range 8 {
			n := float64(seen[k][fmt.Sprint(bits)])
			if math.Abs(n-releases/8) > 6*math.Sqrt(releases/8) {
				t.Errorf("data set %d: low bits %d occur %v times in %d", k, bits, n, releases)
			}
		}
	}

	// The same attack on noise that is a float: the data 0 leave outputs off the
	// coarse grid of floats near 1024, the data 1024 never do.
	rnd := simulate.New(3)
	var hits [2]int
	for range releases {
		hits[0] += lowBits(0+rnd.NormFloat64(), math.Ldexp(1, -43))
		hits[1] += lowBits(1024+rnd.NormFloat64(), math.Ldexp(1, -43))
	}
	if hits[1] != releases || hits[0] > releases/100 {
		t.Errorf("the attack on float noise does not succeed: %d and %d of %d on the coarse grid", hits[0], hits[1], releases)
	}
}

func TestOptions(t *testing.T) {
	s := must(MeanFTP(privacy.GDP(1)))
	for _, o := range []Options{{Releases: 10}, {Releases: 1000, Confidence: 1}, {Releases: 1000, Confidence: math.NaN()}} {
		if _, err := Run(t.Context(), s, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
