package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/collector"
)

// serveFlags say where the collector listens and keeps its log.
type serveFlags struct {
	listen, cert, key string
	logLevel, format  string
	newToken          bool
	config            collector.Config
	http              collector.HandlerConfig
}

func (s *serveFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8808", "address to listen on; port 0 takes a free one")
	f.StringVar(&s.config.Folder, "data", "curveil-data", "folder for the log, snapshots and the hash of the admin token")
	f.StringVar(&s.cert, "tls-cert", "", "certificate (PEM), with --tls-key")
	f.StringVar(&s.key, "tls-key", "", "its private key (PEM)")
	f.StringVar(&s.config.NATS, "nats", "", "log in an external NATS JetStream cluster, nats://host:4222,…, which must run with sync_interval: always (default: a log in the data folder)")
	f.StringVar(&s.config.Credentials, "nats-creds", "", "file with the cluster's credentials")
	f.IntVar(&s.config.Replicas, "nats-replicas", 3, "copies of the log in the cluster")
	f.Int64Var(&s.config.MaxLog, "max-log", 0, "largest size of the log in bytes; reports beyond it are refused (default: no limit)")
	f.IntVar(&s.config.SnapshotEvery, "snapshot-every", 100_000, "reports after which a snapshot is written, so that a restart reads less of the log")
	f.BoolVar(&s.config.TrimLog, "trim-log", false, "drop from the log what two snapshots hold, so that it stays small; the snapshots are needed then, and are to be copied together with the log")
	f.DurationVar(&s.http.Drain, "drain", 0, "how long to go on answering after SIGTERM, with /readyz at 503, so that a proxy in front sends nothing more")
	f.Float64Var(&s.http.Rate, "rate", 1000, "requests a second that one address may make; 0 for no limit")
	f.BoolVar(&s.newToken, "new-admin-token", false, "make another admin token; the old one stops working")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&s.format, "log-format", "text", "text or json")
}

func (s *serveFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, usagef("--log-level %q: take debug, info, warn or error", s.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch s.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, usagef("--log-format %q: take text or json", s.format)
}

func serveCommand() *cobra.Command {
	var s serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Collect private reports and publish the curve learned from them",
		Long: `Runs the collector: an HTTP API where people's devices send noisy gradients, a durable log
of them, and a live picture of the curve. With no flags it listens on 127.0.0.1 and keeps its log in
./curveil-data. The first start prints the admin token, once. Interrupt it to stop: it
finishes what it is answering. 'curveil contribute' sends a report.`,
		Example: `  curveil serve
  curveil serve --listen :8443 --tls-cert cert.pem --tls-key key.pem --data /var/lib/curveil --log-format json`,
		Args: exactArgs(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			return s.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.register(cmd)
	return cmd
}

func (s *serveFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	logger, err := s.logger(stderr)
	if err != nil {
		return err
	}
	secure, err := s.secure(logger)
	if err != nil {
		return err
	}
	if s.http.Drain < 0 {
		return usagef("--drain %v must not be negative", s.http.Drain)
	}
	if s.config.TrimLog && s.config.NATS != "" {
		return usagef("--trim-log is for the log in the data folder: other collectors may need all of the log at --nats; limit it with the cluster's own means")
	}
	if !(s.http.Rate >= 0) {
		return usagef("--rate %v must not be negative", s.http.Rate)
	}
	if s.config.SnapshotEvery < 1 || s.config.MaxLog < 0 || s.config.Replicas < 1 {
		return usagef("--snapshot-every %d and --nats-replicas %d must be at least 1, and --max-log %d not negative", s.config.SnapshotEvery, s.config.Replicas, s.config.MaxLog)
	}
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%s is taken by another program, perhaps a collector that runs already: --listen takes another address, such as 127.0.0.1:0 for any free port", s.listen)
		}
		return fmt.Errorf("--listen %s: %w: give an address of this machine, such as 127.0.0.1:8808", s.listen, err)
	}
	defer l.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.config.Logger, s.config.Meters, s.http.Gather, s.http.Version = logger, registry, registry, thisVersion().Version
	c, err := collector.Open(ctx, s.config)
	if err != nil {
		return err
	}
	err = s.answer(ctx, c, l, secure, stdout, stderr)
	return errors.Join(err, c.Close())
}

func (s *serveFlags) answer(ctx context.Context, c *collector.Collector, l net.Listener, secure *tls.Config, stdout, stderr io.Writer) error {
	token, err := collector.AdminToken(s.config.Folder, s.newToken)
	if err != nil {
		return err
	}
	h, err := c.Handler(s.http)
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	url := scheme + "://" + reachable(l.Addr())
	if address, ok := l.Addr().(*net.TCPAddr); ok && !address.IP.IsLoopback() && secure == nil {
		fmt.Fprintln(stderr, "curveil: WARNING: listening beyond this machine without TLS: tokens and reports can be read and changed on the way. Give --tls-cert and --tls-key, or put a proxy with TLS in front.")
	}
	s.greet(stdout, url, token, c.Streams())
	if address, ok := l.Addr().(*net.TCPAddr); ok && address.IP.IsUnspecified() {
		fmt.Fprintf(stdout, "From elsewhere, put this machine's name or address in place of 127.0.0.1: it listens on all of them.\n")
	}
	return h.Serve(ctx, l, secure)
}

// reachable is the address as this machine can use it: one that stands for all of them is none to connect to.
func reachable(a net.Addr) string {
	if address, ok := a.(*net.TCPAddr); ok && address.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(address.Port))
	}
	return a.String()
}

// greet says where to go and what to try.
func (s *serveFlags) greet(w io.Writer, url, token string, streams []collector.Definition) {
	fmt.Fprintf(w, "curveil collector at %s  (log and snapshots in %s, %s)\n", url, s.config.Folder, plural(int64(len(streams)), "stream"))
	shown := token
	if token == "" {
		shown = "$CURVEIL_ADMIN"
		fmt.Fprintln(w, "The admin token was printed at the first start; --new-admin-token makes another. The line for curl takes it from the environment: export CURVEIL_ADMIN=curveil-admin-…")
	} else {
		fmt.Fprintf(w, "admin token, shown this once: %s\n", token)
	}
	name := "demo" // one that is free: the line is to be pasted
	for i := 2; slices.ContainsFunc(streams, func(d collector.Definition) bool { return d.Stream.Name == name }); i++ {
		name = fmt.Sprintf("demo%d", i)
	}
	fmt.Fprintf(w, `
Open a stream (center: a public guess of the level of y, where the curve begins; tau: about the spread of y around it):
  curl -H "Authorization: Bearer %s" -H 'Content-Type: application/json' -d '{"name":"%s","space":"kernel:gauss:20%%","domain":[0,1],"center":0,"tau":0.7,"epsilon":1,"delta":1e-6,"people":10000}' %s/v1/streams
Contribute to it, and see the curve at %s/streams/%s:
  curveil contribute %s %s --x 0.3 --y 1.2
`, shown, name, url, url, name, url, name)
}

// exists reports whether there is a file of the name.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
