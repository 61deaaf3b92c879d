package sls_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
	"tocsin/internal/querier/queriertest"
	"tocsin/internal/querier/sls"
)

// The answers are written after the public documentation of the service.
const one = `{"meta":{"progress":"Complete","count":1,"hasSQL":true,"limited":100,"keys":["host","n"]},"data":[{"host":"a","n":"3","__time__":"1700000000","__source__":"10.0.0.1"}]}`

const payload = `{"access_key_id":"id-of-key","access_key_secret":"secret-of-key","headers":["X-Own: 1"]}`

var args = map[string]string{"sls.project": "shop-logs", "sls.logstore": "access"}

func TestSLSWithHostileServers(t *testing.T) {
	t.Parallel()
	typed := queriertest.Type{Name: "sls", Open: sls.Open, Query: "* | SELECT host, count(*) AS n GROUP BY host", Good: one, Args: args, Endpoint: true, Block: `{"access_key_id":"i","access_key_secret":"PASSWORD","headers":["X-Token: TOKEN","X-Param: PARAM"]}`}
	meta := func(text string) http.HandlerFunc { return queriertest.Write(200, `{"meta":{`+text+`},"data":[]}`) }
	typed.Run(t,
		queriertest.Case{Name: "an answer that stays incomplete", Kind: evaluate.Partial, Answer: meta(`"progress":"Incomplete","hasSQL":true`)},
		queriertest.Case{Name: "no SQL", Kind: evaluate.BadQuery, Answer: meta(`"progress":"Complete","hasSQL":false`)},
		queriertest.Case{Name: "a refused query", Kind: evaluate.BadQuery, Says: "column hots", Answer: queriertest.Write(400, `{"errorCode":"ParameterInvalid","errorMessage":"column hots cannot be resolved"}`)},
	)
}

// The signature is computed once more, as the documentation describes it.
func TestSLSSignature(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sum, kind := "", ""
		if len(body) > 0 {
			sum, kind = fmt.Sprintf("%X", md5.Sum(body)), r.Header.Get("Content-Type")
		}
		resource := r.URL.Path
		if r.URL.RawQuery != "" {
			resource += "?" + r.URL.RawQuery // in the order of their names, and nothing to escape
		}
		text := strings.Join([]string{
			r.Method, sum, kind, r.Header.Get("Date"), "x-log-apiversion:0.6.0",
			fmt.Sprintf("x-log-bodyrawsize:%d", len(body)), "x-log-signaturemethod:hmac-sha1", resource,
		}, "\n")
		mac := hmac.New(sha1.New, []byte("secret-of-key"))
		io.WriteString(mac, text)
		if want := "LOG id-of-key:" + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("Authorization") != want || r.Header.Get("Content-Md5") != sum || r.Header.Get("X-Own") != "1" {
			t.Errorf("%v, want %s", r.Header, want)
		}
		if at, err := http.ParseTime(r.Header.Get("Date")); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("the date is %s", r.Header.Get("Date"))
		}
		host, _, _ := strings.Cut(r.Host, ":")
		asked = append(asked, r.Method+" "+host+r.URL.RequestURI()+" "+string(body))
		switch {
		case r.URL.Path == "/logstores":
			queriertest.Write(200, `{"count":1,"total":1,"logstores":["access"]}`)(w, r)
		case r.URL.Path == "/":
			queriertest.Write(200, `{"count":1,"total":1,"projects":[{"projectName":"shop-logs"}]}`)(w, r)
		default:
			queriertest.Write(200, one)(w, r)
		}
	}))
	t.Cleanup(server.Close)
	open, failed := sls.Open(querier.Datasource{Address: strings.TrimPrefix(server.URL, "http://"), Payload: []byte(payload)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	rows, failed := open.Query(t.Context(), querier.Ask{Expr: "* | SELECT 1", AsOf: time.Unix(1000, 0), Args: args, ValueFields: []string{"n"}})
	if failed != nil || len(rows) != 1 || fmt.Sprint(rows[0].Labels, rows[0].Values) != "map[host:a] map[n:3]" {
		t.Errorf("%v %v", rows, failed)
	}
	projects, failed := open.(querier.Lister).List(t.Context(), "", "shop", 0, 20)
	stores, other := open.(querier.Lister).List(t.Context(), "shop-logs", "", 0, 20)
	if failed != nil || other != nil || fmt.Sprint(projects, stores) != "[shop-logs] [access]" {
		t.Errorf("%v %v %v %v", projects, failed, stores, other)
	}
	for _, p := range open.Test(t.Context()) {
		if !p.OK {
			t.Errorf("%+v", p)
		}
	}
	want := []string{
		`POST shop-logs.127.0.0.1/logstores/access/logs {"from":100,"line":100,"offset":0,"powerSql":false,"query":"* | SELECT 1","to":1000}`,
		"GET 127.0.0.1/?offset=0&projectName=shop&size=20 ", "GET shop-logs.127.0.0.1/logstores?offset=0&size=20 ", "GET 127.0.0.1/?offset=0&size=1 ",
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked\n%q, want\n%q", asked, want)
	}
	for _, project := range []string{"", "evil.example.com/", "a@b", "a.b", "x:1"} {
		if _, failed := open.Query(t.Context(), querier.Ask{Expr: "*", Args: map[string]string{"sls.project": project, "sls.logstore": "access"}}); failed == nil || failed.Kind != evaluate.Unsupported {
			t.Errorf("project %q: %v", project, failed)
		}
	}
	from := map[string]string{"sls.project": "shop-logs", "sls.logstore": "access", "sls.from": "1700000000"}
	if _, failed := open.Query(t.Context(), querier.Ask{Expr: "*", Args: from}); failed == nil || !strings.Contains(failed.Message, "sls.from is not supported") {
		t.Errorf("sls.from: %v", failed)
	}
}

func TestSLSCutsAtItsLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(queriertest.Write(200, `{"meta":{"progress":"Complete","hasSQL":true,"limited":2},"data":[{"host":"a","n":"1"},{"host":"b","n":"null"}]}`))
	t.Cleanup(server.Close)
	open, failed := sls.Open(querier.Datasource{Address: strings.TrimPrefix(server.URL, "http://"), Payload: []byte(payload)}, queriertest.Out())
	if failed != nil {
		t.Fatal(failed)
	}
	rows, failed := open.Query(t.Context(), querier.Ask{Expr: "* | SELECT 1", Args: args, ValueFields: []string{"n"}})
	if len(rows) != 2 || failed == nil || !failed.Cut || failed.Kind != evaluate.TooMuch {
		t.Errorf("%v %v", rows, failed)
	}
}
