package collector

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Invitations that have expired leave with the next snapshot, by a record of the log: the answers stay right, reports stay applied
// once, and reading the whole log again gives the same bytes.
func TestExpiredInvitationsAreForgotten(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 12)
	c := open(t, Config{Folder: folder, SnapshotEvery: 3})
	c.forgetAfter = 0
	create(t, c, Definition{Stream: s, Invitations: true})
	invite := func(n int, d time.Duration) []string {
		tokens, err := c.Invite(t.Context(), "heights", n, time.Now().Add(d))
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	submit := func(report int, token string) (Receipt, string) {
		got, err := c.Submit(t.Context(), "heights", reports[report], token)
		var refused *Refused
		if errors.As(err, &refused) {
			return got, refused.Reason
		}
		if err != nil {
			t.Fatal(err)
		}
		return got, ""
	}
	good, brief, never := invite(10, time.Hour), invite(1, 1500*time.Millisecond), invite(5, -time.Minute)
	if _, reason := submit(0, brief[0]); reason != "" {
		t.Fatal(reason)
	}
	time.Sleep(2 * time.Second) // seconds are the log's unit
	for i := range 3 {          // the third report makes a snapshot
		if _, reason := submit(1+i, good[i]); reason != "" {
			t.Fatal(reason)
		}
	}
	c.saving.Wait()
	held := func() int { return len(c.fold.streams[0].invitations) }
	check := func(when string) {
		t.Helper()
		if held() != len(good) {
			t.Errorf("%s: %d invitations are held, want the %d that have not expired", when, held(), len(good))
		}
		for _, c := range []struct {
			token  string
			report int
			reason string
		}{{never[0], 10, ExpiredInvitation}, {brief[0], 10, ExpiredInvitation}, {good[0], 10, UsedInvitation}, {"curveil-invitation-X", 10, UnknownInvitation}, {"curveil-invitation-zzzzzzz-X", 10, UnknownInvitation}} {
			if _, reason := submit(c.report, c.token); reason != c.reason {
				t.Errorf("%s: %s: %q, want %q", when, c.token, reason, c.reason)
			}
		}
		if got, reason := submit(0, brief[0]); !got.Repeated || reason != "" {
			t.Errorf("%s: the report of a forgotten invitation again: %v %q", when, got, reason)
		}
	}
	check("at once")
	bytesOf := func() []byte {
		data, err := c.fold.marshal()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := bytesOf()
	c.Close()
	c = open(t, Config{Folder: folder})
	check("from the snapshot")
	if !bytes.Equal(bytesOf(), want) {
		t.Error("the snapshot gives other bytes")
	}
	c.Close()
	if err := os.RemoveAll(filepath.Join(folder, "snapshots")); err != nil {
		t.Fatal(err)
	}
	c = open(t, Config{Folder: folder})
	check("from the log")
	if !bytes.Equal(bytesOf(), want) {
		t.Error("the log gives other bytes")
	}
}

func TestDefinitionRefusesMoreText(t *testing.T) {
	text := encode(t, Definition{Stream: testStream(t, "heights")})
	if _, err := readDefinition([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"{}", " 1", "x"} {
		if _, err := readDefinition([]byte(text + more)); err == nil {
			t.Errorf("%q after the definition was accepted", more)
		}
	}
}
