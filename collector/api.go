// The HTTP API: huma describes the operations (OpenAPI 3.1) and answers problems; the handlers are here.

package collector

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/regression"
)

const (
	maxReport     = 512 << 10 // bytes of one report: 2^14 coordinates of 20 digits, and more
	maxBatch      = 8 << 20   // bytes of a batch
	maxDefinition = 16 << 20  // bytes of a stream: a kernel's factor is J·r numbers
	maxReports    = 10000     // in a batch
	bodyTimeout   = 10 * time.Second
	maxWait       = 60 // seconds of a long poll
)

type streamInput struct {
	Name string `path:"name" maxLength:"64" doc:"name of the stream"`
}

type jsonOutput struct {
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Status       int
	Body         []byte
}

// Summary describes a stream to people and programs.
type Summary struct {
	Name        string   `json:"name"`
	At          int64    `json:"at" doc:"reports in the estimate"`
	Fingerprint string   `json:"fingerprint"`
	Dim         int      `json:"dim" doc:"coordinates of a report"`
	Epsilon     float64  `json:"epsilon"`
	Delta       float64  `json:"delta"`
	NoiseScale  float64  `json:"noise_scale" doc:"standard deviation of the noise in each coordinate of a report"`
	Mixed       bool     `json:"mixed"`
	Staleness   int64    `json:"staleness"`
	People      int64    `json:"people"`
	Quota       int64    `json:"quota"`
	Invitations bool     `json:"invitations"`
	Closed      bool     `json:"closed" doc:"the stream takes no more reports"`
	Influence   float64  `json:"influence" doc:"the most that one report, honest or forged, moves the curve, in the norm of the space"`
	Warnings    []string `json:"warnings,omitempty"`
	Page        string   `json:"page" doc:"path of the live picture"`
}

func (c *Collector) summary(s *stream) Summary {
	d := s.definition
	scale, _ := d.Stream.NoiseScale(d.Stream.Budget) // a stream that exists has them
	influence, _ := d.Stream.Influence()
	c.mu.RLock()
	defer c.mu.RUnlock()
	return Summary{Name: d.Stream.Name, At: s.server.At(), Fingerprint: s.server.Fingerprint().String(), Dim: d.Stream.Basis.Dim(),
		Epsilon: d.Stream.Budget.Epsilon, Delta: d.Stream.Budget.Delta, NoiseScale: scale, Mixed: d.Stream.Mixed,
		Staleness: d.Stream.Staleness, People: d.People, Quota: d.Quota, Invitations: d.Invitations, Closed: s.closed, Influence: influence,
		Warnings: d.Warnings(), Page: "/streams/" + d.Stream.Name}
}

