package collector

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/curveil/curveil/regression"
)

// A closed stream stays published and takes nothing more, across restarts from the snapshot and from the log alone; repeats are still
// answered as such.
func TestCloseStream(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 4)
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: s})
	create(t, c, Definition{Stream: testStream(t, "weights")})
	if _, err := c.Submit(t.Context(), "heights", reports[0], ""); err != nil {
		t.Fatal(err)
	}
	if err := c.CloseStream(t.Context(), "lengths"); !errors.Is(err, ErrUnknownStream) {
		t.Errorf("closing an unknown stream: %v", err)
	}
	before := c.fold.seq
	for range 2 {
		if err := c.CloseStream(t.Context(), "heights"); err != nil {
			t.Fatal(err)
		}
	}
	if c.fold.seq != before+1 {
		t.Errorf("closed by %d messages", c.fold.seq-before)
	}
	want := state(t, c)
	for _, how := range []string{"as it was closed", "from the snapshot", "from the log alone"} {
		if how != "as it was closed" {
			c.Close()
			if how == "from the log alone" {
				for _, f := range snapshotFiles(folder) {
					os.Remove(f)
				}
			}
			c = open(t, Config{Folder: folder})
		}
		var refused *Refused
		if _, err := c.Submit(t.Context(), "heights", reports[1], ""); !errors.As(err, &refused) || refused.Reason != StreamClosed {
			t.Errorf("%s: %v", how, err)
		}
		if got, err := c.Submit(t.Context(), "heights", reports[0], ""); err != nil || !got.Repeated {
			t.Errorf("%s: a repeat: %v %v", how, got, err)
		}
		if !bytes.Equal(state(t, c), want) {
			t.Errorf("%s: another state", how)
		}
		if r, err := c.Release("heights"); err != nil || r.N != 1 {
			t.Errorf("%s: release: %v", how, err)
		}
	}
	if _, err := c.Submit(t.Context(), "weights", makeReports(t, testStream(t, "weights"), 1)[0], ""); err != nil {
		t.Errorf("the other stream: %v", err)
	}
}

