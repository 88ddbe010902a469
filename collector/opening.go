package collector

import (
	"encoding/json"
	"fmt"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// readOpening reads a request for a new stream: either {"stream": …} in the full form of a Definition, or short:
//
//	{"name":"heights","space":"kernel:gauss:20%","domain":[0,1],"tau":0.7,"epsilon":1,"delta":1e-6,"people":10000}
//
// with, optionally, center, steps, calibration, mixed, staleness, radius, unit, x_label, y_label, quota, invitations and
// demonstration. Without steps they are regression.SmoothSteps for the people, with the smoothness, if given.
func readOpening(data []byte) (d Definition, err error) {
	o, err := strictjson.Read("collector: stream", data)
	if err != nil {
		return d, err
	}
	full := o.Has("stream")
	var stream json.RawMessage
	if full {
		if stream, err = o.Raw("stream"); err != nil {
			return d, err
		}
		if err := d.Stream.UnmarshalJSON(stream); err != nil {
			return d, err
		}
	} else if err := readShort(o, &d.Stream); err != nil {
		return d, err
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"people", &d.People}, {"quota", &d.Quota}, {"invitations", &d.Invitations}, {"demonstration", &d.Demonstration}} {
		if o.Has(f.name) {
			if err := o.Take(f.name, f.to); err != nil {
				return d, err
			}
		}
	}
	smoothness := regression.DefaultSmoothness
	if !full && o.Has("smoothness") {
		if err := o.Take("smoothness", &smoothness); err != nil {
			return d, err
		}
		if d.Stream.Steps != (regression.Steps{}) {
			return d, fmt.Errorf("collector: stream: smoothness is for the default steps: give it or steps")
		}
	}
	if err := o.Done(); err != nil {
		return d, err
	}
	if !full && d.Stream.Steps == (regression.Steps{}) {
		if d.People < 1 {
			return d, fmt.Errorf("collector: stream: give people, the number expected, or steps: the step size depends on it")
		}
		if d.Stream.Steps, err = regression.SmoothSteps(d.Stream, d.People, smoothness); err != nil {
			return d, err
		}
	}
	d.Stream = d.Stream.WithDefaults()
	return d, d.validate()
}

func readShort(o *strictjson.Object, s *regression.Stream) error {
	var text string
	var domain []float64
	for _, f := range []struct {
		name string
		to   any
	}{{"name", &s.Name}, {"space", &text}, {"tau", &s.Tau}, {"epsilon", &s.Budget.Epsilon}, {"delta", &s.Budget.Delta}} {
		if err := o.Take(f.name, f.to); err != nil {
			return err
		}
	}
	if err := o.TakeList("domain", &domain, 2); err != nil {
		return err
	}
	if len(domain) != 2 {
		return fmt.Errorf("collector: stream: domain must be [a, b]; for several variables give the full form of the stream")
	}
	d := space.Interval{A: domain[0], B: domain[1]}
	if err := d.Validate(); err != nil {
		return err
	}
	sp, err := space.Parse(text, d)
	if err != nil {
		return err
	}
	if err := space.CheckReach(sp); err != nil {
		return err
	}
	s.Basis = regression.OneVariable(sp)
	calibration := ""
	for _, f := range []struct {
		name string
		to   any
	}{{"center", &s.Center}, {"bound", &s.Bound}, {"calibration", &calibration}, {"mixed", &s.Mixed}, {"staleness", &s.Staleness},
		{"radius", &s.Radius}, {"unit", &s.Unit}, {"x_label", &s.XLabel}, {"y_label", &s.YLabel}} {
		if o.Has(f.name) {
			if err := o.Take(f.name, f.to); err != nil {
				return err
			}
		}
	}
	s.Calibration = regression.Calibration(calibration)
	if o.Has("steps") {
		steps, err := o.Raw("steps")
		if err != nil {
			return err
		}
		p, err := strictjson.Read("collector: steps", steps)
		if err != nil {
			return err
		}
		for _, f := range []struct {
			name string
			to   any
		}{{"gamma0", &s.Steps.Gamma0}, {"exponent", &s.Steps.Exponent}, {"horizon", &s.Steps.Horizon}} {
			if err := p.Take(f.name, f.to); err != nil {
				return err
			}
		}
		if err := p.Done(); err != nil {
			return err
		}
		if s.Steps == (regression.Steps{}) {
			return fmt.Errorf("collector: steps: gamma0 must be positive; leave steps out for the default")
		}
	}
	return nil
}
