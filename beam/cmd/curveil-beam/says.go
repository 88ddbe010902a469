package main

// What a runner says beside its errors. In full only if asked for: a bad cell is one
// line here and fifty there.

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/curveil/curveil/beam"
)

// brief writes one line for each message of a runner, and a message that repeats the
// last one not at all.
type brief struct {
	w    io.Writer
	mu   *sync.Mutex
	last *string
}

func newBrief(w io.Writer) slog.Handler { return &brief{w, new(sync.Mutex), new(string)} }

func (h *brief) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h *brief) Handle(_ context.Context, r slog.Record) error {
	line := beam.Said(r.Message)
	if line == "" {
		line, _, _ = strings.Cut(strings.TrimSpace(r.Message), "\n")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if line == *h.last {
		return nil
	}
	*h.last = line
	_, err := fmt.Fprintf(h.w, "curveil-beam: runner: %s\n", line)
	return err
}

func (h *brief) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *brief) WithGroup(string) slog.Handler      { return h }

// listen settles what becomes of the runner's messages; sdk.Init has set them to be
// printed. A runner in this process says nothing that its error does not.
func (j *jobFlags) listen(stderr io.Writer) {
	switch {
	case j.verbose:
	case j.inside():
		slog.SetDefault(slog.New(slog.DiscardHandler))
	default:
		slog.SetDefault(slog.New(newBrief(stderr)))
	}
}
