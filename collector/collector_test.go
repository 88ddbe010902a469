package collector

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

func testStream(t testing.TB, name string) regression.Stream {
	t.Helper()
	sp, err := space.Kernel(space.Gaussian(0.12), space.Midpoints(0, 1, 50))
	if err != nil {
		t.Fatal(err)
	}
	return regression.Stream{Name: name, Basis: regression.OneVariable(sp), Tau: 0.67, Steps: regression.Steps{Gamma0: 0.01, Horizon: 1 << 30},
		Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}, Staleness: 1 << 20}.WithDefaults()
}

func open(t testing.TB, c Config) *Collector {
	t.Helper()
	if c.Folder == "" {
		c.Folder = t.TempDir()
	}
	out, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out
}

func create(t testing.TB, c *Collector, d Definition) {
	t.Helper()
	if err := c.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// reports are honest ones of people who see the model at version 0.
func makeReports(t testing.TB, s regression.Stream, n int) []*regression.Report {
	t.Helper()
	v, err := regression.NewServer(s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := regression.NewClient(v.Model(), regression.ClientConfig{Ledger: &counting{n}})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*regression.Report, n)
	for i := range out {
		if out[i], err = c.Contribute(context.Background(), []float64{float64(i%100) / 100}, 1); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func state(t testing.TB, c *Collector) []byte {
	t.Helper()
	b, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRestartGivesTheSameBytes(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 300)
	c := open(t, Config{Folder: folder, SnapshotEvery: 64})
	create(t, c, Definition{Stream: s, People: 1000})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := i; j < len(reports); j += 8 {
				if r, err := c.Submit(t.Context(), "heights", reports[j], ""); err != nil || r.Repeated {
					t.Errorf("report %d: %v %v", j, r, err)
				}
			}
		})
	}
	wg.Wait()
	want := state(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"from the snapshot at the end", "from an older snapshot", "from the log alone"} {
		c := open(t, Config{Folder: folder})
		if got := state(t, c); !bytes.Equal(got, want) {
			t.Errorf("%s: another state", how)
		}
		for _, r := range reports[:20] {
			if got, err := c.Submit(t.Context(), "heights", r, ""); err != nil || !got.Repeated {
				t.Fatalf("%s: repeat of a report: %v %v", how, got, err)
			}
		}
		if got := state(t, c); !bytes.Equal(got, want) {
			t.Errorf("%s: repeats changed the state", how)
		}
		c.Close()
		files := snapshotFiles(folder)
		if how == "from an older snapshot" {
			for _, f := range files {
				os.Remove(f)
			}
		} else if len(files) > 0 {
			os.Remove(files[0])
		}
	}
}

func TestDamagedSnapshotIsPassedOver(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: s})
	for _, r := range makeReports(t, s, 5) {
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
	}
	want := state(t, c)
	c.Close()
	file := snapshotFiles(folder)[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/7 {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		if _, err := unmarshalFold(bad); err == nil {
			t.Errorf("a snapshot with byte %d changed was read", i)
		}
		if _, err := unmarshalFold(whole[:i]); err == nil {
			t.Errorf("a snapshot cut to %d bytes was read", i)
		}
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	c = open(t, Config{Folder: folder})
	if !bytes.Equal(state(t, c), want) {
		t.Error("another state after a damaged snapshot")
	}
}

func TestLostLogIsRefused(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: s})
	if _, err := c.Submit(t.Context(), "heights", makeReports(t, s, 1)[0], ""); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := os.RemoveAll(filepath.Join(folder, "log")); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(t.Context(), Config{Folder: folder}); err == nil {
		c.Close()
		t.Fatal("opened without its log")
	} else {
		t.Log(err)
	}
	// Another log in its place.
	other := t.TempDir()
	c = open(t, Config{Folder: other})
	create(t, c, Definition{Stream: s})
	if _, err := c.Submit(t.Context(), "heights", makeReports(t, s, 1)[0], ""); err != nil {
		t.Fatal(err)
	}
	c.Close()
	os.RemoveAll(filepath.Join(folder, "log"))
	if err := os.Rename(filepath.Join(other, "log"), filepath.Join(folder, "log")); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(t.Context(), Config{Folder: folder}); err == nil {
		c.Close()
		t.Fatal("opened with another's log")
	} else {
		t.Log(err)
	}
}

func TestOneCollectorPerFolder(t *testing.T) {
	c := open(t, Config{})
	if _, err := Open(t.Context(), Config{Folder: c.config.Folder}); err == nil {
		t.Error("two collectors in one folder")
	}
}

