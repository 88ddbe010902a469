package collector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/release"
)

// Config says where a collector keeps its log. Zero values are the defaults.
type Config struct {
	// Folder for the log, snapshots and the hash of the admin token; made if missing.
	Folder string
	// NATS is the address of an external JetStream cluster, which must sync every write to disk (jetstream { sync_interval: always });
	// "" for a log in Folder, inside the process.
	NATS        string
	Credentials string // file with the cluster's credentials
	Replicas    int    // of the log in the cluster; 0 for 3
	// MaxLog is the largest size of the log in bytes, 0 for no limit. Reports that do not fit are refused.
	MaxLog int64
	// SnapshotEvery is the number of reports after which a snapshot is written; 0 for 100,000.
	SnapshotEvery int
	// TrimLog drops from the log inside the process what two snapshots hold, which bounds its size; the collector then needs one of its
	// last two snapshots, and cannot read everything again from the log. With MaxLog a snapshot is also written after each quarter of it. Not for an external cluster, where others may need it.
	TrimLog bool
	// Queue is the number of reports that may wait for the log; 0 for 8192. Beyond it they are refused as too many.
	Queue  int
	Logger *slog.Logger          // nil for none
	Meters prometheus.Registerer // nil for none

	logTimeout time.Duration // of one call to the log; shorter in tests
}

func (c Config) withDefaults() (Config, error) {
	if c.Folder == "" {
		return c, fmt.Errorf("collector: no data folder given")
	}
	if c.Replicas < 0 || c.MaxLog < 0 || c.SnapshotEvery < 0 || c.Queue < 0 {
		return c, fmt.Errorf("collector: replicas %d, log limit %d, snapshot interval %d and queue %d must not be negative", c.Replicas, c.MaxLog, c.SnapshotEvery, c.Queue)
	}
	if c.TrimLog && c.NATS != "" {
		return c, fmt.Errorf("collector: the log in an external cluster is not trimmed: other collectors may need all of it; limit it with the cluster's own means, or keep the log in the process")
	}
	if c.Replicas == 0 {
		c.Replicas = 3
	}
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 100_000
	}
	if c.logTimeout == 0 {
		c.logTimeout = logTimeout
	}
	if c.Queue == 0 {
		c.Queue = 8192
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Collector holds the streams of one log. Safe for concurrent use.
type Collector struct {
	config Config
	unlock func()
	log    journal
	meters *meters
	queue  chan *pending
	stop   chan struct{}
	done   chan struct{}  // the committer has ended
	saving sync.WaitGroup // a snapshot being written
	opened atomic.Bool
	closed atomic.Bool
	fault  atomic.Pointer[error] // why nothing can be logged any more
	absent atomic.Pointer[error] // why the log cannot be reached just now; only a shared one comes back

	mu    sync.RWMutex // guards fold; the committer alone writes
	fold  *fold
	grown int64         // bytes that the log has taken since the snapshot; the committer's
	saved atomic.Uint64 // seq of the newest snapshot
	busy  atomic.Bool

	forgetAfter time.Duration // the constant of the name, but for tests
}

// ErrBusy refuses what would wait too long for the log: try again later.
var ErrBusy = errors.New("collector: too many reports are waiting for the log: send it again in a moment")

// ErrUnavailable says that the log cannot be written; what was sent may be sent again, with the same id.
var ErrUnavailable = errors.New("collector: the log cannot be written")

// ErrUnknownStream says that no stream has the name.
var ErrUnknownStream = errors.New("collector: there is no stream of this name")

// Open reads the snapshot and the log in the folder, or begins them. It refuses a log that lacks messages: an estimate without
// some of the acknowledged reports would be a wrong one.
func Open(ctx context.Context, config Config) (*Collector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	unlock, err := lockFolder(config.Folder)
	if err != nil {
		return nil, err
	}
	c := &Collector{config: config, unlock: unlock, queue: make(chan *pending, config.Queue), stop: make(chan struct{}), done: make(chan struct{}), forgetAfter: forgetAfter}
	if err := c.open(ctx); err != nil {
		if c.log != nil {
			c.log.close()
		}
		unlock()
		return nil, err
	}
	c.opened.Store(true)
	c.snapshotWhenDue()
	go c.commitLoop()
	return c, nil
}

func (c *Collector) open(ctx context.Context) (err error) {
	c.meters = newMeters(c.config.Meters, c)
	if c.config.NATS != "" {
		c.log, err = openExternal(ctx, c.config)
	} else {
		c.log, err = openEmbedded(ctx, c.config.Folder, c.config.MaxLog, c.config.Logger)
	}
	if err != nil {
		return err
	}
	start := time.Now()
	c.fold = restore(c.config.Folder, c.config.Logger)
	c.saved.Store(c.fold.seq)
	from := c.fold.seq
	if err := c.patiently(ctx, c.compare); err != nil {
		return err
	}
	if err := c.patiently(ctx, c.catchUp); err != nil {
		return err
	}
	c.config.Logger.Info("log read", "streams", len(c.fold.streams), "snapshot", from, "message", c.fold.seq, "seconds", time.Since(start).Seconds())
	return nil
}

// starts is how often a collector that begins asks a cluster that does not answer in time, as one that is choosing a leader.
const starts = 4

// patiently does what can be done again. A log inside the process answers, or never will.
func (c *Collector) patiently(ctx context.Context, do func(context.Context) error) error {
	for tries := 1; ; tries++ {
		err := do(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !c.log.shared() || tries == starts || ctx.Err() != nil || c.fault.Load() != nil {
			return err
		}
		c.config.Logger.Warn("the log does not answer in time; asked again", "error", err.Error())
	}
}

// compare checks that the snapshot is of this log.
func (c *Collector) compare(ctx context.Context) error {
	first, last, err := c.log.bounds(ctx)
	if err != nil {
		return err
	}
	if last < c.fold.seq {
		return fmt.Errorf("collector: the log ends at message %d, but a snapshot of it has message %d: acknowledged reports are missing; restore the log from a copy (or, to begin again without them, remove the folder)", last, c.fold.seq)
	}
	if first > max(1, c.fold.seq) {
		return fmt.Errorf("collector: the log begins at message %d, and no snapshot that can be read holds the messages before: restore log or snapshots from a copy", first)
	}
	if c.fold.seq == 0 {
		return nil
	}
	data, err := c.log.message(ctx, c.fold.seq)
	if err != nil {
		return err
	}
	if hashToken(string(data)) != c.fold.last {
		return fmt.Errorf("collector: message %d of the log is another than the snapshot's: log and snapshots do not belong together; remove the snapshots if the log is the right one", c.fold.seq)
	}
	return nil
}

// Close ends the collector after what waits is logged, and writes a snapshot.
func (c *Collector) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return nil
	}
	close(c.stop)
	<-c.done
	c.saving.Wait()
	var err error
	if c.fold.seq > c.saved.Load() {
		var data []byte
		if data, err = c.fold.marshal(); err == nil {
			err = c.save(c.fold.seq, data)
		}
	}
	c.log.close()
	c.unlock()
	return err
}

