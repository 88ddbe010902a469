package collector

import (
	"fmt"
	"log/slog"
	"sync"
)

// natsLogger passes on what the embedded log says, and keeps its last complaint for an error text.
type natsLogger struct {
	logger *slog.Logger
	mu     sync.Mutex
	fault  string
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
	n.logger.Error("log", "text", n.complain(format, v))
}
func (n *natsLogger) Fatalf(format string, v ...any) {
	n.logger.Error("log", "text", n.complain(format, v))
}