func TestInvitations(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 6)
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: s, Invitations: true, Quota: 2})
	tokens, err := c.Invite(t.Context(), "heights", 3, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	late, err := c.Invite(t.Context(), "heights", 1, time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what, token string
		report      int
		reason      string
		repeated    bool
	}{
		{"none", "", 0, NoInvitation, false},
		{"unknown", "curveil-invitation-X", 0, UnknownInvitation, false},
		{"expired", late[0], 0, ExpiredInvitation, false},
		{"first", tokens[0], 0, "", false},
		{"again, the same report", tokens[0], 0, "", true},
		{"again, another report", tokens[0], 1, UsedInvitation, false},
		{"restart", "", 0, "", false},
		{"again after a restart", tokens[0], 1, UsedInvitation, false},
		{"second", tokens[1], 1, "", false},
		{"beyond the quota", tokens[2], 2, QuotaReached, false},
	} {
		if step.what == "restart" {
			c.Close()
			c = open(t, Config{Folder: folder})
			continue
		}
		got, err := c.Submit(t.Context(), "heights", reports[step.report], step.token)
		var refused *Refused
		reason := ""
		if errors.As(err, &refused) {
			reason = refused.Reason
		} else if err != nil {
			t.Fatal(err)
		}
		if reason != step.reason || got.Repeated != step.repeated {
			t.Errorf("%s: %q %v, want %q %v", step.what, reason, got, step.reason, step.repeated)
		}
	}
	if m, _ := c.Model("heights"); m.At != 2 {
		t.Errorf("%d reports applied, want 2", m.At)
	}
}

// One invitation, many devices at once: one report.
func TestInvitationRace(t *testing.T) {
	s := testStream(t, "heights")
	reports := makeReports(t, s, 32)
	c := open(t, Config{})
	create(t, c, Definition{Stream: s, Invitations: true})
	tokens, err := c.Invite(t.Context(), "heights", 1, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	invitations := make([]string, len(reports))
	for i := range invitations {
		invitations[i] = tokens[0]
	}
	answers, err := c.SubmitAll(t.Context(), "heights", reports, invitations)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for _, a := range answers {
		if a.Err == nil {
			taken++
		}
	}
	if m, _ := c.Model("heights"); taken != 1 || m.At != 1 {
		t.Errorf("%d acknowledged, %d applied, want 1", taken, m.At)
	}
}

func TestSeededNoiseIsRefused(t *testing.T) {
	s := testStream(t, "heights")
	v, _ := regression.NewServer(s)
	client, err := regression.NewClient(v.Model(), regression.ClientConfig{Source: noise.Seeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.Contribute(t.Context(), []float64{0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, Config{})
	create(t, c, Definition{Stream: s})
	var refused *Refused
	if _, err := c.Submit(t.Context(), "heights", r, ""); !errors.As(err, &refused) || refused.Reason != SeededNoise {
		t.Errorf("%v", err)
	}
}

func TestNames(t *testing.T) {
	c := open(t, Config{})
	s := testStream(t, "heights")
	create(t, c, Definition{Stream: s})
	if err := c.Create(t.Context(), Definition{Stream: s}); !errors.Is(err, ErrExists) {
		t.Errorf("second stream of a name: %v", err)
	}
	for _, bad := range []string{"", "A", "a b", "../x", "ä", ".x"} {
		s.Name = bad
		if err := c.Create(t.Context(), Definition{Stream: s}); err == nil {
			t.Errorf("name %q was accepted", bad)
		}
	}
	if _, err := c.Submit(t.Context(), "weights", makeReports(t, testStream(t, "heights"), 1)[0], ""); !errors.Is(err, ErrUnknownStream) {
		t.Errorf("unknown stream: %v", err)
	}
}

// The log's own limit, as where a quota ends: a clear error, nothing applied, and what was acknowledged stays.
func TestLogFull(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 200)
	c := open(t, Config{Folder: folder, MaxLog: 60000})
	create(t, c, Definition{Stream: s})
	taken := int64(0)
	var last error
	for _, r := range reports {
		if _, err := c.Submit(t.Context(), "heights", r, ""); err == nil {
			taken++
		} else {
			last = err
		}
	}
	if !errors.Is(last, ErrUnavailable) || taken == 0 || taken == 200 {
		t.Fatalf("%d taken, %v", taken, last)
	}
	t.Log(taken, last)
	m, _ := c.Model("heights")
	if m.At != taken {
		t.Errorf("%d applied, %d acknowledged", m.At, taken)
	}
	want := state(t, c)
	c.Close()
	c = open(t, Config{Folder: folder, MaxLog: 1 << 20})
	if !bytes.Equal(state(t, c), want) {
		t.Error("another state after a restart")
	}
	if _, err := c.Submit(t.Context(), "heights", reports[199], ""); err != nil {
		t.Errorf("with more room: %v", err)
	}
}
