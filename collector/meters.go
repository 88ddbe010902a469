package collector

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/curveil/curveil/regression"
)

// meters are the collector's metrics.
type meters struct {
	applied, repeated prometheus.Counter
	refused           *prometheus.CounterVec
	group, sync       prometheus.Histogram
	requests          *prometheus.CounterVec
	duration          *prometheus.HistogramVec
	watching          prometheus.Gauge
}

func newMeters(to prometheus.Registerer, c *Collector) *meters {
	m := &meters{
		applied:  prometheus.NewCounter(prometheus.CounterOpts{Name: "curveil_reports_applied_total", Help: "Reports logged and applied."}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{Name: "curveil_reports_repeated_total", Help: "Reports that had been applied before."}),
		refused:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "curveil_reports_refused_total", Help: "Reports refused, by reason."}, []string{"reason"}),
		group: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "curveil_log_group_records", Help: "Records in one synced message of the log.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 13)}),
		sync: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "curveil_log_write_seconds", Help: "Time to write and sync one message of the log.",
			Buckets: prometheus.ExponentialBuckets(0.0002, 2, 16)}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "curveil_http_requests_total", Help: "Requests, by route and status."}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "curveil_http_request_seconds", Help: "Time to answer, by route; long polls and live pages are not in it.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15)}, []string{"route"}),
		watching: prometheus.NewGauge(prometheus.GaugeOpts{Name: "curveil_http_waiting", Help: "Long polls and live pages that wait for the model to change."}),
	}
	if to != nil {
		to.MustRegister(m.applied, m.repeated, m.refused, m.group, m.sync, m.requests, m.duration, m.watching, &gauges{c})
	}
	return m
}

func (m *meters) refuse(err error) {
	reason := "other"
	var a *regression.Refusal
	var b *Refused
	switch {
	case errors.As(err, &a):
		reason = string(a.Reason)
	case errors.As(err, &b):
		reason = b.Reason
	}
	m.refused.WithLabelValues(reason).Inc()
}

// gauges read the state when they are asked.
type gauges struct{ c *Collector }

var (
	versionDesc = prometheus.NewDesc("curveil_stream_version", "Reports in the estimate of a stream.", []string{"stream"}, nil)
	messageDesc = prometheus.NewDesc("curveil_log_messages", "Messages in the log that are applied.", nil, nil)
	queueDesc   = prometheus.NewDesc("curveil_queue_length", "Records that wait for the log.", nil, nil)
	bytesDesc   = prometheus.NewDesc("curveil_log_bytes", "Size of the log.", nil, nil)
	savedDesc   = prometheus.NewDesc("curveil_log_messages_since_snapshot", "Messages that a restart would read: those after the newest snapshot.", nil, nil)
	closedDesc  = prometheus.NewDesc("curveil_stream_closed", "1 for a stream that takes no more reports.", []string{"stream"}, nil)
	readyDesc   = prometheus.NewDesc("curveil_ready", "1 when reports can be taken.", nil, nil)
)

func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{versionDesc, closedDesc, messageDesc, bytesDesc, savedDesc, queueDesc, readyDesc} {
		to <- d
	}
}

func (g *gauges) Collect(to chan<- prometheus.Metric) {
	value := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if g.c.opened.Load() && !g.c.closed.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if size, err := g.c.log.size(ctx); err == nil { // without it the metric is missing, which says the same
			value(bytesDesc, float64(size))
		}
		cancel()
	}
	g.c.mu.RLock()
	defer g.c.mu.RUnlock()
	if g.c.fold == nil {
		return
	}
	for _, s := range g.c.fold.streams {
		value(versionDesc, float64(s.server.At()), s.definition.Stream.Name)
		value(closedDesc, float64(bit(s.closed)), s.definition.Stream.Name)
	}
	value(messageDesc, float64(g.c.fold.seq))
	value(savedDesc, float64(g.c.fold.seq-g.c.saved.Load()))
	value(queueDesc, float64(len(g.c.queue)))
	ready := 0.0
	if g.c.Ready() == nil {
		ready = 1
	}
	value(readyDesc, ready)
}
