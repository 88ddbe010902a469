package collector

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/curveil/curveil/regression"
)

// cluster is a JetStream server of one, on loopback.
func cluster(t *testing.T) (url string, stop func()) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("no JetStream server")
	}
	stop = func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	t.Cleanup(stop)
	return s.ClientURL(), stop
}

// Two collectors on one log: both take reports at the same time, and both have the same estimate in the end.
func TestTwoCollectorsOnOneLog(t *testing.T) {
	url, _ := cluster(t)
	stream := testStream(t, "heights")
	a, b := open(t, Config{NATS: url, Replicas: 1}), open(t, Config{NATS: url, Replicas: 1})
	create(t, a, Definition{Stream: stream})
	waitFor(t, func() bool { return len(b.Streams()) == 1 })
	if err := b.Create(t.Context(), Definition{Stream: stream}); !errors.Is(err, ErrExists) {
		t.Errorf("the same stream again: %v", err)
	}
	reports := makeReports(t, stream, 120)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := i; j < len(reports); j += 8 {
				for k, c := range []*Collector{a, b} { // to both
					var r Receipt
					err := ErrUnavailable
					for try := 0; try < 20 && errors.Is(err, ErrUnavailable); try++ {
						r, err = c.Submit(t.Context(), "heights", reports[j], "")
					}
					if err != nil || r.Repeated != (k == 1) {
						t.Errorf("report %d, collector %d: %v %v", j, k, r, err)
					}
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, func() bool {
		x, _ := a.Model("heights")
		y, _ := b.Model("heights")
		return x.At == 120 && y.At == 120
	})
	if !bytes.Equal(state(t, a), state(t, b)) {
		t.Error("two collectors of one log differ")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 100 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("it did not come about in 10 s")
}

// A stream that drops old messages is no log.
func TestForgetfulStreamIsRefused(t *testing.T) {
	url, _ := cluster(t)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: logStream, Subjects: []string{logSubject}, MaxAge: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(t.Context(), Config{Folder: t.TempDir(), NATS: url, Replicas: 1}); err == nil {
		c.Close()
		t.Error("opened a log that forgets")
	} else {
		t.Log(err)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	for in, want := range map[string]string{
		"nats://ada:secret@a:4222,b:4222": "nats://a:4222,nats://b:4222",
		"token@h":                         "nats://h",
	} {
		if got := hideSecrets(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, Config{})
	stream := testStream(t, "heights")
	create(t, c, Definition{Stream: stream})
	h, err := c.Handler(HandlerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- h.Serve(ctx, l, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	remote, err := NewRemote("https://"+l.Addr().String(), "heights")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	remote.HTTP = &http.Client{Transport: transport}
	model, err := remote.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := regression.NewClient(model, regression.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := remote.Contribute(t.Context(), client, []float64{0.5}, 1, nil); err != nil || r.At != 1 {
		t.Errorf("%v %v", r, err)
	}
}
