// Package victorialogs asks VictoriaLogs for figures about log lines: a query ends in the pipe stats. Each figure is a value of
// its name; the figures of the same labels are one row. Lines themselves can be asked for, too.
//
// It must never return figures of which the server may have left out a part.
package victorialogs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
)

// Open returns the querier of a datasource.
var Open = querier.HTTPType{Probe: "_time:1s | stats count() as lines", Call: call, Range: ranged}.Open

// window is the filter of a query about the time before the moment that it asks about.
var window = regexp.MustCompile(`^\s*_time:(\d+)([smhd])\s`)

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// ranged returns the request for figures in steps. The datasource counts what is within each step, so the query must be about as
// much time. It is asked for steps that end at the moments: its own begin at multiples of a step, and offset moves them back.
func ranged(a querier.Ask, from, to time.Time, step time.Duration, series *[]querier.Series) (querier.Call, *evaluate.Failure) {
	if raw, failed := a.Raw("victorialogs"); raw != nil || failed != nil {
		return querier.Call{}, cmp.Or(failed, querier.Unsupported("lines cannot be asked about many moments"))
	}
	m := window.FindStringSubmatch(a.Expr)
	if m == nil {
		return querier.Call{}, querier.Unsupported("only a query that begins with a filter such as _time:5m can be asked about many moments")
	}
	n, _ := strconv.ParseInt(m[1], 10, 32) // too many digits: no step is as long
	if time.Duration(n)*units[m[2]] != step {
		return querier.Call{}, querier.Unsupported("the query is about %s%s, so it can be asked in steps of as much only, not of %v",
			m[1], m[2], step)
	}
	c, failed := call(a, nil)
	c.Path = "/select/logsql/stats_query_range"
	c.Form.Del("time")
	c.Form.Set("query", "* "+a.Expr[len(m[0]):])                           // all lines of a step, in place of the filter
	prometheus.Span(c.Form, prometheus.Seconds, from.Add(-step), to, step) // lines at the end are left out, as in the last step
	c.Form.Set("offset", fmt.Sprintf("%dms", (step-prometheus.Into(from, step)).Milliseconds()))
	c.Read = prometheus.SeriesReader(a, true, step, series) // a step is named by its begin there
	return c, failed
}

// call returns the request of a query: for figures, or with victorialogs.type raw for the lines of a span.
func call(a querier.Ask, rows *[]evaluate.Row) (querier.Call, *evaluate.Failure) {
	raw, failed := a.Raw("victorialogs")
	form := url.Values{"query": {a.Expr}, "timeout": {fmt.Sprintf("%dms", a.Wait().Milliseconds())}, "allow_partial_response": {"0"}}
	c := querier.Call{Method: http.MethodPost, Path: "/select/logsql/stats_query", Form: form, Expr: a.Expr, Timeout: a.Wait()}
	if raw == nil {
		if !a.AsOf.IsZero() {
			form.Set("time", prometheus.Seconds(a.AsOf))
		}
		read := prometheus.Reader(a, true, rows)
		c.Read = func(r io.Reader) error {
			err := read(r)
			*rows = joined(*rows)
			return err
		}
		return c, failed
	}
	c.Path = "/select/logsql/query"
	form.Set("limit", strconv.Itoa(raw.Limit))
	form.Set("start", "now-"+raw.Span.String())
	if !a.AsOf.IsZero() {
		form.Set("start", a.AsOf.Add(-raw.Span).UTC().Format(time.RFC3339Nano))
		form.Set("end", a.AsOf.UTC().Format(time.RFC3339Nano))
	}
	c.Read = func(r io.Reader) error { return lines(r, raw, rows) }
	return c, failed
}

// lines reads an answer of lines, a JSON object each. Without label fields the stream identifies a line.
func lines(r io.Reader, raw *querier.Raw, rows *[]evaluate.Row) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(body) > 0 && body[len(body)-1] != '\n' {
		return querier.ErrMalformed // the end is missing
	}
	for text := range bytes.Lines(body) {
		line := map[string]string{}
		if err := json.Unmarshal(text, &line); err != nil {
			return err
		}
		at, message := line["_time"], line["_msg"]
		for _, name := range []string{"_time", "_msg", "_stream_id"} {
			delete(line, name)
		}
		raw.Add(line, at, message)
	}
	*rows, err = raw.Rows()
	return err
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
		for _, value := range row.Values {
			names[value.Field] = true
			if !known {
				continue
			}
			if _, twice := all[i].Values.Get(value.Field); twice {
				all = append(all, row)
				continue
			}
			all[i].Values.Set(value.Field, value.Number)
		}
	}
	if len(names) == 1 {
		for i := range all {
			if values := &all[i].Values; len(*values) > 0 {
				values.Set("", (*values)[0].Number)
			}
		}
	}
	return all
}
