// Package loki asks Grafana Loki for figures about log lines, with a metric query. Lines themselves cannot be asked for yet.
//
// It must never return figures of which the server may have left out a part.
package loki

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
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
	if failed := supported(a); failed != nil {
		return nil, failed
	}
	if _, failed = c.http.Do(ctx, call(a, &rows)); failed != nil {
		return nil, failed
	}
	return rows, nil
}

// supported refuses queries of lines.
func supported(a querier.Ask) *evaluate.Failure {
	if kind := a.Args["loki.type"]; kind != "" && kind != "stats" {
		return &evaluate.Failure{
			Kind: evaluate.Unsupported, Phase: querier.PhaseQuery,
			Message: fmt.Sprintf("loki.type %q is not supported; use stats", kind),
		}
	}
	return nil
}

// Range makes a range query.
func (c client) Range(ctx context.Context, a querier.Ask, from, to time.Time, step time.Duration) ([]querier.Series, *evaluate.Failure) {
	if failed := supported(a); failed != nil {
		return nil, failed
	}
	ask := call(a, nil)
	ask.Path = "/loki/api/v1/query_range"
	ask.Form.Del("time")
	prometheus.Span(ask.Form, nanoseconds, from, to, step)
	return prometheus.Ranged(ctx, c.http, ask, prometheus.Decoder{Limit: a.Rows()}, from, to, step)
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// call returns the request of a query, whose rows it stores.
func call(a querier.Ask, rows *[]evaluate.Row) querier.Call {
	form := url.Values{"query": {a.Expr}}
	if !a.AsOf.IsZero() {
		form.Set("time", nanoseconds(a.AsOf))
	}
	read := func(r io.Reader) error {
		answer := prometheus.Decoder{Limit: a.Rows()}
		err := answer.Decode(r)
		*rows = answer.Rows
		return err
	}
	return querier.Call{
		Method: http.MethodGet, Path: "/loki/api/v1/query", Form: form, Expr: a.Expr, Timeout: a.Wait(), Read: read,
	}
}

// Test asks for a constant.
func (c client) Test(ctx context.Context) []querier.Phase {
	return c.http.Test(ctx, call(querier.Ask{Expr: "vector(1)"}, new([]evaluate.Row)))
}

// Close closes the connections.
func (c client) Close() error { return c.http.Close() }
