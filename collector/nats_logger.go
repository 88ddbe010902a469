package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// natsLogger passes on what the embedded log says, and keeps its last complaint for an error text. After an error of the
// disk the embedded server answers no write any more; it says so here only, so this is where it is noticed.
type natsLogger struct {
	logger *slog.Logger
	broken context.Context // ended by an error of the disk, which is its cause
	end    context.CancelCauseFunc
	mu     sync.Mutex
	fault  string
}

func newNatsLogger(logger *slog.Logger) *natsLogger {
	n := &natsLogger{logger: logger}
	n.broken, n.end = context.WithCancelCause(context.Background())
	return n
}

func (n *natsLogger) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fault == "" {
		return "it did not get ready in time"
	}
	return n.fault
}

func (n *natsLogger) complain(format string, v []any) string {
	text := fmt.Sprintf(format, v...)
	n.mu.Lock()
	n.fault = text
	n.mu.Unlock()
	return text
}

func (n *natsLogger) Noticef(format string, v ...any) {
	n.logger.Debug("log", "text", fmt.Sprintf(format, v...))
}
func (n *natsLogger) Debugf(string, ...any) {}
func (n *natsLogger) Tracef(string, ...any) {}
func (n *natsLogger) Warnf(format string, v ...any) {
	n.logger.Warn("log", "text", fmt.Sprintf(format, v...))
}
func (n *natsLogger) Errorf(format string, v ...any) {
	text := n.complain(format, v)
	n.logger.Error("log", "text", text)
	if strings.Contains(text, "write error") || strings.Contains(text, "failed to store") {
		n.end(errors.New(text))
	}
}
func (n *natsLogger) Fatalf(format string, v ...any) {
	n.logger.Error("log", "text", n.complain(format, v))
}
