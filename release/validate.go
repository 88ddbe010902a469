// What makes a release valid. Run before encoding and after decoding, so that
// no file and no curve exists that breaks these rules.

package release

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/curveil/curveil/privacy"
)

// methods lists what version 1 of the format knows: verb → methods.
var methods = map[string][]string{
	Mean:  {FitThenProtect, ProtectThenFit},
	Curve: {"project", "select", "segment", Denoised},

	Density: {Projection, Layered, Family},

	Regression: {HuberSGD},
}

// fault is an error at a place in the release, written as its JSON path.
type fault struct {
	path string
	err  error
}

func (f *fault) Error() string { return fmt.Sprintf("release: at $%s: %v", f.path, f.err) }
func (f *fault) Unwrap() error { return f.err }

func faultf(path, format string, args ...any) error {
	return &fault{path, fmt.Errorf(format, args...)}
}

// Validate checks everything a reader relies on: known verb and method,
// lengths, finiteness, distinct printable component names, the law of the
// noise, a guarantee that this law can give, positive N and Radius (N = 1 and no
// Radius for a curve), references that cover the domain. For a fit-then-protect mean it also checks that the
// noise is no smaller than the guarantee, N and Radius require. The error names
// the JSON path of the first fault.
func (r *Release) Validate() error {
	for _, check := range []func() error{r.checkMethod, r.checkPublic, r.checkText, r.checkSpace, r.checkCoefficients, r.checkReference, r.checkNoise, r.checkDensity, r.checkGuarantee} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) checkMethod() error {
	known, ok := methods[r.Verb]
	if !ok {
		return faultf(".verb", "unknown verb %q; this version of curveil knows %q, %q, %q and %q", r.Verb, Mean, Curve, Density, Regression)
	}
	if !slices.Contains(known, r.Method) {
		return faultf(".method", "unknown method %q of verb %q; known are %q", r.Method, r.Verb, known)
	}
	return nil
}

func (r *Release) checkPublic() error {
	if r.Verb == Curve {
		if r.N != 1 {
			return faultf(".n", "a curve is that of 1 person, found %d", r.N)
		}
		if r.Radius != 0 {
			return faultf(".radius", "no ball bounds a curve: leave the radius %v out", r.Radius)
		}
		return nil
	}
	if r.N < 1 {
		return faultf(".n", "number of persons %d must be at least 1", r.N)
	}
	if r.Verb == Density {
		if r.Radius != 0 {
			return faultf(".radius", "a density has no radius: its sensitivity is that of its space; remove it")
		}
		return nil
	}
	if r.Verb == Regression && r.Radius == 0 {
		return nil // no ball
	}
	if !finite(r.Radius) || r.Radius <= 0 {
		return faultf(".radius", "radius %v must be positive and finite", r.Radius)
	}
	return nil
}

func (r *Release) checkText() error {
	if len(r.Components) == 0 || len(r.Components) > maxComponents {
		return faultf(".components", "%d components; between 1 and %d are accepted", len(r.Components), maxComponents)
	}
	seen := make(map[string]int)
	for i, name := range r.Components {
		path := fmt.Sprintf(".components[%d]", i)
		if name == "" {
			return faultf(path, "a component needs a name")
		}
		if err := checkText(name); err != nil {
			return &fault{path, err}
		}
		if j, ok := seen[name]; ok {
			return faultf(path, "name %q is already that of component %d; give distinct names", name, j)
		}
		seen[name] = i
	}
	if err := checkText(r.XLabel); err != nil {
		return &fault{".x_label", err}
	}
	if err := checkText(r.YLabel); err != nil {
		return &fault{".y_label", err}
	}
	if r.UnixTime {
		if r.Space == nil {
			return faultf(".unix_time", "a function of several variables has no time")
		}
		// What a calendar of four digits can write.
		if d := r.Space.Domain(); d.A < -62135596800 || d.B > 253402300799 {
			return faultf(".unix_time", "the domain %v does not lie between the years 1 and 9999", d)
		}
	}
	return nil
}

// checkText keeps out what would not survive JSON or would play with a terminal.
func checkText(s string) error {
	if len(s) > maxText {
		return fmt.Errorf("text of %d bytes, at most %d are accepted", len(s), maxText)
	}
	if !utf8.ValidString(s) {
		return errors.New("text is not valid UTF-8")
	}
	for _, c := range s {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return fmt.Errorf("text %q holds the unprintable character %U; remove it", s, c)
		}
	}
	return nil
}

func (r *Release) checkSpace() error {
	switch {
	case r.Space == nil && r.Box == nil:
		return faultf(".space", "a release needs a space")
	case r.Space != nil && r.Box != nil:
		return faultf(".space", "a release has one space: of one variable or on a box, not both")
	case r.Box != nil:
		return r.checkBox()
	}
	d := r.Space.Domain()
	if !finite(d.A) || !finite(d.B) || !(d.A < d.B) {
		return faultf(".space.domain", "[%v, %v] is not an interval a < b of finite numbers", d.A, d.B)
	}
	if dim := r.Space.Dim(); dim < 1 || dim > maxCoefficients/len(r.Components) {
		return faultf(".space", "dimension %d with %d components; at least 1 and at most %d coefficients in all are accepted", dim, len(r.Components), maxCoefficients)
	}
	return nil
}

