//go:build unix

package collector

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLoad sends single reports to a collector in a process of its own, over loopback, each client waiting for the
// acknowledgement, which comes after the sync. The client speaks just enough HTTP, so that the machine's cores are
// left to the collector. A short run looks for errors; CURVEIL_LOAD=seconds measures.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the machine")
	}
	last := 300 * time.Millisecond
	if text := os.Getenv("CURVEIL_LOAD"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds > 60 {
			t.Fatalf("CURVEIL_LOAD=%s: seconds for each number of clients, at most 60", text)
		}
		last = time.Duration(seconds) * time.Second
	}
	folder := t.TempDir()
	c := open(t, Config{Folder: folder})
	stream := testStream(t, "heights")
	create(t, c, Definition{Stream: stream})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	body := encode(t, makeReports(t, stream, 1)[0])
	p := spawn(t, folder)
	defer p.kill()
	address := strings.TrimPrefix(p.url, "http://")
	total := 0
	for _, clients := range []int{1, 16, 128} {
		took, elapsed := loadWith(t, address, "/v1/streams/heights/reports", clients, last, func() []byte { return withID(body) })
		slices.Sort(took)
		total += len(took)
		t.Logf("%3d clients: %.0f reports/s, median %v, p99 %v, worst %v", clients, float64(len(took))/elapsed.Seconds(),
			took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond))
	}
	const inBatch = 500
	took, elapsed := loadWith(t, address, "/v1/streams/heights/batch", 4, last, func() []byte {
		var b bytes.Buffer
		b.WriteString(`{"reports":[`)
		for i := range inBatch {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(withID(body))
		}
		b.WriteString(`]}`)
		return b.Bytes()
	})
	total += inBatch * len(took)
	t.Logf("batches of %d, 4 clients: %.0f reports/s", inBatch, float64(inBatch*len(took))/elapsed.Seconds())
	p.kill()
	c = open(t, Config{Folder: folder})
	if m, _ := c.Model("heights"); m.At != int64(total) {
		t.Errorf("%d reports acknowledged, %d in the estimate", total, m.At)
	}
}

// withID is the report with a new id.
func withID(report string) []byte {
	b := []byte(report)
	var id [16]byte
	_, _ = rand.Read(id[:])
	at := bytes.Index(b, []byte(`"id":"`)) + len(`"id":"`)
	hex.Encode(b[at:], id[:])
	return b
}

// loadWith has the clients send for the time given and returns how long each answer took.
func loadWith(t *testing.T, address, path string, clients int, last time.Duration, body func() []byte) ([]time.Duration, time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			var took []time.Duration
			for time.Since(start) < last {
				text := body()
				request := fmt.Appendf(make([]byte, 0, len(text)+200), "POST %s HTTP/1.1\r\nHost: collector\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(text))
				sent := time.Now()
				if _, err := conn.Write(append(request, text...)); err != nil {
					t.Error(err)
					return
				}
				if err := readAnswer(in); err != nil {
					t.Error(err)
					return
				}
				took = append(took, time.Since(sent))
			}
			mu.Lock()
			all = append(all, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(all) == 0 {
		t.Fatal("no answer at all")
	}
	return all, time.Since(start)
}

// readAnswer wants status 200.
func readAnswer(in *bufio.Reader) error {
	length := -1
	var status string
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if status == "" {
			status = string(line)
		}
		if len(line) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	if length < 0 { // a batch's answer is longer than net/http buffers
		return readChunks(in)
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(length)))
	if err == nil && !strings.Contains(status, " 200 ") {
		err = fmt.Errorf("%s: %s", status, text)
	}
	return err
}

func readChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil {
			return err
		}
		if _, err := in.Discard(int(n) + 2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
