// The state: a fold over the records of the log. Nothing in here looks at a clock, an address or anything else that is not in
// the log, so that reading the log again gives the same bytes.

package collector

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

// fold is the state after the message with number seq.
type fold struct {
	seq     uint64
	last    tokenHash // SHA-256 of that message, zero before any
	streams []*stream
	applied int // reports since the snapshot; not part of the state
	named   map[string]*stream
}

type stream struct {
	index       int
	definition  Definition
	text        []byte // the definition's JSON, as logged
	server      *regression.Server
	invitations map[tokenHash]*invitation
	closed      bool // takes no more reports
	live        live
	cache       cache
}

type invitation struct {
	expires int64 // Unix seconds
	used    bool
}

// Refused says why a report was not applied, beyond regression.Refusal; nothing has changed.
type Refused struct {
	Reason string // one of the constants below
	Detail string
}

func (r *Refused) Error() string { return "collector: report refused: " + r.Detail }

// The reasons of Refused.
const (
	NoInvitation      = "invitation-missing" // 401
	UnknownInvitation = "invitation-unknown" // 401
	ExpiredInvitation = "invitation-expired" // 401
	UsedInvitation    = "invitation-used"    // 403
	QuotaReached      = "quota"              // 403
	StreamClosed      = "closed"             // 410
	SeededNoise       = "demonstration"      // 422
)

// Receipt acknowledges a report: it is in the log, synced, and in the estimate.
type Receipt struct {
	// Repeated says that a report with this id had been applied before; nothing has changed.
	Repeated bool `json:"repeated" doc:"a report with this id had been applied before; nothing has changed"`
	// At is the version of the model with the report.
	At int64 `json:"at" doc:"the version of the model after the report"`
}

func newFold() *fold { return &fold{named: map[string]*stream{}} }

// rules are what stands against a new report before the regression looks at it.
func (s *stream) rules(r *record) error {
	switch {
	case s.closed:
		return &Refused{StreamClosed, "the stream is closed: it takes no more reports"}
	case s.definition.Quota > 0 && s.server.At() >= s.definition.Quota:
		return &Refused{QuotaReached, fmt.Sprintf("the stream has the %d reports it was opened for", s.definition.Quota)}
	case !r.report.Private && !s.definition.Demonstration:
		return &Refused{SeededNoise, "its noise came from a seeded source, which protects nobody: use a client with its own noise"}
	case !s.definition.Invitations:
		return nil
	case r.invitation == nil:
		return &Refused{NoInvitation, "the stream takes reports by invitation: send yours as Authorization: Bearer …"}
	}
	i := s.invitations[*r.invitation]
	if i == nil {
		return &Refused{UnknownInvitation, "the invitation is not one of this stream's"}
	}
	if i.used {
		return &Refused{UsedInvitation, "the invitation has been used: it is good for one report"}
	}
	return nil
}

var expired = &Refused{ExpiredInvitation, "the invitation has expired: ask for another"}

// check says what would become of a report now; repeated is true for one that has been applied. It changes nothing.
func (s *stream) check(r *record, now time.Time) (repeated bool, err error) {
	if s.server.Applied(r.report.ID) {
		return true, nil
	}
	if err := s.admits(r, now); err != nil {
		return false, err
	}
	return false, s.server.Check(r.report)
}

// admits says what stands against a new report at this time, before the regression looks at it.
func (s *stream) admits(r *record, now time.Time) error {
	if err := s.rules(r); err != nil {
		var refused *Refused
		if errors.As(err, &refused) && refused.Reason == UnknownInvitation && !r.lapsed.IsZero() && !r.lapsed.After(now) {
			return expired // and forgotten; or never made, which an expired one is as good as
		}
		return err
	}
	if s.definition.Invitations && s.invitations[*r.invitation].expires <= now.Unix() {
		return expired
	}
	return nil
}

// report applies a report of the log, or finds that it cannot be, as it may after others of its group.
func (s *stream) report(r *record) (Receipt, error) {
	if s.server.Applied(r.report.ID) {
		return Receipt{true, s.server.At()}, nil
	}
	if err := s.rules(r); err != nil {
		return Receipt{}, err
	}
	if _, err := s.server.Apply(r.report); err != nil {
		return Receipt{}, err
	}
	if r.invitation != nil && s.definition.Invitations {
		s.invitations[*r.invitation].used = true
	}
	return Receipt{false, s.server.At()}, nil
}

