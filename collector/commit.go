// The committer: one goroutine takes what waits, writes it to the log as one message, applies it once the log is synced, and
// answers. While a sync runs the next group gathers, so groups grow with the load and nobody waits for a timer.

package collector

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pending is a record on its way into the log.
type pending struct {
	record *record
	answer chan Answer // buffered: nobody need wait
}

func (p *pending) wait(ctx context.Context) (Receipt, error) {
	select {
	case a := <-p.answer:
		return a.Receipt, a.Err
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
}

const (
	largestGroup = 4096
	attempts     = 3
	catchUpEvery = time.Second // for a log that others write to
	perMessage   = 200         // bytes that the log adds to a message, at most
)

func (c *Collector) enqueue(p *pending) error {
	if err := c.willing(); err != nil {
		return err
	}
	p.answer = make(chan Answer, 1)
	select {
	case c.queue <- p:
		return nil
	default:
		c.meters.refused.WithLabelValues("busy").Inc()
		return ErrBusy
	}
}

func (c *Collector) submit(ctx context.Context, p *pending) (Receipt, error) {
	if err := c.enqueue(p); err != nil {
		return Receipt{}, err
	}
	return p.wait(ctx)
}

func (c *Collector) commitLoop() {
	defer close(c.done)
	var tick <-chan time.Time
	if c.log.shared() {
		t := time.NewTicker(catchUpEvery)
		defer t.Stop()
		tick = t.C
	}
	var group []*pending
	for {
		group = group[:0]
		select {
		case p := <-c.queue:
			group = append(group, p)
		case <-tick:
			c.reached(c.catchUp(context.Background())) // others' messages
			c.snapshotWhenDue()
			continue
		case <-c.stop:
			c.drain()
			return
		}
		c.commit(c.gather(group))
	}
}

// gather adds what else waits.
func (c *Collector) gather(group []*pending) []*pending {
	for len(group) < largestGroup {
		select {
		case p := <-c.queue:
			group = append(group, p)
		default:
			return group
		}
	}
	return group
}

// drain commits what waits when the collector closes.
func (c *Collector) drain() {
	for {
		group := c.gather(nil)
		if len(group) == 0 {
			return
		}
		c.commit(group)
	}
}

// commit logs and answers a group, in as many messages as it takes.
func (c *Collector) commit(group []*pending) {
	for tries := 0; len(group) > 0; {
		if p := c.fault.Load(); p != nil {
			fail(group, fmt.Errorf("%w: %w", ErrUnavailable, *p))
			return
		}
		message, chosen, rest := c.compose(group)
		if len(chosen) == 0 {
			group = rest
			continue
		}
		start := time.Now()
		err := c.log.append(context.Background(), message, c.fold.seq)
		c.meters.sync.Observe(time.Since(start).Seconds())
		switch {
		case err == nil:
			tries = 0
			c.reached(nil)
			c.settle(message, chosen)
			group = rest
		case errors.Is(err, errFull) && c.makeRoom():
		case errors.Is(err, errFull):
			c.config.Logger.Error("log full", "error", err.Error())
			fail(chosen, fmt.Errorf("%w: %w", ErrUnavailable, err))
			group = rest
		case errors.Is(err, errMoved) || errors.Is(err, errUnsure):
			if errors.Is(err, errUnsure) {
				c.reached(err)
			}
			// What the log has now decides; reports that are in it are found as repeats when the group is tried again.
			err = errors.Join(err, c.catchUp(context.Background()))
			if tries++; tries >= attempts {
				c.config.Logger.Error("log not written", "error", err.Error())
				fail(group, fmt.Errorf("%w: %w", ErrUnavailable, err))
				return
			}
			if errors.Is(err, errUnsure) {
				// A cluster that is choosing a leader says at once that nobody answers.
				time.Sleep(time.Duration(tries) * time.Second / 2)
			}
		default:
			// The message may be in the log's memory and not on the disk: only a restart can tell.
			err = fmt.Errorf("%w (find the cause, make room or repair the disk, then restart the collector)", err)
			c.fault.Store(&err)
			c.config.Logger.Error("log failed; no more reports are taken", "error", err.Error())
		}
	}
}

// reached notes whether the log could be reached, for /readyz.
func (c *Collector) reached(err error) {
	switch before := c.absent.Load(); {
	case err == nil && before != nil:
		c.config.Logger.Info("log reached again")
		c.absent.Store(nil)
	case err != nil && before == nil:
		c.config.Logger.Error("log not reached", "error", err.Error())
		c.absent.Store(&err)
	}
}

func fail(group []*pending, err error) {
	for _, p := range group {
		p.answer <- Answer{Err: err}
	}
}

// compose answers what needs no logging, and encodes the others until a message is full. A new stream ends its message,
// because what follows may be about it.
func (c *Collector) compose(group []*pending) (message []byte, chosen, rest []*pending) {
	message = append(make([]byte, 0, 64+160*len(group)), messageMagic...)
	now := time.Now()
	most := c.log.largest()
	for i, p := range group {
		if p.record.kind == kindStream {
			d, err := readDefinition(p.record.definition)
			if err == nil && c.fold.named[d.Stream.Name] != nil {
				err = ErrExists
			}
			if err == nil && len(c.fold.streams) >= maxStreams {
				err = fmt.Errorf("%w: a collector has at most %d streams", ErrUnavailable, maxStreams)
			}
			if err != nil {
				p.answer <- Answer{Err: err}
				continue
			}
		}
		if p.record.kind == kindReport {
			s := c.fold.streams[p.record.stream]
			repeated, err := s.check(p.record, now)
			if repeated {
				p.answer <- Answer{Receipt: Receipt{Repeated: true, At: s.server.At()}}
				c.meters.repeated.Inc()
				continue
			}
			if err != nil {
				p.answer <- Answer{Err: err}
				c.meters.refuse(err)
				continue
			}
		}
		if p.record.kind == kindClose {
			if s := c.fold.streams[p.record.stream]; s.closed {
				p.answer <- Answer{Receipt: Receipt{Repeated: true, At: s.server.At()}}
				continue
			}
		}
		longer := p.record.append(message)
		if len(longer)+4 > most {
			if len(chosen) > 0 {
				return seal(message), chosen, group[i:]
			}
			p.answer <- Answer{Err: fmt.Errorf("%w: one record of %d bytes, the log takes messages up to %d", ErrUnavailable, len(longer), most)}
			continue
		}
		message = longer
		chosen = append(chosen, p)
		if p.record.kind == kindStream {
			return seal(message), chosen, group[i+1:]
		}
	}
	return seal(message), chosen, nil
}

// settle applies a message that is in the log, and answers.
func (c *Collector) settle(message []byte, chosen []*pending) {
	answers := make([]Answer, len(chosen))
	var touched []*stream
	applied := 0
	c.mu.Lock()
	for i, p := range chosen {
		answers[i].Receipt, answers[i].Err = c.fold.apply(p.record)
		if p.record.kind != kindReport {
			continue
		}
		switch {
		case answers[i].Err != nil:
			c.meters.refuse(answers[i].Err)
		case answers[i].Receipt.Repeated:
			c.meters.repeated.Inc()
		default:
			applied++
			if s := c.fold.streams[p.record.stream]; len(touched) == 0 || touched[len(touched)-1] != s {
				touched = append(touched, s)
			}
		}
	}
	c.fold.seq++
	c.grown += int64(len(message) + perMessage)
	c.fold.last = hashToken(string(message))
	c.mu.Unlock()
	for i, p := range chosen {
		p.answer <- answers[i]
	}
	c.meters.applied.Add(float64(applied))
	c.meters.group.Observe(float64(len(chosen)))
	for _, s := range touched {
		s.live.announce()
	}
	c.snapshotWhenDue()
}

// catchUp applies what the log has beyond the state. A message that makes no sense ends the collector: its state is that of
// no log any more.
func (c *Collector) catchUp(ctx context.Context) error {
	before := c.fold.seq
	var broken error
	_, err := c.log.read(ctx, c.fold.seq, func(seq uint64, data []byte) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.grown += int64(len(data) + perMessage)
		broken = c.fold.message(seq, data)
		return broken
	})
	if broken != nil {
		c.fault.Store(&broken)
	}
	if c.fold.seq > before {
		for _, s := range c.fold.streams {
			s.live.announce()
		}
	}
	return err
}