func (r *Release) checkCoefficients() error {
	if err := r.checkMatrix(".coefficients", r.Coefficients); err != nil {
		return err
	}
	if r.Raw == nil {
		return nil
	}
	return r.checkMatrix(".raw", r.Raw)
}

func (r *Release) checkMatrix(path string, m [][]float64) error {
	if len(m) != len(r.Components) {
		return faultf(path, "%d rows for %d components; give one row per component", len(m), len(r.Components))
	}
	for k, row := range m {
		if len(row) != r.dim() {
			return faultf(fmt.Sprintf("%s[%d]", path, k), "%d coefficients, the space %s has dimension %d", len(row), r.spaceText(), r.dim())
		}
		for j, v := range row {
			if !finite(v) {
				return faultf(fmt.Sprintf("%s[%d][%d]", path, k, j), "coefficient %v is not finite", v)
			}
		}
	}
	return nil
}

func (r *Release) checkReference() error {
	if r.Reference == nil {
		return nil
	}
	if r.Verb == Density {
		return faultf(".reference", "a density has no reference")
	}
	if len(r.Reference) != len(r.Components) {
		return faultf(".reference", "%d references for %d components; give none or one per component", len(r.Reference), len(r.Components))
	}
	for k, ref := range r.Reference {
		if err := ref.Validate(r.Domains()[0]); err != nil {
			return &fault{fmt.Sprintf(".reference[%d]", k), err}
		}
	}
	return nil
}

func (r *Release) checkNoise() error {
	if at, err := r.Noise.validate(r.dim()); err != nil {
		return &fault{".noise" + at, err}
	}
	linearised, layered := r.Noise.Law == GaussianLinearised, r.Noise.Law == GaussianLayered
	if linearised != (r.Method == ProtectThenFit) || layered != (r.Verb == Density) {
		return faultf(".noise.law", "law %q does not belong to method %q", r.Noise.Law, r.Method)
	}
	return nil
}

func (r *Release) checkGuarantee() error {
	if err := r.Privacy.Validate(); err != nil {
		return &fault{".privacy", err}
	}
	if err := checkText(r.Privacy.Unit); err != nil {
		return &fault{".privacy.unit", err}
	}
	if r.Verb == Curve {
		return r.checkMetricGuarantee()
	}
	if r.Verb == Regression {
		return r.checkLocalGuarantee()
	}
	if r.Privacy.Adjacency != privacy.ReplaceOne {
		return faultf(".privacy.adjacency", "%q does not belong to a %s; it is %q (n is public)", r.Privacy.Adjacency, r.Verb, privacy.ReplaceOne)
	}
	g := r.Privacy.Guarantee
	if pure, ok := g.(privacy.Pure); ok {
		if r.Noise.Law != SphericalLaplace {
			return faultf(".privacy", "%v cannot come from noise of law %q, whose ratio of densities is unbounded", g, r.Noise.Law)
		}
		return r.checkScale(float64(pure))
	}
	if r.Noise.Law == SphericalLaplace {
		return faultf(".privacy", "noise of law %q gives a pure guarantee, found %v; state that one, the others follow", r.Noise.Law, g)
	}
	mu, err := privacy.GaussianMu(g)
	if err != nil {
		return &fault{".privacy", err}
	}
	if r.Noise.Law == GaussianLayered {
		return r.checkLayers(float64(mu))
	}
	if r.Noise.Law == Gaussian {
		return r.checkScale(float64(mu))
	}
	return nil
}

// checkScale refuses noise that is too small for the mean of N vectors in the
// ball: replacing one moves it by up to 2·Radius/N, so the scale must be at
// least 2·Radius/(N·loss), loss = μ or ε. The slack is for rounding in files
// and conversions, not for the mechanism, which rounds toward privacy.
func (r *Release) checkScale(loss float64) error {
	need := 2 * r.Radius / float64(r.N) / loss
	if r.Noise.Scale < need*(1-1e-9) {
		return faultf(".noise.scale", "%v is too small for the stated guarantee: radius %v, n %d and a loss of %v need %v", r.Noise.Scale, r.Radius, r.N, loss, need)
	}
	return nil
}

// checkMetricGuarantee is checkGuarantee for one person's curve: the law must be
// able to give the guarantee, and the noise be no smaller than if all of the
// budget had gone into it. Coordinates are per root mean square distance, which
// metric l2 multiplies by the root of the length of the domain.
func (r *Release) checkMetricGuarantee() error {
	d := r.Space.Domain()
	unit := 1.0
	if r.Privacy.Metric == privacy.L2 {
		unit = math.Sqrt(d.B - d.A)
	}
	var law string
	var need float64
	switch g := r.Privacy.Guarantee.(type) {
	case privacy.Geo:
		law, need = SphericalLaplace, 1/(float64(g)*unit)
	case privacy.ConcentratedGeo:
		law, need = Gaussian, 1/(math.Sqrt(2*float64(g))*unit)
	default:
		return faultf(".privacy", "%v does not belong to a %s, whose guarantee is per unit of distance (geo or concentrated-geo)", g, r.Verb)
	}
	if r.Noise.Law != law {
		return faultf(".noise.law", "%v of a curve comes from noise of law %q, found %q", r.Privacy.Guarantee, law, r.Noise.Law)
	}
	if r.Noise.Scale < need*(1-1e-9) {
		return faultf(".noise.scale", "%v is too small for %v: it needs at least %v", r.Noise.Scale, r.Privacy.Guarantee, need)
	}
	return nil
}
