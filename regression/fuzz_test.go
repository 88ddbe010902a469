package regression_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// FuzzReport: what decodes is written again as the same value, and a server either refuses it or applies it and stays sound.
func FuzzReport(f *testing.F) {
	v := newServer(f, smallStream(f, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	for _, r := range reports(f, v, 2, 1) {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(bytes.Replace(text, []byte(`"at":`), []byte(`"At":`), 1))
		f.Add(bytes.Replace(text, []byte(`"coordinates":[`), []byte(`"coordinates":[null,`), 1))
		f.Add(bytes.Replace(text, []byte(`"epsilon":2`), []byte(`"epsilon":1e-300`), 1))
	}
	f.Add([]byte(`{"curveil":"regression-report","version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r regression.Report
		if json.Unmarshal(data, &r) != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again regression.Report
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		two, err := json.Marshal(again)
		if err != nil || !bytes.Equal(text, two) {
			t.Fatalf("%s\n%s", text, two)
		}
		s := newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
		if _, err := s.Apply(&r); err == nil {
			for _, a := range s.Position().Coordinates {
				if math.IsNaN(a) || math.IsInf(a, 0) {
					t.Fatalf("coordinate %v after %s", a, text)
				}
			}
			restore(t, snapshot(t, s))
		}
	})
}

// FuzzModel: what decodes makes a client that can report, and is written again as the same bytes.
func FuzzModel(f *testing.F) {
	for _, s := range streams(f) {
		text, err := newServer(f, s).ModelJSON()
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 20000 {
			f.Add(text)
		}
	}
	v := newServer(f, smallStream(f, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	text, err := v.ModelJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.Replace(text, []byte(`"tau":2`), []byte(`"tau":2e300`), 1))
	f.Add(bytes.Replace(text, []byte(`"coordinates":[0`), []byte(`"coordinates":[1e400`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m regression.Model
		if json.Unmarshal(data, &m) != nil {
			return
		}
		one, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again regression.Model
		if err := json.Unmarshal(one, &again); err != nil {
			t.Fatal(err)
		}
		if two, err := json.Marshal(again); err != nil || !bytes.Equal(one, two) {
			t.Fatalf("%s\n%s", one, two)
		}
		c, err := regression.NewClient(&m, regression.ClientConfig{Source: noise.Seeded(1)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Contribute(t.Context(), make([]float64, len(m.Stream.Basis.Box())), math.MaxFloat64); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPosition: a client takes it or leaves it.
func FuzzPosition(f *testing.F) {
	v := newServer(f, smallStream(f, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	reports(f, v, 2, 1)
	text, err := json.Marshal(v.Position())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		var p regression.Position
		if json.Unmarshal(data, &p) != nil {
			return
		}
		c := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(1)})
		if c.Update(&p) != nil {
			return
		}
		if _, err := c.Contribute(t.Context(), []float64{0.5}, 1); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzSnapshot, with the checksum made right: what is restored is written again as the same bytes, and goes on.
func FuzzSnapshot(f *testing.F) {
	v := newServer(f, smallStream(f, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	body := func() []byte { b := snapshot(f, v); return b[:len(b)-4] }
	f.Add(body())
	log := reports(f, v, 3, 1)
	f.Add(body())
	f.Fuzz(func(t *testing.T, body []byte) {
		data := regression.Checksummed(bytes.Clone(body))
		var s regression.Server
		if s.UnmarshalBinary(data) != nil {
			return
		}
		if !bytes.Equal(data, snapshot(t, &s)) {
			t.Fatal("a restored snapshot is written differently")
		}
		for _, r := range log {
			_, _ = s.Apply(r)
		}
	})
}
