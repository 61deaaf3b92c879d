package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Queries of the demo's rules.
const (
	diskQuery    = "max by (instance, mountpoint) (disk_used_percent)"
	latencyQuery = "histogram_quantile(0.99, sum by (instance, le) (rate(checkout_seconds_bucket[5m])))"
	backupQuery  = "backup_last_success_timestamp_seconds"
	cardsQuery   = `sum by (acquirer) (count_over_time({app="checkout"} |= "card refused" [5m])) > 20`
)

// series is one line of a graph. value reports false while the series is missing.
type series struct {
	labels map[string]string
	value  func(at time.Time) (float64, bool)
}

// graphs are the answers to the queries, as functions of the moment. Their troubles take turns, so that one alert at a time is
// open.
var graphs = map[string][]series{
	diskQuery: {
		{labels("instance", "orders-db-1", "mountpoint", "/var"), func(at time.Time) (float64, bool) { // full, and emptied
			m := minute(at, 20)
			return math.Min(98, 40+3.6*m) - 58*step(m, 18, 20), true
		}},
		{labels("instance", "orders-db-2", "mountpoint", "/var"), steady(61, 2)},
		{labels("instance", "catalog-db-1", "mountpoint", "/var"), steady(38, 1)},
	},
	latencyQuery: {
		{labels("instance", "checkout-1"), steady(0.24, 0.03)},
		{labels("instance", "checkout-2"), func(at time.Time) (float64, bool) {
			return 0.26 + 2*math.Max(0, 1-math.Abs(minute(at, 20)-7)/2), true // slow around the seventh minute of twenty
		}},
		{labels("instance", "checkout-3"), steady(0.22, 0.04)},
	},
	backupQuery: {
		{labels("database", "orders"), backup},
		{labels("database", "catalog"), func(at time.Time) (float64, bool) {
			v, _ := backup(at)
			return v, step(minute(at, 60), 40, 44) == 0
		}},
	},
	cardsQuery: {
		{labels("acquirer", "cardstream"), func(at time.Time) (float64, bool) { return 34, step(minute(at, 60), 0, 4) == 1 }},
	},
	"up": {
		{labels("instance", "orders-db-1", "job", "node"), steady(1, 0)},
		{labels("instance", "checkout-1", "job", "shop"), steady(1, 0)},
	},
	"vector(1)": {{nil, steady(1, 0)}},
}

// minute returns the minutes since the last full period of some minutes.
func minute(at time.Time, period float64) float64 {
	return math.Mod(float64(at.UnixMilli())/60_000, period)
}

// step is 1 from one minute until another, and else 0.
func step(minute, from, until float64) float64 {
	if minute >= from && minute < until {
		return 1
	}
	return 0
}

// steady returns a value that swings a little.
func steady(value, swing float64) func(time.Time) (float64, bool) {
	return func(at time.Time) (float64, bool) { return value + swing*math.Sin(minute(at, 47)/47*2*math.Pi), true }
}

// backup returns when the backup of the hour ended.
func backup(at time.Time) (float64, bool) { return float64(at.Truncate(time.Hour).Unix()), true }

// logsDown reports whether the logs do not answer: three minutes of every thirty.
func logsDown(at time.Time) bool { return step(minute(at, 30), 19.5, 22.5) == 1 }

// Metrics answers as the demo's Prometheus and Loki do, to the queries of its rules alone. Now is the present.
type Metrics struct{ Now func() time.Time }

// ServeHTTP answers a query of a moment or of a range.
func (s Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, logs := strings.CutPrefix(r.URL.Path, "/loki")
	found, known := graphs[r.FormValue("query")]
	from, until, every := s.window(r, strings.HasSuffix(path, "/query_range"))
	w.Header().Set("Content-Type", "application/json")
	switch {
	case logs && logsDown(s.Now()):
		s.refuse(w, http.StatusServiceUnavailable, "the logs of the demo do not answer for three minutes of every thirty")
	case !known:
		s.refuse(w, http.StatusBadRequest, "the demo answers the queries of its rules alone, and up")
	case every < time.Second || until.Sub(from)/every > 11_000:
		s.refuse(w, http.StatusBadRequest, "step must be at least a second, and leave at most 11000 points")
	default:
		write(w, found, from, until, every, strings.HasSuffix(path, "/query_range"))
	}
}

// window returns the moments of a request.
func (s Metrics) window(r *http.Request, ranged bool) (from, until time.Time, every time.Duration) {
	if !ranged {
		at := s.moment(r.FormValue("time"))
		return at, at, time.Minute
	}
	every, err := time.ParseDuration(r.FormValue("step"))
	if seconds, failed := strconv.ParseFloat(r.FormValue("step"), 64); err != nil && failed == nil {
		every = time.Duration(seconds * float64(time.Second))
	}
	return s.moment(r.FormValue("start")), s.moment(r.FormValue("end")), every
}

// moment reads a moment in seconds, as Prometheus has it, or in nanoseconds, as Loki has it.
func (s Metrics) moment(text string) time.Time {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return s.Now()
	case v > 1e15:
		return time.Unix(0, int64(v))
	}
	return time.UnixMilli(int64(v * 1000))
}

func (Metrics) refuse(w http.ResponseWriter, status int, why string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": "bad_data", "error": why}) // the caller is gone
}

// write writes the values of lines from one moment until another.
func write(w http.ResponseWriter, lines []series, from, until time.Time, every time.Duration, ranged bool) {
	results := []map[string]any{}
	for _, line := range lines {
		var points [][2]any
		for at := from; !at.After(until); at = at.Add(every) {
			if v, there := line.value(at); there {
				points = append(points, [2]any{float64(at.UnixMilli()) / 1000, strconv.FormatFloat(v, 'g', 5, 64)})
			}
		}
		one := map[string]any{"metric": line.labels, "values": points}
		if line.labels == nil {
			one["metric"] = struct{}{}
		}
		if !ranged && len(points) > 0 {
			one["value"] = points[0]
			delete(one, "values")
		}
		if len(points) > 0 {
			results = append(results, one)
		}
	}
	kind := map[bool]string{false: "vector", true: "matrix"}[ranged]
	_ = json.NewEncoder(w).Encode(map[string]any{ // the caller is gone
		"status": "success", "data": map[string]any{"resultType": kind, "result": results},
	})
}

// Watch connects the datasources of the demo to its metrics, and enables its rules when the account is new.
func Watch(ctx context.Context, base string, keys Keys, metrics string) error {
	for id, payload := range map[int]string{1: "prometheus", 2: "loki"} {
		err := call(ctx, base+"/monit/datasource/update?app_key="+keys.All, map[string]any{
			"id": id, "address": metrics, "edge_cluster_name": "default",
			"payload": map[string]any{payload: map[string]any{"basic_auth_enabled": false, "basic_auth_password": "", "headers": []string{}}},
		}, nil)
		if err != nil {
			return fmt.Errorf("connect datasource %d: %w", id, err)
		}
	}
	if !keys.New {
		return nil
	}
	return call(ctx, base+"/monit/rule/update/fields?app_key="+keys.All,
		map[string]any{"ids": []int{1, 2, 3, 4}, "fields": []string{"enabled"}, "enabled": true}, nil)
}
