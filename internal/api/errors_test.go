package api_test

import (
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
)

// apitest.ReadReply checks the shape of every reply of every test: request_id and data, or request_id
// and an error with code and message, and the same id in both headers. Here are the tests of their texts.

func TestErrorsFollowLanguage(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	for _, c := range []struct{ language, path, key, body, message string }{
		{"", echo, apitest.KeyA, `{}`, "The specified parameter name is not valid: is required."},
		{"en", echo, apitest.KeyA, `{}`, "The specified parameter name is not valid: is required."},
		{"fr, zh;q=0.5", echo, apitest.KeyA, `{}`, "The specified parameter name is not valid: is required."},
		{"zh", echo, apitest.KeyA, `{}`, "参数 name 不合法：is required。"},
		{"zh-CN,zh;q=0.9,en;q=0.8", echo, apitest.KeyA, `{}`, "参数 name 不合法：is required。"},
		{" ZH-Hans", echo, apitest.KeyA, `{}`, "参数 name 不合法：is required。"},
		{"zh", broken, apitest.KeyA, `{"name":"x"}`, "服务内部错误，请稍后重试。"},
		{"", broken, apitest.KeyA, `{"name":"x"}`, "We encountered an internal error, and it has been reported. Please try again later."},
		{"", echo, "wrong", `{}`, "You are unauthorized: the app key is missing, unknown, disabled or expired."},
		{"", secure, apitest.KeyReader, `{}`, "Access Denied: this key lacks the permission Datasources Manage (monit)."},
		{"", echo, apitest.KeyReader, `{}`, "Access Denied: this key lacks the permission Schedules Read (on-call) or Schedules Manage (on-call)."},
	} {
		r := s.Request("POST", c.path+"?app_key="+c.key, c.body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Language", c.language)
		if got := s.Do(r); got.Message != c.message {
			t.Errorf("%q: %s\nwant %s", c.language, got.Message, c.message)
		}
	}
}

func TestInternalErrorShowsNoDetails(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	for _, name := range []string{"panic", "encode", "error"} {
		r := s.Call(apitest.KeyA, broken, `{"name":"`+name+`"}`)
		if r.Status != 500 || r.Code != "InternalError" || regexp.MustCompile("private|cellar|nil pointer|chan|goroutine").MatchString(string(r.Body)) {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	if r := s.Call(apitest.KeyA, broken, `{"name":"bytes"}`); r.Status != 200 || !strings.Contains(string(r.Body), "not \uFFFD UTF-8") {
		t.Errorf("%s", r.Body)
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	seen := map[string]bool{}
	for range 100 { // in one and the same millisecond
		seen[s.Call(apitest.KeyA, broken, `{"name":"bytes"}`).Header.Get("Service-Request-Id")] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d ids for 100 calls", len(seen))
	}
}

func TestRepliesAreNotCached(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	if got := s.Call(apitest.KeyA, broken, `{"name":"bytes"}`).Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: %q", got)
	}
}
