package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"google.golang.org/grpc"
)

// The test binary stands in for the program: as a call (which a test may let crash), as a
// worker that a runner starts, and as a job server of its own.
const (
	asCall   = "CURVEIL_BEAM_TEST_CALL"
	asServer = "CURVEIL_BEAM_TEST_SERVER" // its port
	crashAt  = "CURVEIL_BEAM_TEST_CRASH"
)

func TestMain(m *testing.M) {
	work()
	if port := os.Getenv(asServer); port != "" {
		var n int
		fmt.Sscan(port, &n)
		if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: n}); err != nil {
			panic(err)
		}
		select {}
	}
	if os.Getenv(asCall) != "" {
		crash = func(place string) {
			if place == os.Getenv(crashAt) {
				self, err := os.FindProcess(os.Getpid())
				if err != nil || self.Kill() != nil {
					panic("not killed")
				}
				select {}
			}
		}
		main()
	}
	os.Exit(m.Run())
}

// process is a call of the program in a process of its own.
func process(t *testing.T, crash string, args ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCall+"=1", crashAt+"="+crash)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func cohort(t *testing.T) (dir, pattern string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"a-1.csv": "id,0,0.5,1\na,1,2,3\nb,2,2,2\n", "a-2.csv": "id,0,0.5,1\nc,1,0,3\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "a-*.csv")
}

// A driver that is killed after the debit, after the draw or after the booking is run
// again: one debit in the ledger, and, once noise was drawn, the same answer.
func TestTakenUpAfterACrash(t *testing.T) {
	for _, place := range []string{"debited", "drawn", "booked"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			dir, pattern := cohort(t)
			out, book := filepath.Join(dir, "a.json"), filepath.Join(dir, "ledger.db")
			args := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", out, "--release-name", "first"}
			if code, text := process(t, place, args...); code != -1 {
				t.Fatalf("not killed: exit %d: %s", code, text)
			}
			if n := debits(t, book, "a"); n != 1 {
				t.Fatalf("%d debits before the second run", n)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("the release is in its place before it was booked and moved")
			}
			drawn, _ := os.ReadFile(out + ".pending")
			if (place == "debited") != (drawn == nil) {
				t.Errorf("%d bytes were drawn", len(drawn))
			}
			other := append(args[:len(args):len(args)], "--bound", "6")
			if code, text := process(t, "", other...); code != exitUsage || !strings.Contains(text, "same flags") {
				t.Errorf("other flags: exit %d: %s", code, text)
			}
			var first []byte
			for i := range 2 {
				code, text := process(t, "", args...)
				if code != exitDone {
					t.Fatalf("run %d: exit %d: %s", i, code, text)
				}
				made, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				if drawn != nil && !bytes.Equal(made, drawn) {
					t.Error("another answer than the one that was drawn")
				}
				if i == 1 && !bytes.Equal(made, first) {
					t.Error("another answer than the first")
				}
				first = made
				if n := debits(t, book, "a"); n != 1 {
					t.Errorf("run %d: %d debits", i, n)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "*.pending")); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			if code, text := process(t, "", args...); code != exitFailed || !strings.Contains(text, "was made before") {
				t.Errorf("a second draw under one debit: exit %d: %s", code, text)
			}
			if n := debits(t, book, "a"); n != 1 {
				t.Errorf("%d debits in the end", n)
			}
		})
	}
}

// A call without a name is a release of its own each time.
func TestUnnamedRunsAreReleases(t *testing.T) {
	dir, pattern := cohort(t)
	book := filepath.Join(dir, "ledger.db")
	for i := range 2 {
		if code, _, stderr := call(t, "mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--dataset", "a", "--ledger", book, "-o", filepath.Join(dir, fmt.Sprint(i, ".json")), "--runner", "prism"); code != exitDone {
			t.Fatal(stderr)
		}
	}
	if n := debits(t, book, "a"); n != 2 {
		t.Errorf("%d debits of two releases", n)
	}
}

// pool starts workers as a container's boot program does: the program with --worker.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	mu      sync.Mutex
	workers []*exec.Cmd
}

func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := exec.Command(os.Args[0], "--worker", "--id="+r.GetWorkerId(), "--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(), "--control_endpoint="+r.GetControlEndpoint().GetUrl())
	w.Stderr = os.Stderr
	p.workers = append(p.workers, w)
	return &fnpb.StartWorkerResponse{}, w.Start()
}

func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}

func (p *pool) stop() (started int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		w.Process.Kill()
		w.Wait()
	}
	return len(p.workers)
}

// The job API with real processes: a job server, the driver, and workers that run in the
// driver or are started apart, as by Flink and Spark.
func TestJobServer(t *testing.T) {
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := free.Addr().String()
	_, port, _ := net.SplitHostPort(endpoint)
	free.Close()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), asServer+"="+port)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	for try := 0; ; try++ {
		if c, err := net.Dial("tcp", "localhost:"+port); err == nil {
			c.Close()
			break
		} else if try > 300 {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	lis, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	workers := &pool{}
	s := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(s, workers)
	go s.Serve(lis)
	defer s.Stop()

	dir, pattern := cohort(t)
	exchange := filepath.Join(dir, "exchange")
	if err := os.Mkdir(exchange, 0o700); err != nil {
		t.Fatal(err)
	}
	book := filepath.Join(dir, "ledger.db")
	base := []string{"mean", pattern, "--bound", "5", "--mu", "1", "--space", "legendre:3", "--n", "3", "--ledger", book, "--endpoint", "localhost:" + port}
	for name, args := range map[string][]string{
		"loopback": {"--runner", "universal", "--environment_type", "LOOPBACK"},
		"apart":    {"--runner=flink", "--environment_type=EXTERNAL", "--environment_config", lis.Addr().String(), "--exchange", exchange},
	} {
		out := filepath.Join(dir, name+".json")
		if code, text := process(t, "", append(append(base, args...), "--dataset", name, "-o", out)...); code != exitDone || !strings.Contains(text, "n = 3") {
			t.Errorf("%s: exit %d: %s", name, code, text)
		}
		if n := debits(t, book, name); n != 1 {
			t.Errorf("%s: %d debits", name, n)
		}
	}
	if n := workers.stop(); n == 0 {
		t.Error("no worker was started apart")
	}
	if left, _ := os.ReadDir(exchange); len(left) > 0 {
		t.Errorf("left in the exchange folder: %v", left)
	}
	if code, text := process(t, "", append(base, "--runner", "spark", "--dataset", "x", "-o", filepath.Join(dir, "x.json"))...); code != exitUsage || !strings.Contains(text, "--exchange is needed") {
		t.Errorf("no exchange folder: exit %d: %s", code, text)
	}
}