// Ready says why reports cannot be taken now; nil when they can.
func (c *Collector) Ready() error {
	if p := c.absent.Load(); p != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, *p)
	}
	return c.willing()
}

// willing says why no report is to be tried: one whose log cannot be reached is, for it may be there again.
func (c *Collector) willing() error {
	if c.closed.Load() {
		return fmt.Errorf("%w: the collector is closing", ErrUnavailable)
	}
	if p := c.fault.Load(); p != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, *p)
	}
	return nil
}

// Create opens a stream; its name must be new.
func (c *Collector) Create(ctx context.Context, d Definition) error {
	d.Stream = d.Stream.WithDefaults()
	if err := d.validate(); err != nil {
		return err
	}
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("collector: %w", err)
	}
	_, err = c.submit(ctx, &pending{record: &record{kind: kindStream, definition: text}})
	return err
}

// ErrExists says that there is a stream of the name.
var ErrExists = errors.New("collector: there is a stream of this name: choose another")

// Invite makes n invitations, each good for one report until the time given, and returns them; only their hashes are kept.
func (c *Collector) Invite(ctx context.Context, name string, n int, expires time.Time) ([]string, error) {
	s, err := c.stream(name)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > maxInvitations {
		return nil, fmt.Errorf("collector: %d invitations: ask for 1 to %d at a time", n, maxInvitations)
	}
	if !s.definition.Invitations {
		return nil, fmt.Errorf("collector: stream %q takes reports without invitation", name)
	}
	tokens, hashes := make([]string, n), make([]tokenHash, n)
	for i := range tokens {
		tokens[i] = newInvitation(expires)
		hashes[i] = hashToken(tokens[i])
	}
	_, err = c.submit(ctx, &pending{record: &record{kind: kindInvitations, stream: s.index, expires: expires, tokens: hashes}})
	return tokens, err
}

