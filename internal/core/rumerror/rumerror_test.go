package rumerror_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
)

// vectors are errors with the fingerprint that each must have, and the group of those that must share one.
type vector struct {
	Name, Group, Key string
	E                struct {
		App, Service, Env, Type, Message, Stack string
		Fingerprint                             []string
	}
}

func vectors(t testing.TB) (list []vector) {
	t.Helper()
	text, err := os.ReadFile("testdata/grouping_vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) < 30 {
		t.Fatal(len(list), err)
	}
	return list
}

func TestFingerprintsOfVectors(t *testing.T) {
	groups := map[string]string{}
	for _, v := range vectors(t) {
		e := rumerror.Error{Service: v.E.Service, Env: v.E.Env, Type: v.E.Type, Message: v.E.Message, Fingerprint: v.E.Fingerprint, Frames: stack.Parse(v.E.Stack)}
		got := rumerror.Of(v.E.App, &e)
		if got.Key != v.Key {
			kind, message := rumerror.Normal(e.Type, e.Message)
			t.Errorf("%s: %s, want %s: %q %q %+v", v.Name, got.Key, v.Key, kind, message, e.Frames)
		}
		if other, known := groups[got.Key]; known && other != v.Group {
			t.Errorf("%s is of group %s and has the key of %s", v.Name, v.Group, other)
		}
		groups[got.Key] = v.Group
	}
	if len(groups) != 20 {
		t.Errorf("%d groups, want 20", len(groups))
	}
}

func TestNormal(t *testing.T) {
	for _, c := range []struct{ kind, message, wantKind, want string }{
		{"TypeError", "Cannot read property 'x' of undefined", "TypeError", "<null-access> x"},
		{"", "Uncaught (in promise) TypeError: Failed to fetch", "TypeError", "<fetch-failed>"},
		{"RangeError", "Maximum call stack size exceeded", "RangeError", "<stack-overflow>"},
		{"InternalError", "too much recursion", "RangeError", "<stack-overflow>"},
		{"SyntaxError", "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", "SyntaxError", "<invalid-json>"},
		{"ReferenceError", "Can't find variable: gtag", "ReferenceError", "<not-defined> gtag"},
		{"Error", "can't open 'settings' for jane@example.com at 10.0.0.7:8080", "Error", "can't open 'settings' for <email> at <ip>"},
		{"Error", "GET https://h/api/7?x=1 took 3000ms (1,234.5 KB) 0xFFee deadbeef00", "Error", "GET <url> took <n>ms (<n> KB) <hex> <hex>"},
		{"Error", "\n\n  second   line \nthird", "Error", "second line"},
		{"", "", "Error", ""},
	} {
		if kind, message := rumerror.Normal(c.kind, c.message); kind != c.wantKind || message != c.want {
			t.Errorf("%q %q: %q %q, want %q %q", c.kind, c.message, kind, message, c.wantKind, c.want)
		}
	}
}

// A release that changes hashes, versions, minified names and lines does not change the fingerprint.
func TestFingerprintsSurviveReleases(t *testing.T) {
	key := func(text string) string {
		e := rumerror.Error{Type: "Error", Message: "boom", Frames: stack.Parse(text)}
		return rumerror.Of("app", &e).Key
	}
	for _, c := range []struct {
		one, two string
		same     bool
	}{
		{"at pay (https://h/v1.2.3/static/main.8f2e1c9d.chunk.js:1:2)", "at pay (https://cdn/v1.3.0/static/main.0a1b2c3d.chunk.js:9:8)", true},
		{"at pay (https://h/20240101/app.js:1:2)", "at pay (https://h/20240202/app.js:1:2)", true},
		{"at ab (https://h/app.js:1:2)", "at q (https://h/app.js:1:2)", true},
		{"at pay (https://h/8f2e1c9d0a.js:1:2)", "at pay (https://h/0123456789.js:1:2)", true},
		{"at pay (https://h/cart.js:1:2)", "at pay (https://h/basket.js:1:2)", false},
		{"at pay (https://h/Settings.js:1:2)", "at pay (https://h/Checkout.js:1:2)", false},
	} {
		if same := key(c.one) == key(c.two); same != c.same {
			t.Errorf("%s and %s: same %t, want %t", c.one, c.two, same, c.same)
		}
	}
}