// snapshotWhenDue counts what was read from the log too: a collector that is restarted often, or that reads what others write, would
// otherwise read more and more of it at every start.
func (c *Collector) snapshotWhenDue() {
	if c.fold.applied >= c.config.SnapshotEvery || c.config.TrimLog && c.config.MaxLog > 0 && c.grown > c.config.MaxLog/4 {
		if c.forgetExpired() {
			return // whose record, once applied, came here again
		}
		c.snapshot()
	}
}

// makeRoom trims a full log, where that is asked for, and reports whether it is shorter now. Snapshots are written while the
// collector goes on, and on a slow disk it may go on faster.
func (c *Collector) makeRoom() bool {
	if !c.config.TrimLog {
		return false
	}
	ctx := context.Background()
	before, _, err := c.log.bounds(ctx)
	if err != nil {
		return false
	}
	for range snapshotsKept {
		c.saving.Wait()
		if first, _, err := c.log.bounds(ctx); err != nil || first > before {
			return err == nil
		}
		c.snapshot()
	}
	c.saving.Wait()
	first, _, err := c.log.bounds(ctx)
	return err == nil && first > before
}

// forgetAfter is how long an expired invitation is kept, so that whoever comes late hears whether it was used.
const forgetAfter = 24 * time.Hour

// forgetExpired logs that expired invitations are dropped, so that snapshots do not grow with all that were ever made. It reports
// whether they have been.
func (c *Collector) forgetExpired() bool {
	by := time.Now().Add(-c.forgetAfter)
	if !c.fold.holdsExpired(by) {
		return false
	}
	c.commit([]*pending{{record: &record{kind: kindForget, expires: by}, answer: make(chan Answer, 1)}})
	return !c.fold.holdsExpired(by)
}

// snapshot takes the state now and writes it while the collector goes on.
func (c *Collector) snapshot() {
	if !c.busy.CompareAndSwap(false, true) {
		return // the last one is still being written
	}
	c.fold.applied, c.grown = 0, 0
	data, err := c.fold.marshal()
	if err != nil {
		c.busy.Store(false)
		c.config.Logger.Error("snapshot not written", "error", err.Error())
		return
	}
	seq := c.fold.seq
	c.saving.Go(func() {
		defer c.busy.Store(false)
		if err := c.save(seq, data); err != nil {
			// Nothing is lost: the next start reads more of the log.
			c.config.Logger.Error("snapshot not written, or the log not trimmed", "error", err.Error())
		}
	})
}
