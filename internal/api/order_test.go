package api_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// TestOrderOfChecks sends one request with every fault, repairs one fault after the other, and expects the error of the
// next check in the documented order each time.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, ratelimit.Rate{PerSecond: 1}, toys()))
	long := strings.Repeat("x", 2001)

	for _, step := range []struct {
		name, method, path, key, kind, body string
		code                                string
		status                              int
	}{
		{"route", "GET", "/toy/none", "nobody", "text/plain", long, "RouteNotFound", 404},
		{"method", "GET", echo, "nobody", "text/plain", long, "MethodNotAllowed", 405},
		{"key", "POST", echo, "nobody", "text/plain", long, "Unauthorized", 401},
		{"permission", "POST", echo, apitest.KeyReader, "text/plain", long, "AccessDenied", 403},
		{"rate", "POST", echo, apitest.KeyA, "text/plain", long, "RequestTooFrequently", 429},
		{"size", "POST", echo, apitest.KeyA, "text/plain", long, "EntityTooLarge", 413},
		{"content type", "POST", echo, apitest.KeyA, "text/plain", "{", "InvalidContentType", 400},
		{"syntax", "POST", echo, apitest.KeyA, "application/json", `{"count":0,`, "InvalidParameter", 400},
		{"field", "POST", echo, apitest.KeyA, "application/json", `{"name":"a","count":0,"maybe":null,"from":2,"to":1}`, "InvalidParameter", 400},
		{"fields together", "POST", echo, apitest.KeyA, "application/json", `{"name":"a","count":1,"maybe":null,"from":2,"to":1}`, "InvalidParameter", 400},
		{"operation", "POST", info, apitest.KeyA, "application/json", `{"id":1}`, "ResourceNotFound", 404},
	} {
		t.Run(step.name, func(t *testing.T) {
			s.Clock.Add(time.Second)
			if step.name == "permission" || step.name == "rate" { // the second is used up
				if r := s.Call(apitest.KeyA, echo, minimal); r.Status != 200 {
					t.Fatalf("%s", r.Body)
				}
			}
			r := s.Request(step.method, step.path+"?app_key="+step.key, step.body)
			r.Header.Set("Content-Type", step.kind)
			reply := s.Do(r)
			if reply.Code != step.code || reply.Status != step.status {
				t.Fatalf("%d %s", reply.Status, reply.Body)
			}
			allow := map[bool]string{true: "POST"}[step.status == 405]
			if reply.Header.Get("Allow") != allow {
				t.Errorf("Allow: %q", reply.Header.Get("Allow"))
			}
		})
	}
}

// TestKeyWithoutPermissionUsesUpNoRate: its calls count in windows of its own, in which it is refused like others.
func TestKeyWithoutPermissionUsesUpNoRate(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, ratelimit.Rate{PerSecond: 5, PerMinute: 20}, toys()))
	for n := range 10 {
		want := map[bool]string{true: "AccessDenied", false: "RequestTooFrequently"}[n < 5]
		r := s.Call(apitest.KeyReader, echo, minimal)
		if r.Code != want || r.Header.Get("Retry-After") != map[bool]string{false: "1"}[n < 5] {
			t.Errorf("call %d: %s, want %s", n, r.Body, want)
		}
	}
	for n := range 5 {
		if r := s.Call(apitest.KeyA, echo, minimal); r.Status != 200 {
			t.Errorf("call %d of the owner: %s", n, r.Body)
		}
	}
	if r := s.Call(apitest.KeyNothing, echo, minimal); r.Code != "AccessDenied" {
		t.Errorf("another key without the permission: %s", r.Body)
	}
}

func TestEveryOtherMethodIsRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
		r := s.Do(s.Request(method, list, ""))
		if r.Status != 405 || r.Header.Get("Allow") != "POST" || !strings.Contains(r.Message, method) {
			t.Errorf("%s: %d %s", method, r.Status, r.Body)
		}
	}
}

func TestPathsThatAreAlmostRight(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	for _, path := range []string{"/", "/toy", "/toy/", "/toy/echo/", "//toy/echo", "/TOY/echo", "/toy/echo%20", "/toy/echo&app_key=" + apitest.KeyA, "/%ff", "/" + strings.Repeat("a", 5000)} {
		r := s.Do(s.Request("POST", path, "{}"))
		if r.Code != "RouteNotFound" || r.Status != 404 {
			t.Errorf("%.60s: %d %s", path, r.Status, r.Body)
		}
		if strings.Contains(string(r.Body), apitest.KeyA) || len(r.Body) > 500 {
			t.Errorf("%.60s: answered with %s", path, r.Body)
		}
	}
}
