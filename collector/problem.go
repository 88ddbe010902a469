package collector

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/curveil/curveil/regression"
)

// Problem is an error as application/problem+json (RFC 9457), with two members of its own.
type Problem struct {
	huma.ErrorModel
	Reason   string          `json:"reason,omitempty" doc:"why a report was refused, in one word"`
	Position json.RawMessage `json:"position,omitempty" doc:"the current position of the model, with a conflict"`
}

func problem(status int, reason, detail string) *Problem {
	return &Problem{ErrorModel: huma.ErrorModel{Status: status, Title: http.StatusText(status), Detail: detail}, Reason: reason}
}

// statusOf is the HTTP status of each reason.
var statusOf = map[string]int{
	string(regression.OtherStream): http.StatusConflict,
	string(regression.Stale):       http.StatusConflict,
	string(regression.Future):      http.StatusUnprocessableEntity,
	string(regression.BadBudget):   http.StatusUnprocessableEntity,
	string(regression.Malformed):   http.StatusUnprocessableEntity,
	string(regression.Implausible): http.StatusUnprocessableEntity,
	NoInvitation:                   http.StatusUnauthorized,
	UnknownInvitation:              http.StatusUnauthorized,
	ExpiredInvitation:              http.StatusUnauthorized,
	UsedInvitation:                 http.StatusForbidden,
	QuotaReached:                   http.StatusForbidden,
	StreamClosed:                   http.StatusGone,
	SeededNoise:                    http.StatusUnprocessableEntity,
}

// explain makes a problem of an error; s may be nil.
func (c *Collector) explain(s *stream, err error) *Problem {
	var known *Problem
	var refusal *regression.Refusal
	var refused *Refused
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &refusal):
		p := problem(statusOf[string(refusal.Reason)], string(refusal.Reason), err.Error())
		if s != nil && p.Status == http.StatusConflict {
			p.Position, _, _ = c.published(s, positionForm)
		}
		return p
	case errors.As(err, &refused):
		return problem(statusOf[refused.Reason], refused.Reason, err.Error())
	case errors.Is(err, ErrUnknownStream):
		return problem(http.StatusNotFound, "unknown-stream", err.Error())
	case errors.Is(err, ErrExists):
		return problem(http.StatusConflict, "exists", err.Error())
	case errors.Is(err, ErrBusy):
		return problem(http.StatusServiceUnavailable, "busy", err.Error())
	case errors.Is(err, ErrUnavailable):
		return problem(http.StatusServiceUnavailable, "log", err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "timeout", "collector: the answer took too long: send it again, the same")
	}
	return problem(http.StatusUnprocessableEntity, "", err.Error())
}

// answer is explain as what a handler returns, with the headers that belong to the status.
func (c *Collector) answer(s *stream, err error) error {
	if err == nil {
		return nil
	}
	p := c.explain(s, err)
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {"1"}})
	case http.StatusUnauthorized:
		return huma.ErrorWithHeaders(p, http.Header{"WWW-Authenticate": {"Bearer"}})
	}
	return p
}
