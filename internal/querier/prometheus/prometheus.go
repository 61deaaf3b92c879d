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
var Open = querier.HTTPType{Probe: "vector(1)", Call: call}.Open

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

// Seconds returns a moment as the API takes it: Unix seconds with milliseconds.
func Seconds(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}
