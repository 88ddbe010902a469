// The log in NATS JetStream: one stream, one subject. Every write names the number of the message it expects to follow, so
// that a write which was given up for lost cannot come in later, and two collectors cannot overwrite each other.

package collector

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	logStream       = "CURVEIL"
	logSubject      = "curveil.log"
	logTimeout      = 10 * time.Second // of one write
	startTimeout    = 60 * time.Second // of recovery when the embedded server starts
	embeddedPayload = 8 << 20
	mostPayload     = 4 << 20
	// maxReader is how many messages a read has in flight.
	maxReader = 256
)

type natsLog struct {
	embedded *server.Server  // nil for an external cluster
	broken   context.Context // of the embedded server: ended by an error of the disk
	conn     *nats.Conn
	js       jetstream.JetStream
	stream   jetstream.Stream
	timeout  time.Duration // of one call
}

// openEmbedded starts a JetStream server inside the process, which listens on no port and syncs every write.
func openEmbedded(ctx context.Context, folder string, maxBytes int64, logger *slog.Logger) (journal, error) {
	store := filepath.Join(folder, "log")
	if err := checkWritable(store); err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "curveil", DontListen: true, NoSigs: true, JetStream: true, StoreDir: store, SyncAlways: true,
		MaxPayload: embeddedPayload, DisableJetStreamBanner: true, JetStreamMaxMemory: 16 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("collector: log in %s: %w", store, err)
	}
	faults := newNatsLogger(logger)
	s.SetLoggerV2(faults, false, false, false)
	s.Start()
	l := &natsLog{embedded: s, broken: faults.broken, timeout: logTimeout}
	if !s.ReadyForConnections(startTimeout) || !s.JetStreamEnabled() {
		l.close()
		return nil, fmt.Errorf("collector: log in %s did not start: %s", store, faults.last())
	}
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Name("curveil"), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err == nil {
		err = l.use(ctx, conn, maxBytes, 1)
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("collector: log in %s: %w", store, err)
	}
	return l, nil
}

// checkWritable says in plain words what the log would say in its own.
func checkWritable(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("collector: folder of the log: %w", err)
	}
	f, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return fmt.Errorf("collector: the folder of the log cannot be written: %w: give another folder, or the right to write to this one", err)
	}
	_, err = f.Write(make([]byte, 4096))
	if err := errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("collector: the folder of the log cannot be written: %w: make room on the disk", err)
	}
	return nil
}

// openExternal uses a cluster.
func openExternal(ctx context.Context, c Config) (journal, error) {
	url, credentials := c.NATS, c.Credentials
	options := []nats.Option{nats.Name("curveil"), nats.MaxReconnects(-1)}
	if credentials != "" {
		if _, err := os.Stat(credentials); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("collector: credentials of the log: %w", err)
		}
		options = append(options, nats.UserCredentials(credentials))
	}
	conn, err := nats.Connect(url, options...)
	l := &natsLog{broken: context.Background(), timeout: c.logTimeout}
	if err == nil {
		for tries := 1; ; tries++ {
			err = l.use(ctx, conn, c.MaxLog, c.Replicas)
			if !errors.Is(err, context.DeadlineExceeded) || tries == starts || ctx.Err() != nil {
				break
			}
		}
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("collector: log at %s: %w", hideSecrets(url), err)
	}
	return l, nil
}

// hideSecrets cuts user and password out of an address.
func hideSecrets(url string) string {
	var out []string
	for one := range strings.SplitSeq(url, ",") {
		scheme, rest, ok := strings.Cut(one, "://")
		if !ok {
			scheme, rest = "nats", one
		}
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			rest = rest[i+1:]
		}
		out = append(out, scheme+"://"+rest)
	}
	return strings.Join(out, ",")
}

func (l *natsLog) use(ctx context.Context, conn *nats.Conn, maxBytes int64, replicas int) (err error) {
	l.conn = conn
	if l.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(l.timeout)); err != nil {
		return err
	}
	if maxBytes <= 0 {
		maxBytes = -1
	}
	config := jetstream.StreamConfig{
		Name: logStream, Subjects: []string{logSubject}, Description: "curveil: reports, the source of all estimates",
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: maxBytes,
		// Nobody but this process reaches the embedded log, and it may be asked to trim it.
		DenyDelete: true, DenyPurge: l.embedded == nil, Replicas: replicas,
	}
	l.stream, err = l.js.Stream(ctx, logStream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		l.stream, err = l.js.CreateStream(ctx, config)
	case err == nil && l.stream.CachedInfo().Config.MaxBytes != maxBytes && l.embedded != nil:
		config = l.stream.CachedInfo().Config
		config.MaxBytes = maxBytes
		l.stream, err = l.js.UpdateStream(ctx, config)
	}
	if err != nil {
		return err
	}
	c := l.stream.CachedInfo().Config
	if c.Discard != jetstream.DiscardNew || c.Retention != jetstream.LimitsPolicy || c.MaxAge != 0 || c.MaxMsgs > 0 || c.Storage != jetstream.FileStorage || c.PersistMode == jetstream.AsyncPersistMode {
		return fmt.Errorf("the stream %s is set up to lose messages (discard, retention, age, number, storage or persistence): let curveil create it", logStream)
	}
	return nil
}

