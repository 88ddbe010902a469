// Functions of several variables: the same object with a space on a box.

package release

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/curveil/curveil/space"
)

// AtPoint returns the first component at the point x, one coordinate per
// variable; for a function of one variable it is At(x[0]). It is NaN outside the
// box, and panics on another number of coordinates.
func (r *Release) AtPoint(x []float64) float64 {
	if r.Box == nil {
		checkPoint(len(x), 1)
		return r.At(x[0])
	}
	if !r.contains(x) {
		return math.NaN()
	}
	e := make([]float64, r.Box.Dim())
	r.Box.Eval(e, x)
	return r.reference(0, x[0]) + dot(r.Coefficients[0], e)
}

// BandAtPoint is [Release.Band] at the point x.
func (r *Release) BandAtPoint(x []float64, level float64) (lo, hi float64) {
	if r.Box == nil {
		checkPoint(len(x), 1)
		return r.Band(x[0], level)
	}
	if !r.contains(x) || checkLevel(level) != nil {
		return math.NaN(), math.NaN()
	}
	e := make([]float64, r.Box.Dim())
	r.Box.Eval(e, x)
	if r.Verb == Regression {
		return r.regressionBand(e, x, level)
	}
	d := r.layeredDirection(make([]float64, len(e)), e, r.layeredScales())
	return r.densityBand(e, d*r.Noise.unitQuantile(r.coordinates(), level))
}

// Domains is the box, or the one domain of a function of one variable.
func (r *Release) Domains() []space.Interval {
	if r.Box != nil {
		return r.Box.Box()
	}
	return []space.Interval{r.Space.Domain()}
}

// Tensor is the space as one on a box, also in one variable; ok is false if its
// basis is neither Fourier nor cosine.
func (r *Release) Tensor() (t *space.Tensor, ok bool) {
	if r.Box != nil {
		t, ok = r.Box.(*space.Tensor)
		return t, ok
	}
	if r.Space == nil {
		return nil, false
	}
	return space.AsTensor(r.Space)
}

func (r *Release) contains(x []float64) bool {
	box := r.Box.Box()
	checkPoint(len(x), len(box))
	for i, d := range box {
		if !d.Contains(x[i]) {
			return false
		}
	}
	return true
}

func checkPoint(got, want int) {
	if got != want {
		panic(fmt.Sprintf("release: a point of %d coordinates, the function has %d variables", got, want))
	}
}

func (r *Release) dim() int {
	if r.Box != nil {
		return r.Box.Dim()
	}
	return r.Space.Dim()
}

func (r *Release) spaceText() string {
	if r.Box != nil {
		return r.Box.String()
	}
	return r.Space.String()
}

func (r *Release) checkBox() error {
	if r.Verb != Density && r.Verb != Regression {
		return faultf(".space", "a %s is a function of one variable, not on a box", r.Verb)
	}
	if len(r.Box.Box()) < 2 {
		return faultf(".space", "a function of one variable has a space with a domain, not with a box")
	}
	for i, d := range r.Box.Box() {
		if err := d.Validate(); err != nil {
			return &fault{fmt.Sprintf(".space.box[%d]", i), err}
		}
	}
	if dim := r.Box.Dim(); dim > maxCoefficients {
		return faultf(".space", "dimension %d; at most %d coefficients are accepted", dim, maxCoefficients)
	}
	return nil
}

// boxValues is the released function along the diagonal of the box: for the eye,
// and to check that the decoder means the same basis.
type boxValues struct {
	X      [][]float64 `json:"x"`
	Values []float64   `json:"values"`
}

func (r *Release) diagonal() (boxValues, error) {
	var v boxValues
	for i := range curvePoints {
		x := make([]float64, len(r.Box.Box()))
		for a, d := range r.Box.Box() {
			x[a] = min(d.A+(d.B-d.A)*float64(i)/(curvePoints-1), d.B)
		}
		y := r.AtPoint(x)
		if !finite(y) {
			return v, faultf(".coefficients[0]", "the function is %v at %v: the coefficients are too large to evaluate", y, x)
		}
		v.X, v.Values = append(v.X, x), append(v.Values, short(y))
	}
	return v, nil
}

// takeSpace reads a space of one variable with its curve, or one on a box with
// its sample.
func (r *Release) takeSpace(o *object, curve *values, sample *boxValues) error {
	var raw json.RawMessage
	if err := need(o, "space", &raw, func(raw json.RawMessage, _ string) (json.RawMessage, error) { return raw, nil }); err != nil {
		return err
	}
	path := o.path + ".space"
	fields, err := asObject(raw, path)
	if err != nil {
		return err
	}
	if _, onBox := fields.fields["box"]; !onBox {
		if r.Space, err = asSpace(raw, path); err != nil {
			return err
		}
		return need(o, "curve", curve, asValues)
	}
	t, err := space.UnmarshalBoxSpace(raw)
	if err != nil {
		return &fault{path, err}
	}
	r.Box = t
	return need(o, "sample", sample, asBoxValues)
}

func asBoxValues(raw json.RawMessage, path string) (v boxValues, err error) {
	o, err := asObject(raw, path)
	if err != nil {
		return v, err
	}
	if err := need(o, "x", &v.X, asList(asList(asFloat, space.MaxVariables), 1000)); err != nil {
		return v, err
	}
	if err := need(o, "values", &v.Values, asList(asFloat, 1000)); err != nil {
		return v, err
	}
	return v, o.done("the block holds x and values")
}

// checkSample is checkCurve for a box.
func (r *Release) checkSample(v boxValues) error {
	if len(v.X) == 0 || len(v.X) != len(v.Values) {
		return faultf(".sample", "%d points and %d values; the block guards the meaning of the coefficients", len(v.X), len(v.Values))
	}
	for i, x := range v.X {
		if len(x) != len(r.Box.Box()) || !r.contains(x) {
			return faultf(fmt.Sprintf(".sample.x[%d]", i), "%v is no point of the box", x)
		}
		y, size := r.AtPoint(x), math.Abs(r.reference(0, x[0]))+norm(r.Coefficients[0])*r.Box.Bound(x)
		if !(math.Abs(y-v.Values[i]) <= 1e-6*size) {
			return faultf(fmt.Sprintf(".sample.values[%d]", i), "the file says %v at %v, its coefficients give %v: the file was edited; it is not safe to use", v.Values[i], x, y)
		}
	}
	return nil
}
