package collector

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout   = 10 * time.Second
	requestTimeout  = 60 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 15 * time.Second
	maxHeader       = 16 << 10
)

// Serve answers on the listener until the context ends, and for HandlerConfig.Drain after that; then it takes no more requests and
// finishes what it is answering. With TLS if a configuration is given. The listener is closed.
func (h *Handler) Serve(ctx context.Context, l net.Listener, secure *tls.Config) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		TLSConfig: secure,
		// It names the addresses of people; what matters of it is counted in the metrics.
		ErrorLog: log.New(io.Discard, "", 0)}
	failed := make(chan error, 1)
	go func() {
		if secure != nil {
			failed <- s.ServeTLS(l, "", "")
		} else {
			failed <- s.Serve(l)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	if h.drain > 0 {
		h.draining.Store(true)
		select {
		case err := <-failed:
			return err
		case <-time.After(h.drain):
		}
	}
	h.Stop()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := s.Shutdown(end); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}