// CloseStream ends a stream for good: what it has stays published, and no more reports are taken. Reports that are on their way are
// applied or refused by their place in the log. A second call does nothing.
func (c *Collector) CloseStream(ctx context.Context, name string) error {
	s, err := c.stream(name)
	if err != nil {
		return err
	}
	_, err = c.submit(ctx, &pending{record: &record{kind: kindClose, stream: s.index}})
	return err
}

// Submit returns once the report is in the synced log and in the estimate. A *regression.Refusal or *Refused says why it
// is in neither. After ErrUnavailable, ErrBusy or an ended context it may be sent again, the same report: it is applied once.
func (c *Collector) Submit(ctx context.Context, name string, r *regression.Report, invitation string) (Receipt, error) {
	p, err := c.prepare(name, r, invitation)
	if err != nil {
		return Receipt{}, err
	}
	return c.submit(ctx, p)
}

// Admits says whether the stream would take a report with the invitation now, before anybody makes one: nil, or the *Refused that the
// report would get. It uses up nothing, and promises nothing: the invitation may be used, or the stream closed, in between.
func (c *Collector) Admits(name, invitation string) error {
	p, err := c.prepare(name, &regression.Report{Private: true}, invitation)
	if err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.fold.streams[p.record.stream].admits(p.record, time.Now())
}

// Answer is what became of one report of a batch.
type Answer struct {
	Receipt Receipt
	Err     error
}

// SubmitAll submits reports together, for gateways; invitations is nil or as long as the reports.
func (c *Collector) SubmitAll(ctx context.Context, name string, reports []*regression.Report, invitations []string) ([]Answer, error) {
	if invitations != nil && len(invitations) != len(reports) {
		return nil, fmt.Errorf("collector: %d invitations for %d reports: give one for each, or none", len(invitations), len(reports))
	}
	if _, err := c.stream(name); err != nil {
		return nil, err
	}
	answers, all := make([]Answer, len(reports)), make([]*pending, len(reports))
	for i, r := range reports {
		invitation := ""
		if invitations != nil {
			invitation = invitations[i]
		}
		all[i], answers[i].Err = c.prepare(name, r, invitation)
		if answers[i].Err == nil {
			if answers[i].Err = c.enqueue(all[i]); answers[i].Err != nil {
				all[i] = nil
			}
		}
	}
	for i, p := range all {
		if p != nil {
			answers[i].Receipt, answers[i].Err = p.wait(ctx)
		}
	}
	return answers, nil
}

func (c *Collector) prepare(name string, r *regression.Report, invitation string) (*pending, error) {
	s, err := c.stream(name)
	if err != nil {
		return nil, err
	}
	var hash *tokenHash
	if invitation != "" && s.definition.Invitations {
		h := hashToken(invitation)
		hash = &h
	}
	p := &pending{record: s.reportRecord(r, hash)}
	if hash != nil {
		p.record.lapsed = expiryOf(invitation)
	}
	return p, nil
}

func (c *Collector) stream(name string) (*stream, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s := c.fold.named[name]; s != nil {
		return s, nil
	}
	return nil, ErrUnknownStream
}

// Streams are the definitions of all streams, in the order of their creation.
func (c *Collector) Streams() []Definition {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]Definition, len(c.fold.streams))
	for i, s := range c.fold.streams {
		out[i] = s.definition
	}
	return out
}

// Release is the stream's estimate.
func (c *Collector) Release(name string) (*release.Release, error) {
	s, err := c.stream(name)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return s.server.Release()
}

// Model is the stream's model, as published.
func (c *Collector) Model(name string) (*regression.Model, error) {
	s, err := c.stream(name)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return s.server.Model(), nil
}

// State is a digest of everything the collector knows but its clock: equal logs give equal states, whether read from
// a snapshot or from the beginning.
func (c *Collector) State() ([]byte, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.fold.marshal()
}
