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

const one = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"node"},"value":[1700000000.123,"1"]}]}}`

var typed = queriertest.Type{Name: "prometheus", Open: prometheus.Open, Query: `sum by (host) (rate(secret_metric[5m]))`, Good: one}

func vector(rest string) http.HandlerFunc {
	return queriertest.Write(200, strings.TrimSuffix(one, "}")+rest+"}")
}

func data(kind, result string) http.HandlerFunc {
	return queriertest.Write(200, fmt.Sprintf(`{"status":"success","data":{"resultType":%q,"result":%s}}`, kind, result))
}

func TestPrometheusWithHostileServers(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`{"metric":{},"value":[1,"1"]},`, querier.MaxRows) + `{"metric":{},"value":[1,"1"]}`
	typed.Run(t,
		queriertest.Case{Name: "a warning of missing data", Kind: evaluate.Partial, Answer: vector(`,"warnings":["store 10.0.0.7 is gone"]`)},
		queriertest.Case{Name: "a warning about the query", Answer: vector(`,"warnings":["PromQL warning: bucket without le"],"infos":["PromQL info: no counter"]`)},
		queriertest.Case{Name: "both warnings", Kind: evaluate.Partial, Answer: vector(`,"warnings":["PromQL warning: a","b"]`)},
		queriertest.Case{Name: "no warnings", Answer: vector(`,"warnings":null,"isPartial":false,"stats":{"a":[1]}`)},
		queriertest.Case{Name: "a part", Kind: evaluate.Partial, Answer: vector(`,"isPartial":true`)},
		queriertest.Case{Name: "a part, said twice", Kind: evaluate.Partial, Answer: vector(`,"isPartial":true,"isPartial":false`)},
		queriertest.Case{Name: "data twice", Kind: evaluate.Unreachable, Answer: vector(`,"data":{"resultType":"vector","result":[]}`)},
		queriertest.Case{Name: "an error with 200", Kind: evaluate.Unreachable, Answer: queriertest.Write(200, `{"status":"error","data":{"resultType":"vector","result":[]}}`)},
		queriertest.Case{Name: "a scalar", Answer: data("scalar", `[1,"2"]`)},
		queriertest.Case{Name: "a string", Kind: evaluate.Invalid, Answer: data("string", `[1,"x"]`)},
		queriertest.Case{Name: "a matrix", Kind: evaluate.BadQuery, Answer: data("matrix", `[{"metric":{},"values":[[1,"2"]]}]`)},
		queriertest.Case{Name: "a histogram", Kind: evaluate.Unsupported, Answer: data("vector", `[{"metric":{},"histogram":[1,{"count":"2"}]}]`)},
		queriertest.Case{Name: "a value that is no number", Kind: evaluate.Invalid, Answer: data("vector", `[{"metric":{},"value":[1,"x"]}]`)},
		queriertest.Case{Name: "a series without a value", Kind: evaluate.Unreachable, Answer: data("vector", `[{"metric":{}}]`)},
		queriertest.Case{Name: "a label twice", Kind: evaluate.Unreachable, Answer: data("vector", `[{"metric":{"a":"1","a":"2"},"value":[1,"1"]}]`)},
		queriertest.Case{Name: "too many rows", Kind: evaluate.TooMuch, Answer: data("vector", "["+many+"]")},
		queriertest.Case{Name: "the type after the result", Answer: queriertest.Write(200, `{"data":{"result":[{"value":[1,"1"],"metric":{}}],"resultType":"vector"},"status":"success"}`)},
	)
}

func TestPrometheusTestNamesPhases(t *testing.T) {
	t.Parallel()
	typed.Phases(t)
}

// The request is what a Prometheus takes cheaply, and what servers of many parts need to refuse a part.
func TestPrometheusRequest(t *testing.T) {
	t.Parallel()
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.URL.RequestURI()
		user, password, _ := r.BasicAuth()
		r.ParseForm()
		asked = fmt.Sprint(r.Method, " ", body, " ", user, ":", password, " ", r.Header["Accept-Encoding"], r.Header["X-Scope-Orgid"], " ", r.PostForm.Encode())
		queriertest.Write(200, one)(w, r)
	}))
	t.Cleanup(server.Close)
	open, failed := prometheus.Open(querier.Datasource{Type: "prometheus", Address: server.URL + "/prom/?tenant=1", Payload: []byte(
		`{"basic_auth_enabled":true,"basic_auth_username":"u","basic_auth_password":"p","headers":["X-Scope-OrgID: 7","Accept-Encoding: gzip"],"params":["dedup=true"],"tls_ca":null}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	if _, failed := open.Query(t.Context(), querier.Ask{Expr: "up > 0", AsOf: time.UnixMilli(1_700_000_000_123), Timeout: 5 * time.Second}); failed != nil {
		t.Fatal(failed)
	}
	want := "POST /prom/api/v1/query?dedup=true&tenant=1 u:p [identity] [7] deny_partial_response=1&partial_response=false&query=up+%3E+0&time=1700000000.123&timeout=5000ms"
	if asked != want {
		t.Errorf("asked\n%s, want\n%s", asked, want)
	}
}

func TestPrometheusRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ result, want string }{
		{`[]`, `[]`}, {`null`, `[]`},
		{`[{"metric":{"__name__":"m","b":"2","a":"\u00e9\""},"value":[1,"-1.5e3"]},{"metric":{"b":"2"},"value":[1,"NaN"]},{"metric":{},"value":[1.5,"+Inf"]},{"metric":{"b":"3"},"value":[1,"-Inf"]}]`,
			`[map[a:é" b:2]=-1500 map[b:2]=NaN map[]=+Inf map[b:3]=-Inf]`},
	} {
		answer := prometheus.Decoder{Limit: 10}
		if err := answer.Decode(strings.NewReader(`{"status":"success","data":{"resultType":"vector","result":` + c.result + `}}`)); err != nil {
			t.Errorf("%s: %v", c.result, err)
		}
		got := []string{}
		for _, row := range answer.Rows {
			got = append(got, fmt.Sprintf("%v=%v", row.Labels, row.Values[0].Number))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.result, got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{one, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`, `{"data":{"result":[],"resultType":"vector"},"status":"success","warnings":["a"]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answer := prometheus.Decoder{Limit: 100}
		err := answer.Decode(strings.NewReader(text))
		if err != nil {
			return
		}
		if !strings.Contains(text, "s") || len(answer.Rows) > 100 {
			t.Errorf("%d rows of %q", len(answer.Rows), text)
		}
		for cut := range len(strings.TrimRight(text, " \t\r\n")) { // no part of an answer is one
			part := prometheus.Decoder{Limit: 100}
			if part.Decode(strings.NewReader(text[:cut])) == nil {
				t.Fatalf("%q is an answer, of which %q is a part", text, text[:cut])
			}
		}
		for _, row := range answer.Rows {
			if _, ok := row.Values.Get(""); row.Labels == nil || !ok {
				t.Errorf("row %v of %q", row, text)
			}
		}
	})
}