func TestSuspectedCause(t *testing.T) {
	for _, c := range []struct {
		e    rumerror.Error
		want string
	}{
		{rumerror.Error{Type: "SyntaxError", Message: "Unexpected token '<' is not valid JSON"}, rumerror.InvalidArgument},
		{rumerror.Error{Type: "Error", Request: rumerror.Request{Status: 502}}, rumerror.FailedRequest},
		{rumerror.Error{Type: "NetworkError"}, rumerror.NetworkError},
		{rumerror.Error{Type: "AbortError"}, rumerror.NetworkError},
		{rumerror.Error{Type: "RangeError", Message: "invalid argument"}, rumerror.Exception},
		{rumerror.Error{Type: "TypeError", Message: "Cannot read properties of undefined (reading 'x')"}, rumerror.InvalidAccess},
		{rumerror.Error{Type: "TypeError", Message: "Invalid argument x"}, rumerror.InvalidArgument},
		{rumerror.Error{Type: "Error", Message: "API ERROR: 17"}, rumerror.FailedRequest},
		{rumerror.Error{Type: "Error", Message: "the connection was lost"}, rumerror.NetworkError},
		{rumerror.Error{Type: "Error", Message: "boom"}, rumerror.Unknown},
	} {
		if got := rumerror.SuspectedCause(&c.e); got != c.want {
			t.Errorf("%+v: %s, want %s", c.e, got, c.want)
		}
	}
}

func TestSeverity(t *testing.T) {
	for _, c := range []struct {
		e     rumerror.Error
		cause string
		age   int64
		want  string
	}{
		{rumerror.Error{Crash: true}, rumerror.Unknown, 90 * 86400, "Critical"},
		{rumerror.Error{Env: "production", Message: "payment failed"}, rumerror.FailedRequest, 8 * 86400, "Info"},
		{rumerror.Error{Env: "production"}, rumerror.FailedRequest, 0, "Critical"},
		{rumerror.Error{Env: "production"}, rumerror.Exception, 0, "Warning"},
		{rumerror.Error{Env: "production"}, rumerror.Exception, 13 * 3600, "Critical"},
		{rumerror.Error{Env: "staging"}, rumerror.Unknown, 0, "Info"},
		{rumerror.Error{Env: "staging", Message: "upload failed"}, rumerror.Unknown, 0, "Warning"},
		{rumerror.Error{}, rumerror.Unknown, 0, "Info"},
	} {
		if got := rumerror.Severity(&c.e, c.cause, c.age); got != c.want {
			t.Errorf("%+v %s %d: %s, want %s", c.e, c.cause, c.age, got, c.want)
		}
	}
}

func TestBrowserOf(t *testing.T) {
	for agent, want := range map[string]rumerror.Browser{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36":                           {Name: "Chrome", Version: "156"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0":           {Name: "Edge", Version: "156"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0":                                                                  {Name: "Firefox", Version: "150"},
		"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1": {Name: "Safari", Version: "19"},
		"curl/8.0": {},
	} {
		if got := rumerror.BrowserOf(agent); got != want {
			t.Errorf("%s: %+v, want %+v", agent, got, want)
		}
	}
}

const captured = 1795211000000

// FuzzError checks that any texts result in an error within its bounds, and in the same fingerprint each time.
func FuzzError(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.E.Type, v.E.Message, v.E.Stack, strings.Join(v.E.Fingerprint, ","))
	}
	f.Add("\x00", strings.Repeat("'", 9000), "a@b:1:1\n\xff", "{{ default }}")
	f.Fuzz(func(t *testing.T, kind, message, text, chosen string) {
		e := rumerror.Error{Type: kind, Message: message, Stack: text, Frames: stack.Parse(text), URL: text, Time: -1}
		if chosen != "" {
			e.Fingerprint = strings.Split(chosen, ",")
		}
		e.Bound(captured)
		if e.Time != captured || utf8.RuneCountInString(e.Message) > rumerror.MaxMessage || utf8.RuneCountInString(e.Stack) > rumerror.MaxStack ||
			len(e.Frames) > rumerror.MaxFrames || !utf8.ValidString(e.Message+e.Stack+e.Type) || strings.Contains(e.Message, "\x00") {
			t.Errorf("beyond its bounds: %+v", e)
		}
		one, two := rumerror.Of("app", &e), rumerror.Of("app", &e)
		if one != two || len(one.Key) != 32 {
			t.Errorf("%+v and %+v", one, two)
		}
		if _, normal := rumerror.Normal(kind, message); utf8.RuneCountInString(normal) > 220 {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(normal), normal)
		}
		rumerror.Severity(&e, rumerror.SuspectedCause(&e), 0)
	})
}
