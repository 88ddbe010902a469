//go:build unix

package collector

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/curveil/curveil/regression"
)

// The test binary serves a folder when this is set: a process of its own, to be killed.
const childFolder = "CURVEIL_TEST_SERVE"

// It trims its log when this is set.
const childTrims = "CURVEIL_TEST_TRIM"

func TestMain(m *testing.M) {
	if folder := os.Getenv(childFolder); folder != "" {
		if err := child(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if options := os.Getenv(childNode); options != "" {
		if err := node(options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(folder string) error {
	config := Config{Folder: folder, SnapshotEvery: 700}
	if os.Getenv(childTrims) != "" {
		config.SnapshotEvery, config.TrimLog = 15, true
	}
	c, err := Open(context.Background(), config)
	if err != nil {
		return err
	}
	h, err := c.Handler(HandlerConfig{})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return h.Serve(context.Background(), l, nil)
}

type process struct {
	cmd *exec.Cmd
	url string
}

func spawn(t testing.TB, folder string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childFolder+"="+folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the collector did not start: %v\n%s", err, &stderr)
	}
	return &process{cmd, "http://" + strings.TrimSpace(line)}
}

// kill is SIGKILL: nothing in the process gets to end in order.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// TestKill kills the collector's process at random moments under load, 12 times, or CURVEIL_KILLS times. Every
// acknowledged report is in the estimate once, none that was not sent or not acknowledged is half there, and reading
// snapshot and log again gives the same bytes as reading the log alone.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes")
	}
	kills := 12
	if text := os.Getenv("CURVEIL_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("whole log", func(t *testing.T) { killed(t, kills, false) })
	t.Run("trimmed log", func(t *testing.T) {
		t.Setenv(childTrims, "1")
		killed(t, (kills+1)/2, true)
	})
}

func killed(t *testing.T, kills int, trims bool) {
	folder := t.TempDir()
	stream := testStream(t, "heights")
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: stream})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	reports := makeReports(t, stream, 700*kills)
	bodies := make([]string, len(reports))
	for i, r := range reports {
		bodies[i] = encode(t, r)
	}
	const workers = 16
	var mu sync.Mutex
	acked := map[regression.ID]bool{} // said to be in
	maybe := map[regression.ID]bool{} // sent, no answer
	next := 0
	acks := make([]int, kills)
	for round := range kills {
		p := spawn(t, folder)
		ctx, cancel := context.WithCancel(t.Context())
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					if next == len(reports) {
						mu.Unlock()
						return
					}
					i := next
					next++
					mu.Unlock()
					for range 2 { // an answer may be lost: the same again, now and then though it was not
						q, _ := http.NewRequestWithContext(ctx, "POST", p.url+"/v1/streams/heights/reports", strings.NewReader(bodies[i]))
						q.Header.Set("Content-Type", "application/json")
						a, err := client.Do(q)
						mu.Lock()
						if err != nil {
							maybe[reports[i].ID] = true
						} else {
							if a.StatusCode == 200 {
								acked[reports[i].ID] = true
								acks[round]++
							} else {
								t.Errorf("report %d: %s", i, a.Status)
							}
							a.Body.Close()
						}
						mu.Unlock()
						if i%16 != 0 {
							break
						}
					}
				}
			})
		}
		if trims { // a slow machine too must come to trim
			for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				mu.Lock()
				enough := acks[round] >= 60
				mu.Unlock()
				if enough {
					break
				}
			}
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		p.kill()
		cancel()
		wg.Wait()
		client.CloseIdleConnections()
	}
	t.Logf("%d kills, %d reports sent, %d acknowledged, %d without an answer", kills, next, len(acked), len(maybe))
	if len(acked) == 0 {
		t.Fatal("no report was acknowledged: the test tests nothing")
	}

	c = open(t, Config{Folder: folder})
	got := state(t, c)
	in, out := 0, 0
	s := c.fold.streams[0]
	for _, r := range reports {
		applied := s.server.Applied(r.ID)
		switch {
		case acked[r.ID] && !applied:
			t.Errorf("report %v was acknowledged and is lost", r.ID)
		case applied && !acked[r.ID] && !maybe[r.ID]:
			t.Errorf("report %v is in the estimate and was not sent", r.ID)
		}
		if applied {
			in++
		} else {
			out++
		}
	}
	if at := s.server.At(); at != int64(in) {
		t.Errorf("the estimate has %d reports, %d ids are known: some are in it twice", at, in)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if trims {
		c = open(t, Config{Folder: folder})
		if first, last, err := c.log.bounds(t.Context()); err != nil || first <= 1 {
			t.Errorf("the log was not trimmed: messages %d to %d, %v", first, last, err)
		}
		if !bytes.Equal(state(t, c), got) {
			t.Error("another state after a restart")
		}
		return
	}
	// The log alone, and a server that never saw a log.
	for _, f := range snapshotFiles(folder) {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	c = open(t, Config{Folder: folder})
	if !bytes.Equal(state(t, c), got) {
		t.Error("the log alone gives other bytes than snapshot and log")
	}
	byID := map[regression.ID]*regression.Report{}
	for _, r := range reports {
		byID[r.ID] = r
	}
	fresh, err := regression.NewServer(stream)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.log.read(t.Context(), 0, func(_ uint64, data []byte) error {
		return readMessage(data, func(r *record) error {
			if r.kind != kindReport {
				return nil
			}
			_, err := fresh.Apply(byID[r.report.ID])
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Release()
	if err != nil {
		t.Fatal(err)
	}
	have, err := c.Release("heights")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want.Coefficients)
	b, _ := json.Marshal(have.Coefficients)
	if !bytes.Equal(a, b) {
		t.Errorf("the estimate is not that of the reports as sent:\n%s\n%s", a, b)
	}
}

// A disk that fills up while reports come: a clear error, what was acknowledged stays, and after room is made and a restart
// the collector goes on.
func TestDiskFull(t *testing.T) {
	folder := small(t)
	s := testStream(t, "heights")
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: s})
	reports := makeReports(t, s, 50)
	var acked []*regression.Report
	take := func(rs []*regression.Report) (last error) {
		for _, r := range rs {
			if _, err := c.Submit(t.Context(), "heights", r, ""); err != nil {
				last = err
			} else {
				acked = append(acked, r)
			}
		}
		return last
	}
	if err := take(reports[:10]); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(folder, "filler")
	fill(t, filler)
	err := take(reports[10:40])
	if err == nil {
		t.Fatal("the disk is full and reports are acknowledged")
	}
	t.Log(err)
	if err := c.Ready(); err == nil {
		t.Error("ready on a full disk")
	}
	m, err := c.Model("heights")
	if err != nil || m.At != int64(len(acked)) {
		t.Errorf("%d acknowledged, %d in the estimate: %v", len(acked), m.At, err)
	}
	if err := c.Close(); err != nil {
		t.Log("closing on a full disk:", err)
	}
	if full, err := Open(t.Context(), Config{Folder: folder}); err == nil {
		full.Close()
		t.Error("opened on a full disk")
	} else {
		t.Log(err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c = open(t, Config{Folder: folder})
	for _, r := range acked {
		if got, err := c.Submit(t.Context(), "heights", r, ""); err != nil || !got.Repeated {
			t.Fatalf("an acknowledged report is lost: %v %v", got, err)
		}
	}
	if err := take(reports); err != nil {
		t.Error(err)
	}
	if m, _ := c.Model("heights"); m.At != 50 {
		t.Errorf("%d in the estimate, want 50", m.At)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	folder := small(t)
	c := open(t, Config{Folder: folder})
	create(t, c, Definition{Stream: testStream(t, "heights")})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot make the folder read-only: %s", out)
	}
	if c, err := Open(t.Context(), Config{Folder: folder}); err == nil {
		c.Close()
		t.Error("opened in a folder that cannot be written")
	} else if !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

// small is a file system of 4 MB.
func small(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "curveil-test", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return folder
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
}
