//go:build unix

package collector

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// nodes is a JetStream cluster of three, on loopback, each node a process of its own, to be killed.
type nodes struct {
	options [3]nodeOptions
	process [3]*exec.Cmd
}

// The test binary is a node when this is set to its options.
const childNode = "CURVEIL_TEST_NODE"

type nodeOptions struct {
	Name, Store     string
	Client, Cluster int
	Routes          string
}

// node runs until it is killed.
func node(text string) error {
	var o nodeOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{ServerName: o.Name, Host: "127.0.0.1", Port: o.Client, JetStream: true, StoreDir: o.Store, SyncAlways: true, NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{Name: "curveil-test", Host: "127.0.0.1", Port: o.Cluster}, Routes: server.RoutesFromStr(o.Routes)})
	if err != nil {
		return err
	}
	s.Start()
	for !s.ReadyForConnections(time.Second) || !s.JetStreamIsCurrent() {
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println("ready")
	s.WaitForShutdown()
	return nil
}

func threeNodes(t *testing.T) *nodes {
	t.Helper()
	n := &nodes{}
	var routes []string
	var held []net.Listener
	free := func() int {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		return l.Addr().(*net.TCPAddr).Port
	}
	for i := range n.options {
		n.options[i] = nodeOptions{Name: fmt.Sprintf("n%d", i), Store: t.TempDir(), Client: free(), Cluster: free()}
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", n.options[i].Cluster))
	}
	for _, l := range held {
		l.Close()
	}
	t.Cleanup(func() {
		for i := range n.process {
			n.kill(i)
		}
	})
	var wg sync.WaitGroup
	for i := range n.options {
		n.options[i].Routes = strings.Join(routes, ",")
		wg.Go(func() { n.start(t, i) })
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return n
}

// start waits until the node follows or leads.
func (n *nodes) start(t *testing.T, i int) {
	text, err := json.Marshal(n.options[i])
	if err != nil {
		t.Error(err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childNode+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	n.process[i] = cmd
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("node %d does not start: %q, %v", i, line, err)
	}
}

// kill is SIGKILL.
func (n *nodes) kill(i int) {
	if p := n.process[i]; p != nil {
		_ = p.Process.Kill()
		_ = p.Wait()
		n.process[i] = nil
	}
}

func (n *nodes) url() string {
	var out []string
	for _, o := range n.options {
		out = append(out, fmt.Sprintf("nats://127.0.0.1:%d", o.Client))
	}
	return strings.Join(out, ",")
}

// leader is the node that leads the log.
func (n *nodes) leader(t *testing.T, c *Collector) int {
	t.Helper()
	info, err := c.log.(*natsLog).stream.Info(t.Context())
	if err != nil || info.Cluster == nil {
		t.Fatalf("no leader: %v", err)
	}
	for i, o := range n.options {
		if o.Name == info.Cluster.Leader {
			return i
		}
	}
	t.Fatalf("leader %q", info.Cluster.Leader)
	return 0
}

// TestCluster: a log of three copies in a cluster of three nodes. While contributors send over HTTP, the node that leads the log dies; they
// send on, with the retries that every client makes, until all are acknowledged. Each report is applied once, repeats too, the
// node comes back, and a collector that starts without snapshots reads the same bytes from the log.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("elections take seconds")
	}
	t.Parallel()
	n := threeNodes(t)
	folder := t.TempDir()
	c := open(t, Config{Folder: folder, NATS: n.url(), SnapshotEvery: 100})
	info, err := c.log.(*natsLog).stream.Info(t.Context())
	if err != nil || info.Config.Replicas != 3 || len(info.Cluster.Replicas) != 2 {
		t.Fatalf("the log is not in three copies: %+v, %v", info, err)
	}
	stream := testStream(t, "heights")
	create(t, c, Definition{Stream: stream})
	h, err := c.Handler(HandlerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()

	const count = 400
	reports := makeReports(t, stream, count)
	bodies := make([][]byte, count)
	for i, r := range reports {
		bodies[i] = []byte(encode(t, r))
	}
	var acked, unavailable atomic.Int64
	killed := make(chan int, 1)
	var once sync.Once
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			remote, err := NewRemote(web.URL, "heights")
			if err != nil {
				t.Error(err)
				return
			}
			remote.HTTP = &http.Client{Transport: countFailures{&unavailable}}
			for i := w; i < count; i += 8 {
				if _, err := remote.SendBytes(t.Context(), bodies[i]); err != nil {
					t.Errorf("report %d: %v", i, err)
				}
				if acked.Add(1) == count/4 {
					once.Do(func() {
						leader := n.leader(t, c)
						n.kill(leader)
						killed <- leader
					})
				}
			}
		})
	}
	wg.Wait()
	dead := <-killed
	if leader := n.leader(t, c); leader == dead {
		t.Error("the node that died still leads")
	}
	t.Logf("%d reports acknowledged, %d answers were 503", acked.Load(), unavailable.Load())
	want := state(t, c)
	if m, _ := c.Model("heights"); m.At != count {
		t.Errorf("%d applied, %d acknowledged", m.At, count)
	}
	for _, r := range reports[:50] {
		if got, err := c.Submit(t.Context(), "heights", r, ""); err != nil || !got.Repeated {
			t.Errorf("a repeat: %v %v", got, err)
		}
	}
	if !bytes.Equal(state(t, c), want) {
		t.Error("repeats changed the state")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for i, p := range n.process {
		if p == nil {
			n.start(t, i)
		}
	}
	for _, how := range []string{"from the snapshot", "from the log alone"} {
		config := Config{Folder: folder, NATS: n.url()}
		if how == "from the log alone" {
			config.Folder = t.TempDir()
		}
		again := open(t, config)
		if !bytes.Equal(state(t, again), want) {
			t.Errorf("%s: another state", how)
		}
		if got, err := again.Submit(t.Context(), "heights", reports[0], ""); err != nil || !got.Repeated {
			t.Errorf("%s: a repeat: %v %v", how, got, err)
		}
		again.Close()
	}
}

