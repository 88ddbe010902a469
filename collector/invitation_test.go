package collector

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/curveil/curveil/regression"
)

// Whether an invitation is good can be asked without using it, with the answers that a report gets; and the client asks before it
// spends, the first time and the second.
func TestInvitationIsChecked(t *testing.T) {
	s := start(t, HandlerConfig{})
	stream := testStream(t, "invited")
	stream.Staleness = 1
	create(t, s.c, Definition{Stream: stream, Invitations: true, Quota: 6})
	create(t, s.c, Definition{Stream: testStream(t, "free")})
	invite := func(n int, expires time.Time) []string {
		tokens, err := s.c.Invite(t.Context(), "invited", n, expires)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	good := invite(6, time.Now().Add(time.Hour))
	late := invite(1, time.Now().Add(-time.Hour))
	reports := makeReports(t, stream, 1)
	if _, err := s.c.Submit(t.Context(), "invited", reports[0], good[0]); err != nil {
		t.Fatal(err)
	}
	before := state(t, s.c)
	for _, c := range []struct {
		stream, invitation string
		status             int
		want               string
	}{
		{"invited", good[1], 200, `"good":true`}, {"invited", good[1], 200, `"good":true`}, {"invited", good[0], 403, UsedInvitation},
		{"invited", "", 401, NoInvitation}, {"invited", "nonsense", 401, UnknownInvitation}, {"invited", late[0], 401, ExpiredInvitation},
		{"invited", newInvitation(time.Now().Add(time.Hour)), 401, UnknownInvitation}, {"invited", newInvitation(time.Now().Add(-time.Hour)), 401, ExpiredInvitation},
		{"free", "", 200, `"good":true`}, {"nowhere", good[1], 404, "unknown-stream"},
	} {
		header := []string{"User-Agent: test"}
		if c.invitation != "" {
			header = append(header, "Authorization: Bearer "+c.invitation)
		}
		if a, text := s.ask(t, "POST", "/v1/streams/"+c.stream+"/invitations/check", "", header...); a.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %q: %d %s", c.stream, c.invitation, a.StatusCode, text)
		}
	}
	if !bytes.Equal(state(t, s.c), before) {
		t.Error("to ask changed the state")
	}

	remote, err := NewRemote(s.url, "invited")
	if err != nil {
		t.Fatal(err)
	}
	ledger := &counting{left: 10}
	client := func() *regression.Client {
		m, err := remote.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := regression.NewClient(m, regression.ClientConfig{Ledger: ledger})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for invitation, reason := range map[string]string{"": NoInvitation, "nonsense": UnknownInvitation, good[0]: UsedInvitation, late[0]: ExpiredInvitation,
		newInvitation(time.Now().Add(time.Hour)): UnknownInvitation} {
		remote.Invitation = invitation
		_, err := remote.Contribute(t.Context(), client(), []float64{0.5}, 1, nil)
		var refused *Refused
		var p *Problem
		if !(errors.As(err, &refused) && refused.Reason == reason || errors.As(err, &p) && p.Reason == reason) {
			t.Errorf("%q: %v", invitation, err)
		}
	}
	if ledger.left != 10 {
		t.Fatalf("%d spent on useless invitations", 10-ledger.left)
	}
	// Others are quicker, so the report is too old; and before the next one is made somebody uses the invitation: no second report is paid for.
	remote.Invitation = good[1]
	use := func(invitations ...string) {
		for _, invitation := range invitations {
			report, err := client().Contribute(t.Context(), []float64{0.5}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.c.Submit(t.Context(), "invited", report, invitation); err != nil {
				t.Fatal(err)
			}
		}
		ledger.left = 9
	}
	slow := client()
	asked := map[string]int{}
	remote.HTTP = &http.Client{Transport: roundTripper(func(q *http.Request) (*http.Response, error) {
		path := q.URL.Path
		asked[path]++
		switch {
		case strings.HasSuffix(path, "/reports"):
			use(good[2:4]...)
		case strings.HasSuffix(path, "/check") && asked[path] == 2:
			use(good[1])
		}
		return http.DefaultTransport.RoundTrip(q)
	})}
	var conflict *Conflict
	if _, err := remote.Contribute(t.Context(), slow, []float64{0.5}, 1, nil); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "has been used") || ledger.left != 9 {
		t.Errorf("overtaken: %v, %d left", err, ledger.left)
	}
}

// A collector that calls every report stale does not draw one after the other from a ledger without a cap.
func TestConflictsEnd(t *testing.T) {
	s := start(t, HandlerConfig{})
	stream := testStream(t, "heights")
	stream.Staleness = 1
	create(t, s.c, Definition{Stream: stream})
	remote, err := NewRemote(s.url, "heights")
	if err != nil {
		t.Fatal(err)
	}
	m, err := remote.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ledger := &counting{left: 50}
	client, err := regression.NewClient(m, regression.ClientConfig{Ledger: ledger})
	if err != nil {
		t.Fatal(err)
	}
	position := encode(t, &regression.Position{Stream: reportStream(t, m), At: m.At, Coordinates: m.Coordinates})
	remote.HTTP = &http.Client{Transport: roundTripper(func(q *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(q.URL.Path, "/reports") {
			return http.DefaultTransport.RoundTrip(q)
		}
		return &http.Response{StatusCode: 409, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"status":409,"detail":"stale","reason":"stale","position":` + position + `}`))}, nil
	})}
	var conflict *Conflict
	if _, err := remote.Contribute(t.Context(), client, []float64{0.5}, 1, nil); !errors.As(err, &conflict) || ledger.left != 48 {
		t.Errorf("%v, %d left", err, ledger.left)
	}
}

func reportStream(t *testing.T, m *regression.Model) regression.Fingerprint {
	t.Helper()
	f, err := m.Stream.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }
