//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestBuilt runs the command as users have it: built, in processes of its own.
func TestBuilt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curveil")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("CURVEIL_BUILT", path)
	t.Run("TLS", serveTLS)
	t.Run("TLS files", serveTLSFiles)
	t.Run("NATS", serveNATS)
}

func command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Getenv("CURVEIL_BUILT"), args...)
	cmd.Env = append(os.Environ(), "CURVEIL_LEDGER=none")
	return cmd
}

// runBuilt runs a call to its end.
func runBuilt(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// serveBuilt runs `curveil serve` as a process of its own; stop is SIGTERM, and returns the exit code.
func serveBuilt(t *testing.T, args ...string) (url, token string, stop func() int) {
	t.Helper()
	cmd := command(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var greeting strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		greeting.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "curveil contribute") {
			break
		}
	}
	stop = sync.OnceValue(func() int {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() { stop() })
	if url = regexp.MustCompile(`https?://[0-9.:]+`).FindString(greeting.String()); url == "" {
		stop()
		t.Fatalf("no address printed:\n%s\n%s", &greeting, &errs)
	}
	return url, regexp.MustCompile(`curveil-admin-\w+`).FindString(greeting.String()), stop
}

// The built command serves TLS with a certificate of one's own, and the built command contributes to it when told to trust it.
func serveTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir, "own", time.Now().Add(time.Hour))
	url, token, stop := serveBuilt(t, "--data", filepath.Join(dir, "data"), "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(url, "https://") || token == "" {
		t.Fatalf("%s, token %q", url, token)
	}
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	openStream(t, &http.Client{Transport: transport}, url, token, "")

	contribute := func(more ...string) []string {
		return append([]string{"contribute", url, "demo", "--x", "0.3", "--y", "1.2"}, more...)
	}
	ledger := filepath.Join(dir, "me.db")
	if code, _, stderr := runBuilt(t, dir, contribute("--ledger", ledger)...); code != exitFailed || !strings.Contains(stderr, "--ca") || !strings.Contains(stderr, "nothing was spent") {
		t.Errorf("a certificate nobody vouches for: exit %d, %s", code, stderr)
	}
	if exists(ledger) {
		t.Error("the ledger was opened before the collector was reached")
	}
	code, stdout, stderr := runBuilt(t, dir, contribute("--ca", cert, "--ledger", ledger)...)
	if code != exitDone || !strings.Contains(stdout, "stands at 1 report\n") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	for _, c := range []struct{ ca, says string }{
		{filepath.Join(dir, "none.pem"), "none.pem"},
		{key, "but PRIVATE KEY"},
	} {
		if code, _, stderr := runBuilt(t, dir, contribute("--ca", c.ca)...); code != exitFailed || !strings.Contains(stderr, c.says) {
			t.Errorf("--ca %s: exit %d, %s", c.ca, code, stderr)
		}
	}
	if code := stop(); code != exitDone {
		t.Errorf("SIGTERM: exit %d", code)
	}
}

// Errors about certificate files name the file and what to do.
func serveTLSFiles(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir, "one", time.Now().Add(time.Hour))
	_, otherKey := certificate(t, dir, "other", time.Now().Add(time.Hour))
	oldCert, oldKey := certificate(t, dir, "old", time.Now().Add(-time.Minute))
	text := filepath.Join(dir, "words.txt")
	damaged := filepath.Join(dir, "damaged.pem")
	for path, what := range map[string]string{text: "not a certificate", damaged: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		if err := os.WriteFile(path, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		cert, key string
		says      []string
	}{
		{"nowhere.pem", key, []string{"--tls-cert", "nowhere.pem", "give the file"}},
		{cert, "nowhere.pem", []string{"--tls-key", "nowhere.pem", "give the file"}},
		{text, key, []string{"--tls-cert", "words.txt", "nothing in it is PEM"}},
		{key, key, []string{"--tls-cert", "one-key.pem", "but PRIVATE KEY"}},
		{cert, cert, []string{"--tls-key", "one-cert.pem", "but CERTIFICATE", "without a password"}},
		{cert, otherKey, []string{"one-cert.pem", "other-key.pem", "made together"}},
		{damaged, key, []string{"damaged.pem", "made together"}},
		{oldCert, oldKey, []string{"old-cert.pem", "renew"}},
	} {
		code, _, stderr := runBuilt(t, dir, "serve", "--listen", "127.0.0.1:0", "--tls-cert", c.cert, "--tls-key", c.key)
		if code != exitFailed {
			t.Errorf("%s, %s: exit %d", c.cert, c.key, code)
		}
		for _, word := range c.says {
			if !strings.Contains(stderr, word) {
				t.Errorf("%s, %s: lacks %q: %s", c.cert, c.key, word, stderr)
			}
		}
		if exists(filepath.Join(dir, "curveil-data")) {
			t.Fatal("a refused call made the data folder")
		}
	}
}

// The built command with its log in an external JetStream server: what it took is there for another collector, with nothing but the
// address.
func serveNATS(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("no JetStream server")
	}
	dir := t.TempDir()
	flags := []string{"--nats", s.ClientURL(), "--nats-replicas", "1", "--data"}
	url, token, stop := serveBuilt(t, append(flags, filepath.Join(dir, "a"))...)
	openStream(t, http.DefaultClient, url, token, "")
	if code, stdout, stderr := runBuilt(t, dir, "contribute", url, "demo", "--x", "0.3", "--y", "1.2"); code != exitDone {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if exists(filepath.Join(dir, "a", "log")) {
		t.Error("a log in the data folder too")
	}
	if code := stop(); code != exitDone {
		t.Errorf("SIGTERM: exit %d", code)
	}
	url, _, _ = serveBuilt(t, append(flags, filepath.Join(dir, "b"))...)
	a, err := http.Get(url + "/v1/streams/demo")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var sum struct{ At int }
	if err := json.NewDecoder(a.Body).Decode(&sum); err != nil || sum.At != 1 {
		t.Errorf("another collector on the same log is at %d, %v", sum.At, err)
	}
	if code, _, stderr := runBuilt(t, dir, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "c"), "--nats", "nats://127.0.0.1:1"); code != exitFailed || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("no server there: exit %d, %s", code, stderr)
	}
}

// Whatever stands against a report is found before anything is spent.
func TestContributeChecksFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, url, token, `,"quota":1`)
	ledger := filepath.Join(t.TempDir(), "me.db")
	contribute := func(x string, more ...string) []string {
		return append([]string{"contribute", url, "demo", "--x", x, "--y", "1.2", "--ledger", ledger}, more...)
	}
	for _, x := range []string{"1.5", "-0.001", "30"} {
		if code, _, stderr := call(t, contribute(x)...); code != exitUsage || !strings.Contains(stderr, "[0, 1]") {
			t.Errorf("x = %s: exit %d, %s", x, code, stderr)
		}
	}
	if exists(ledger) || exists("demo.report.json") {
		t.Error("something was spent or made for an x outside the domain")
	}
	must(t, contribute("1")...) // the end of the domain belongs to it
	before, _ := must(t, "ledger", "show", "--ledger", ledger)
	q := `{"name":"loud","space":"legendre:3","domain":[0,1],"tau":0.7,"epsilon":20,"delta":1e-6,"people":10000}`
	if code := postStream(t, http.DefaultClient, url, token, q); code != 201 {
		t.Fatal(code)
	}
	if _, stderr := must(t, "contribute", url, "loud", "--x", "0.5", "--y", "1", "--ledger", "none"); !strings.Contains(stderr, "ε = 20 protects hardly anybody") {
		t.Errorf("the person is not warned of ε = 20: %s", stderr)
	}
	if code, _, stderr := call(t, contribute("0.5")...); code != exitFailed || !strings.Contains(stderr, "1 reports it was opened for") {
		t.Errorf("beyond the quota: exit %d, %s", code, stderr)
	}
	if after, _ := must(t, "ledger", "show", "--ledger", ledger); after != before {
		t.Errorf("a report beyond the quota cost:\n%s\n%s", before, after)
	}
}

// A renewed certificate is taken without a restart; files that cannot be read leave the old one.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir, "own", time.Now().Add(time.Hour))
	var logs bytes.Buffer
	s := serveFlags{cert: cert, key: key}
	files := &certificateFiles{read: s.pair, paths: []string{cert, key}, logger: slog.New(slog.NewTextHandler(&logs, nil))}
	now := time.Now()
	if err := files.renew(now); err != nil {
		t.Fatal(err)
	}
	first := files.certificate(now).Leaf
	if err := os.WriteFile(key, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := now.Add(renewEvery)
	stamp := func() {
		for _, path := range []string{cert, key} {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}
	}
	stamp()
	if got := files.certificate(later).Leaf; !got.Equal(first) || !strings.Contains(logs.String(), "own-key.pem") {
		t.Errorf("a damaged key: another certificate, or nothing in the log: %s", &logs)
	}
	certificate(t, dir, "own", time.Now().Add(2*time.Hour))
	stamp()
	if got := files.certificate(later.Add(renewEvery / 2)).Leaf; !got.Equal(first) {
		t.Error("the files were looked at too soon")
	}
	if got := files.certificate(later.Add(renewEvery)).Leaf; got.Equal(first) {
		t.Error("the renewed certificate was not taken")
	}
}