// api registers the operations.
func (h *Handler) api(api huma.API) {
	c := h.c
	admin := []map[string][]string{{"admin": {}}}
	gate := huma.Middlewares{h.gate}
	invited := []map[string][]string{{}, {"invitation": {}}}
	documented(api)

	huma.Register(api, huma.Operation{OperationID: "create-stream", Method: http.MethodPost, Path: "/v1/streams", Summary: "Open a stream",
		Tags: []string{"admin"}, Security: admin, Middlewares: gate, DefaultStatus: http.StatusCreated, MaxBodyBytes: maxDefinition, BodyReadTimeout: bodyTimeout,
		Errors: []int{400, 401, 409, 413, 429, 503}, RequestBody: jsonBody(api, "Opening"), SkipValidateBody: true},
		func(ctx context.Context, in *struct {
			RawBody []byte
		}) (*struct {
			Location string `header:"Location"`
			Body     Summary
		}, error) {
			d, err := readOpening(in.RawBody)
			if err == nil {
				err = c.Create(ctx, d)
			}
			if err != nil {
				return nil, c.answer(nil, bodyProblem(in.RawBody, err))
			}
			s, err := c.stream(d.Stream.Name)
			if err != nil {
				return nil, c.answer(nil, err)
			}
			out := &struct {
				Location string `header:"Location"`
				Body     Summary
			}{Location: "/v1/streams/" + d.Stream.Name, Body: c.summary(s)}
			return out, nil
		})

	huma.Register(api, huma.Operation{OperationID: "list-streams", Method: http.MethodGet, Path: "/v1/streams", Summary: "All streams", Tags: []string{"public"}},
		func(context.Context, *struct{}) (*struct{ Body []Summary }, error) {
			out := &struct{ Body []Summary }{Body: []Summary{}}
			for _, s := range c.all() {
				out.Body = append(out.Body, c.summary(s))
			}
			return out, nil
		})

	huma.Register(api, huma.Operation{OperationID: "get-stream", Method: http.MethodGet, Path: "/v1/streams/{name}", Summary: "One stream", Tags: []string{"public"}, Errors: []int{404}},
		func(_ context.Context, in *streamInput) (*struct{ Body Summary }, error) {
			s, err := c.stream(in.Name)
			if err != nil {
				return nil, c.answer(nil, err)
			}
			return &struct{ Body Summary }{c.summary(s)}, nil
		})

	huma.Register(api, huma.Operation{OperationID: "close-stream", Method: http.MethodPost, Path: "/v1/streams/{name}/close", Summary: "Close a stream for good",
		Description: "The estimate stays published; reports are refused with 410 from here on. There is no way back.",
		Tags:        []string{"admin"}, Security: admin, Middlewares: gate, Errors: []int{401, 404, 429, 503}},
		func(ctx context.Context, in *streamInput) (*struct{ Body Summary }, error) {
			s, err := c.stream(in.Name)
			if err == nil {
				err = c.CloseStream(ctx, in.Name)
			}
			if err != nil {
				return nil, c.answer(nil, err)
			}
			return &struct{ Body Summary }{c.summary(s)}, nil
		})

	type waitInput struct {
		Name        string `path:"name" maxLength:"64"`
		IfNoneMatch string `header:"If-None-Match" doc:"the version that is known; 304 when it is the newest"`
		Wait        int    `query:"wait" minimum:"0" maximum:"60" default:"0" doc:"seconds to wait for a version that If-None-Match does not name"`
	}
	for _, p := range []struct {
		id, path, summary string
		form              form
	}{
		{"get-model", "model", "The model that gradients are to be taken at", modelForm},
		{"get-position", "position", "The part of the model that changes", positionForm},
	} {
		huma.Register(api, huma.Operation{OperationID: p.id, Method: http.MethodGet, Path: "/v1/streams/{name}/" + p.path, Summary: p.summary, Tags: []string{"public"}, Errors: []int{404, 503}},
			func(ctx context.Context, in *waitInput) (*jsonOutput, error) {
				s, err := c.stream(in.Name)
				if err != nil {
					return nil, c.answer(nil, err)
				}
				text, at, err := h.newer(ctx, s, p.form, in.IfNoneMatch, time.Duration(min(in.Wait, maxWait))*time.Second)
				if err != nil {
					return nil, c.answer(s, err)
				}
				if text == nil {
					return &jsonOutput{ETag: s.etag(at), CacheControl: "no-cache", Status: http.StatusNotModified}, nil
				}
				return &jsonOutput{"application/json", s.etag(at), "no-cache", http.StatusOK, text}, nil
			})
	}

	huma.Register(api, huma.Operation{OperationID: "post-report", Method: http.MethodPost, Path: "/v1/streams/{name}/reports", Summary: "Send a report",
		Description: "Answers once the report is in the synced log and in the estimate. Send the same report again until there is an answer: it is applied once. " +
			"409 says that it was made at too old a model; the answer holds the current position.",
		Tags: []string{"public"}, Security: invited, MaxBodyBytes: maxReport, BodyReadTimeout: bodyTimeout, SkipValidateBody: true,
		Errors: []int{400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 503}, RequestBody: jsonBody(api, "Report")},
		func(ctx context.Context, in *struct {
			Name          string `path:"name" maxLength:"64"`
			Authorization string `header:"Authorization" doc:"Bearer and the invitation, where the stream wants one"`
			RawBody       []byte
		}) (*jsonOutput, error) {
			s, err := c.stream(in.Name)
			if err != nil {
				return nil, c.answer(nil, err)
			}
			r := new(regression.Report)
			if err := r.UnmarshalJSON(in.RawBody); err != nil {
				c.meters.refused.WithLabelValues("malformed").Inc()
				return nil, c.answer(s, bodyProblem(in.RawBody, err))
			}
			receipt, err := c.Submit(ctx, in.Name, r, bearer(in.Authorization))
			if err != nil {
				return nil, c.answer(s, err)
			}
			return &jsonOutput{ContentType: "application/json", CacheControl: "no-store", Status: http.StatusOK, Body: receipt.json()}, nil
		})

	huma.Register(api, huma.Operation{OperationID: "check-invitation", Method: http.MethodPost, Path: "/v1/streams/{name}/invitations/check", Summary: "Would a report be taken?",
		Description: "For a device, before it spends its person's budget: answers what a report with this invitation would be refused for, whatever is in it. " +
			"The invitation stays as it is. Where the stream wants none, none is needed.",
		Tags: []string{"public"}, Security: invited, Errors: []int{401, 403, 404, 410, 429}},
		func(_ context.Context, in *struct {
			Name          string `path:"name" maxLength:"64"`
			Authorization string `header:"Authorization" doc:"Bearer and the invitation, where the stream wants one"`
		}) (*struct {
			CacheControl string `header:"Cache-Control"`
			Body         struct {
				Good bool `json:"good" doc:"nothing stands against a report now"`
			}
		}, error) {
			if err := c.Admits(in.Name, bearer(in.Authorization)); err != nil {
				return nil, c.answer(nil, err)
			}
			out := new(struct {
				CacheControl string `header:"Cache-Control"`
				Body         struct {
					Good bool `json:"good" doc:"nothing stands against a report now"`
				}
			})
			out.CacheControl, out.Body.Good = "no-store", true
			return out, nil
		})

	huma.Register(api, huma.Operation{OperationID: "post-reports", Method: http.MethodPost, Path: "/v1/streams/{name}/batch", Summary: "Send many reports, for gateways",
		Description: "An answer for each report, in their order, after all are in the synced log or refused.",
		Tags:        []string{"public"}, MaxBodyBytes: maxBatch, BodyReadTimeout: 3 * bodyTimeout, SkipValidateBody: true,
		Errors: []int{400, 404, 408, 413, 422, 429, 503}, RequestBody: jsonBody(api, "Batch")},
		func(ctx context.Context, in *struct {
			Name    string `path:"name" maxLength:"64"`
			RawBody []byte
		}) (*struct{ Body BatchAnswer }, error) {
			s, err := c.stream(in.Name)
			if err != nil {
				return nil, c.answer(nil, err)
			}
			out, err := c.batch(ctx, s, in.RawBody)
			if err != nil {
				return nil, c.answer(s, bodyProblem(in.RawBody, err))
			}
			return &struct{ Body BatchAnswer }{*out}, nil
		})

	huma.Register(api, huma.Operation{OperationID: "get-release", Method: http.MethodGet, Path: "/v1/streams/{name}/release", Summary: "The estimate as a release", Tags: []string{"public"}, Errors: []int{404}},
		func(_ context.Context, in *streamInput) (*jsonOutput, error) {
			s, err := c.stream(in.Name)
			if err != nil {
				return nil, c.answer(nil, err)
			}
			text, at, err := c.published(s, releaseForm)
			if err != nil {
				return nil, c.answer(s, problem(http.StatusNotFound, "no-report", err.Error()))
			}
			return &jsonOutput{"application/json", s.etag(at), "no-cache", http.StatusOK, text}, nil
		})

	huma.Register(api, huma.Operation{OperationID: "create-invitations", Method: http.MethodPost, Path: "/v1/streams/{name}/invitations", Summary: "Make invitations, each good for one report",
		Tags: []string{"admin"}, Security: admin, Middlewares: gate, DefaultStatus: http.StatusCreated, MaxBodyBytes: maxReport, BodyReadTimeout: bodyTimeout, SkipValidateBody: true,
		Errors: []int{400, 401, 404, 408, 413, 422, 429, 503}, RequestBody: jsonBody(api, "Invitations")},
		func(ctx context.Context, in *struct {
			Name    string `path:"name" maxLength:"64"`
			RawBody []byte
		}) (*struct {
			CacheControl string `header:"Cache-Control"`
			Body         struct {
				Invitations []string  `json:"invitations" doc:"shown once: only their hashes are kept"`
				Expires     time.Time `json:"expires"`
			}
		}, error) {
			out := new(struct {
				CacheControl string `header:"Cache-Control"`
				Body         struct {
					Invitations []string  `json:"invitations" doc:"shown once: only their hashes are kept"`
					Expires     time.Time `json:"expires"`
				}
			})
			count, hours, err := readInvitations(in.RawBody)
			if err != nil {
				return nil, c.answer(nil, bodyProblem(in.RawBody, err))
			}
			out.CacheControl = "no-store"
			out.Body.Expires = time.Now().Add(time.Duration(hours) * time.Hour).UTC().Truncate(time.Second)
			if out.Body.Invitations, err = c.Invite(ctx, in.Name, count, out.Body.Expires); err != nil {
				return nil, c.answer(nil, err)
			}
			return out, nil
		})
}

