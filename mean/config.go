// Package mean releases the mean curve of a cohort with a privacy guarantee
// for each person, by fit-then-protect or protect-then-fit ([FTP] Algorithms
// 1 and 2; methods §3).
//
//	fit-then-protect:  each curve → constrained fit in a space → integer vector
//	                   in a ball → exact sum → noise → projection onto the ball
//	protect-then-fit:  each curve → clipped samples on a common grid → integer
//	                   vector → exact sum → noise → one constrained fit
//
// Memory does not grow with the number of people; both cores fit.
package mean

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"runtime"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Method is the order of fitting and protecting.
type Method string

// The methods. Auto lets Plan choose between the other two from public numbers
// and needs Config.N.
const (
	FitThenProtect Method = "fit-then-protect"
	ProtectThenFit Method = "protect-then-fit"
	Auto           Method = "auto"
)

// Config says what is to be released. Everything in it is public: nothing may
// be read off the private data.
type Config struct {
	// Space is the function space of the released curve, on the domain in the
	// user's units of t.
	Space space.Space
	// Radius bounds the norm of a person's deviation from the reference: on
	// [a,b] a root-mean-square in the user's units of x, in a kernel space the
	// norm of its Hilbert space. Over all components jointly. A curve outside
	// is fitted by the nearest one inside.
	Radius float64
	// Guarantee is GDP, ZCDP, Approx, or, in finite-dimensional spaces with
	// fit-then-protect, Pure.
	Guarantee privacy.Guarantee
	// Unit names who is protected, such as "patient".
	Unit string
	// Method defaults to fit-then-protect.
	Method Method
	// Components names the output components; nil for one called "value".
	Components []string
	// Reference is a public curve for each component, subtracted before the
	// fit and added after the noise; nil for none.
	Reference []release.Reference
	// Grid is the common grid of sample times, public. Protect-then-fit needs
	// it; fit-then-protect ignores it.
	Grid []float64
	// Raw keeps the noisy coefficients as they are, as in the paper, instead of
	// projecting them onto the ball.
	Raw bool
	// N is the public number of people; 0 when not known beforehand. When
	// given, Release refuses any other number.
	N int64
	// XLabel and YLabel name the axes, with units.
	XLabel, YLabel string
	// UnixTime says that t counts seconds since 1970, for pictures and tables.
	UnixTime bool
}

func (c Config) withDefaults() Config {
	if c.Method == "" {
		c.Method = FitThenProtect
	}
	if c.Components == nil {
		c.Components = []string{"value"}
	}
	return c
}

// Validate reports the first thing that makes no sense, before any data is
// read.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Space == nil:
		return fmt.Errorf("mean: no function space given: take one, such as space.Legendre(domain, 6)")
	case !(c.Radius >= lattice.MinRadius && c.Radius <= lattice.MaxRadius):
		return fmt.Errorf("mean: radius %g must be a positive number: state a public bound on how far a curve can be from the reference", c.Radius)
	case c.Guarantee == nil:
		return fmt.Errorf("mean: no guarantee given: state one, such as privacy.GDP(1)")
	case c.Unit == "":
		return fmt.Errorf("mean: no unit of privacy given: name who is protected, such as \"patient\"")
	case c.N < 0 || c.N > lattice.MaxN:
		return fmt.Errorf("mean: number of people %d must lie between 1 and %d", c.N, int64(lattice.MaxN))
	case len(c.Components) == 0:
		return fmt.Errorf("mean: no components: name at least one")
	case c.Reference != nil && len(c.Reference) != len(c.Components):
		return fmt.Errorf("mean: %d reference curves for %d components: give one for each, or none", len(c.Reference), len(c.Components))
	}
	if err := c.Guarantee.Validate(); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	for k, r := range c.Reference {
		if err := r.Validate(c.Space.Domain()); err != nil {
			return fmt.Errorf("mean: reference curve of %s: %w", c.Components[k], err)
		}
	}
	if _, pure := c.Guarantee.(privacy.Pure); pure {
		if _, kernel := c.Space.(*space.KernelSpace); kernel {
			return fmt.Errorf("mean: pure ε needs a finite-dimensional space: take legendre, fourier, cosine or bspline, or state μ, ρ or (ε,δ) instead")
		}
		if c.Method != FitThenProtect {
			return fmt.Errorf("mean: pure ε is available with %s only", FitThenProtect)
		}
	}
	if err := c.rehearse(); err != nil {
		return err
	}
	switch c.Method {
	case FitThenProtect:
		return nil
	case Auto:
		if c.N == 0 {
			return fmt.Errorf("mean: the automatic choice of a method needs the public number of people beforehand")
		}
		fallthrough
	case ProtectThenFit:
		return c.validateGrid()
	}
	return fmt.Errorf("mean: unknown method %q: take %s, %s or %s", c.Method, FitThenProtect, ProtectThenFit, Auto)
}

