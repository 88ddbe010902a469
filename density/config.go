// Package density releases a smooth density of points in a public box, with a guarantee for each person
// ([DEN]; methods §6).
//
//	each person's points → products of Fourier or cosine functions, averaged → integers → exact sum
//	→ Gaussian noise in shells of frequencies → a rank chosen from the noisy coefficients → a density
//
// Memory does not grow with the number of people; all cores work. What follows the noisy coefficients is
// free: the choice of the rank, shrinkage, projection onto densities, marginals, synthetic points ([Of]).
package density

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Basis is the family of functions.
type Basis string

// The bases. Auto is cosine unless Config.Periodic says that the density is periodic, a public fact.
const (
	Auto    Basis = "auto"
	Fourier Basis = "fourier"
	Cosine  Basis = "cosine"
)

// Method is how noise is spent on ranks.
type Method string

// The methods.
const (
	// Layered adds noise once to all coefficients of the largest rank, shell by shell, under one joint
	// account; every lower rank is a part of it, and one is chosen by a Rule.
	Layered Method = "layered"
	// Projection adds noise to one fixed rank.
	Projection Method = "projection"
	// Family is the paper's: ranks 1, 2, 4, …, each with its own noise and an equal part of ρ. For comparison.
	Family Method = "family"
)

// Rule chooses the rank from noisy coefficients.
type Rule string

// The rules, with V(M) the sampling and privacy variance of rank M.
const (
	// Lepskii1 takes the smallest M with ‖f_M − f_M′‖² ≤ κV(M′) for all larger M′; κ = 1.5 (2 for a
	// family) unless given. Below 1 it falls off a cliff.
	Lepskii1 Rule = "lepskii-1"
	// Lepskii2 minimises max_{M′≥M}(‖f_M′ − f_M‖² − κ₁V(M′))₊ + κ₂V(M) (Goldenshluger and Lepskii);
	// (κ₁, κ₂) = (0.5, 2) unless given, (1.25, 0.75) for a family.
	Lepskii2 Rule = "lepskii-2"
)

// Outside says what becomes of a point outside the box.
type Outside string

// Zero lets the point count in n and nowhere else, so that the density loses its mass's shape there and not in
// the rest; Clamp moves it to the nearest point of the box. Both are equally private.
const (
	Zero  Outside = "zero"
	Clamp Outside = "clamp"
)

// Config says what is to be released. Everything in it is public: nothing may be read off the private data.
type Config struct {
	// Box is the domain of each of 1…4 variables, in their units.
	Box []space.Interval
	// Names of the variables, for axes; nil for none.
	Names []string
	// Basis defaults to Auto, Set to the full cube of frequencies.
	Basis    Basis
	Periodic bool
	Set      space.Set
	// Rank is the largest rank M of all axes, or of each; nil chooses it from N and the guarantee.
	Rank []int
	// Method defaults to Layered, Rule to Lepskii1, Kappa to the rule's constants.
	Method Method
	Rule   Rule
	Kappa  []float64
	// Plain leaves the chosen shells as they are, instead of shrinking each towards zero by the known
	// variance (block James–Stein). Projection never shrinks.
	Plain bool
	// Guarantee is ZCDP, GDP or Approx.
	Guarantee privacy.Guarantee
	// Unit names who is protected, such as "rider".
	Unit    string
	Outside Outside
	// N is the public number of people; 0 when not known beforehand, which requires a Rank. When given,
	// Release refuses any other number.
	N int64
}

func (c Config) withDefaults() Config {
	if c.Basis == "" || c.Basis == Auto {
		c.Basis = Cosine
		if c.Periodic {
			c.Basis = Fourier
		}
	}
	if c.Set == "" {
		c.Set = space.Cube
	}
	if c.Method == "" {
		c.Method = Layered
	}
	if c.Outside == "" {
		c.Outside = Zero
	}
	if c.Method == Projection {
		c.Rule, c.Kappa, c.Plain = "", nil, true
		return c
	}
	if c.Rule == "" {
		c.Rule = Lepskii1
	}
	if c.Kappa == nil {
		switch {
		case c.Rule == Lepskii1 && c.Method == Family:
			c.Kappa = []float64{2}
		case c.Rule == Lepskii1:
			c.Kappa = []float64{1.5}
		case c.Rule == Lepskii2 && c.Method == Family:
			c.Kappa = []float64{1.25, 0.75}
		case c.Rule == Lepskii2:
			c.Kappa = []float64{0.5, 2}
		}
	}
	return c
}

