// The live picture: a page that draws the curve, and the events that move it.

package collector

import (
	"fmt"
	"net/http"
	"time"
)

const (
	eventsRoute = "GET /v1/streams/{name}/events"
	// eventEvery is how often a live page is told of changes at most.
	eventEvery = 200 * time.Millisecond
	eventAlive = 15 * time.Second
)

func (h *Handler) index(w http.ResponseWriter, r *http.Request) {
	var all []Summary
	for _, s := range h.c.all() {
		all = append(all, h.c.summary(s))
	}
	h.render(w, "index.html", all)
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	s, err := h.c.stream(r.PathValue("name"))
	if err != nil {
		writeProblem(w, h.c.explain(nil, err))
		return
	}
	d := s.definition.Stream
	h.render(w, "stream.html", struct {
		Summary
		XLabel, YLabel string
		Unit           string
		Variables      int
		Center         string
	}{h.c.summary(s), d.XLabel, d.YLabel, d.Unit, len(d.Domains()), fmt.Sprintf("%.6g", d.Center)})
}

func (h *Handler) render(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		h.c.config.Logger.Debug("page", "error", err.Error())
	}
}

// events sends the curve as it is and each time it has changed, as server-sent events.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	s, err := h.c.stream(r.PathValue("name"))
	if err != nil {
		writeProblem(w, h.c.explain(nil, err))
		return
	}
	leave, err := h.enter()
	if err != nil {
		w.Header().Set("Retry-After", "1")
		writeProblem(w, h.c.explain(nil, err))
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	controller := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_ = controller.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && controller.Flush() == nil
	}
	alive := time.NewTicker(eventAlive)
	defer alive.Stop()
	sent := int64(-1)
	for {
		changed := s.live.next()
		text, at, err := h.c.published(s, pictureForm)
		if err != nil {
			return
		}
		if at != sent {
			if !send("id: %d\nevent: curve\ndata: %s\n\n", at, text) {
				return
			}
			sent = at
		}
		select {
		case <-changed:
		case <-alive.C:
			if !send(": alive\n\n") {
				return
			}
			continue
		case <-h.stopping:
			return
		case <-r.Context().Done():
			return
		}
		select {
		case <-time.After(eventEvery):
		case <-h.stopping:
			return
		case <-r.Context().Done():
			return
		}
	}
}
