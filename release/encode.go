// Writing a release: the fields in the order in which a person asks. Nothing
// about the data goes in but the noisy coefficients and public parameters; in
// particular no time of creation, so that a seeded demonstration is
// reproducible to the byte.

package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

const (
	formatName    = "release"
	formatVersion = 1
	curvePoints   = 11 // of the table of values
)

// tableDeltas are the δ of the table in the "equivalent" block.
var tableDeltas = []float64{1e-3, 1e-6, 1e-9}

// Encode writes the release as JSON, see docs/format.md. An invalid release is
// refused and nothing is written. Equal releases give equal bytes, and numbers
// survive to the bit.
func (r *Release) Encode(w io.Writer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	doc := document{}
	doc.add("curveil", formatName)
	doc.add("version", formatVersion)
	doc.add("private", r.Private)
	doc.add("verb", r.Verb)
	doc.add("method", r.Method)
	doc.add("n", r.N)
	if r.Verb != Curve && r.Verb != Density && r.Radius != 0 {
		doc.add("radius", r.Radius)
	}
	doc.add("privacy", r.Privacy)
	if r.Verb != Curve { // a guarantee per unit of distance has no equivalent without one
		eq, err := r.equivalent()
		if err != nil {
			return err
		}
		doc.add("equivalent", eq)
	}
	doc.add("components", r.Components)
	if r.XLabel != "" {
		doc.add("x_label", r.XLabel)
	}
	if r.YLabel != "" {
		doc.add("y_label", r.YLabel)
	}
	if r.UnixTime {
		doc.add("unix_time", true)
	}
	if r.Variables != nil {
		doc.add("variables", r.Variables)
	}
	if r.Box != nil {
		sample, err := r.diagonal()
		if err != nil {
			return err
		}
		doc.add("sample", sample)
		doc.add("space", r.Box)
	} else {
		curve, err := r.table()
		if err != nil {
			return err
		}
		doc.add("curve", curve)
		doc.add("space", r.Space)
	}
	if r.Reference != nil {
		doc.add("reference", r.Reference)
	}
	doc.add("noise", r.Noise)
	if r.Selection != nil {
		doc.add("selection", r.Selection)
	}
	doc.add("coefficients", r.Coefficients)
	if r.Raw != nil {
		doc.add("raw", r.Raw)
	}
	return doc.write(w)
}

// document is a JSON object with its fields in order.
type document struct {
	body bytes.Buffer
	err  error
}

func (d *document) add(name string, v any) {
	if d.err != nil {
		return
	}
	var value bytes.Buffer
	enc := json.NewEncoder(&value)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		d.err = fmt.Errorf("release: encoding %q: %w", name, err)
		return
	}
	var compact bytes.Buffer
	if d.err = json.Compact(&compact, value.Bytes()); d.err != nil {
		return
	}
	if d.body.Len() > 0 {
		d.body.WriteString(",\n")
	}
	fmt.Fprintf(&d.body, "  %q: ", name)
	d.err = layout(&d.body, compact.Bytes(), 1, len(name)+6)
}

func (d *document) write(w io.Writer) error {
	if d.err != nil {
		return d.err
	}
	if _, err := fmt.Fprintf(w, "{\n%s\n}\n", d.body.Bytes()); err != nil {
		return fmt.Errorf("release: writing: %w", err)
	}
	return nil
}

// equivalents is the guarantee in other currencies, for the reader's eyes.
type equivalents struct {
	GDP    float64       `json:"gdp"`
	ZCDP   float64       `json:"zcdp"`
	Approx []approxEntry `json:"approx"`
}

type approxEntry struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

func (r *Release) equivalent() (equivalents, error) {
	mu, err := r.GDP()
	if err != nil {
		return equivalents{}, err
	}
	rho, err := r.ZCDP()
	if err != nil {
		return equivalents{}, err
	}
	eq := equivalents{GDP: float64(mu), ZCDP: float64(rho)}
	for _, delta := range tableDeltas {
		g, err := r.Guarantee(delta)
		if err != nil {
			return equivalents{}, err
		}
		eq.Approx = append(eq.Approx, approxEntry{delta, g.Epsilon})
	}
	return eq, nil
}

// values is the released curve at a few points: for the eye, and for the
// decoder to check that it reconstructs the same basis as the encoder had.
type values struct {
	T      []float64   `json:"t"`
	Values [][]float64 `json:"values"`
}

func (r *Release) table() (values, error) {
	d := r.Space.Domain()
	v := values{Values: make([][]float64, len(r.Components))}
	x := make([]float64, len(r.Components))
	for i := range curvePoints {
		t := min(d.A+(d.B-d.A)*float64(i)/(curvePoints-1), d.B)
		if err := r.Eval(x, t); err != nil {
			return values{}, err
		}
		v.T = append(v.T, t)
		for k := range x {
			if !finite(x[k]) {
				return values{}, faultf(fmt.Sprintf(".coefficients[%d]", k), "the curve is %v at t=%v: the coefficients are too large to evaluate", x[k], t)
			}
			v.Values[k] = append(v.Values[k], short(x[k]))
		}
	}
	return v, nil
}

// short rounds to seven significant digits: enough to read and to check, and
// plainly not what the curve is evaluated from.
func short(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 7, 64), 64)
	if err != nil { // rounds up past the largest float64
		return x
	}
	return y
}

// MarshalJSON writes {"kind":"constant","value":c} or {"kind":"table","t":[…],"x":[…]}.
func (r Reference) MarshalJSON() ([]byte, error) {
	if at, err := r.check(); err != nil {
		return nil, fmt.Errorf("reference%s: %w", at, err)
	}
	if r.t == nil {
		return json.Marshal(struct {
			Kind  string  `json:"kind"`
			Value float64 `json:"value"`
		}{"constant", r.c})
	}
	return json.Marshal(struct {
		Kind string    `json:"kind"`
		T    []float64 `json:"t"`
		X    []float64 `json:"x"`
	}{"table", r.t, r.x})
}

// MarshalJSON writes {"law":…,"scale":…} or {"law":…,"factor":[[…],…]}.
func (n Noise) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Law    string      `json:"law"`
		Scale  float64     `json:"scale,omitzero"`
		Factor [][]float64 `json:"factor,omitempty"`
		Ranks  []float64   `json:"ranks,omitempty"`
		Scales []float64   `json:"scales,omitempty"`
	}{n.Law, n.Scale, n.Factor, n.Ranks, n.Scales})
}
