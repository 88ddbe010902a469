package regression_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// TestReportDecoderIsStrict changes one thing in a good report. Both doors are tried: json.Unmarshal, which checks the grammar
// first, and the method alone.
func TestReportDecoderIsStrict(t *testing.T) {
	v := newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	good := *reports(t, v, 1, 1)[0]
	good.Coordinates = []int64{-12345, 0, 678}
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"", "", true},
		{`{"curveil"`, ` { "curveil"`, true},
		{`"at":0,`, ``, false},
		{`"at":0`, `"at":0,"at":0`, false},
		{`"at":0`, `"At":0`, false},
		{`"at":0`, `"at":-1`, false},
		{`"at":0`, `"at":+0`, false},
		{`"at":0`, `"at":00`, false},
		{`"at":0`, `"at":0.5`, false},
		{`"at":0`, `"at":null`, false},
		{`"at":0`, `"at":"0"`, false},
		{`"at":0`, `"at":9223372036854775808`, false},
		{`"at":0`, `"at":0,"extra":1`, false},
		{`"private":false`, `"private":0`, false},
		{`"private":false`, `"private":F`, false},
		{`"private":false`, `"private":true`, true},
		{`"epsilon":2`, `"epsilon":2.0`, true},
		{`"epsilon":2`, `"epsilon":+2`, false},
		{`"epsilon":2`, `"epsilon":0x2p0`, false},
		{`"epsilon":2`, `"epsilon":NaN`, false},
		{`"epsilon":2`, `"epsilon":Inf`, false},
		{`"epsilon":2`, `"epsilon":1e999`, false},
		{`"epsilon":2`, `"epsilon":-2`, false},
		{`"version":1`, `"version":2`, false},
		{`"regression-report"`, `"regression-model"`, false},
		{`[-12345,0,678]`, `[]`, true}, // refused by the server
		{`[-12345,0,678]`, `[-12345,,678]`, false},
		{`[-12345,0,678]`, `[-12345,0,678,]`, false},
		{`[-12345,0,678]`, `[-12345,null,678]`, false},
		{`[-12345,0,678]`, `[-12345,0,6.78]`, false},
		{`[-12345,0,678]`, `[-12345,0,1e3]`, false},
		{`[-12345,0,678]`, `[-12345,0,99999999999999999999]`, false},
		{`[-12345,0,678]`, `[+12345,0,678]`, false},
		{`[-12345,0,678]`, `null`, false},
		{`[-12345,0,678]`, `[` + strings.Repeat("0,", 1<<15) + `0]`, false},
		{`]}`, `]}{}`, false},
		{`]}`, `]`, false},
		{good.ID.String(), strings.ToUpper(good.ID.String()), false},
		{good.ID.String(), good.ID.String()[1:], false},
		{good.ID.String(), "g" + good.ID.String()[1:], false},
		{good.Stream.String(), good.Stream.String() + "00", false},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		if changed == string(text) && c.from != c.to {
			t.Errorf("%s is not in %s", c.from, text)
		}
		for door, read := range map[string]func(*regression.Report) error{
			"json.Unmarshal": func(r *regression.Report) error { return json.Unmarshal([]byte(changed), r) },
			"UnmarshalJSON":  func(r *regression.Report) error { return r.UnmarshalJSON([]byte(changed)) },
		} {
			var r regression.Report
			if err := read(&r); (err == nil) != c.ok {
				t.Errorf("%s, %q for %q: %v", door, c.to, c.from, err)
			}
		}
	}
}

func TestModelDecoderIsStrict(t *testing.T) {
	v := newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	text, err := v.ModelJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"", "", true},
		{`"at":0`, `"at":1`, true},
		{`"at":0`, `"at":-1`, false},
		{`"tau":2`, `"tau":2.5`, false}, // the fingerprint no longer fits
		{`"epsilon":2`, `"epsilon":20`, false},
		{`"tau":2`, `"tau":2,"tau":2`, false},
		{`"tau":2`, `"Tau":2`, false},
		{`"tau":2`, `"tau":null`, false},
		{`"gamma0":0.1`, `"gamma0":null`, false},
		{`"kind":"fourier"`, `"kind":"courier"`, false},
		{`"calibration":"analytic"`, `"calibration":""`, false},
		{`"coordinates":[0,0,0]`, `"coordinates":[0,0]`, false},
		{`"coordinates":[0,0,0]`, `"coordinates":[0,0,null]`, false},
		{`"coordinates":[0,0,0]`, `"coordinates":[0,0,1e200]`, false},
		{`"fingerprint":"`, `"fingerprint":"0`, false},
		{`{"curveil"`, `{"x":1,"curveil"`, false},
		{`"version":1`, `"version":2`, false},
		{`"name":"small"`, "\"name\":\"sm\xffll\"", false},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		if changed == string(text) && c.from != c.to {
			t.Errorf("%s is not in %s", c.from, text)
		}
		var m regression.Model
		if err := json.Unmarshal([]byte(changed), &m); (err == nil) != c.ok {
			t.Errorf("%q for %q: %v", c.to, c.from, err)
		}
	}
}

func TestPositionOfAnotherStream(t *testing.T) {
	a := newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	b := newServer(t, smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6}))
	c := newClient(t, a, regression.ClientConfig{Source: noise.Seeded(1)})
	if err := c.Update(b.Position()); err == nil {
		t.Error("a position of another stream was accepted")
	}
	p := a.Position()
	p.Coordinates = p.Coordinates[:2]
	if err := c.Update(p); err == nil {
		t.Error("a short position was accepted")
	}
}

// TestRadius: neither the iterate nor the average leaves the ball, and a run that would not touch it is not changed.
func TestRadius(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6})
	s.Steps = regression.Steps{Gamma0: 0.3, Horizon: 1}
	free := newServer(t, s)
	reports(t, free, 40, 11)
	s.Radius = 0.5
	held := newServer(t, s)
	reports(t, held, 40, 11)
	zero := make([]float64, 3)
	if d := distance(zero, free.Position().Coordinates); d < 1 {
		t.Fatalf("the free run stays at %v: this test tests nothing", d)
	}
	for _, c := range [][]float64{held.Position().Coordinates, held.Coordinates()} {
		if d := distance(zero, c); d > 0.5*(1+1e-12) {
			t.Errorf("norm %v in a ball of 0.5", d)
		}
	}
	s.Radius = 1e9
	wide := newServer(t, s)
	reports(t, wide, 40, 11)
	if distance(free.Coordinates(), wide.Coordinates()) != 0 {
		t.Error("a ball that is never reached changes the run")
	}
}
