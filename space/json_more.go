// The JSON forms of spaces that more than a dimension describes.

package space

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON is {"kind":"piecewise","base":{…},"breaks":[…],"domain":[a,b]}, with "pieces":n instead of breaks
// for n equal pieces.
func (s *piecewise) MarshalJSON() ([]byte, error) {
	form := struct {
		Kind   string     `json:"kind"`
		Base   Space      `json:"base"`
		Pieces int        `json:"pieces,omitempty"`
		Breaks []float64  `json:"breaks,omitempty"`
		Domain [2]float64 `json:"domain"`
	}{Kind: "piecewise", Base: s.base, Domain: s.Domain().ends()}
	if s.equal() {
		form.Pieces = len(s.weight)
	} else {
		form.Breaks = s.breaks
	}
	return json.Marshal(form)
}

func unmarshalPiecewise(fields object, domain Interval) (Space, error) {
	var inner json.RawMessage
	if err := fields.take("base", &inner); err != nil {
		return nil, err
	}
	// One level only: a base of a base would let a small file nest without end.
	innerFields, err := objectFields(inner)
	if err != nil {
		return nil, err
	}
	if string(innerFields["kind"]) == `"piecewise"` {
		return nil, fmt.Errorf("space: json: a piecewise space on pieces of a piecewise space: write one with all the breaks")
	}
	base, err := Unmarshal(inner)
	if err != nil {
		return nil, fmt.Errorf("%w (of the base)", err)
	}
	var breaks []float64
	if fields.has("pieces") {
		var n int
		if err := fields.take("pieces", &n); err != nil {
			return nil, err
		}
		if n < 1 || n > MaxPiecewiseDim {
			return nil, fmt.Errorf("space: json: %d pieces: between 1 and %d are accepted", n, MaxPiecewiseDim)
		}
		breaks = EqualPieces(domain, n)
	} else if err := fields.takeFloats("breaks", &breaks, MaxPiecewiseDim+1); err != nil {
		return nil, err
	}
	if err := fields.rest("piecewise"); err != nil {
		return nil, err
	}
	s, err := Piecewise(base, breaks)
	if err == nil && s.Domain() != domain {
		return nil, fmt.Errorf("space: json: the breaks run over %v, the domain is %v: they must agree", s.Domain(), domain)
	}
	return s, err
}

type lineForm struct {
	Kind    string     `json:"kind"`
	Dim     int        `json:"dim"`
	First   *float64   `json:"first,omitempty"`
	Spacing *float64   `json:"spacing,omitempty"`
	Centre  *float64   `json:"centre,omitempty"`
	Scale   *float64   `json:"scale,omitempty"`
	Domain  [2]float64 `json:"domain"`
}

// MarshalJSON is {"kind":"sinc","dim":…,"first":…,"spacing":…,"domain":[a,b]}.
func (s *sinc) MarshalJSON() ([]byte, error) {
	return json.Marshal(lineForm{Kind: "sinc", Dim: s.dim, First: &s.first, Spacing: &s.spacing, Domain: s.domain.ends()})
}

// MarshalJSON is {"kind":"hermite","dim":…,"centre":…,"scale":…,"domain":[a,b]}.
func (s *hermite) MarshalJSON() ([]byte, error) {
	return json.Marshal(lineForm{Kind: "hermite", Dim: s.dim, Centre: &s.centre, Scale: &s.scale, Domain: s.domain.ends()})
}

func unmarshalLine(fields object, kind, centreName, scaleName string, domain Interval, build func(Interval, float64, float64, int) (Space, error)) (Space, error) {
	var dim int
	var centre, scale float64
	if err := fields.take("dim", &dim); err != nil {
		return nil, err
	}
	if err := fields.take(centreName, &centre); err != nil {
		return nil, err
	}
	if err := fields.take(scaleName, &scale); err != nil {
		return nil, err
	}
	if err := fields.rest(kind); err != nil {
		return nil, err
	}
	return build(domain, centre, scale, dim)
}

// unmarshalMore reads the kinds of this file.
func unmarshalMore(kind string, fields object, domain Interval) (s Space, known bool, err error) {
	switch kind {
	case "piecewise":
		s, err = unmarshalPiecewise(fields, domain)
	case "sinc":
		s, err = unmarshalLine(fields, kind, "first", "spacing", domain, Sinc)
	case "hermite":
		s, err = unmarshalLine(fields, kind, "centre", "scale", domain, Hermite)
	case "gram":
		s, err = unmarshalGram(fields, domain)
	default:
		return nil, false, nil
	}
	return s, true, err
}
