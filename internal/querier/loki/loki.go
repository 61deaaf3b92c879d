// Package loki asks Grafana Loki for figures about log lines, with a metric query, or for the lines themselves.
//
// It must never return figures of which the server may have left out a part.
package loki

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
)

// Open returns the querier of a datasource.
var Open = querier.HTTPType{Probe: "vector(1)", Call: call, Range: ranged}.Open

// call returns the request of a query: an instant query, or with loki.type raw the lines of a span.
func call(a querier.Ask, rows *[]evaluate.Row) (querier.Call, *evaluate.Failure) {
	raw, failed := a.Raw("loki")
	form := url.Values{"query": {a.Expr}}
	c := querier.Call{Method: http.MethodGet, Path: "/loki/api/v1/query", Form: form, Expr: a.Expr, Timeout: a.Wait()}
	moment := "time"
	if raw == nil {
		c.Read = prometheus.Reader(a, false, rows)
	} else {
		c.Path, moment = "/loki/api/v1/query_range", "end"
		form.Set("limit", strconv.Itoa(raw.Limit))
		form.Set("direction", "backward")
		form.Set("since", raw.Span.String())
		c.Read = func(r io.Reader) error { return lines(r, raw, rows) }
	}
	if !a.AsOf.IsZero() {
		form.Set(moment, nanoseconds(a.AsOf))
	}
	return c, failed
}

// streams is an answer of lines.
type streams struct {
	Status   string   `json:"status"`
	Warnings []string `json:"warnings"`
	Data     struct {
		Type   string `json:"resultType"`
		Result []struct {
			Stream map[string]string `json:"stream"`
			Values [][]any           `json:"values"` // moment, line, and what newer servers add
		} `json:"result"`
	} `json:"data"`
}

// lines reads an answer of lines.
func lines(r io.Reader, raw *querier.Raw, rows *[]evaluate.Row) error {
	var answer streams
	body, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	switch {
	case err != nil:
		return err
	case answer.Status != "success":
		return querier.ErrMalformed
	case answer.Data.Type != "streams":
		return &evaluate.Failure{
			Kind: evaluate.BadQuery, Phase: querier.PhaseQuery, Message: "the query returns no lines; leave out loki.type, or set it to stats",
		}
	case len(answer.Warnings) > 0:
		return &evaluate.Failure{
			Kind: evaluate.Partial, Phase: querier.PhaseQuery, Message: "the datasource warned that its answer may lack lines",
		}
	}
	for _, s := range answer.Data.Result {
		for _, v := range s.Values {
			if len(v) < 2 {
				return querier.ErrMalformed
			}
			at, isText := v[0].(string)
			line, isLine := v[1].(string)
			if !isText || !isLine {
				return querier.ErrMalformed
			}
			raw.Add(s.Stream, at, line)
		}
	}
	*rows, err = raw.Rows()
	return err
}

// ranged returns the request of a range query. The datasource answers at multiples of a step, whatever moments it is asked about:
// the answer about a moment is that of the begin of its step.
func ranged(a querier.Ask, from, to time.Time, step time.Duration, series *[]querier.Series) (querier.Call, *evaluate.Failure) {
	if raw, failed := a.Raw("loki"); raw != nil || failed != nil {
		return querier.Call{}, cmp.Or(failed, querier.Unsupported("lines cannot be asked about many moments"))
	}
	c, failed := call(a, nil)
	c.Path = "/loki/api/v1/query_range"
	c.Form.Del("time")
	into := prometheus.Into(from, step)
	prometheus.Span(c.Form, nanoseconds, from.Add(-into), to.Add(-into), step)
	c.Read = prometheus.SeriesReader(a, false, into, series)
	return c, failed
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
