// Package victorialogs asks VictoriaLogs for figures about log lines: a query ends in the pipe stats. Each figure is a value of
// its name; the figures of the same labels are one row. Lines themselves cannot be asked for yet.
//
// It must never return figures of which the server may have left out a part.
package victorialogs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
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

// Query asks for figures at a.AsOf.
func (c client) Query(ctx context.Context, a querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	if failed := supported(a); failed != nil {
		return nil, failed
	}
	var rows []evaluate.Row
	if _, failed := c.http.Do(ctx, call(a, &rows)); failed != nil {
		return nil, failed
	}
	return joined(rows), nil
}

// supported refuses queries of lines.
func supported(a querier.Ask) *evaluate.Failure {
	if kind := a.Args["victorialogs.type"]; kind != "" && kind != "stats" {
		return unsupported("victorialogs.type %q is not supported; use stats", kind)
	}
	return nil
}

func unsupported(format string, args ...any) *evaluate.Failure {
	return &evaluate.Failure{Kind: evaluate.Unsupported, Phase: querier.PhaseQuery, Message: fmt.Sprintf(format, args...)}
}

// window is the filter of a query about the time before the moment that it asks about.
var window = regexp.MustCompile(`^\s*_time:(\d+)([smhd])\s`)

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// Range asks for figures in steps. The datasource counts what is within each step, so the query must be about as much time.
func (c client) Range(ctx context.Context, a querier.Ask, from, to time.Time, step time.Duration) ([]querier.Series, *evaluate.Failure) {
	if failed := supported(a); failed != nil {
		return nil, failed
	}
	m := window.FindStringSubmatch(a.Expr)
	if m == nil {
		return nil, unsupported("only a query that begins with a filter such as _time:5m can be asked about many moments")
	}
	n, _ := strconv.ParseInt(m[1], 10, 32) // too many digits: no step is as long
	if time.Duration(n)*units[m[2]] != step {
		return nil, unsupported("the query is about %s%s, so it can be asked in steps of as much only, not of %v", m[1], m[2], step)
	}
	ask := call(a, nil)
	ask.Path = "/select/logsql/stats_query_range"
	ask.Form.Del("time")
	ask.Form.Set("query", a.Expr[len(m[0]):])
	prometheus.Span(ask.Form, prometheus.Seconds, from.Add(-step), to.Add(-step), step) // a step is named by its begin there
	series, failed := prometheus.Ranged(ctx, c.http, ask, prometheus.Decoder{Limit: a.Rows(), Named: true}, from, to, step)
	for i := range series {
		for n := range series[i].Points {
			series[i].Points[n].At = series[i].Points[n].At.Add(step)
		}
	}
	return series, failed
}

func call(a querier.Ask, rows *[]evaluate.Row) querier.Call {
	form := url.Values{"query": {a.Expr}, "timeout": {fmt.Sprintf("%dms", a.Wait().Milliseconds())}, "allow_partial_response": {"0"}}
	if !a.AsOf.IsZero() {
		form.Set("time", prometheus.Seconds(a.AsOf))
	}
	read := func(r io.Reader) error {
		answer := prometheus.Decoder{Limit: a.Rows(), Named: true}
		err := answer.Decode(r)
		*rows = answer.Rows
		return err
	}
	return querier.Call{
		Method: http.MethodPost, Path: "/select/logsql/stats_query", Form: form, Expr: a.Expr, Timeout: a.Wait(), Read: read,
	}
}

// joined returns the rows with the figures of the same labels in one. If there is one figure only, it is the value without a
// name, too. A figure that comes twice for the same labels keeps a row of its own, which cannot be judged.
func joined(rows []evaluate.Row) (all []evaluate.Row) {
	at, names := map[string]int{}, map[string]bool{}
	for _, row := range rows {
		key := fmt.Sprintf("%q", row.Labels) // sorted by name
		i, known := at[key]
		if !known {
			at[key] = len(all)
			all = append(all, row)
		}
		for name, value := range row.Values {
			names[name] = true
			if !known {
				continue
			}
			if _, twice := all[i].Values[name]; twice {
				all = append(all, row)
				continue
			}
			all[i].Values[name] = value
		}
	}
	if len(names) == 1 {
		for _, row := range all {
			for _, value := range row.Values {
				row.Values[""] = value
			}
		}
	}
	return all
}

// Test asks for a figure about the last second.
func (c client) Test(ctx context.Context) []querier.Phase {
	return c.http.Test(ctx, call(querier.Ask{Expr: "_time:1s | stats count() as lines"}, new([]evaluate.Row)))
}

// Close closes the connections.
func (c client) Close() error { return c.http.Close() }