func (r Receipt) json() []byte {
	return fmt.Appendf(nil, `{"repeated":%t,"at":%d}`, r.Repeated, r.At)
}

func (c *Collector) all() []*stream {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return append([]*stream(nil), c.fold.streams...)
}

func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// gate lets pass who has the admin token. It comes before the body is read: who may not ask is told so, whatever the question.
func (h *Handler) gate(ctx huma.Context, next func(huma.Context)) {
	if h.admin.matches(bearer(ctx.Header("Authorization"))) {
		next(ctx)
		return
	}
	p := problem(http.StatusUnauthorized, "admin-token", "collector: this needs the admin token: send it as Authorization: Bearer …")
	text, err := json.Marshal(p)
	if err != nil {
		text = []byte("{}")
	}
	ctx.SetHeader("WWW-Authenticate", "Bearer")
	ctx.SetHeader("Content-Type", "application/problem+json")
	ctx.SetStatus(p.Status)
	_, _ = ctx.BodyWriter().Write(text) // nobody to tell when the client has gone
}

const (
	usualHours = 720
	mostHours  = 87600
)

// readInvitations reads {"count":n,"hours":h}, the latter optional.
func readInvitations(data []byte) (count, hours int, err error) {
	o, err := strictjson.Read("collector: invitations", data)
	if err == nil {
		err = o.Take("count", &count)
	}
	if hours = usualHours; err == nil && o.Has("hours") {
		err = o.Take("hours", &hours)
	}
	if err == nil {
		err = o.Done()
	}
	if err == nil && (count < 1 || count > maxInvitations) {
		err = fmt.Errorf("collector: %d invitations: ask for 1 to %d at a time", count, maxInvitations)
	}
	if err == nil && (hours < 1 || hours > mostHours) {
		err = fmt.Errorf("collector: invitations for %d hours: they are good for 1 to %d", hours, mostHours)
	}
	return count, hours, err
}