func (l *natsLog) largest() int { return min(int(l.conn.MaxPayload())-1024, mostPayload) }
func (l *natsLog) shared() bool { return l.embedded == nil }

func (l *natsLog) append(ctx context.Context, message []byte, after uint64) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	defer context.AfterFunc(l.broken, cancel)()
	ack, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: logSubject, Data: message}, jetstream.WithExpectStream(logStream),
		jetstream.WithExpectLastSequence(after), jetstream.WithRetryAttempts(0))
	if err == nil {
		if ack.Sequence != after+1 {
			return fmt.Errorf("collector: the log numbered a message %d, expected %d", ack.Sequence, after+1)
		}
		return nil
	}
	if l.broken.Err() != nil {
		return fmt.Errorf("collector: log: %w", context.Cause(l.broken))
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		switch {
		case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence, strings.Contains(api.Description, "wrong last sequence"):
			return errMoved
		case strings.Contains(api.Description, "maximum bytes exceeded"), api.ErrorCode == 10047, api.ErrorCode == 10023:
			return errFull
		}
		return fmt.Errorf("collector: log: %w", err)
	}
	if l.shared() || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", errUnsure, err)
	}
	return fmt.Errorf("collector: log: %w", err)
}

func (l *natsLog) bounds(ctx context.Context) (first, last uint64, err error) {
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("collector: log: %w", err)
	}
	if info.State.NumDeleted > 0 {
		return 0, 0, fmt.Errorf("collector: %d messages in the middle of the log are missing: restore it from a copy", info.State.NumDeleted)
	}
	if info.State.Msgs == 0 {
		return 0, info.State.LastSeq, nil
	}
	return info.State.FirstSeq, info.State.LastSeq, nil
}

// message tries again for a while: in a cluster a copy that lags may be asked.
func (l *natsLog) message(ctx context.Context, seq uint64) ([]byte, error) {
	m, err := l.stream.GetMsg(ctx, seq)
	for tries := 0; l.shared() && err != nil && tries < 20 && ctx.Err() == nil; tries++ {
		time.Sleep(250 * time.Millisecond)
		m, err = l.stream.GetMsg(ctx, seq)
	}
	if err != nil {
		return nil, fmt.Errorf("collector: message %d of the log: %w", seq, err)
	}
	return m.Data, nil
}

func (l *natsLog) trim(ctx context.Context, before uint64) error {
	if l.stream.CachedInfo().Config.DenyPurge {
		return fmt.Errorf("collector: the log is not trimmed: it was begun by a curveil that keeps it whole; begin a new folder to have it trimmed")
	}
	if err := l.stream.Purge(ctx, jetstream.WithPurgeSequence(before)); err != nil {
		return fmt.Errorf("collector: the log is not trimmed: %w", err)
	}
	return nil
}

func (l *natsLog) size(ctx context.Context) (uint64, error) {
	info, err := l.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("collector: log: %w", err)
	}
	return info.State.Bytes, nil
}

func (l *natsLog) read(ctx context.Context, after uint64, do func(uint64, []byte) error) (uint64, error) {
	_, last, err := l.bounds(ctx)
	if err != nil || last <= after {
		return last, err
	}
	consumer, err := l.js.OrderedConsumer(ctx, logStream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return last, fmt.Errorf("collector: log: %w", err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxReader))
	if err != nil {
		return last, fmt.Errorf("collector: log: %w", err)
	}
	defer messages.Stop()
	for seq := after; seq < last; {
		wait, cancel := context.WithTimeout(ctx, startTimeout)
		m, err := messages.Next(jetstream.NextContext(wait))
		cancel()
		if err != nil {
			return last, fmt.Errorf("collector: log, after message %d of %d: %w", seq, last, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return last, fmt.Errorf("collector: log: %w", err)
		}
		if err := do(meta.Sequence.Stream, m.Data()); err != nil {
			return last, err
		}
		seq = meta.Sequence.Stream
	}
	return last, nil
}

func (l *natsLog) close() {
	if l.conn != nil {
		l.conn.Close()
	}
	if l.embedded != nil {
		l.embedded.Shutdown()
		l.embedded.WaitForShutdown()
	}
}
