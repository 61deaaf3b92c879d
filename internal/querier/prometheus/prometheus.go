// Package prometheus asks Prometheus, and servers with its API: VictoriaMetrics, Thanos, Mimir. A query is an instant query;
// its rows are the series of the vector, without the name of the metric, as in Prometheus' own alerts.
//
// It must never return a vector of which the server may have left out a part.
package prometheus

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// Open returns the querier of a datasource. Its queries are instant queries at Ask.AsOf.
var Open = querier.HTTPType{Probe: "vector(1)", Call: call, Range: ranged}.Open

// call returns the request of a query, whose rows it stores.
func call(a querier.Ask, rows *[]evaluate.Row) (querier.Call, *evaluate.Failure) {
	form := url.Values{
		"query": {a.Expr}, "timeout": {strconv.FormatInt(a.Wait().Milliseconds(), 10) + "ms"},
		"partial_response":      {"false"}, // Thanos
		"deny_partial_response": {"1"},     // VictoriaMetrics
	}
	if !a.AsOf.IsZero() {
		form.Set("time", Seconds(a.AsOf))
	}
	return querier.Call{
		Method: http.MethodPost, Path: "/api/v1/query", Form: form, Expr: a.Expr, Timeout: a.Wait(), Read: Reader(a, false, rows),
	}, nil
}

// Reader returns the reader of an answer that stores its rows.
func Reader(a querier.Ask, named bool, rows *[]evaluate.Row) func(io.Reader) error {
	return func(r io.Reader) error {
		answer := Decoder{Limit: a.Rows(), Named: named}
		err := answer.Decode(r)
		*rows = answer.Rows
		return err
	}
}

// ranged returns the request of a range query.
func ranged(a querier.Ask, from, to time.Time, step time.Duration, series *[]querier.Series) (querier.Call, *evaluate.Failure) {
	c, failed := call(a, nil)
	c.Path = "/api/v1/query_range"
	c.Form.Del("time")
	Span(c.Form, Seconds, from, to, step)
	c.Read = SeriesReader(a, false, 0, series)
	return c, failed
}

// Span sets the parameters of a range query.
func Span(form url.Values, moment func(time.Time) string, from, to time.Time, step time.Duration) {
	form.Set("start", moment(from))
	form.Set("end", moment(to))
	form.Set("step", strconv.FormatInt(int64(step.Seconds()), 10)+"s")
}

// Into returns how far a moment is within a step of a datasource whose steps begin at multiples of a step.
func Into(moment time.Time, step time.Duration) time.Duration {
	return time.Duration(moment.UnixNano() % int64(step))
}

// SeriesReader returns the reader of the answer of a range query that stores its series. The moments of its points are later by
// a time than those of the answer.
func SeriesReader(a querier.Ask, named bool, later time.Duration, series *[]querier.Series) func(io.Reader) error {
	return func(r io.Reader) error {
		answer := Decoder{Limit: a.Rows(), Named: named, Ranged: true}
		err := answer.Decode(r)
		for _, s := range answer.Series {
			for n := range s.Points {
				s.Points[n].At = s.Points[n].At.Add(later)
			}
		}
		*series = answer.Series
		return err
	}
}

// Seconds returns a moment as the API takes it: Unix seconds with milliseconds.
func Seconds(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}
