package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
)

// lines is a log that a test can read while the server writes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was logged since it was last called.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

func startLogging(t *testing.T) (*apitest.Server, *lines) {
	log := &lines{}
	return withToys(apitest.StartConfig(t, func(c *api.Config) { c.Log = slog.New(slog.NewJSONHandler(log, nil)) }, toys())), log
}

// serve makes a call without a network, so that it has been logged when it returns.
func serve(s *apitest.Server, target, body string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	s.Frame.ServeHTTP(w, r)
	return w
}

func TestOneLinePerCall(t *testing.T) {
	t.Parallel()
	s, log := startLogging(t)
	asJSON := http.Header{"Content-Type": {"application/json"}}
	for _, c := range []struct {
		target, body, level, op, code string
		account                       float64
	}{
		{list + "?app_key=" + apitest.KeyA, `{}`, "INFO", list, "OK", apitest.AccountA},
		{list + "?app_key=wrong-key", `{}`, "INFO", list, "Unauthorized", 0},
		{info + "?app_key=" + apitest.KeyA, `{"id":7}`, "INFO", info, "ResourceNotFound", apitest.AccountA},
		{"/toy/none?app_key=" + apitest.KeyA, `{}`, "INFO", "unknown", "RouteNotFound", 0},
		{broken + "?app_key=" + apitest.KeyA, `{"name":"x"}`, "ERROR", broken, "InternalError", apitest.AccountA},
	} {
		w := serve(s, c.target, c.body, asJSON)
		var line map[string]any
		text := log.take()
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line["level"] != c.level || line["op"] != c.op || line["code"] != c.code || line["account_id"] != c.account || line["request_id"] != w.Header().Get("Service-Request-Id") || line["ip"] != "192.0.2.1" || line["status"] != float64(w.Code) || line["bytes"] != float64(w.Body.Len()) {
			t.Errorf("%s: %s", c.target, text)
		}
	}
	serve(s, broken+"?app_key="+apitest.KeyA, `{"name":"panic"}`, asJSON)
	if text := log.take(); !strings.Contains(text, "nil pointer") || !strings.Contains(text, "toyBroken") {
		t.Errorf("a panic without its stack: %s", text)
	}
}

func TestLogHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	s, log := startLogging(t)
	const secret = "hunter2hunter2"
	for _, c := range []struct {
		target, body string
		header       http.Header
	}{
		{list + "?app_key=" + apitest.KeyA + "&other=" + secret, `{}`, nil},
		{list + "?other=" + secret, `{}`, http.Header{"Authorization": {"Bearer " + apitest.KeyA}}},
		{list + "?app_key=" + secret, `{}`, nil},
		{list, `{}`, http.Header{"Authorization": {"Bearer " + secret}}},
		{list + "&app_key=" + secret, `{}`, nil},
		{list + "%3Fapp_key=" + secret, `{}`, nil},
		{echo + "?app_key=" + apitest.KeyA, with(`"token":"` + secret + `"`), nil},
		{create + "?app_key=" + apitest.KeyA, `{"name":"ball","password":["` + secret + `"]}`, nil},
		{create + "?app_key=" + apitest.KeyA, `{"name":"ball","password":"` + secret + `","then":"panic"}`, nil},
		{create + "?app_key=" + apitest.KeyA, `{"name":{"x":"` + secret + `"}}`, nil},
	} {
		header := http.Header{"Content-Type": {"application/json"}, "X-Other": {secret}}
		for name, values := range c.header {
			header[name] = values
		}
		w := serve(s, c.target, c.body, header)
		text := log.take()
		if text == "" || strings.Contains(text, secret) || strings.Contains(text, apitest.KeyA) || strings.Contains(text, "app_key=") {
			t.Errorf("%s logs %s", c.target, text)
		}
		if body := w.Body.String(); strings.Contains(body, secret) || strings.Contains(body, apitest.KeyA) {
			t.Errorf("%s is answered %s", c.target, body)
		}
	}
}