// Reports that race with the end of a stream are acknowledged or refused, and those acknowledged are in the estimate.
func TestCloseStreamRace(t *testing.T) {
	s := testStream(t, "heights")
	reports := makeReports(t, s, 400)
	c := open(t, Config{})
	create(t, c, Definition{Stream: s})
	var taken, closedAt atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < len(reports); i += 8 {
				var refused *Refused
				_, err := c.Submit(t.Context(), "heights", reports[i], "")
				switch {
				case err == nil:
					if taken.Add(1) == 100 {
						if err := c.CloseStream(t.Context(), "heights"); err != nil {
							t.Error(err)
						}
						m, _ := c.Model("heights")
						closedAt.Store(m.At)
					}
				case !errors.As(err, &refused) || refused.Reason != StreamClosed:
					t.Errorf("report %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	if m, _ := c.Model("heights"); m.At != taken.Load() || m.At != closedAt.Load() || m.At == 400 {
		t.Errorf("%d acknowledged, %d in the estimate, %d when closed", taken.Load(), m.At, closedAt.Load())
	}
}

func TestCloseStreamOverHTTP(t *testing.T) {
	s := start(t, HandlerConfig{})
	create(t, s.c, Definition{Stream: testStream(t, "heights")})
	admin := "Authorization: Bearer " + s.token
	if a, _ := s.ask(t, "POST", "/v1/streams/heights/close", ""); a.StatusCode != 401 {
		t.Errorf("without the token: %d", a.StatusCode)
	}
	if a, _ := s.ask(t, "POST", "/v1/streams/lengths/close", "", admin); a.StatusCode != 404 {
		t.Errorf("unknown: %d", a.StatusCode)
	}
	remote, err := NewRemote(s.url, "heights")
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := remote.Stream(t.Context()); err != nil || sum.Takes(false) != nil {
		t.Errorf("open: %v", err)
	}
	a, text := s.ask(t, "POST", "/v1/streams/heights/close", "", admin)
	if a.StatusCode != 200 || !strings.Contains(text, `"closed":true`) {
		t.Fatalf("%d %s", a.StatusCode, text)
	}
	report := encode(t, makeReports(t, testStream(t, "heights"), 1)[0])
	if a, text := s.ask(t, "POST", "/v1/streams/heights/reports", report); a.StatusCode != 410 || !strings.Contains(text, `"reason":"closed"`) {
		t.Errorf("a report: %d %s", a.StatusCode, text)
	}
	sum, err := remote.Stream(t.Context())
	var refused *Refused
	if err != nil || !errors.As(sum.Takes(false), &refused) || refused.Reason != StreamClosed {
		t.Errorf("closed: %v %v", sum, err)
	}
	for path, want := range map[string]string{"/streams/heights": "is closed", "/metrics": `curveil_stream_closed{stream="heights"} 1`, "/v1/streams": `"closed":true`} {
		if a, text := s.ask(t, "GET", path, ""); a.StatusCode != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d, lacks %q", path, a.StatusCode, want)
		}
	}
}

func TestSummaryTakes(t *testing.T) {
	for _, c := range []struct {
		s       Summary
		invited bool
		reason  string
	}{
		{Summary{}, false, ""},
		{Summary{Quota: 10, At: 9}, false, ""},
		{Summary{Quota: 10, At: 10}, false, QuotaReached},
		{Summary{Invitations: true}, false, NoInvitation},
		{Summary{Invitations: true}, true, ""},
		{Summary{Closed: true}, true, StreamClosed},
	} {
		reason := ""
		var refused *Refused
		if errors.As(c.s.Takes(c.invited), &refused) {
			reason = refused.Reason
		}
		if reason != c.reason {
			t.Errorf("%+v: %q, want %q", c.s, reason, c.reason)
		}
	}
}

// While it drains the collector answers, and says that it will not for long.
func TestDrain(t *testing.T) {
	folder := t.TempDir()
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: testStream(t, "heights")})
	h, err := c.Handler(HandlerConfig{Drain: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, done := serveOn(t, h)
	status := func(path string) int {
		a, err := http.Get(url + path)
		if err != nil {
			return 0
		}
		a.Body.Close()
		return a.StatusCode
	}
	if got := status("/readyz"); got != 200 {
		t.Fatalf("before: %d", got)
	}
	began := time.Now()
	stop()
	waitFor(t, func() bool { return status("/readyz") == 503 })
	remote, err := NewRemote(url, "heights")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := remote.Send(t.Context(), makeReports(t, testStream(t, "heights"), 1)[0]); err != nil || r.At != 1 {
		t.Errorf("a report while draining: %v %v", r, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("stopped after %v", took)
	}
	if got := status("/healthz"); got != 0 {
		t.Errorf("after: %d", got)
	}
}

// An answer that is the collector's fault has a number, which its log has too, and which is not the client's.
func TestFaultsHaveNumbers(t *testing.T) {
	s := start(t, HandlerConfig{})
	create(t, s.c, Definition{Stream: testStream(t, "heights")})
	fault := errors.New("disk gone")
	s.c.fault.Store(&fault)
	a, _ := s.ask(t, "POST", "/v1/streams/heights/reports", encode(t, makeReports(t, testStream(t, "heights"), 1)[0]), "X-Request-Id: ada@example")
	id := a.Header.Get("X-Request-Id")
	if a.StatusCode != 503 || id == "" || strings.Contains(id, "ada") || !strings.Contains(s.logs.String(), id) {
		t.Errorf("%d, number %q", a.StatusCode, id)
	}
	if a, _ := s.ask(t, "GET", "/v1/streams", ""); a.Header.Get("X-Request-Id") != "" {
		t.Error("a number for an answer without fault")
	}
}

// Snapshots of version 1, which had no closed streams, are read.
func TestFirstSnapshotsAreRead(t *testing.T) {
	c := open(t, Config{})
	s := testStream(t, "heights")
	create(t, c, Definition{Stream: s})
	var reports []*regression.Report
	for _, r := range makeReports(t, s, 3) {
		reports = append(reports, r)
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
	}
	old := firstSnapshot(t, c.fold)
	f, err := unmarshalFold(old)
	if err != nil {
		t.Fatal(err)
	}
	now, err := f.marshal()
	if err != nil || !bytes.Equal(now, state(t, c)) {
		t.Errorf("another state: %v", err)
	}
	for _, r := range reports {
		if !f.streams[0].server.Applied(r.ID) {
			t.Error("a report is lost")
		}
	}
	if _, err := json.Marshal(f.streams[0].definition); err != nil {
		t.Error(err)
	}
}
