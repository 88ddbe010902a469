package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
)

type farLog struct{ journal }

func (farLog) shared() bool { return true }

// A cluster that does not answer in time is asked again, for a while; what is wrong with it is not asked for twice.
func TestPatientStart(t *testing.T) {
	for _, c := range []struct {
		fails int
		with  error
		asked int
		ok    bool
	}{
		{0, nil, 1, true},
		{starts - 1, fmt.Errorf("log: %w", context.DeadlineExceeded), starts, true},
		{starts, fmt.Errorf("log: %w", context.DeadlineExceeded), starts, false},
		{1, errors.New("another log"), 1, false},
	} {
		col := &Collector{config: Config{Logger: slog.New(slog.DiscardHandler)}, log: farLog{}}
		asked := 0
		err := col.patiently(t.Context(), func(context.Context) error {
			if asked++; asked <= c.fails {
				return c.with
			}
			return nil
		})
		if asked != c.asked || (err == nil) != c.ok {
			t.Errorf("%d failures of %v: asked %d times, %v", c.fails, c.with, asked, err)
		}
	}
}
