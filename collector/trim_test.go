package collector

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// firstSnapshot is a snapshot of one stream without invitations, as version 1 wrote it.
func firstSnapshot(t *testing.T, f *fold) []byte {
	t.Helper()
	b, err := f.marshal()
	if err != nil {
		t.Fatal(err)
	}
	b = append([]byte(snapshotFirst), b[len(snapshotMagic):len(b)-4]...)
	// closed and the number of invitations, both 0, end it.
	b = b[:len(b)-8]
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// serveOn serves a handler on loopback until stop.
func serveOn(t *testing.T, h *Handler) (url string, stop func(), done chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done = make(chan error, 1)
	go func() { done <- h.Serve(ctx, l, nil) }()
	return "http://" + l.Addr().String(), cancel, done
}

// waitForSnapshot waits after every so many reports, each in a message of its own after that of the stream, until the snapshot is
// written and the log trimmed, so that none is skipped.
func waitForSnapshot(t *testing.T, c *Collector, reports, every int) {
	t.Helper()
	if reports%every != 0 {
		return
	}
	for deadline := time.Now().Add(10 * time.Second); c.saved.Load() != uint64(reports+1) || c.busy.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no snapshot after %d reports", reports)
		}
	}
}

// A trimmed log stays small, and either of the last two snapshots restores the same bytes with it; without both it is refused.
func TestTrimmedLog(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 600)
	c := open(t, Config{Folder: folder, SnapshotEvery: 50, TrimLog: true})
	create(t, c, Definition{Stream: s})
	var largest uint64
	for i, r := range reports {
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
		waitForSnapshot(t, c, i+1, 50)
		size, err := c.log.size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, size)
	}
	first, last, err := c.log.bounds(t.Context())
	if err != nil || last != 601 || first < 500 {
		t.Errorf("messages %d to %d, %v", first, last, err)
	}
	whole := open(t, Config{})
	create(t, whole, Definition{Stream: s})
	for _, r := range reports {
		if _, err := whole.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
	}
	size, err := whole.log.size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("log of at most %d bytes, messages %d to %d; untrimmed %d bytes", largest, first, last, size)
	if largest > size/3 {
		t.Errorf("the log grew to %d bytes", largest)
	}
	want := state(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again := func(how string) {
		t.Helper()
		c := open(t, Config{Folder: folder, SnapshotEvery: 50, TrimLog: true})
		if !bytes.Equal(state(t, c), want) {
			t.Errorf("%s: another state", how)
		}
		for _, r := range []int{0, 300, 599} {
			if got, err := c.Submit(t.Context(), "heights", reports[r], ""); err != nil || !got.Repeated {
				t.Errorf("%s: a repeat of report %d: %v %v", how, r, got, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	again("both snapshots")
	files := snapshotFiles(folder)
	if len(files) != 2 {
		t.Fatalf("%d snapshots", len(files))
	}
	damage := func(name string) {
		if err := os.WriteFile(name, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(files[0])
	again("the older snapshot")
	for _, name := range snapshotFiles(folder) {
		damage(name)
	}
	if c, err := Open(t.Context(), Config{Folder: folder}); err == nil {
		c.Close()
		t.Error("opened a trimmed log without a snapshot")
	} else if !strings.Contains(err.Error(), "restore log or snapshots from a copy") {
		t.Error(err)
	}
}

// A log with two good snapshots is trimmed, one with a damaged one is not.
func TestDamagedSnapshotKeepsTheLog(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 30)
	c := open(t, Config{Folder: folder, SnapshotEvery: 10, TrimLog: true})
	create(t, c, Definition{Stream: s})
	for i, r := range reports {
		if i == 15 {
			if err := os.WriteFile(snapshotFiles(folder)[0], []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatal(err)
		}
		waitForSnapshot(t, c, i+1, 10)
		first, _, err := c.log.bounds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if trimmed := first > 1; trimmed != (i >= 29) {
			t.Fatalf("after report %d the log begins at %d", i, first)
		}
	}
}

func TestTrimRefusals(t *testing.T) {
	if _, err := Open(t.Context(), Config{Folder: t.TempDir(), NATS: "nats://127.0.0.1:1", TrimLog: true}); err == nil || !strings.Contains(err.Error(), "not trimmed") {
		t.Errorf("a shared log: %v", err)
	}
}

// Reports that a start reads from the log count towards the next snapshot: without that, a collector that is killed before each
// snapshot would read more at every start.
func TestSnapshotAfterManyStarts(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 90)
	for i := 0; i < len(reports); i += 30 {
		c := open(t, Config{Folder: folder, SnapshotEvery: 50})
		if i == 0 {
			create(t, c, Definition{Stream: s})
		}
		for _, r := range reports[i : i+30] {
			if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
				t.Fatal(err)
			}
		}
		if i == 30 {
			for deadline := time.Now().Add(10 * time.Second); c.saved.Load() < 51 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			}
			if c.saved.Load() < 51 {
				t.Errorf("no snapshot after 60 reports in two runs")
			}
		}
		// As if killed: Close would write a snapshot.
		c.saved.Store(1 << 40)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A log with a limit is trimmed before it is full, however rare snapshots are otherwise.
func TestTrimmedLogIsNeverFull(t *testing.T) {
	folder := t.TempDir()
	s := testStream(t, "heights")
	reports := makeReports(t, s, 1500)
	config := Config{Folder: folder, MaxLog: 120_000, TrimLog: true}
	c := open(t, config)
	create(t, c, Definition{Stream: s})
	for i, r := range reports {
		if i == 700 { // what a start reads counts too
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c = open(t, config)
		}
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatalf("report %d: %v", i, err)
		}
	}
	want := state(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open(t, config)
	if m, _ := c.Model("heights"); m.At != 1500 || !bytes.Equal(state(t, c), want) {
		t.Errorf("%d reports, or another state", m.At)
	}
}

// A log that fills up while a snapshot is being written waits for it.
func TestTrimmedLogWaitsForRoom(t *testing.T) {
	s := testStream(t, "heights")
	reports := makeReports(t, s, 900)
	c := open(t, Config{Folder: t.TempDir(), MaxLog: 120_000, TrimLog: true})
	defer c.Close()
	create(t, c, Definition{Stream: s})
	c.busy.Store(true) // a snapshot that never ends …
	for i, r := range reports {
		if i == 385 {
			c.busy.Store(false) // … until the log is all but full
		}
		if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
			t.Fatalf("report %d: %v", i, err)
		}
	}
}
