package collector

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// HandlerConfig says how the HTTP side behaves. Zero values are the defaults.
type HandlerConfig struct {
	// Rate is the number of requests a second that one address may make, with bursts of twice that; 0 for no limit.
	Rate float64
	// Waiting is the number of long polls and live pages at a time; 0 for 10,000.
	Waiting int
	// Gather is what /metrics shows; nil for no metrics.
	Gather prometheus.Gatherer
	// Drain is how long Serve goes on answering, with /readyz at 503, after it is told to stop: for a proxy in front to notice.
	Drain time.Duration
	// Version of the program, for the API's description.
	Version string
}

// Handler is the HTTP side of a collector.
type Handler struct {
	c        *Collector
	mux      *http.ServeMux
	admin    *tokenHash
	limit    *limiter
	most     int64
	waiting  atomic.Int64
	drain    time.Duration
	draining atomic.Bool
	stopping chan struct{}
	stop     sync.Once
}

//go:embed page
var pageFiles embed.FS

var pages = template.Must(template.ParseFS(pageFiles, "page/*.html"))

const writeTimeout = 30 * time.Second

// Handler makes the HTTP side; the admin token is that of the folder (AdminToken).
func (c *Collector) Handler(config HandlerConfig) (*Handler, error) {
	admin, err := readAdminToken(c.config.Folder)
	if err != nil {
		return nil, err
	}
	if config.Waiting == 0 {
		config.Waiting = 10_000
	}
	if config.Version == "" {
		config.Version = "0"
	}
	h := &Handler{c: c, mux: http.NewServeMux(), admin: admin, limit: newLimiter(config.Rate), drain: config.Drain, most: int64(config.Waiting), stopping: make(chan struct{})}
	description := huma.DefaultConfig("curveil collector", config.Version)
	description.DocsPath = "" // the page would load its script from elsewhere
	description.CreateHooks = nil
	description.OpenAPI.Info.Description = "Collects privatized gradients and publishes the regression curve learned from them. See docs/collector.md."
	api := humago.New(h.mux, description)
	h.api(api)
	completed(api)
	h.mux.HandleFunc("GET /{$}", h.index)
	h.mux.HandleFunc("GET /streams/{name}", h.page)
	h.mux.HandleFunc("GET /v1/streams/{name}/events", h.events)
	h.mux.Handle("GET /page/", http.FileServerFS(pageFiles))
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") })
	h.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		err := c.Ready()
		if h.draining.Load() {
			err = fmt.Errorf("%w: the collector is about to stop", ErrUnavailable)
		}
		if err != nil {
			writeProblem(w, c.explain(nil, err))
			return
		}
		writeText(w, http.StatusOK, "ready\n")
	})
	if config.Gather != nil {
		h.mux.Handle("GET /metrics", promhttp.HandlerFor(config.Gather, promhttp.HandlerOpts{}))
	}
	return h, nil
}

// Stop ends long polls and live pages, so that a server can shut down.
func (h *Handler) Stop() { h.stop.Do(func() { close(h.stopping) }) }

// ServeHTTP limits, answers, counts and logs a request. The log has the route and not the path, and neither address nor
// headers nor what the request carried.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	out := &recorder{ResponseWriter: w, status: http.StatusOK}
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'")
	controller := http.NewResponseController(w)
	// A client that reads slowly holds a connection for so long; live pages set their own.
	_ = controller.SetWriteDeadline(start.Add(writeTimeout + maxWait*time.Second))
	if r.Method == http.MethodGet {
		_ = controller.SetReadDeadline(time.Time{}) // it is read; long polls and live pages go on
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			h.c.config.Logger.Error("request failed", "route", r.Pattern, "panic", fmt.Sprint(p))
			if !out.written {
				writeProblem(out, problem(http.StatusInternalServerError, "", "collector: an error in the collector; it is in its log"))
			}
		}
		h.account(r, out, time.Since(start))
	}()
	if !h.limit.allow(r, start) {
		head.Set("Retry-After", "1")
		writeProblem(out, problem(http.StatusTooManyRequests, "rate", "collector: too many requests from this address: slow down"))
		return
	}
	// The mux answers what it does not know with plain text.
	if _, pattern := h.mux.Handler(r); pattern == "" {
		known := &recorder{ResponseWriter: discard{http.Header{}}, status: http.StatusNotFound}
		h.mux.ServeHTTP(known, r)
		if allow := known.Header().Get("Allow"); allow != "" {
			head.Set("Allow", allow)
			writeProblem(out, problem(http.StatusMethodNotAllowed, "", "collector: this address takes "+allow))
			return
		}
		writeProblem(out, problem(http.StatusNotFound, "", "collector: nothing is here; /openapi.json describes the API"))
		return
	}
	h.mux.ServeHTTP(out, r)
}

func (h *Handler) account(r *http.Request, out *recorder, took time.Duration) {
	status := out.status
	route := r.Pattern
	if route == "" {
		route = "other"
	}
	h.c.meters.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	if r.Pattern != eventsRoute && r.URL.Query().Get("wait") == "" {
		h.c.meters.duration.WithLabelValues(route).Observe(took.Seconds())
	}
	switch {
	case status >= 500:
		h.c.config.Logger.Warn("request", "route", route, "status", status, "ms", took.Milliseconds(), "request", out.id)
	default:
		h.c.config.Logger.Debug("request", "route", route, "status", status, "ms", took.Milliseconds())
	}
}

// enter counts who waits.
func (h *Handler) enter() (leave func(), err error) {
	if h.waiting.Add(1) > h.most {
		h.waiting.Add(-1)
		return nil, problem(http.StatusServiceUnavailable, "busy", "collector: too many wait for the model to change: ask without wait")
	}
	h.c.meters.watching.Inc()
	return func() {
		h.waiting.Add(-1)
		h.c.meters.watching.Dec()
	}, nil
}

// recorder notes the status. An answer that is the collector's fault gets a number, which is in the log too: drawn here, and not
// taken from the request, where it could name a person.
type recorder struct {
	http.ResponseWriter
	status  int
	written bool
	id      string
}

const requestHeader = "X-Request-Id"

func (r *recorder) WriteHeader(status int) {
	if !r.written {
		r.status, r.written = status, true
		if status >= 500 {
			r.id = rand.Text()
			r.Header().Set(requestHeader, r.id)
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.written = true
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// discard is where the mux's own error page goes.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // nobody to tell when the client has gone
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	text, err := json.Marshal(p)
	if err != nil {
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(text)
}
