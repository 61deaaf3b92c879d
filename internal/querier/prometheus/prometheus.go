// Package prometheus asks Prometheus, and servers with its API: VictoriaMetrics, Thanos, Mimir. A query is an instant query;
// its rows are the series of the vector, without the name of the metric, as in Prometheus' own alerts.
//
// It must never return a vector of which the server may have left out a part.
package prometheus

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

type client struct{ http *querier.HTTP }

// Open returns the querier of a datasource.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	h, failed := querier.OpenHTTP(d, out)
	if failed != nil {
		return nil, failed
	}
	return client{h}, nil
}

// Query makes an instant query at a.AsOf.
func (c client) Query(ctx context.Context, a querier.Ask) (rows []evaluate.Row, failed *evaluate.Failure) {
	_, failed = c.http.Do(ctx, call(a, &rows))
	if failed != nil {
		return nil, failed
	}
	return rows, nil
}

// call returns the request of a query, whose rows it stores.
func call(a querier.Ask, rows *[]evaluate.Row) querier.Call {
	form := url.Values{
		"query": {a.Expr}, "timeout": {strconv.FormatInt(a.Wait().Milliseconds(), 10) + "ms"},
		"partial_response":      {"false"}, // Thanos
		"deny_partial_response": {"1"},     // VictoriaMetrics
	}
	if !a.AsOf.IsZero() {
		form.Set("time", Seconds(a.AsOf))
	}
	read := func(r io.Reader) error {
		answer := Decoder{Limit: a.Rows()}
		err := answer.Decode(r)
		*rows = answer.Rows
		return err
	}
	return querier.Call{
		Method: http.MethodPost, Path: "/api/v1/query", Form: form, Expr: a.Expr, Timeout: a.Wait(), Read: read,
	}
}

// Range makes a range query.
func (c client) Range(ctx context.Context, a querier.Ask, from, to time.Time, step time.Duration) ([]querier.Series, *evaluate.Failure) {
	ask := call(a, nil)
	ask.Path = "/api/v1/query_range"
	ask.Form.Del("time")
	Span(ask.Form, Seconds, from, to, step)
	return Ranged(ctx, c.http, ask, Decoder{Limit: a.Rows()}, from, to, step)
}

// Span sets the parameters of a range query.
func Span(form url.Values, moment func(time.Time) string, from, to time.Time, step time.Duration) {
	form.Set("start", moment(from))
	form.Set("end", moment(to))
	form.Set("step", strconv.FormatInt(int64(step.Seconds()), 10)+"s")
}

// Ranged makes the call of a range query, whose answer has the form that Prometheus' has.
func Ranged(
	ctx context.Context, h *querier.HTTP, c querier.Call, d Decoder, from, to time.Time, step time.Duration,
) ([]querier.Series, *evaluate.Failure) {
	if failed := querier.CheckRange(from, to, step); failed != nil {
		return nil, failed
	}
	d.Ranged = true
	c.Read = d.Decode
	if _, failed := h.Do(ctx, c); failed != nil {
		return nil, failed
	}
	return d.Series, nil
}

// Seconds returns a moment as the API takes it: Unix seconds with milliseconds.
func Seconds(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// Test asks for a constant.
func (c client) Test(ctx context.Context) []querier.Phase {
	return c.http.Test(ctx, call(querier.Ask{Expr: "vector(1)"}, new([]evaluate.Row)))
}

// Close closes the connections.
func (c client) Close() error { return c.http.Close() }
