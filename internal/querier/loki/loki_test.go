package loki_test

import (
	"net/http"
	"net/http/httptest"
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
	if failed != nil || len(rows) != 1 || rows[0].Values[""] != 3 || rows[0].Labels["app"] != "shop" {
		t.Errorf("%v %v", rows, failed)
	}
	if want := "GET /loki/api/v1/query?query=vector%281%29&time=1500000000&x=1 tenant"; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	if _, failed := open.Query(t.Context(), querier.Ask{Expr: "{}", Args: map[string]string{"loki.type": "raw"}}); failed == nil || failed.Kind != evaluate.Unsupported {
		t.Errorf("lines: %v", failed)
	}
}