// bodyProblem tells text that is no JSON from JSON that means nothing here.
func bodyProblem(body []byte, err error) error {
	if err != nil && !json.Valid(body) {
		return problem(http.StatusBadRequest, "not-json", err.Error())
	}
	return err
}

// newer returns the published text once it is not the version in the tag, nil when that stays the newest for as long as is to
// be waited.
func (h *Handler) newer(ctx context.Context, s *stream, f form, tag string, wait time.Duration) ([]byte, int64, error) {
	known := int64(-1)
	if i := strings.LastIndexByte(tag, '-'); i >= 0 {
		if at, err := strconv.ParseInt(strings.TrimSuffix(tag[i+1:], `"`), 10, 64); err == nil && strings.TrimPrefix(tag, "W/") == s.etag(at) {
			known = at
		}
	}
	if wait > 0 && known >= 0 {
		leave, err := h.enter()
		if err != nil {
			return nil, 0, err
		}
		defer leave()
		timer := time.NewTimer(wait)
		defer timer.Stop()
		for waiting := true; waiting; {
			changed := s.live.next()
			if h.c.version(s) != known {
				break
			}
			select {
			case <-changed:
			case <-timer.C:
				waiting = false
			case <-h.stopping:
				waiting = false
			case <-ctx.Done():
				return nil, 0, ctx.Err()
			}
		}
	}
	text, at, err := h.c.published(s, f)
	if at == known {
		text = nil
	}
	return text, at, err
}

func (c *Collector) version(s *stream) int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return s.server.At()
}
