// The contributor's side of the HTTP API.

package collector

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/curveil/curveil/regression"
)

// Remote is a stream of a collector elsewhere. Safe for concurrent use.
type Remote struct {
	// HTTP client; nil for one with timeouts.
	HTTP *http.Client
	// Invitation, where the stream wants one.
	Invitation string
	// Patience is how long Send goes on trying; 0 for a minute.
	Patience time.Duration

	base string // …/v1/streams/NAME
}

// NewRemote takes the address of a collector and the name of a stream, as in NewRemote("http://127.0.0.1:8808", "heights").
func NewRemote(address, stream string) (*Remote, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("collector: address %q must be one such as https://collector.example:8808", address)
	}
	if !validName.MatchString(stream) {
		return nil, fmt.Errorf("collector: %.80q is not the name of a stream", stream)
	}
	return &Remote{base: strings.TrimSuffix(u.Scheme+"://"+u.Host+u.Path, "/") + "/v1/streams/" + stream}, nil
}

// The largest model that a Remote reads.
const maxModel = 64 << 20

// RemoteTimeout is that of one request of a Remote without an HTTP client of its own; a long poll takes up to a minute.
const RemoteTimeout = 90 * time.Second

var defaultHTTP = &http.Client{Timeout: RemoteTimeout}

func (r *Remote) http() *http.Client {
	if r.HTTP != nil {
		return r.HTTP
	}
	return defaultHTTP
}

// do returns the answer's body, or its Problem as an error.
func (r *Remote) do(ctx context.Context, method, path string, body []byte, header http.Header) (status int, answer []byte, tag string, err error) {
	q, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	if header != nil {
		q.Header = header
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	a, err := r.http().Do(q)
	if err != nil {
		return 0, nil, "", err
	}
	defer a.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(a.Body, maxModel+1))
	if err != nil {
		return 0, nil, "", err
	}
	if len(answer) > maxModel {
		return 0, nil, "", fmt.Errorf("collector: the answer is longer than %d bytes", maxModel)
	}
	if a.StatusCode >= 400 {
		p := &Problem{}
		if json.Unmarshal(answer, p) != nil || p.Detail == "" {
			p.Detail = fmt.Sprintf("collector: %s answered %s", r.base, a.Status)
		}
		if a.StatusCode == http.StatusBadRequest && bytes.Contains(answer, []byte("HTTP request to an HTTPS server")) {
			p.Detail += ": it speaks https, and was asked with http: give its address with https"
		}
		p.Status = a.StatusCode
		return a.StatusCode, nil, "", p
	}
	return a.StatusCode, answer, a.Header.Get("ETag"), nil
}

// Stream fetches the stream's summary: whether it takes reports, before anything is spent on one.
func (r *Remote) Stream(ctx context.Context) (*Summary, error) {
	_, text, _, err := r.do(ctx, http.MethodGet, "", nil, nil)
	if err != nil {
		return nil, err
	}
	s := new(Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("collector: summary of the stream: %w", err)
	}
	return s, nil
}

// Takes says what stands against another report, nil when nothing does.
func (s *Summary) Takes(invited bool) error {
	switch {
	case s.Closed:
		return &Refused{StreamClosed, fmt.Sprintf("stream %q is closed: it takes no more reports", s.Name)}
	case s.Quota > 0 && s.At >= s.Quota:
		return &Refused{QuotaReached, fmt.Sprintf("stream %q has the %d reports it was opened for", s.Name, s.Quota)}
	case s.Invitations && !invited:
		return &Refused{NoInvitation, fmt.Sprintf("stream %q takes reports by invitation: give yours", s.Name)}
	}
	return nil
}

