package prometheus_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/queriertest"
)

const ranged = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"node"},"values":[[1700000000,"1"],[1700000060.5,"NaN"]]}]}}`

func TestPrometheusRangeWithHostileServers(t *testing.T) {
	t.Parallel()
	points := "[" + strings.Repeat(`[1,"1"],`, querier.MaxPoints) + `[1,"1"]]`
	typed.Ranged(t, ranged, time.Minute,
		queriertest.Case{Name: "a vector", Kind: evaluate.Unreachable, Answer: queriertest.Write(200, one)},
		queriertest.Case{Name: "a part", Kind: evaluate.Partial, Answer: queriertest.Write(200, strings.TrimSuffix(ranged, "}")+`,"isPartial":true}`)},
		queriertest.Case{Name: "a histogram", Kind: evaluate.Unsupported, Answer: data("matrix", `[{"metric":{},"histograms":[[1,{"count":"2"}]]}]`)},
		queriertest.Case{Name: "a value without a series", Kind: evaluate.Unreachable, Answer: data("matrix", `[{"metric":{},"value":[1,"1"]}]`)},
		queriertest.Case{Name: "a moment that is none", Kind: evaluate.Unreachable, Answer: data("matrix", `[{"metric":{},"values":[["x","1"]]}]`)},
		queriertest.Case{Name: "a moment out of all time", Kind: evaluate.Unreachable, Answer: data("matrix", `[{"metric":{},"values":[[1e300,"1"]]}]`)},
		queriertest.Case{Name: "too many points", Kind: evaluate.TooMuch, Says: "11000", Answer: data("matrix", `[{"metric":{},"values":`+points+`}]`)},
	)
}

func TestPrometheusRangeRequest(t *testing.T) {
	t.Parallel()
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		asked = r.URL.Path + " " + r.PostForm.Encode()
		queriertest.Write(200, ranged)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := prometheus.Open(querier.Datasource{Type: "prometheus", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	ranger, from := open.(querier.Ranger), time.Unix(1_700_000_000, 0)
	series, failed := ranger.Range(t.Context(), querier.Ask{Expr: "up"}, from, from.Add(time.Hour), time.Minute)
	if want := "/api/v1/query_range deny_partial_response=1&end=1700003600.000&partial_response=false&query=up&start=1700000000.000&step=60s&timeout=10000ms"; asked != want {
		t.Errorf("asked %s\nwant  %s", asked, want)
	}
	if got, want := fmt.Sprint(series, failed), "[{map[job:node]  [{2023-11-14 22:13:20 +0000 UTC 1} {2023-11-14 22:14:20.5 +0000 UTC NaN}]}] <nil>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	asked = ""
	for _, to := range []time.Duration{-time.Second, querier.MaxPoints * time.Minute} {
		if _, failed := ranger.Range(t.Context(), querier.Ask{Expr: "up"}, from, from.Add(to), time.Minute); failed == nil || failed.Kind != evaluate.TooMuch || asked != "" {
			t.Errorf("%v: %v, asked %q", to, failed, asked)
		}
	}
}