type countFailures struct{ n *atomic.Int64 }

func (f countFailures) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && a.StatusCode == http.StatusServiceUnavailable {
		f.n.Add(1)
	}
	return a, err
}

// Two of three nodes dead: no majority, so nothing is acknowledged, and the estimate is still served; with a majority again, reports
// are taken without a restart.
func TestClusterWithoutMajority(t *testing.T) {
	if testing.Short() {
		t.Skip("elections take seconds")
	}
	t.Parallel()
	n := threeNodes(t)
	c := open(t, Config{NATS: n.url(), logTimeout: 2 * time.Second})
	stream := testStream(t, "heights")
	create(t, c, Definition{Stream: stream})
	reports := makeReports(t, stream, 3)
	if _, err := c.Submit(t.Context(), "heights", reports[0], ""); err != nil {
		t.Fatal(err)
	}
	n.kill(1)
	n.kill(2)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if got, err := c.Submit(ctx, "heights", reports[1], ""); err == nil {
		t.Errorf("acknowledged without a majority: %v", got)
	}
	if m, err := c.Model("heights"); err != nil || m.At != 1 {
		t.Errorf("at %v, %v", m, err)
	}
	waitFor(t, func() bool { return c.Ready() != nil })
	n.start(t, 1)
	err := ErrUnavailable
	deadline := time.Now().Add(60 * time.Second)
	for errors.Is(err, ErrUnavailable) && time.Now().Before(deadline) {
		_, err = c.Submit(t.Context(), "heights", reports[1], "")
	}
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Model("heights"); m.At != 2 {
		t.Errorf("at %d, want 2", m.At)
	}
	waitFor(t, func() bool { return c.Ready() == nil })
}
