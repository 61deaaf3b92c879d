package victorialogs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/queriertest"
	"tocsin/internal/querier/victorialogs"
)

// The answers are written after the documentation of VictoriaLogs' stats_query_range.
const ranged = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"total","level":"error"},"values":[[1700000100,"3"]]}]}}`

func TestVictoriaLogsRangeWithHostileServers(t *testing.T) {
	t.Parallel()
	typed.Ranged(t, ranged, 5*time.Minute)
}

// A step is named by its begin there, and asked about at its end here.
func TestVictoriaLogsRangeCountsStepsBefore(t *testing.T) {
	t.Parallel()
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		asked = r.URL.Path + " " + r.PostForm.Encode()
		queriertest.Write(200, ranged)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := victorialogs.Open(querier.Datasource{Type: "victorialogs", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	from := time.Unix(1_700_000_400, 0)
	ask := func(expr string, step time.Duration) ([]querier.Series, *evaluate.Failure) {
		return open.(querier.Ranger).Range(t.Context(), querier.Ask{Expr: expr}, from, from.Add(time.Hour), step)
	}
	series, failed := ask(" _time:5m error | stats by (level) count() total", 5*time.Minute)
	if want := "/select/logsql/stats_query_range allow_partial_response=0&end=1700004000.000&offset=300000ms&query=%2A+error+%7C+stats+by+%28level%29+count%28%29+total&start=1700000100.000&step=300s&timeout=10000ms"; asked != want {
		t.Errorf("asked %s\nwant  %s", asked, want)
	}
	if got, want := fmt.Sprint(series, failed), "[{map[level:error] total [{2023-11-14 22:20:00 +0000 UTC 3}]}] <nil>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for expr, step := range map[string]time.Duration{"error | stats count() c": time.Minute, "_time:5m x | stats count() c": time.Minute, "_time:99999999999999m x": time.Minute} {
		if _, failed := ask(expr, step); failed == nil || failed.Kind != evaluate.Unsupported {
			t.Errorf("%s in steps of %v: %v", expr, step, failed)
		}
	}
}
