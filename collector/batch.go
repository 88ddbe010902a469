package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/regression"
)

// BatchAnswer is what became of the reports of a batch, in their order.
type BatchAnswer struct {
	Results []BatchResult `json:"results"`
}

// BatchResult is what became of one report: the status and reason that it would have had alone.
type BatchResult struct {
	Status   int    `json:"status" doc:"the HTTP status that the report would have had alone"`
	Reason   string `json:"reason,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
	At       int64  `json:"at,omitempty"`
}

// readBatch reads {"reports":[…],"invitations":["…"]}, the latter optional. A report that cannot be read is nil, with its
// error.
func readBatch(data []byte) (reports []*regression.Report, invitations []string, errs []error, err error) {
	o, err := strictjson.Read("collector: batch", data)
	if err != nil {
		return nil, nil, nil, err
	}
	list, err := o.Raw("reports")
	if err != nil {
		return nil, nil, nil, err
	}
	if o.Has("invitations") {
		if err := o.TakeList("invitations", &invitations, maxReports); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := o.Done(); err != nil {
		return nil, nil, nil, err
	}
	// Every report has its id: counted before anything is allocated for it.
	if n := bytes.Count(list, []byte(`"id"`)); n > maxReports {
		return nil, nil, nil, fmt.Errorf("collector: batch of %d reports: at most %d are accepted", n, maxReports)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil {
		return nil, nil, nil, fmt.Errorf("collector: batch: %w", err)
	}
	if len(raw) == 0 || len(raw) > maxReports {
		return nil, nil, nil, fmt.Errorf("collector: batch of %d reports: 1 to %d are accepted", len(raw), maxReports)
	}
	if invitations != nil && len(invitations) != len(raw) {
		return nil, nil, nil, fmt.Errorf("collector: %d invitations for %d reports: give one for each, or none", len(invitations), len(raw))
	}
	reports, errs = make([]*regression.Report, len(raw)), make([]error, len(raw))
	for i, text := range raw {
		r := new(regression.Report)
		if errs[i] = r.UnmarshalJSON(text); errs[i] == nil {
			reports[i] = r
		}
	}
	return reports, invitations, errs, nil
}

func (c *Collector) batch(ctx context.Context, s *stream, body []byte) (*BatchAnswer, error) {
	reports, invitations, errs, err := readBatch(body)
	if err != nil {
		return nil, err
	}
	var good []*regression.Report
	var theirs []string
	for i, r := range reports {
		if r != nil {
			good = append(good, r)
			if invitations != nil {
				theirs = append(theirs, invitations[i])
			}
		}
	}
	answers, err := c.SubmitAll(ctx, s.definition.Stream.Name, good, theirs)
	if err != nil {
		return nil, err
	}
	out := &BatchAnswer{Results: make([]BatchResult, len(reports))}
	for i, r := range reports {
		a := Answer{Err: errs[i]}
		if r != nil {
			a, answers = answers[0], answers[1:]
		}
		if a.Err == nil {
			out.Results[i] = BatchResult{Status: 200, Repeated: a.Receipt.Repeated, At: a.Receipt.At}
			continue
		}
		p := c.explain(nil, a.Err)
		out.Results[i] = BatchResult{Status: p.Status, Reason: p.Reason, Detail: p.Detail}
	}
	return out, nil
}
