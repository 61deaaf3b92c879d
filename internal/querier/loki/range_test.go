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

const ranged = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"app":"shop"},"values":[[1699999980,"1"]]}],"stats":{}}}`

func TestLokiRangeWithHostileServers(t *testing.T) {
	t.Parallel()
	typed.Ranged(t, ranged, time.Minute,
		queriertest.Case{Name: "warnings", Kind: evaluate.Partial, Answer: queriertest.Write(200, ranged[:len(ranged)-1]+`,"warnings":["a querier is gone"]}`)})
}

func TestLokiRangeRequest(t *testing.T) {
	t.Parallel()
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		queriertest.Write(200, ranged)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := loki.Open(querier.Datasource{Type: "loki", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	from := time.Unix(1_700_000_000, 0)
	series, failed := open.(querier.Ranger).Range(t.Context(), querier.Ask{Expr: "x"}, from, from.Add(time.Hour), time.Minute)
	if failed != nil {
		t.Fatal(failed)
	}
	if at := series[0].Points[0].At; !at.Equal(from) {
		t.Errorf("the answer about the first moment is at %s", at)
	}
	// It is asked at multiples of a step.
	if want := "/loki/api/v1/query_range?end=1700003580000000000&query=x&start=1699999980000000000&step=60s"; asked != want {
		t.Errorf("asked %s\nwant  %s", asked, want)
	}
	if _, failed := open.(querier.Ranger).Range(t.Context(), querier.Ask{Expr: "x", Args: map[string]string{"loki.type": "raw"}}, from, from, time.Minute); failed == nil || failed.Kind != evaluate.Unsupported {
		t.Errorf("raw: %v", failed)
	}
}
