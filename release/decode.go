// Reading a release: strictly, for a field that is not understood may be the
// one that matters.

package release

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Decode reads one release. It refuses what it does not know or what does not
// hold together: another version, unknown, duplicate or missing fields, null,
// numbers that are not finite 64-bit floats, data after the end, input over
// 64 MiB, anything [Release.Validate] refuses, an "equivalent" block that
// claims more privacy than the guarantee gives, and a "curve" block that
// differs from what the coefficients evaluate to here. Errors name the JSON
// path, or line and column where the input is not JSON.
func Decode(src io.Reader) (*Release, error) {
	raw, err := readAll(src)
	if err != nil {
		return nil, err
	}
	o, err := asObject(raw, "")
	if err != nil {
		return nil, err
	}
	if err := checkFormat(o); err != nil {
		return nil, err
	}
	r := new(Release)
	var eq equivalents
	var curve values
	var sample boxValues
	steps := []func() error{
		func() error { return need(o, "private", &r.Private, asBool) },
		func() error { return need(o, "verb", &r.Verb, asString) },
		func() error { return need(o, "method", &r.Method, asString) },
		func() error { return need(o, "n", &r.N, asInt) },
		func() error {
			if r.Verb == Curve || r.Verb == Density {
				return nil // left over, and so refused, if there
			}
			if r.Verb == Regression {
				return may(o, "radius", &r.Radius, asFloat)
			}
			return need(o, "radius", &r.Radius, asFloat)
		},
		func() error { return need(o, "privacy", &r.Privacy, asStatement) },
		func() error {
			if r.Verb == Curve {
				return nil
			}
			return may(o, "equivalent", &eq, asEquivalents)
		},
		func() error { return need(o, "components", &r.Components, asStrings) },
		func() error { return may(o, "x_label", &r.XLabel, asString) },
		func() error { return may(o, "y_label", &r.YLabel, asString) },
		func() error { return may(o, "unix_time", &r.UnixTime, asBool) },
		func() error { return may(o, "variables", &r.Variables, asStrings) },
		func() error { return r.takeSpace(o, &curve, &sample) },
		func() error { return may(o, "reference", &r.Reference, asList(asReference, maxComponents)) },
		func() error { return need(o, "noise", &r.Noise, asNoise) },
		func() error { return may(o, "selection", &r.Selection, asSelection) },
		func() error { return need(o, "coefficients", &r.Coefficients, asMatrix) },
		func() error { return may(o, "raw", &r.Raw, asMatrix) },
		func() error { return o.done(fmt.Sprintf("version %d of the format has no such field", formatVersion)) },
		r.Validate,
		func() error { return r.checkEquivalents(eq) },
		func() error {
			if r.Box != nil {
				return r.checkSample(sample)
			}
			return r.checkCurve(curve)
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func checkFormat(o *object) error {
	var name string
	var version int64
	if err := need(o, "curveil", &name, asString); err != nil {
		return fmt.Errorf("%w; this is not a curveil release", err)
	}
	if name != formatName {
		return faultf(".curveil", "the file is a %q, expected a %q", name, formatName)
	}
	if err := need(o, "version", &version, asInt); err != nil {
		return err
	}
	if version != formatVersion {
		return faultf(".version", "version %d is unknown; this curveil reads version %d: use a newer curveil", version, formatVersion)
	}
	return nil
}

func asStatement(raw json.RawMessage, path string) (privacy.Statement, error) {
	var s privacy.Statement
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, &fault{path, err}
	}
	return s, nil
}

func asSpace(raw json.RawMessage, path string) (space.Space, error) {
	s, err := space.Unmarshal(raw)
	if err != nil {
		return nil, &fault{path, err}
	}
	return s, nil
}

func asReference(raw json.RawMessage, path string) (Reference, error) {
	o, err := asObject(raw, path)
	if err != nil {
		return Reference{}, err
	}
	var kind string
	if err := need(o, "kind", &kind, asString); err != nil {
		return Reference{}, err
	}
	var r Reference
	switch kind {
	case "constant":
		err = need(o, "value", &r.c, asFloat)
	case "table":
		if err = need(o, "t", &r.t, asFloats); err == nil {
			err = need(o, "x", &r.x, asFloats)
		}
	default:
		return r, faultf(path+".kind", "unknown reference %q; known are \"constant\" and \"table\"", kind)
	}
	if err == nil {
		err = o.done("a " + kind + " reference has no such field")
	}
	return r, err
}

func asNoise(raw json.RawMessage, path string) (n Noise, err error) {
	o, err := asObject(raw, path)
	if err != nil {
		return n, err
	}
	if err := need(o, "law", &n.Law, asString); err != nil {
		return n, err
	}
	switch n.Law {
	case GaussianLinearised:
		err = need(o, "factor", &n.Factor, asMatrix)
	case GaussianLayered:
		if err = need(o, "ranks", &n.Ranks, asFloats); err == nil {
			err = need(o, "scales", &n.Scales, asFloats)
		}
	default:
		err = need(o, "scale", &n.Scale, asFloat)
	}
	if err == nil {
		err = o.done(fmt.Sprintf("noise of law %q has no such field", n.Law))
	}
	return n, err
}

func asEquivalents(raw json.RawMessage, path string) (eq equivalents, err error) {
	o, err := asObject(raw, path)
	if err != nil {
		return eq, err
	}
	if err := need(o, "gdp", &eq.GDP, asFloat); err != nil {
		return eq, err
	}
	if err := need(o, "zcdp", &eq.ZCDP, asFloat); err != nil {
		return eq, err
	}
	if err := need(o, "approx", &eq.Approx, asList(asApprox, 100)); err != nil {
		return eq, err
	}
	return eq, o.done("the block holds gdp, zcdp and approx")
}

func asApprox(raw json.RawMessage, path string) (a approxEntry, err error) {
	o, err := asObject(raw, path)
	if err != nil {
		return a, err
	}
	if err := need(o, "delta", &a.Delta, asFloat); err != nil {
		return a, err
	}
	if err := need(o, "epsilon", &a.Epsilon, asFloat); err != nil {
		return a, err
	}
	return a, o.done("an entry holds delta and epsilon")
}

func asValues(raw json.RawMessage, path string) (v values, err error) {
	o, err := asObject(raw, path)
	if err != nil {
		return v, err
	}
	if err := need(o, "t", &v.T, asList(asFloat, 1000)); err != nil {
		return v, err
	}
	if err := need(o, "values", &v.Values, asMatrix); err != nil {
		return v, err
	}
	return v, o.done("the block holds t and values")
}

// checkEquivalents refuses a block that claims more privacy than the statement
// gives. Claiming less is true, and lets files survive a curveil that converts
// more tightly than the one that wrote them.
func (r *Release) checkEquivalents(eq equivalents) error {
	if eq.Approx == nil {
		return nil // no block
	}
	path := ".equivalent"
	short := func(name string, claimed, given float64) error {
		if claimed < given*(1-1e-9) {
			return faultf(path+name, "%v claims more privacy than the guarantee gives, which is %v; was the file edited? Remove the block to use the file without it", claimed, given)
		}
		return nil
	}
	mu, err := r.GDP()
	if err != nil {
		return err
	}
	rho, err := r.ZCDP()
	if err != nil {
		return err
	}
	if err := short(".gdp", eq.GDP, float64(mu)); err != nil {
		return err
	}
	if err := short(".zcdp", eq.ZCDP, float64(rho)); err != nil {
		return err
	}
	for i, a := range eq.Approx {
		at := fmt.Sprintf(".approx[%d]", i)
		g, err := r.Guarantee(a.Delta)
		if err != nil {
			return &fault{path + at + ".delta", err}
		}
		if err := short(at+".epsilon", a.Epsilon, g.Epsilon); err != nil {
			return err
		}
	}
	return nil
}

// checkCurve compares the stored values with those the coefficients give here.
// A basis that is rebuilt (the eigenvectors of a kernel) could come out with
// other signs on another machine, and the coefficients would silently mean
// another function.
func (r *Release) checkCurve(v values) error {
	if len(v.T) == 0 {
		return faultf(".curve.t", "no points; the block guards the meaning of the coefficients")
	}
	if len(v.Values) != len(r.Components) {
		return faultf(".curve.values", "%d rows for %d components", len(v.Values), len(r.Components))
	}
	x := make([]float64, len(r.Components))
	for i, t := range v.T {
		if err := r.Eval(x, t); err != nil {
			return &fault{fmt.Sprintf(".curve.t[%d]", i), err}
		}
		for k := range x {
			path := fmt.Sprintf(".curve.values[%d]", k)
			if len(v.Values[k]) != len(v.T) {
				return faultf(path, "%d values for %d points", len(v.Values[k]), len(v.T))
			}
			size := math.Abs(r.reference(k, t)) + norm(r.Coefficients[k])*r.Space.Bound(t)
			if !(math.Abs(x[k]-v.Values[k][i]) <= 1e-6*size) {
				return faultf(fmt.Sprintf("%s[%d]", path, i), "the file says %v at t=%v, its coefficients give %v: the file was edited, or its basis cannot be rebuilt on this machine; it is not safe to use", v.Values[k][i], t, x[k])
			}
		}
	}
	return nil
}