// Validate reports the first thing that makes no sense, before any data is read.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case len(c.Box) < 1 || len(c.Box) > space.MaxVariables:
		return fmt.Errorf("density: a box of %d variables: give the public bounds of 1 to %d", len(c.Box), space.MaxVariables)
	case c.Names != nil && len(c.Names) != len(c.Box):
		return fmt.Errorf("density: %d names for %d variables: give one for each, or none", len(c.Names), len(c.Box))
	case c.Basis != Fourier && c.Basis != Cosine:
		return fmt.Errorf("density: unknown basis %q: take %s, %s or %s", c.Basis, Auto, Fourier, Cosine)
	case c.Periodic && c.Basis == Cosine:
		return fmt.Errorf("density: a periodic density has the basis %s; leave one of the two out", Fourier)
	case c.Method != Layered && c.Method != Projection && c.Method != Family:
		return fmt.Errorf("density: unknown method %q: take %s, %s or %s", c.Method, Layered, Projection, Family)
	case c.Outside != Zero && c.Outside != Clamp:
		return fmt.Errorf("density: unknown treatment %q of points outside the box: take %s or %s", c.Outside, Zero, Clamp)
	case c.Guarantee == nil:
		return fmt.Errorf("density: no guarantee given: state one, such as privacy.ZCDP(0.5)")
	case c.Unit == "":
		return fmt.Errorf("density: no unit of privacy given: name who is protected, such as \"rider\"")
	case c.N < 0 || c.N > maxN:
		return fmt.Errorf("density: number of people %d must lie between 1 and %d", c.N, int64(maxN))
	case c.Rank == nil && c.N == 0:
		return fmt.Errorf("density: without a rank the public number of people must be known beforehand: give one of them")
	}
	if _, err := privacy.GaussianMu(c.Guarantee); err != nil {
		return fmt.Errorf("density: %w", err)
	}
	for i, d := range c.Box {
		if err := d.Validate(); err != nil {
			return fmt.Errorf("density: variable %d: %w", i+1, err)
		}
	}
	if v := volume(c.Box); !(v >= 1e-100 && v <= 1e100) {
		return fmt.Errorf("density: the volume %g of the box must lie in [1e-100, 1e100]: use other units", v)
	}
	return c.validateRule()
}

func (c Config) validateRule() error {
	if c.Method == Projection {
		if c.Rank == nil {
			return fmt.Errorf("density: a projection has a fixed rank: give it, or take the method %s", Layered)
		}
		return nil
	}
	want := map[Rule]int{Lepskii1: 1, Lepskii2: 2}[c.Rule]
	if want == 0 {
		return fmt.Errorf("density: unknown rule %q: take %s or %s", c.Rule, Lepskii1, Lepskii2)
	}
	if len(c.Kappa) != want {
		return fmt.Errorf("density: %d constants κ for rule %s: it has %d", len(c.Kappa), c.Rule, want)
	}
	for _, k := range c.Kappa {
		if !(k >= 0) || math.IsInf(k, 0) {
			return fmt.Errorf("density: κ = %g must be finite and not negative", k)
		}
	}
	return nil
}

// maxN keeps sums in 62 bits for every number of variables.
const maxN = 1 << 29

func volume(box []space.Interval) float64 {
	v := 1.0
	for _, d := range box {
		v *= d.Length()
	}
	return v
}

// space is the space of the largest rank.
func (c Config) space(rank []int) (*space.Tensor, error) {
	if c.Basis == Fourier {
		return space.FourierBox(c.Box, rank, c.Set)
	}
	return space.CosineBox(c.Box, rank, c.Set)
}

