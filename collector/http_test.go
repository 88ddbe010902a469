package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/curveil/curveil/regression"
)

// site is a collector on loopback.
type site struct {
	c       *Collector
	url     string
	token   string
	logs    *safeBuffer
	handler *Handler
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t testing.TB, config HandlerConfig) *site {
	t.Helper()
	folder := t.TempDir()
	token, err := AdminToken(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	logs := &safeBuffer{}
	registry := prometheus.NewRegistry()
	c := open(t, Config{Folder: folder, Meters: registry, Logger: slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	config.Gather = registry
	h, err := c.Handler(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &site{c, "http://" + l.Addr().String(), token, logs, h}
}

// ask sends a request; header lines are "Name: value".
func (s *site) ask(t testing.TB, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		q.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(text)
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const opening = `{"name":"heights","space":"kernel:gauss:20%","domain":[0,1],"tau":0.67,"epsilon":1,"delta":1e-6,"people":100000,"invitations":false}`

func TestStreamLifeOverHTTP(t *testing.T) {
	s := start(t, HandlerConfig{})
	a, text := s.ask(t, "POST", "/v1/streams", opening, "Authorization: Bearer "+s.token)
	if a.StatusCode != 201 || a.Header.Get("Location") != "/v1/streams/heights" {
		t.Fatalf("%d %s", a.StatusCode, text)
	}
	if a, text := s.ask(t, "GET", "/v1/streams/heights/release", ""); a.StatusCode != 404 || !strings.Contains(text, "no report yet") {
		t.Errorf("release before any report: %d %s", a.StatusCode, text)
	}
	a, model := s.ask(t, "GET", "/v1/streams/heights/model", "")
	var m regression.Model
	if err := m.UnmarshalJSON([]byte(model)); err != nil {
		t.Fatal(err)
	}
	tag := a.Header.Get("ETag")
	if a, _ := s.ask(t, "GET", "/v1/streams/heights/model", "", "If-None-Match: "+tag); a.StatusCode != 304 {
		t.Errorf("same version: %d", a.StatusCode)
	}

	// A long poll is answered when a report comes, not before.
	polled := make(chan string, 1)
	began := time.Now()
	go func() {
		_, text := s.ask(t, "GET", "/v1/streams/heights/position?wait=20", "", "If-None-Match: "+tag)
		polled <- text
	}()
	time.Sleep(100 * time.Millisecond)
	client, err := regression.NewClient(&m, regression.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.Contribute(t.Context(), []float64{0.3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"repeated":false,"at":1}`, `{"repeated":true,"at":1}`} {
		if a, text := s.ask(t, "POST", "/v1/streams/heights/reports", encode(t, r)); a.StatusCode != 200 || text != want {
			t.Errorf("time %d: %d %s", i, a.StatusCode, text)
		}
	}
	if text := <-polled; !strings.Contains(text, `"at":1`) || time.Since(began) > 10*time.Second {
		t.Errorf("long poll: %s", text)
	}
	if a, text := s.ask(t, "GET", "/v1/streams/heights/release", ""); a.StatusCode != 200 || !strings.Contains(text, `"curveil"`) {
		t.Errorf("release: %d %s", a.StatusCode, text)
	}
	if a, text := s.ask(t, "GET", "/v1/streams/heights/position?wait=1", "", "If-None-Match: "+strings.Replace(tag, "-0", "-1", 1)); a.StatusCode != 304 || text != "" {
		t.Errorf("a long poll that nothing ended: %d %s", a.StatusCode, text)
	}
	for path, want := range map[string]string{
		"/healthz": "ok", "/readyz": "ready", "/metrics": `curveil_stream_version{stream="heights"} 1`, "/": "heights", "/streams/heights": "page.js",
		"/v1/streams": `"at":1`, "/v1/streams/heights": `"noise_scale"`, "/openapi.json": `"openapi":"3.1.0"`, "/page/page.js": "EventSource",
	} {
		if a, text := s.ask(t, "GET", path, ""); a.StatusCode != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %.300s", path, a.StatusCode, text)
		}
	}
}

func TestBadInput(t *testing.T) {
	s := start(t, HandlerConfig{})
	stream := testStream(t, "heights")
	stream.Staleness = 2
	create(t, s.c, Definition{Stream: stream})
	byInvitation := testStream(t, "invited")
	create(t, s.c, Definition{Stream: byInvitation, Invitations: true})
	tokens, err := s.c.Invite(t.Context(), "invited", 1, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	late, err := s.c.Invite(t.Context(), "invited", 1, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	good := makeReports(t, stream, 4)
	for _, r := range good[:3] {
		if _, err := s.c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
	}
	theirs := makeReports(t, byInvitation, 2)
	if _, err := s.c.Submit(t.Context(), "invited", theirs[0], tokens[0]); err != nil {
		t.Fatal(err)
	}
	before := state(t, s.c)
	change := func(f func(*regression.Report)) string {
		r := *good[3]
		r.At = 3
		r.Coordinates = append([]int64(nil), r.Coordinates...)
		f(&r)
		return encode(t, r)
	}
	fine := change(func(*regression.Report) {})
	for _, c := range []struct {
		what, path, body string
		status           int
		reason           string
		header           []string
	}{
		{"no JSON", "heights/reports", `{"curveil":`, 400, "not-json", nil},
		{"NaN", "heights/reports", strings.Replace(fine, `"epsilon":1`, `"epsilon":NaN`, 1), 400, "not-json", nil},
		{"nothing", "heights/reports", "", 400, "", nil},
		{"null", "heights/reports", "null", 422, "", nil},
		{"unknown format version", "heights/reports", strings.Replace(fine, `"version":1`, `"version":2`, 1), 422, "", nil},
		{"unknown field", "heights/reports", strings.Replace(fine, `{"curveil"`, `{"a":1,"curveil"`, 1), 422, "", nil},
		{"fraction", "heights/reports", strings.Replace(fine, `"coordinates":[`, `"coordinates":[0.5,`, 1), 422, "", nil},
		{"wrong dimension", "heights/reports", change(func(r *regression.Report) { r.Coordinates = r.Coordinates[1:] }), 422, "malformed", nil},
		{"future version", "heights/reports", change(func(r *regression.Report) { r.At = 4 }), 422, "future", nil},
		{"stale version", "heights/reports", change(func(r *regression.Report) { r.At = 0 }), 409, "stale", nil},
		{"other stream", "heights/reports", change(func(r *regression.Report) { r.Stream[0]++ }), 409, "other-stream", nil},
		{"too long by far", "heights/reports", change(func(r *regression.Report) {
			for j := range r.Coordinates {
				r.Coordinates[j] *= 100
			}
		}), 422, "implausible", nil},
		{"budget", "heights/reports", change(func(r *regression.Report) { r.Budget.Epsilon = 2 }), 422, "budget", nil},
		{"seeded", "heights/reports", change(func(r *regression.Report) { r.Private = false }), 422, "demonstration", nil},
		{"oversized", "heights/reports", strings.Repeat(" ", maxReport+1), 413, "", nil},
		{"unknown stream", "weights/reports", fine, 404, "unknown-stream", nil},
		{"no invitation", "invited/reports", encode(t, theirs[1]), 401, NoInvitation, nil},
		{"wrong invitation", "invited/reports", encode(t, theirs[1]), 401, UnknownInvitation, []string{"Authorization: Bearer x"}},
		{"replayed invitation", "invited/reports", encode(t, theirs[1]), 403, UsedInvitation, []string{"Authorization: Bearer " + tokens[0]}},
		{"expired invitation", "invited/reports", encode(t, theirs[1]), 401, ExpiredInvitation, []string{"Authorization: Bearer " + late[0]}},
		{"batch, no JSON", "heights/batch", `{"reports":[`, 400, "not-json", nil},
		{"empty batch", "heights/batch", `{"reports":[]}`, 422, "", nil},
		{"invitations that do not match", "heights/batch", `{"reports":[` + fine + `],"invitations":[]}`, 422, "", nil},
		{"no admin token", "heights/invitations", `{"count":1}`, 401, "admin-token", nil},
		{"wrong admin token", "heights/invitations", `{"count":1}`, 401, "admin-token", []string{"Authorization: Bearer " + tokens[0]}},
	} {
		a, text := s.ask(t, "POST", "/v1/streams/"+c.path, c.body, c.header...)
		var p Problem
		if err := json.Unmarshal([]byte(text), &p); err != nil || a.StatusCode != c.status || p.Status != c.status || c.reason != "" && p.Reason != c.reason || a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %v", c.what, a.StatusCode, text, err)
		}
		if c.status == 409 {
			var position regression.Position
			if err := position.UnmarshalJSON(p.Position); err != nil || position.At != 3 {
				t.Errorf("%s: no current position: %v", c.what, err)
			}
		}
	}
	a, text := s.ask(t, "POST", "/v1/streams/heights/batch", `{"reports":[{},`+change(func(r *regression.Report) { r.At = 9 })+`,`+encode(t, good[0])+`]}`)
	var out BatchAnswer
	if err := json.Unmarshal([]byte(text), &out); err != nil || a.StatusCode != 200 || len(out.Results) != 3 || out.Results[0].Status != 422 || out.Results[1].Reason != "future" || !out.Results[2].Repeated {
		t.Errorf("batch: %d %s", a.StatusCode, text)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/nowhere", 404}, {"DELETE", "/v1/streams/heights", 405}, {"GET", "/v1/streams/..%2f", 404}, {"GET", "/page/../handler.go", 404}} {
		if a, text := s.ask(t, c.method, c.path, ""); a.StatusCode != c.status || !strings.Contains(text, `"status"`) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.StatusCode, text)
		}
	}
	if !bytes.Equal(state(t, s.c), before) {
		t.Error("bad input changed the state")
	}
}

// Who has no admin token hears that first, and what a body is called makes no difference.
func TestAdminAnswers(t *testing.T) {
	s := start(t, HandlerConfig{})
	create(t, s.c, Definition{Stream: testStream(t, "invited"), Invitations: true})
	token := "Authorization: Bearer " + s.token
	const invitations = "/v1/streams/invited/invitations"
	for _, path := range []string{"/v1/streams", invitations, "/v1/streams/invited/close", "/v1/streams/nowhere/close"} {
		for _, body := range []string{"", "{", `{"count":3,"hours":24}`} {
			for _, kind := range []string{"application/x-www-form-urlencoded", "application/json", "text/plain"} {
				if a, text := s.ask(t, "POST", path, body, "Content-Type: "+kind); a.StatusCode != 401 || a.Header.Get("WWW-Authenticate") == "" || !strings.Contains(text, `"reason":"admin-token"`) {
					t.Errorf("%s %s %q without a token: %d %s", path, kind, body, a.StatusCode, text)
				}
			}
		}
	}
	for _, kind := range []string{"application/x-www-form-urlencoded", "application/json", "application/json; charset=utf-8", "text/plain", "nonsense"} {
		if a, text := s.ask(t, "POST", invitations, `{"count":3,"hours":24}`, token, "Content-Type: "+kind); a.StatusCode != 201 || strings.Count(text, invitationPrefix) != 3 {
			t.Errorf("%s: %d %s", kind, a.StatusCode, text)
		}
		if a, text := s.ask(t, "POST", "/v1/streams/invited/reports", `{}`, "Content-Type: "+kind); a.StatusCode != 422 {
			t.Errorf("a report as %s: %d %s", kind, a.StatusCode, text)
		}
	}
	for body, status := range map[string]int{
		"": 400, "{": 400, "null": 422, `{}`: 422, `{"count":0}`: 422, `{"count":10001}`: 422, `{"count":1.5}`: 422, `{"count":1,"hours":0}`: 422,
		`{"count":1,"hours":87601}`: 422, `{"count":1,"days":2}`: 422, `{"count":1}`: 201, `{"count":1,"hours":87600}`: 201,
	} {
		if a, text := s.ask(t, "POST", invitations, body, token); a.StatusCode != status {
			t.Errorf("%s: %d %s", body, a.StatusCode, text)
		}
	}
	_, text := s.ask(t, "GET", "/openapi.json", "")
	for _, want := range []string{`"/v1/streams/{name}/events"`, `"text/event-stream"`, `"/v1/streams/{name}/invitations/check"`, `"#/components/schemas/Invitations"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the OpenAPI document lacks %s", want)
		}
	}
	if strings.Contains(text, "octet-stream") {
		t.Error("the OpenAPI document wants reports as application/octet-stream")
	}
}

func TestOpeningRefusals(t *testing.T) {
	s := start(t, HandlerConfig{})
	for what, c := range map[string]struct {
		body   string
		status int
	}{
		"no token is asked first": {opening, 401},
	} {
		if a, text := s.ask(t, "POST", "/v1/streams", c.body); a.StatusCode != c.status {
			t.Errorf("%s: %d %s", what, a.StatusCode, text)
		}
	}
	for _, c := range []struct{ old, new string }{
		{`"people":100000`, `"quota":5`}, {`"tau":0.67`, `"tau":-1`}, {`"tau":0.67`, `"tau":null`}, {`[0,1]`, `[1,0]`}, {`[0,1]`, `[0,1,2]`},
		{`kernel:gauss:20%`, `nonsense`}, {`kernel:gauss:20%`, `kernel:gauss:0.1%`}, {`"name":"heights"`, `"name":"A/B"`}, {`"delta":1e-6`, `"delta":0`}, {`"tau"`, `"taux"`},
		{`"people":100000`, `"people":100000,"smoothness":2`}, {`"people":100000`, `"people":100000,"smoothness":1,"steps":{"gamma0":0.01,"exponent":0.5,"horizon":100}`},
	} {
		if a, text := s.ask(t, "POST", "/v1/streams", strings.Replace(opening, c.old, c.new, 1), "Authorization: Bearer "+s.token); a.StatusCode != 422 {
			t.Errorf("%s: %d %s", c.new, a.StatusCode, text)
		}
	}
	if a, text := s.ask(t, "POST", "/v1/streams", strings.Replace(opening, `1e-6`, `0.1`, 1), "Authorization: Bearer "+s.token); a.StatusCode != 201 || !strings.Contains(text, "hardly privacy") {
		t.Errorf("δ above 1/n: %d %s", a.StatusCode, text)
	}
	if a, _ := s.ask(t, "POST", "/v1/streams", opening, "Authorization: Bearer "+s.token); a.StatusCode != 409 {
		t.Errorf("second of a name: %d", a.StatusCode)
	}
	rough := strings.Replace(strings.Replace(opening, "heights", "rough", 1), `"people":100000`, `"people":100000,"smoothness":0.5`, 1)
	if a, text := s.ask(t, "POST", "/v1/streams", rough, "Authorization: Bearer "+s.token); a.StatusCode != 201 {
		t.Fatal(text)
	}
	smooth, _ := s.c.Model("heights")
	if m, _ := s.c.Model("rough"); m.Stream.Steps.Exponent != 0.5 || smooth.Stream.Steps.Exponent != 2.0/3 {
		t.Errorf("steps %+v for smoothness 1/2, %+v by default", m.Stream.Steps, smooth.Stream.Steps)
	}
}

func TestRateLimit(t *testing.T) {
	s := start(t, HandlerConfig{Rate: 5})
	limited := 0
	for range 30 {
		if a, _ := s.ask(t, "GET", "/v1/streams", ""); a.StatusCode == 429 {
			limited++
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if limited < 15 || limited > 20 {
		t.Errorf("%d of 30 limited, want about 20", limited)
	}
}

// A client that sends its body too slowly is cut off, and nothing is applied.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a timeout")
	}
	s := start(t, HandlerConfig{})
	create(t, s.c, Definition{Stream: testStream(t, "heights")})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/streams/heights/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"curveil\"")
	_ = conn.SetReadDeadline(time.Now().Add(2 * bodyTimeout))
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), "408") {
		t.Errorf("%s %v", answer, err)
	}
}

func TestLogsHoldNoPersonalData(t *testing.T) {
	s := start(t, HandlerConfig{})
	stream := testStream(t, "heights")
	create(t, s.c, Definition{Stream: stream, Invitations: true})
	tokens, err := s.c.Invite(t.Context(), "heights", 1, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r := makeReports(t, stream, 1)[0]
	s.ask(t, "POST", "/v1/streams/heights/reports", encode(t, r), "Authorization: Bearer "+tokens[0], "User-Agent: telltale-agent")
	s.ask(t, "POST", "/v1/streams/heights/reports", "{", "Authorization: Bearer "+tokens[0])
	s.ask(t, "GET", "/v1/streams/telltale-path", "")
	logs := s.logs.String()
	if !strings.Contains(logs, `"route":"POST /v1/streams/{name}/reports"`) {
		t.Errorf("no request in the log:\n%s", logs)
	}
	for _, secret := range []string{"127.0.0.1", tokens[0], s.token, r.ID.String(), "telltale", fmt.Sprint(r.Coordinates[0])} {
		if strings.Contains(logs, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// The whole way of a person who is late: conflict, and a second report only with budget for it.
func TestRemoteConflict(t *testing.T) {
	s := start(t, HandlerConfig{})
	stream := testStream(t, "heights")
	stream.Staleness = 1
	create(t, s.c, Definition{Stream: stream})
	remote, err := NewRemote(s.url, "heights")
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []int{0, 1, 2} {
		m, err := remote.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		config := regression.ClientConfig{}
		ledger := &counting{left: budget}
		if budget > 0 {
			config.Ledger = ledger
		}
		late, err := regression.NewClient(m, config)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // others are quicker
			m, err := remote.Model(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			quick, err := regression.NewClient(m, regression.ClientConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := remote.Contribute(t.Context(), quick, []float64{0.1}, 0, nil); err != nil {
				t.Fatal(err)
			}
		}
		kept := 0
		_, err = remote.Contribute(t.Context(), late, []float64{0.5}, 1, func([]byte) error { kept++; return nil })
		var conflict *Conflict
		switch {
		case budget == 2 && (err != nil || kept != 2):
			t.Errorf("budget for two: %v, %d made", err, kept)
		case budget < 2 && (!errors.As(err, &conflict) || kept != 1):
			t.Errorf("budget %d: %v, %d made", budget, err, kept)
		case budget == 0 && !errors.Is(err, regression.ErrOneReport):
			t.Errorf("no ledger: %v", err)
		}
	}
	if p, tag, err := remote.Watch(t.Context(), "", 0); err != nil || p.At != 7 {
		t.Errorf("%v %v", p, err)
	} else if p, _, err := remote.Watch(t.Context(), tag, time.Second); err != nil || p != nil {
		t.Errorf("nothing new: %v %v", p, err)
	}
}

func TestIndexPage(t *testing.T) {
	s := start(t, HandlerConfig{})
	for _, name := range []string{"one", "ended", "two"} {
		stream := testStream(t, name)
		create(t, s.c, Definition{Stream: stream})
		n := 1
		if name == "two" {
			n = 2
		}
		for _, r := range makeReports(t, stream, n) {
			if _, err := s.c.Submit(t.Context(), name, r, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.c.CloseStream(t.Context(), "ended"); err != nil {
		t.Fatal(err)
	}
	_, text := s.ask(t, "GET", "/", "")
	for _, want := range []string{`one</a> <span>1 report, ε`, `ended</a> <span>1 report, closed, ε`, `two</a> <span>2 reports, ε`} {
		if !strings.Contains(text, want) {
			t.Errorf("the index lacks %q:\n%s", want, text)
		}
	}
	if a, text := s.ask(t, "POST", "/v1/streams/one/reports", "null"); a.StatusCode != 422 || strings.Contains(text, "nil") {
		t.Errorf("%d %s", a.StatusCode, text)
	}
	if a, text := s.ask(t, "POST", "/v1/streams/one/reports", `{"curveil":"regression-report","version":1.5}`); a.StatusCode != 422 || strings.Contains(text, "Go ") || !strings.Contains(text, "whole number") {
		t.Errorf("%d %s", a.StatusCode, text)
	}
}