// create opens the stream of a definition.
func (f *fold) create(text []byte) error {
	d, err := readDefinition(text)
	if err != nil {
		return err
	}
	v, err := regression.NewServer(d.Stream)
	if err != nil {
		return err
	}
	return f.add(d, text, v)
}

func (f *fold) add(d Definition, text []byte, v *regression.Server) error {
	if f.named[d.Stream.Name] != nil {
		return fmt.Errorf("collector: stream %q exists: choose another name", d.Stream.Name)
	}
	if len(f.streams) >= maxStreams {
		return fmt.Errorf("collector: there are %d streams, the most a collector takes: start another collector", maxStreams)
	}
	s := &stream{index: len(f.streams), definition: d, text: append([]byte(nil), text...), server: v, invitations: map[tokenHash]*invitation{}}
	s.live.changed = make(chan struct{})
	f.streams = append(f.streams, s)
	f.named[d.Stream.Name] = s
	return nil
}

func (s *stream) invite(tokens []tokenHash, expires time.Time) {
	for _, t := range tokens {
		if s.invitations[t] == nil {
			s.invitations[t] = &invitation{expires: expires.Unix()}
		}
	}
}

// forget drops the invitations that had expired by the time. It is a record of the log and no matter of a collector's own clock: two
// collectors on one log, or one that reads the log again, refuse the same reports from there on.
func (f *fold) forget(by time.Time) {
	for _, s := range f.streams {
		maps.DeleteFunc(s.invitations, func(_ tokenHash, i *invitation) bool { return i.expires <= by.Unix() })
	}
}

// holdsExpired says whether forget would drop anything.
func (f *fold) holdsExpired(by time.Time) bool {
	for _, s := range f.streams {
		for _, i := range s.invitations {
			if i.expires <= by.Unix() {
				return true
			}
		}
	}
	return false
}

// apply applies one record. A refusal is an answer for whoever sent it; any other error means that the log is not what
// this curveil wrote.
func (f *fold) apply(r *record) (Receipt, error) {
	if r.kind == kindStream {
		return Receipt{}, f.create(r.definition)
	}
	if r.kind == kindForget {
		f.forget(r.expires)
		return Receipt{}, nil
	}
	if r.stream >= len(f.streams) {
		return Receipt{}, fmt.Errorf("record of stream %d, of which the log has %d", r.stream, len(f.streams))
	}
	s := f.streams[r.stream]
	switch r.kind {
	case kindInvitations:
		s.invite(r.tokens, r.expires)
		return Receipt{}, nil
	case kindClose:
		s.closed = true
		return Receipt{At: s.server.At()}, nil
	}
	receipt, err := s.report(r)
	if err == nil && !receipt.Repeated {
		f.applied++
	}
	return receipt, err
}

// complete fills in what the log leaves out of a report.
func (f *fold) complete(r *record) {
	if r.kind == kindReport && r.stream < len(f.streams) {
		s := f.streams[r.stream]
		r.report.Stream = s.server.Fingerprint()
		if !r.ownBudget {
			r.report.Budget = s.server.Stream().Budget
		}
	}
}

// message applies the message of the log that follows.
func (f *fold) message(seq uint64, data []byte) error {
	if seq != f.seq+1 {
		return fmt.Errorf("collector: message %d of the log is missing (found %d): restore the log from a copy", f.seq+1, seq)
	}
	err := readMessage(data, func(r *record) error {
		f.complete(r)
		_, err := f.apply(r)
		if isRefusal(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("collector: message %d of the log: %w", seq, err)
	}
	f.seq, f.last = seq, hashToken(string(data))
	return nil
}

func isRefusal(err error) bool {
	var a *Refused
	var b *regression.Refusal
	return errors.As(err, &a) || errors.As(err, &b)
}

// reportRecord is the record of a report for the stream.
func (s *stream) reportRecord(r *regression.Report, invitation *tokenHash) *record {
	return &record{kind: kindReport, stream: s.index, report: r, ownBudget: r.Budget != (privacy.Approx)(s.server.Stream().Budget), invitation: invitation}
}
