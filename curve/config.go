// What is public about a release: everything but the curve.

package curve

import (
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Method is how a curve is released; see the package comment.
type Method string

const (
	Auto    Method = "auto"
	Project Method = "project"
	Select  Method = "select"
	Segment Method = "segment"
	Denoise Method = "denoise"
)

// Methods are all that Config.Method takes.
var Methods = []Method{Auto, Project, Select, Segment, Denoise}

// Reduce says whether segment tries to merge pieces.
type Reduce string

const (
	// ReduceUseful skips the checks when, publicly, none could pass even on a
	// straight line without noise, and keeps their budget (the default).
	ReduceUseful Reduce = "useful"
	ReduceAlways Reduce = "always" // [GEO] Algorithms 4 and 8 to the letter
	ReduceNever  Reduce = "never"
)

// Config is everything public about a release.
type Config struct {
	// Window is the interval of times that the release covers. A curve with
	// samples outside is refused: cut it first.
	Window space.Interval
	// Guarantee is the budget per unit of Metric: privacy.Geo or
	// privacy.ConcentratedGeo.
	Guarantee privacy.Guarantee
	// Metric is privacy.RMS (default) or privacy.L2.
	Metric privacy.Metric
	// Unit is what is protected (default "curve"); Distance the unit of the
	// values, such as "m".
	Unit, Distance string
	// Components are the public names of the components, at least one.
	Components []string
	// Method is how to release; empty means Auto.
	Method Method
	// Space is where Project and Select look for the curve, on the Window; nil
	// means Legendre polynomials of degree up to 12. For kernels and given Gram
	// matrices there is no projection of a curve: they are refused.
	Space space.Space
	// Polynomials is the number of polynomials per piece for Segment, m: degree
	// m−1; 0 means 2.
	Polynomials int
	// MaxLevel bounds the pieces of Segment and Denoise by 2^MaxLevel; 0 means 10.
	MaxLevel int
	// Beta is the failure probability that Segment's checks are set for; 0
	// means 0.1.
	Beta float64
	// Reduce is when Segment tries to merge pieces.
	Reduce Reduce
	// Continuous asks Project (piecewise) and Segment for the nearest continuous
	// function: post-processing. Denoise is continuous as it is.
	Continuous bool
	// Roughness is a public guess, for Denoise under privacy.Geo, of how far
	// the curve moves: the root mean square change of one component over 1/64 of
	// the window, in units of the values. 0 means unknown: then an eighth of the
	// budget buys the level. The release is private whatever the guess; a good
	// one, within a factor of three, makes it more accurate.
	Roughness float64
	// MaxGap is the longest stretch of the window without a sample that is
	// interpolated, in units of t; 0 means any.
	MaxGap float64

	XLabel, YLabel string // public, may be empty
	UnixTime       bool   // t counts seconds since 1970, for pictures and tables
}

// defaults fills in what was left empty.
func (c Config) defaults() Config {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&c.Unit, "curve")
	set((*string)(&c.Metric), string(privacy.RMS))
	set((*string)(&c.Method), string(Auto))
	set((*string)(&c.Reduce), string(ReduceUseful))
	if c.Polynomials == 0 {
		c.Polynomials = 2
	}
	if c.MaxLevel == 0 {
		c.MaxLevel = 10
	}
	if c.Beta == 0 {
		c.Beta = 0.1
	}
	return c
}

func (c Config) validate() error {
	if err := c.Window.Validate(); err != nil {
		return fmt.Errorf("curve: window: %w", err)
	}
	switch c.Guarantee.(type) {
	case privacy.Geo, privacy.ConcentratedGeo, nil:
	default:
		return fmt.Errorf("curve: %v is not per unit of distance: give privacy.Geo (ε) or privacy.ConcentratedGeo (ρ)", c.Guarantee)
	}
	if err := c.statement().Validate(); err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	switch {
	case len(c.Components) == 0:
		return fmt.Errorf("curve: no components: name at least one, such as \"x\"")
	case !slices.Contains(Methods, c.Method):
		return fmt.Errorf("curve: method %q is not known: use one of %q", c.Method, Methods)
	case !slices.Contains([]Reduce{ReduceUseful, ReduceAlways, ReduceNever}, c.Reduce):
		return fmt.Errorf("curve: reduce %q is not known: use %q, %q or %q", c.Reduce, ReduceUseful, ReduceAlways, ReduceNever)
	case c.Polynomials < 1 || c.Polynomials > 32:
		return fmt.Errorf("curve: %d polynomials per piece: give 1 to 32", c.Polynomials)
	case c.MaxLevel < 1 || c.MaxLevel > 14 || c.Polynomials<<c.MaxLevel > space.MaxPiecewiseDim:
		return fmt.Errorf("curve: 2^%d pieces of %d polynomials: give a level of 1 to 14 and at most %d functions in all", c.MaxLevel, c.Polynomials, space.MaxPiecewiseDim)
	case !(c.Beta > 0 && c.Beta < 1):
		return fmt.Errorf("curve: beta %g must lie strictly between 0 and 1", c.Beta)
	case !(c.Roughness >= 0) || math.IsInf(c.Roughness, 0):
		return fmt.Errorf("curve: roughness %g must be positive, or 0 for unknown", c.Roughness)
	case !(c.MaxGap >= 0):
		return fmt.Errorf("curve: largest gap %g must be positive, or 0 for any", c.MaxGap)
	}
	// Before anything is spent: the finest pieces must have a length.
	ulp := math.Nextafter(math.Max(math.Abs(c.Window.A), math.Abs(c.Window.B)), math.Inf(1)) - math.Max(math.Abs(c.Window.A), math.Abs(c.Window.B))
	if c.Window.Length()/math.Ldexp(1, c.MaxLevel) < 16*ulp {
		return fmt.Errorf("curve: the window %v is too short for 2^%d pieces in 64-bit numbers: count time from near the window, or lower MaxLevel", c.Window, c.MaxLevel)
	}
	if c.Space != nil {
		return c.checkSpace()
	}
	return nil
}

func (c Config) checkSpace() error {
	if c.Space.Domain() != c.Window {
		return fmt.Errorf("curve: the space is on %v, the window is %v: make the space on the window", c.Space.Domain(), c.Window)
	}
	if !space.Averaging(c.Space) {
		return fmt.Errorf("curve: %v has an inner product of its own: a curve is projected in the average over the window, so use legendre, fourier, cosine, bspline, piecewise, sinc or hermite", c.Space)
	}
	return nil
}

func (c Config) statement() privacy.Statement {
	return privacy.Statement{Guarantee: c.Guarantee, Unit: c.Unit, Metric: c.Metric, Distance: c.Distance}
}

// perRMS is the guarantee of the user's metric g as one per root mean square
// distance: l2 is rms·√T, T the length of the window. Rounded down.
func (c Config) perRMS(g privacy.Guarantee) privacy.Guarantee {
	if c.Metric == privacy.RMS {
		return g
	}
	length := c.Window.Length()
	switch g := g.(type) {
	case privacy.Geo:
		return privacy.Geo(privacy.MulDown(float64(g), privacy.SqrtDown(length)))
	case privacy.ConcentratedGeo:
		return privacy.ConcentratedGeo(privacy.MulDown(float64(g), length))
	}
	panic("curve: guarantee of another kind")
}
