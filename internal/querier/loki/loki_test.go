package loki_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/loki"
	"tocsin/internal/querier/queriertest"
)

// The answers are written after Loki's documentation.
const one = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"app":"shop"},"value":[1700000000.1,"3"]}],"stats":{"summary":{"bytesProcessedPerSecond":1}}}}`

var typed = queriertest.Type{Name: "loki", Open: loki.Open, Query: `sum by (app) (rate({secret="x"} [5m]))`, Good: one}

func TestLokiWithHostileServers(t *testing.T) {
	t.Parallel()
	typed.Run(t,
		queriertest.Case{Name: "warnings", Kind: evaluate.Partial, Answer: queriertest.Write(200, one[:len(one)-1]+`,"warnings":["a querier is gone"]}`)},
		queriertest.Case{Name: "lines", Kind: evaluate.BadQuery, Says: "lines", Answer: queriertest.Write(200, `{"status":"success","data":{"resultType":"streams","result":[]}}`)},
	)
}

func TestLokiTestNamesPhases(t *testing.T) {
	t.Parallel()
	typed.Phases(t)
}

func TestLokiRequest(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("X-Scope-OrgID")
		queriertest.Write(200, one)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := loki.Open(querier.Datasource{Type: "loki", Address: server.URL, Payload: []byte(`{"headers":["X-Scope-OrgID: tenant"],"params":["query=other","x=1"]}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	rows, failed := open.Query(t.Context(), querier.Ask{Expr: "vector(1)", AsOf: time.UnixMilli(1500)})
	if failed != nil || len(rows) != 1 || rows[0].Values[0].Number != 3 || rows[0].Labels["app"] != "shop" {
		t.Errorf("%v %v", rows, failed)
	}
	if want := "GET /loki/api/v1/query?query=vector%281%29&time=1500000000&x=1 tenant"; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
}

const lines = `{"status":"success","data":{"resultType":"streams","result":[
	{"stream":{"app":"shop","pod":"1"},"values":[["1700000000000000009","newest"],["1700000000000000001","older"]]},
	{"stream":{"app":"shop","pod":"2"},"values":[["1700000000000000005","other",{"parsed":{"a":"b"}}]]}],"stats":{}}}`

// Lines with the same labels are one row, that of the newest.
func TestLokiLines(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.RequestURI()
		queriertest.Write(200, lines)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := loki.Open(querier.Datasource{Type: "loki", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	for _, c := range []struct {
		limit, value, unit string
		labels             []string
		want               string
		kind               evaluate.Kind
	}{
		{"", "15", "", nil, "[map[app:shop pod:1] newest map[app:shop pod:2] other]", ""},
		{"4", "1", "d", []string{"app"}, "[map[app:shop] newest]", ""},
		{"3", "15", "m", nil, "[map[app:shop pod:1] newest map[app:shop pod:2] other]", evaluate.TooMuch},
		{"", "", "m", nil, "[]", evaluate.Unsupported},
		{"", "32", "d", nil, "[]", evaluate.Unsupported},
		{"", "5", "y", nil, "[]", evaluate.Unsupported},
	} {
		rows, failed := open.Query(t.Context(), querier.Ask{Expr: `{app="shop"}`, AsOf: time.UnixMilli(1500), LabelFields: c.labels, Args: map[string]string{
			"loki.type": "raw", "loki.limit": c.limit, "loki.timespan.value": c.value, "loki.timespan.unit": c.unit,
		}})
		got := []any{}
		for _, row := range rows {
			got = append(got, row.Labels, row.Fields["__log__"])
		}
		if fmt.Sprint(got) != c.want || c.kind == "" && failed != nil || c.kind != "" && (failed == nil || failed.Kind != c.kind) {
			t.Errorf("%+v: %v %v", c, got, failed)
		}
		if failed != nil && failed.Cut != (c.kind == evaluate.TooMuch) {
			t.Errorf("%+v: cut is %v", c, failed.Cut)
		}
	}
	if want := "GET /loki/api/v1/query_range?direction=backward&end=1500000000&limit=3&query=%7Bapp%3D%22shop%22%7D&since=15m0s"; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	for _, kind := range []string{"", "raw"} {
		_, failed := open.Query(t.Context(), querier.Ask{Expr: "{}", Args: map[string]string{"loki.type": kind, "loki.start": "1", "loki.timespan.value": "5"}})
		if failed == nil || failed.Kind != evaluate.Unsupported || !strings.Contains(failed.Message, `loki.start is not supported, got "1"`) {
			t.Errorf("a begin with the type %q: %v", kind, failed)
		}
	}
	if _, failed := open.Query(t.Context(), querier.Ask{Expr: "{}", Args: map[string]string{"loki.type": "else"}}); failed == nil || failed.Kind != evaluate.Unsupported {
		t.Errorf("another type: %v", failed)
	}
}

func TestLokiLinesWithHostileServers(t *testing.T) {
	t.Parallel()
	raw := typed
	raw.Good, raw.Args = lines, map[string]string{"loki.type": "raw", "loki.timespan.value": "5"}
	raw.Rows = 2
	raw.Run(t,
		queriertest.Case{Name: "figures", Kind: evaluate.BadQuery, Answer: queriertest.Write(200, one)},
		queriertest.Case{Name: "warnings", Kind: evaluate.Partial, Answer: queriertest.Write(200, lines[:len(lines)-1]+`,"warnings":["a querier is gone"]}`)},
		queriertest.Case{Name: "a line without a moment", Kind: evaluate.Unreachable, Answer: queriertest.Write(200, `{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[["x"]]}]}}`)},
	)
}
