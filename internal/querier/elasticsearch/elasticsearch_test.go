package elasticsearch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/elasticsearch"
	"tocsin/internal/querier/queriertest"
)

// The answers are written after the documentation of Elasticsearch's SQL.
const one = `{"columns":[{"name":"Host","type":"keyword"},{"name":"total","type":"long"}],"rows":[["a","x"]]}`

var typed = queriertest.Type{Name: "elasticsearch", Open: elasticsearch.Open, Query: `SELECT host, count(*) FROM "secret-logs"`, Good: one, Block: `{"username":"u","password":"PASSWORD","headers":["X-Token: TOKEN","X-Param: PARAM"]}`}

func TestElasticsearchWithHostileServers(t *testing.T) {
	t.Parallel()
	typed.Run(t,
		queriertest.Case{Name: "a row of another width", Kind: evaluate.Unreachable, Answer: queriertest.Write(200, `{"columns":[{"name":"a","type":"long"}],"rows":[[1,2]]}`)},
		queriertest.Case{Name: "a column twice", Kind: evaluate.Invalid, Answer: queriertest.Write(200, `{"columns":[{"name":"a","type":"long"},{"name":"A","type":"long"}],"rows":[]}`)},
		queriertest.Case{Name: "a refused query", Kind: evaluate.BadQuery, Says: "Unknown column [hots]", Answer: queriertest.Write(400, `{"error":{"type":"verification_exception","reason":"Found 1 problem\nline 1:8: Unknown column [hots]"},"status":400}`)},
		queriertest.Case{Name: "a cursor without end", Kind: evaluate.TooMuch, Answer: queriertest.Write(200, `{"columns":[{"name":"a","type":"text"}],"rows":[["`+strings.Repeat("x", 1<<20)+`"]],"cursor":"c"}`)},
	)
}

// pages answers with pages, and notes what it was asked for.
func pages(t *testing.T, asked *[]string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		json.NewDecoder(r.Body).Decode(&in)
		*asked = append(*asked, fmt.Sprintf("%s %s %v %v %v %s", r.Method, r.URL.Path, in["query"], in["fetch_size"], in["cursor"], r.Header.Get("Authorization")))
		switch {
		case r.URL.Path == "/es/_security/user/_privileges":
			queriertest.Write(200, `{"cluster":["monitor"],"indices":[{"names":["*"],"privileges":["read","write"]}]}`)(w, r)
		case r.URL.Path == "/es/_sql/close":
			queriertest.Write(200, `{"succeeded":true}`)(w, r)
		case in["cursor"] == nil:
			queriertest.Write(200, `{"columns":[{"name":"Host","type":"keyword"},{"name":"total","type":"long"},{"name":"at","type":"datetime"}],"rows":[["a",9007199254740993,"2026-11-26T10:00:00.000Z"],[null,null,null]],"cursor":"next"}`)(w, r)
		default:
			queriertest.Write(200, `{"rows":[["b",1.5,null]],"cursor":""}`)(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestElasticsearchPages(t *testing.T) {
	t.Parallel()
	var asked []string
	s := pages(t, &asked)
	open, failed := elasticsearch.Open(querier.Datasource{Address: "http://127.0.0.1:1, " + s.URL + "/es", Payload: []byte(`{"username":"u","password":"p"}`)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	rows, failed := open.Query(t.Context(), querier.Ask{Expr: "SELECT 1;", ValueFields: []string{"Total"}, Timeout: 5 * time.Second})
	got := ""
	for _, row := range rows {
		got += fmt.Sprint(row.Labels, row.Values, " ")
	}
	if want := "map[at:2026-11-26T10:00:00.000Z host:a] map[total:9.007199254740992e+15] map[] map[total:NaN] map[host:b] map[total:1.5] "; failed != nil || got != want {
		t.Errorf("%s %v, want %s", got, failed, want)
	}
	if want := "[POST /es/_sql SELECT 1 1000 <nil> Basic dTpw POST /es/_sql <nil> <nil> next Basic dTpw]"; fmt.Sprint(asked) != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	asked = nil
	_, failed = open.Query(t.Context(), querier.Ask{Expr: "SELECT 1", Limit: 1})
	if failed == nil || failed.Kind != evaluate.TooMuch {
		t.Errorf("over the limit: %v", failed)
	}
	if last := asked[len(asked)-1]; !strings.HasPrefix(last, "POST /es/_sql/close <nil> <nil> next") {
		t.Errorf("the cursor is left: %s", asked)
	}
}

func TestElasticsearchSignsIn(t *testing.T) {
	t.Parallel()
	var asked []string
	s := pages(t, &asked)
	for payload, want := range map[string]string{
		`{"deployment":"cloud","api_key":"id:key"}`:                               " ApiKey aWQ6a2V5",
		`{"deployment":"cloud","api_key":"aWQ6a2V5"}`:                             " ApiKey aWQ6a2V5",
		`{"username":"u","service_token":"t"}`:                                    " Bearer t",
		`{"headers":["Authorization: own"]}`:                                      " own",
		`{"certificate_fingerprint":"00","username":"","headers":["X-Other: 1"]}`: " ",
	} {
		open, failed := elasticsearch.Open(querier.Datasource{Address: s.URL + "/es", Payload: []byte(payload)}, queriertest.Out())
		if failed != nil {
			t.Fatal(failed)
		}
		phases := open.Test(t.Context())
		if last := phases[len(phases)-1]; last.Name != "rights" || last.OK || !strings.Contains(last.Message, `"write"`) {
			t.Errorf("%s: %+v", payload, phases)
		}
		if got := asked[len(asked)-1]; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
		open.Close()
	}
}

func TestElasticsearchFingerprint(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(queriertest.Write(200, one))
	t.Cleanup(s.Close)
	for print, phase := range map[string]string{queriertest.SHA256(s.Certificate().Raw): "", "00": "tls"} {
		open, failed := elasticsearch.Open(querier.Datasource{Address: s.Listener.Addr().String(), Payload: []byte(`{"certificate_fingerprint":"` + print + `"}`)}, queriertest.Out())
		if failed == nil {
			_, failed = open.Query(t.Context(), querier.Ask{Expr: "SELECT 1"})
		}
		if phase == "" && failed != nil || phase != "" && (failed == nil || failed.Phase != phase) {
			t.Errorf("%s: %v", print, failed)
		}
	}
}

// The secrets of a deployment in the cloud go to the host in its cloud_id, whatever its address.
func TestElasticCloudSecretsNeedTheirHost(t *testing.T) {
	t.Setenv("ELASTIC_KEY", "secret")
	env, err := querier.ParseSecretEnv([]string{"ELASTIC_KEY=abc.eu.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	var opened string
	r := querier.Registry{SecretEnv: env, Out: queriertest.Out(), Types: querier.Types{"elasticsearch": elasticsearch.Open}}
	for id, want := range map[string]bool{"x:ZXUuZXhhbXBsZS5jb20kYWJjJGtpYg==": true, "x:ZXZpbC5leGFtcGxlLmNvbSRhYmMka2li": false, "x": false} {
		_, failed := r.Open(querier.Datasource{Type: "elasticsearch", Address: "abc.eu.example.com:443", Payload: []byte(`{"deployment":"cloud","cloud_id":"` + id + `","api_key":"${env:ELASTIC_KEY}"}`)})
		if (failed == nil) != want {
			t.Errorf("%s: %v %s", id, failed, opened)
		}
	}
}
