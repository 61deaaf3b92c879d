package victorialogs_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/internal/querier"
	"tocsin/internal/querier/queriertest"
	"tocsin/internal/querier/victorialogs"
)

// The answers are written after the documentation of VictoriaLogs' stats_query.
const one = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"total","level":"error"},"value":[1700000000,"3"]}]}}`

var typed = queriertest.Type{Name: "victorialogs", Open: victorialogs.Open, Query: `_time:5m secret_word | stats by (level) count() as total`, Good: one}

func TestVictoriaLogsWithHostileServers(t *testing.T) {
	t.Parallel()
	typed.Run(t)
}

func TestVictoriaLogsTestNamesPhases(t *testing.T) {
	t.Parallel()
	typed.Phases(t)
}

// Figures of the same labels are one row: $A.total and $A.slow.
func TestVictoriaLogsRows(t *testing.T) {
	t.Parallel()
	series := func(name, level, value string) string {
		return fmt.Sprintf(`{"metric":{"__name__":%q,"level":%q},"value":[1,%q]}`, name, level, value)
	}
	for _, c := range []struct{ name, result, want string }{
		{"one figure", series("total", "a", "1") + "," + series("total", "b", "2"), "[map[level:a] map[:1 total:1] map[level:b] map[:2 total:2]]"},
		{"two", series("total", "a", "1") + "," + series("slow", "a", "7") + "," + series("slow", "b", "8"), "[map[level:a] map[slow:7 total:1] map[level:b] map[slow:8]]"},
		{"the same twice", series("total", "a", "1") + "," + series("total", "a", "2"), "[map[level:a] map[:1 total:1] map[level:a] map[:2 total:2]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.ParseForm()
				asked = r.Method + " " + r.URL.Path + " " + r.PostForm.Encode()
				queriertest.Write(200, `{"status":"success","data":{"resultType":"vector","result":[`+c.result+`]}}`)(w, r)
			}))
			t.Cleanup(server.Close)
			open, failed := victorialogs.Open(querier.Datasource{Type: "victorialogs", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
			if failed != nil {
				t.Fatal(failed)
			}
			rows, failed := open.Query(t.Context(), querier.Ask{Expr: "* | stats count() n", AsOf: time.UnixMilli(1500), Args: map[string]string{"victorialogs.type": "stats"}})
			got := []any{}
			for _, row := range rows {
				got = append(got, row.Labels, row.Values)
			}
			if failed != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%v %v, want %s", got, failed, c.want)
			}
			if want := "POST /select/logsql/stats_query allow_partial_response=0&query=%2A+%7C+stats+count%28%29+n&time=1.500&timeout=10000ms"; asked != want {
				t.Errorf("asked %s, want %s", asked, want)
			}
		})
	}
}

const lines = `{"_time":"2026-11-26T10:00:02Z","_stream":"{app=\"shop\"}","_stream_id":"0","_msg":"newest","level":"error"}
{"_time":"2026-11-26T10:00:01Z","_stream":"{app=\"shop\"}","_stream_id":"0","_msg":"older","level":"error"}
`

func TestVictoriaLogsLines(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		asked = r.Method + " " + r.URL.Path + " " + r.PostForm.Encode()
		queriertest.Write(200, lines)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := victorialogs.Open(querier.Datasource{Type: "victorialogs", Address: server.URL, Payload: []byte(`{}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	for limit, cut := range map[string]bool{"": false, "2": true} {
		rows, failed := open.Query(t.Context(), querier.Ask{Expr: "error", AsOf: time.Unix(900, 0), Args: map[string]string{
			"victorialogs.type": "raw", "victorialogs.timespan.value": "15", "victorialogs.timespan.unit": "m", "victorialogs.limit": limit,
		}})
		if len(rows) != 1 || rows[0].Fields["__log__"] != "newest" || fmt.Sprint(rows[0].Labels) != `map[_stream:{app="shop"} level:error]` || (failed != nil) != cut {
			t.Errorf("limit %s: %v %v", limit, rows, failed)
		}
		if want := "end=1970-01-01T00%3A15%3A00Z&limit=" + cmp.Or(limit, "100") + "&query=error&start=1970-01-01T00%3A00%3A00Z"; !strings.Contains(asked, want) {
			t.Errorf("asked %s, want %s", asked, want)
		}
	}
}

func TestVictoriaLogsLinesWithHostileServers(t *testing.T) {
	t.Parallel()
	raw := typed
	raw.Good, raw.Args = lines, map[string]string{"victorialogs.type": "raw", "victorialogs.timespan.value": "5"}
	raw.Empty = true
	raw.Run(t)
}