// TestCallerThatLeaves: a caller that leaves is not an internal error; a call that takes too long is Unavailable.
func TestCallerThatLeaves(t *testing.T) {
	t.Parallel()
	log := &lines{}
	waits := []api.Op{{Path: "/toy/wait", Effect: api.Write, Do: api.Do(func(c *api.Call, in nothing) (api.Empty, error) {
		<-c.Ctx.Done()
		return api.Empty{}, fmt.Errorf("while waiting: %w", c.Ctx.Err())
	})}}
	s := apitest.StartConfig(t, func(c *api.Config) { c.Log = slog.New(slog.NewJSONHandler(log, nil)) }, waits)
	left, leave := context.WithCancel(t.Context())
	late, end := context.WithDeadline(t.Context(), apitest.Now.Add(-10*365*24*time.Hour))
	defer end()
	leave()
	for _, c := range []struct {
		ctx         context.Context
		code, level string
	}{{left, "BadRequest", "INFO"}, {late, "ServiceUnavailable", "ERROR"}} {
		log.take()
		s.Clock.Add(time.Second)
		s.Frame.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(c.ctx, "POST", "/toy/wait?app_key="+apitest.KeyA, nil))
		if text := log.take(); !strings.Contains(text, c.code) || !strings.Contains(text, c.level) || !strings.Contains(text, context.Cause(c.ctx).Error()) {
			t.Errorf("%s: %s", c.code, text)
		}
		if entries := auditLog(s); entries[len(entries)-1].code != c.code {
			t.Errorf("%+v", entries)
		}
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	prefixes := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	log := &lines{}
	s := apitest.StartConfig(t, func(c *api.Config) {
		c.Log, c.Proxies = slog.New(slog.NewJSONHandler(log, nil)), prefixes
	}, toys())
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		want         string
	}{
		{"nobody forwards", "203.0.113.7:1234", nil, "203.0.113.7"},
		{"a stranger claims", "203.0.113.7:1234", []string{"192.0.2.9"}, "203.0.113.7"},
		{"a proxy forwards", "10.1.1.1:1234", []string{"192.0.2.9"}, "192.0.2.9"},
		{"a proxy says nothing", "10.1.1.1:1234", nil, "10.1.1.1"},
		{"the client claims before the proxy", "10.1.1.1:1234", []string{"1.1.1.1, 192.0.2.9"}, "192.0.2.9"},
		{"two proxies", "10.1.1.1:1234", []string{"192.0.2.9, 10.2.2.2"}, "192.0.2.9"},
		{"two proxies, two headers", "10.1.1.1:1234", []string{"192.0.2.9", "10.2.2.2"}, "192.0.2.9"},
		{"the client claims to be a proxy", "10.1.1.1:1234", []string{"1.1.1.1, 10.9.9.9, 192.0.2.9"}, "192.0.2.9"},
		{"proxies all the way", "10.1.1.1:1234", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"garbage", "10.1.1.1:1234", []string{"unknown"}, "10.1.1.1"},
		{"garbage before an address", "10.1.1.1:1234", []string{"unknown, 192.0.2.9"}, "192.0.2.9"},
		{"garbage behind an address", "10.1.1.1:1234", []string{"192.0.2.9, unknown"}, "10.1.1.1"},
		{"IPv6", "[2001:db8:1::5]:1234", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		{"IPv6 stranger", "[2001:db8:2::5]:1234", []string{"192.0.2.9"}, "2001:db8:2::5"},
		{"IPv4 in IPv6", "[::ffff:10.1.1.1]:1234", []string{"::ffff:192.0.2.9"}, "192.0.2.9"},
		{"a socket without address", "@", []string{"192.0.2.9"}, "@"},
	} {
		s.Clock.Add(time.Second)
		r := httptest.NewRequest("POST", open+"?app_key="+apitest.KeyA, nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = c.remote, c.forwarded
		s.Frame.ServeHTTP(httptest.NewRecorder(), r)
		var line struct{ IP string }
		if err := json.Unmarshal([]byte(log.take()), &line); err != nil || line.IP != c.want {
			t.Errorf("%s: %v %q, want %q", c.name, err, line.IP, c.want)
		}
		if got := auditLog(s); got[len(got)-1].ip != c.want {
			t.Errorf("%s: %+v", c.name, got[len(got)-1])
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Metrics = registry }, toys()))
	serve(s, list+"?app_key="+apitest.KeyA, "", nil)
	serve(s, list+"?app_key="+apitest.KeyA, "", nil)
	serve(s, list, "", nil)
	serve(s, "/no/such", "", nil)
	serve(s, "/nor/such", "", nil)
	got := map[string]float64{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			got[key] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for key, want := range map[string]float64{
		"tocsin_api_calls_total /toy/list OK":           2,
		"tocsin_api_calls_total /toy/list Unauthorized": 1,
		"tocsin_api_calls_total unknown RouteNotFound":  2,
		"tocsin_api_call_seconds /toy/list":             3,
		"tocsin_api_call_seconds unknown":               2,
		"tocsin_calls_waiting":                          0,
		"tocsin_body_bytes":                             0,
		"tocsin_reply_bytes":                            0,
	} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	if len(got) != 8 {
		t.Errorf("%v", got)
	}
}