// caps bound the automatic rank for each number of variables, so that a release stays below ten thousand
// coefficients or so.
var caps = map[Basis][]int{
	Fourier: {128, 16, 8, 4},
	Cosine:  {256, 32, 16, 8},
}

// familyLimits bound the variance of the noisy estimate at the largest rank of a family, in the uniform density's square,
// for each number of variables. ([DEN] leaves the family open.) Twice the rank has 4^d times the variance, so that in
// several variables a low limit can stop a peaked density far below the rank that it needs; in one variable a high
// one makes smooth densities pay for shells that nothing is in. In the settings of TestExperiment these lose least
// against the best of all ranks.
var familyLimits = []float64{0.125, 1, 2, 4}

// resolve fills in the rank: the largest power of two up to the cap that keeps the limit.
func (c Config) resolve() (Config, *account, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return c, nil, err
	}
	if c.Rank == nil {
		m, err := c.largestRank(familyLimits[len(c.Box)-1])
		if err != nil {
			return c, nil, err
		}
		c.Rank = []int{m}
	}
	a, err := newAccount(c)
	return c, a, err
}

// largestRank is the largest power of two, up to the cap, at which the variance of a projection is at most the limit.
func (c Config) largestRank(limit float64) (int, error) {
	mu, err := privacy.GaussianMu(c.Guarantee)
	if err != nil {
		return 0, err
	}
	rank := 1
	for m := 2; m <= caps[c.Basis][len(c.Box)-1]; m *= 2 {
		v, err := c.variance(m, float64(mu))
		if err != nil {
			return 0, err
		}
		if v > limit {
			break
		}
		rank = m
	}
	return rank, nil
}

// variance of a projection of rank m in the units of the uniform density: D/n + (D−1)σ².
func (c Config) variance(m int, mu float64) (float64, error) {
	s, err := c.space([]int{m})
	if err != nil {
		return 0, err
	}
	spread := 2.44 * float64(s.Dim()) // 2(D − min D_M) ≈ 2·1.22·D
	if c.Basis == Cosine {
		spread = 2 * signedSum(s) // two corners that differ in all functions of odd frequency
	}
	n, dim := float64(c.N), float64(s.Dim())
	return dim/n + (dim-1)*spread/(n*n*mu*mu), nil
}

// signedSum is Σ over functions of 2^{frequencies that are not 0}: ‖e‖² less the constant at a corner, of cosines.
func signedSum(s *space.Tensor) float64 {
	sum := 0.0
	for j, l := range s.Levels() {
		if l == 0 {
			continue
		}
		w := 1.0
		for i := range s.Box() {
			if s.Frequency(j, i) > 0 {
				w *= 2
			}
		}
		sum += w
	}
	return sum
}

func (c Config) statement() privacy.Statement {
	return privacy.Statement{Guarantee: c.Guarantee, Adjacency: privacy.ReplaceOne, Unit: c.Unit}
}

// fingerprint identifies all that must agree for two partial sums to be of the same release.
func (c Config) fingerprint() ([sha256.Size]byte, error) {
	text, err := json.Marshal(struct {
		Box     []space.Interval
		Basis   Basis
		Set     space.Set
		Rank    []int
		Method  Method
		Rule    Rule
		Kappa   []float64
		Plain   bool
		Privacy privacy.Statement
		Outside Outside
		N       int64
		Names   []string
	}{c.Box, c.Basis, c.Set, c.Rank, c.Method, c.Rule, c.Kappa, c.Plain, c.statement(), c.Outside, c.N, c.Names})
	return sha256.Sum256(text), err
}

// ranksUpTo is 1, 2, 4, … and m itself.
func ranksUpTo(m int) []float64 {
	var ranks []float64
	for k := 1; k < m; k *= 2 {
		ranks = append(ranks, float64(k))
	}
	return append(slices.Clip(ranks), float64(m))
}