// rehearse makes the release of a mean that is 0: what the mechanism or the
// format would refuse is refused before any data is read.
func (c Config) rehearse() error {
	c.Method = FitThenProtect
	mech, err := c.mechanism()
	if err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	r := c.newRelease(max(1, c.N), mech, true)
	r.Coefficients = split(make([]float64, c.Space.Dim()*len(c.Components)), len(c.Components))
	return check(r)
}

func (c Config) validateGrid() error {
	if len(c.Grid) == 0 {
		return fmt.Errorf("mean: %s needs the common grid of sample times; with times that differ between people use %s", ProtectThenFit, FitThenProtect)
	}
	for j, t := range c.Grid {
		if !c.Space.Domain().Contains(t) {
			return fmt.Errorf("mean: grid time %g is outside the domain of %v", t, c.Space)
		}
		if j > 0 && t <= c.Grid[j-1] {
			return fmt.Errorf("mean: grid time %g does not come after %g", t, c.Grid[j-1])
		}
		if a := c.Space.Bound(t); !(a > 0) {
			return fmt.Errorf("mean: every function of %v is zero at time %g, so that sample has no weight: leave the time out, or use %s", c.Space, t, FitThenProtect)
		}
	}
	return nil
}

// ball returns the ball that the method's person vectors live in.
func (c Config) ball() (lattice.Ball, error) {
	if c.Method == ProtectThenFit {
		// Samples divided by their clip bounds lie in [−1,1] each.
		m := len(c.Grid) * len(c.Components)
		return lattice.NewBall(math.Sqrt(float64(m)), m)
	}
	return lattice.NewBall(c.Radius, c.Space.Dim()*len(c.Components))
}

func (c Config) mechanism() (mechanism.Mechanism, error) {
	ball, err := c.ball()
	if err != nil {
		return nil, err
	}
	return mechanism.New(ball, c.Guarantee)
}

// fingerprint identifies all that must agree for two partial sums to be of the
// same release.
func (c Config) fingerprint() ([sha256.Size]byte, error) {
	sp, err := json.Marshal(c.Space)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	// The modes of a kernel are computed eigenvectors: the last bits, and with
	// them a sign, can differ between processors' arithmetic.
	processor := ""
	if _, kernel := c.Space.(*space.KernelSpace); kernel {
		processor = runtime.GOARCH
	}
	text, err := json.Marshal(struct {
		Processor  string `json:",omitempty"`
		Space      json.RawMessage
		Radius     float64
		Privacy    privacy.Statement
		Method     Method
		Components []string
		Reference  []release.Reference
		Grid       []float64
		Raw        bool
		N          int64
	}{processor, sp, c.Radius, c.statement(), c.Method, c.Components, c.Reference, c.Grid, c.Raw, c.N})
	return sha256.Sum256(text), err
}

func (c Config) statement() privacy.Statement {
	return privacy.Statement{Guarantee: c.Guarantee, Adjacency: privacy.ReplaceOne, Unit: c.Unit}
}
