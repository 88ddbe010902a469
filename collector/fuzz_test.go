package collector

import (
	"bytes"
	"testing"
	"time"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// shortStream is one whose JSON is short, so that the fuzzer gets through it.
func shortStream(t testing.TB) regression.Stream {
	t.Helper()
	sp, err := space.Parse("legendre:3", space.Interval{A: 0, B: 1})
	if err != nil {
		t.Fatal(err)
	}
	return regression.Stream{Name: "short", Basis: regression.OneVariable(sp), Tau: 1, Steps: regression.Steps{Gamma0: 0.01, Horizon: 1 << 30},
		Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Mixed: true}.WithDefaults()
}

// Whatever is read is written back as it was, or refused; nothing panics.
func FuzzMessage(f *testing.F) {
	s := shortStream(f)
	text := []byte(encode(f, Definition{Stream: s}))
	var token tokenHash
	token[0] = 7
	message := []byte(messageMagic)
	for _, r := range []*record{
		{kind: kindStream, definition: text},
		{kind: kindReport, report: makeReports(f, s, 1)[0], ownBudget: true, invitation: &token},
		{kind: kindInvitations, tokens: []tokenHash{token}},
		{kind: kindForget, expires: time.Unix(1e9, 0)},
		{kind: kindClose},
	} {
		message = r.append(message)
	}
	f.Add(message[len(messageMagic):])
	f.Add([]byte{kindReport, 0, 0})
	f.Add([]byte{9})
	f.Fuzz(func(t *testing.T, records []byte) {
		var again []byte
		if err := readMessage(seal(append([]byte(messageMagic), records...)), func(r *record) error {
			again = r.append(again)
			return nil
		}); err != nil {
			return
		}
		// Varints can be written longer than need be; what is written again is the short form.
		if len(again) > len(records) {
			t.Errorf("%x became %x", records, again)
		}
		var third []byte
		if err := readMessage(seal(append([]byte(messageMagic), again...)), func(r *record) error {
			third = r.append(third)
			return nil
		}); err != nil || !bytes.Equal(again, third) {
			t.Errorf("%x is read as %x, %v", again, third, err)
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	state := newFold()
	d := Definition{Stream: shortStream(f), Invitations: true}
	if err := state.create([]byte(encode(f, d))); err != nil {
		f.Fatal(err)
	}
	data, err := state.marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:len(data)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := unmarshalFold(seal(body)); err != nil {
			return
		}
	})
}

func FuzzOpening(f *testing.F) {
	f.Add([]byte(opening))
	f.Add([]byte(`{"stream":` + encode(f, shortStream(f)) + `,"quota":5}`))
	f.Add([]byte(`{"name":"a","space":"legendre:4","domain":[0,1],"tau":1,"epsilon":1,"delta":0.1,"steps":{"gamma0":0.1,"exponent":0,"horizon":5}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := readOpening(data)
		if err != nil {
			return
		}
		if _, err := readDefinition([]byte(encode(t, d))); err != nil {
			t.Errorf("%s was accepted and cannot be read from the log: %v", data, err)
		}
	})
}

func FuzzBatch(f *testing.F) {
	r := encode(f, makeReports(f, shortStream(f), 1)[0])
	f.Add([]byte(`{"reports":[` + r + `,{}],"invitations":["a","b"]}`))
	f.Add([]byte(`{"reports":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		reports, invitations, errs, err := readBatch(data)
		if err == nil && (len(reports) != len(errs) || invitations != nil && len(invitations) != len(reports)) {
			t.Errorf("%d reports, %d invitations, %d errors", len(reports), len(invitations), len(errs))
		}
	})
}

// What a device sends is read, checked and never applied unless it is whole.
func FuzzReport(f *testing.F) {
	s := shortStream(f)
	good := makeReports(f, s, 1)[0]
	f.Add([]byte(encode(f, good)))
	state := newFold()
	if err := state.create([]byte(encode(f, Definition{Stream: s}))); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(regression.Report)
		if r.UnmarshalJSON(data) != nil {
			return
		}
		record := state.streams[0].reportRecord(r, nil)
		before := state.streams[0].server.At()
		if _, err := state.apply(record); err != nil {
			if !isRefusal(err) || state.streams[0].server.At() != before {
				t.Errorf("%s: %v", data, err)
			}
			return
		}
		for _, v := range state.streams[0].server.Coordinates() {
			if v != v || v > 1e6 || v < -1e6 {
				t.Errorf("%s moved the estimate to %v", data, v)
			}
		}
	})
}