// Check says what stands against a report now, before a budget is spent on one: the stream may be closed or full, or the invitation
// missing, mistyped, expired, used or another stream's. Nothing is used up. The error is a *Refused or *Problem, or says that the collector
// could not be asked.
func (r *Remote) Check(ctx context.Context) (*Summary, error) {
	s, err := r.Stream(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Takes(r.Invitation != ""); err != nil || !s.Invitations {
		return s, err
	}
	if err := checkInvitation(r.Invitation, time.Now()); err != nil {
		return s, err
	}
	_, _, _, err = r.do(ctx, http.MethodPost, "/invitations/check", nil, r.authorization())
	return s, err
}

func (r *Remote) authorization() http.Header {
	header := http.Header{}
	if r.Invitation != "" {
		header.Set("Authorization", "Bearer "+r.Invitation)
	}
	return header
}

// Expected is the number of people that the stream was opened for, 0 when not known.
func (s *Summary) Expected() int64 {
	if s.People == 0 {
		return s.Quota
	}
	return s.People
}

// Model fetches the model.
func (r *Remote) Model(ctx context.Context) (*regression.Model, error) {
	_, text, _, err := r.do(ctx, http.MethodGet, "/model", nil, nil)
	if err != nil {
		return nil, err
	}
	m := new(regression.Model)
	return m, m.UnmarshalJSON(text)
}

// Watch fetches the position once it is another than the one that the tag names, or after the time given; "" for now. The tag
// returned is for the next call; the position is nil when nothing has changed.
func (r *Remote) Watch(ctx context.Context, tag string, wait time.Duration) (*regression.Position, string, error) {
	header := http.Header{}
	path := "/position"
	if tag != "" {
		header.Set("If-None-Match", tag)
		path = fmt.Sprintf("/position?wait=%d", min(maxWait, int(wait.Seconds())))
	}
	status, text, next, err := r.do(ctx, http.MethodGet, path, nil, header)
	if err != nil || status == http.StatusNotModified {
		return nil, tag, err
	}
	p := new(regression.Position)
	return p, next, p.UnmarshalJSON(text)
}

// Conflict says that the report was made at too old a version of the model, or for another stream.
type Conflict struct {
	Problem  *Problem
	Position *regression.Position // the current one; nil when the answer had none
}

func (c *Conflict) Error() string { return c.Problem.Detail }
func (c *Conflict) Unwrap() error { return c.Problem }

// Send sends the report, the same bytes each time, until the collector has answered or patience ends: a lost answer does not
// mean a lost report, and the collector applies an id once. A *Conflict or *Problem says why it was not taken.
func (r *Remote) Send(ctx context.Context, report *regression.Report) (Receipt, error) {
	body, err := json.Marshal(report)
	if err != nil {
		return Receipt{}, err
	}
	return r.SendBytes(ctx, body)
}

// SendBytes is Send for a report that was encoded, and perhaps stored, before.
func (r *Remote) SendBytes(ctx context.Context, report []byte) (Receipt, error) {
	patience := r.Patience
	if patience == 0 {
		patience = time.Minute
	}
	deadline := time.Now().Add(patience)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		_, text, _, err := r.do(ctx, http.MethodPost, "/reports", report, r.authorization())
		if err == nil {
			var receipt Receipt
			if err := json.Unmarshal(text, &receipt); err != nil {
				return Receipt{}, fmt.Errorf("collector: answer to a report: %w", err)
			}
			return receipt, nil
		}
		var p *Problem
		if errors.As(err, &p) && p.Status == http.StatusConflict {
			c := &Conflict{Problem: p}
			position := new(regression.Position)
			if p.Position != nil && position.UnmarshalJSON(p.Position) == nil {
				c.Position = position
			}
			return Receipt{}, c
		}
		if p != nil && p.Status < 500 && p.Status != http.StatusTooManyRequests && p.Status != http.StatusRequestTimeout {
			return Receipt{}, p
		}
		// Up to half as long again, so that many clients do not come back at once.
		pause := pause + jitter(pause/2)
		if ctx.Err() != nil || time.Now().Add(pause).After(deadline) {
			return Receipt{}, fmt.Errorf("collector: no answer in time (the report may have arrived: send the same one again, never another): %w", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// Contribute makes one report about (x, y) with the client and sends it, if Check finds nothing against it: budget spent on a report that
// is refused is lost. keep, if not nil, gets every report before it is sent, to store it: after a crash that one is to be sent again, for the budget is spent.
//
// A report that the collector finds stale is not made again from the same noise: the gradient at the newer model under the
// noise of the old report would, together with the old one, which the collector has seen, give away the difference of two
// gradients without any noise. Nor under fresh noise for free: two reports about the same (x, y) tell more than one.
// So a new report is made only where the person's ledger has budget for it; without a ledger or budget Contribute returns the
// *Conflict (joined with the refusal), and the person stays out. Nor more than two in a call, whatever the ledger allows: a collector that
// calls every report stale could draw them without end from a ledger without a cap. Conflicts are avoided by fetching the model just before.
func (r *Remote) Contribute(ctx context.Context, client *regression.Client, x []float64, y float64, keep func(report []byte) error) (Receipt, error) {
	var conflict *Conflict
	for made := 1; ; made++ {
		var report *regression.Report
		_, err := r.Check(ctx)
		if err == nil {
			report, err = client.Contribute(ctx, x, y)
		}
		if report == nil {
			if conflict != nil {
				return Receipt{}, errors.Join(conflict, err)
			}
			return Receipt{}, err
		}
		body, err := json.Marshal(report)
		if err == nil && keep != nil {
			err = keep(body)
		}
		if err != nil {
			return Receipt{}, err
		}
		receipt, err := r.SendBytes(ctx, body)
		if !errors.As(err, &conflict) || conflict.Position == nil || made == mostReports {
			return receipt, err
		}
		if err := client.Update(conflict.Position); err != nil {
			return Receipt{}, errors.Join(conflict, err)
		}
	}
}

// mostReports is how many reports one call makes.
const mostReports = 2

// jitter is a random part of the span, so that clients that failed together do not
// come back together.
func jitter(span time.Duration) time.Duration {
	var b [8]byte
	rand.Read(b[:])
	return time.Duration(binary.LittleEndian.Uint64(b[:]) % uint64(max(span, 1)))
}
