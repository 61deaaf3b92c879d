package api

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics holds the frame's own metrics; docs/operating.md lists their names.
type metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tocsin_api_calls_total", Help: "Calls by operation and outcome: OK or an error code.",
		}, []string{"operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tocsin_api_call_seconds", Help: "Time from the request's header to the reply's last byte.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"operation"}),
	}
	if r != nil {
		r.MustRegister(m.calls, m.seconds)
	}
	return m
}

// counters are the metrics of one operation, found by their labels once.
type counters struct {
	succeeded func() prometheus.Counter // made at the first success
	seconds   prometheus.Observer
}

// of returns a function that returns the counters of an operation. They are made at its first call: an operation that
// was never called is not shown.
func (m *metrics) of(operation string) func() *counters {
	return sync.OnceValue(func() *counters {
		return &counters{
			succeeded: sync.OnceValue(func() prometheus.Counter { return m.calls.WithLabelValues(operation, "OK") }),
			seconds:   m.seconds.WithLabelValues(operation),
		}
	})
}

// finish counts, times and logs the call. Neither the query nor the headers are logged, because they contain the key.
func (f *Frame) finish(x *exchange, err error) {
	took := time.Since(x.began)
	path, counted := "unknown", f.unknown // unknown paths are not labels: a caller could invent any number of them
	if x.op != nil {
		path, counted = x.op.Path, x.op.counted
	}
	c := counted()
	c.seconds.Observe(took.Seconds())
	if x.code == "OK" {
		c.succeeded().Inc()
	} else {
		f.metrics.calls.WithLabelValues(path, x.code).Inc()
	}

	for _, report := range x.call.reports {
		f.Log.Warn("shown incompletely",
			"request_id", x.call.RequestID, "op", path, "account_id", x.call.Who.AccountID, "error", report)
	}
	level := slog.LevelInfo
	if x.status >= 500 {
		level = slog.LevelError
	}
	if !f.Log.Enabled(x.call.Ctx, level) {
		return
	}
	fields := []slog.Attr{
		slog.String("request_id", x.call.RequestID), slog.String("op", path),
		slog.Int("status", x.status), slog.String("code", x.code),
		slog.Int64("account_id", x.call.Who.AccountID), slog.Int64("key_id", x.call.Who.KeyID),
		slog.Int("bytes", x.bytes), slog.Duration("took", took),
	}
	if !x.call.HideIP {
		fields = append(fields, slog.String("ip", x.call.IP))
	}
	if err != nil {
		fields = append(fields, slog.String("error", f.logged(x, err)))
	}
	line := slog.NewRecord(time.Now(), level, "call", 0) // as LogAttrs does, but without the costly lookup of its caller
	line.AddAttrs(fields...)
	_ = f.Log.Handler().Handle(x.call.Ctx, line)
}

// logged returns an error as the log has it. Of a path without an operation only the segments that operations have are
// logged: any other may be a key, or the token of a link that was sent with another method or a slash at its end.
func (f *Frame) logged(x *exchange, err error) string {
	if x.op != nil {
		return err.Error()
	}
	segments := strings.Split(x.r.URL.Path, "/")
	for i, segment := range segments {
		if segment != "" && !f.segments[segment] {
			segments[i] = "..."
		}
	}
	return "no operation at " + shortened(strings.Join(segments, "/"))
}
