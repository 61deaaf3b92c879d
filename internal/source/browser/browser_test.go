package browser_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/source/browser"
)

// captured is when the captures were made, Unix milliseconds.
const captured = 1795211000000

func file(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDatadogCaptures(t *testing.T) {
	b := browser.Datadog(file(t, "dd-01-beacon-exit.ndjson"), "", captured)
	if len(b.Errors) != 7 || b.Malformed != 0 || b.Left != 0 {
		t.Fatalf("%d errors, want 7: %+v", len(b.Errors), b)
	}
	e := b.Errors[4]
	want := rumerror.Error{ID: "acdf69e6-4370-4075-aca5-0191079a1ac2", Type: "TypeError", Message: "Cannot read properties of undefined (reading 'rate')",
		Source: "source", Service: "shop-web", Version: "1.4.2", Env: "production", URL: "http://127.0.0.1:8901/dd.html?exit",
		Session: "31dda52d-60ea-49d4-b665-0cd225a8f110", User: rumerror.User{ID: "vip_001", Name: "Jane", Email: "jane@vip.com"}}
	want.Time = e.Time
	want.Stack = e.Stack
	want.Frames = e.Frames
	if fmt.Sprintf("%+v", e) != fmt.Sprintf("%+v", want) {
		t.Errorf("\n%+v, want\n%+v", e, want)
	}
	if f := e.Frames[0]; f.Function != "i" || f.File != "http://127.0.0.1:8901/assets/app.min.js" || f.Line != 1 || f.Column != 273 {
		t.Errorf("%+v", f)
	}
	if e.Time < captured-3600_000 || e.Time > captured {
		t.Error(e.Time)
	}
	if c := b.Errors[2].Causes; len(c) != 1 || c[0].Type != "SyntaxError" || len(c[0].Frames) == 0 {
		t.Errorf("%+v", c)
	}
	if f := b.Errors[3].Fingerprint; len(f) != 1 || f[0] != "checkout-validation" {
		t.Error(f)
	}
	stream, err := zlib.NewReader(bytes.NewReader(file(t, "dd-03-deflate.zlib")))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(stream)
	if b := browser.Datadog(plain, "", captured); err != nil || len(b.Errors) == 0 {
		t.Errorf("%d errors of the compressed capture: %v", len(b.Errors), err)
	}
}

func TestSentryCaptures(t *testing.T) {
	for name, want := range map[string]struct {
		kind, message, fingerprint string
		frames, causes             int
		handled                    bool
	}{
		"sentry-01-uncaught":    {"TypeError", "Cannot read properties of undefined (reading 'rate')", "", 3, 0, false},
		"sentry-02-chained":     {"Error", "could not load settings", "", 3, 1, true},
		"sentry-03-fingerprint": {"Error", "custom grouping demo", "{{ default }}|checkout-validation", 6, 0, true},
		"sentry-04-message":     {"", "plain message 123", "", 3, 0, true},
		"sentry-06-tunnel":      {"Error", "custom grouping demo", "{{ default }}|checkout-validation", 6, 0, true},
		"sentry-07-nonerror":    {"Error", "Object captured as exception with keys: code, why", "", 6, 0, false},
	} {
		b := browser.Sentry(file(t, name+".envelope"), captured)
		if len(b.Errors) != 1 {
			t.Errorf("%s: %+v", name, b)
			continue
		}
		e := b.Errors[0]
		if e.Type != want.kind || e.Message != want.message || strings.Join(e.Fingerprint, "|") != want.fingerprint ||
			len(e.Frames) != want.frames || len(e.Causes) != want.causes || e.Handled != want.handled {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Service != "shop-web" || e.Version != "1.4.2" || e.Env != "production" || e.User.Email != "jane@vip.com" || e.Session == "" ||
			e.Browser != (rumerror.Browser{Name: "Chrome", Version: "156"}) || e.IP != "" || e.Time < captured-3600_000 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if b := browser.Sentry(file(t, "sentry-05-session.envelope"), captured); len(b.Errors) != 0 || b.Malformed != 0 {
		t.Errorf("%+v", b)
	}
	if e, ok := browser.Header(file(t, "sentry-06-tunnel.envelope")); !ok || e.Key != "e090078724855a4ca168c3884880dfbc" || e.EventID != "4d6d4ad84a1646d886e39438a322d2ef" {
		t.Errorf("%+v %t", e, ok)
	}
}

// The errors of one page are the same issues, whichever SDK reports them.
func TestBothSDKsHaveSameFingerprints(t *testing.T) {
	keys := func(list []rumerror.Error) map[string]string {
		all := map[string]string{}
		for _, e := range list {
			all[e.Message] = rumerror.Of("app1", &e).Key
		}
		return all
	}
	dd := keys(browser.Datadog(file(t, "dd-01-beacon-exit.ndjson"), "", captured).Errors)
	for name, want := range map[string]string{"sentry-01-uncaught": "2359fe20", "sentry-02-chained": "07cb7531"} {
		for message, key := range keys(browser.Sentry(file(t, name+".envelope"), captured).Errors) {
			if key != dd[message] || !strings.HasPrefix(key, want) {
				t.Errorf("%s: %s, %s from the other SDK, want %s", message, key, dd[message], want)
			}
		}
	}
	if key := dd["Invalid quantity 0 for item SKU-9981"]; !strings.HasPrefix(key, "8916e8f7") {
		t.Error(key)
	}
}

func TestOneMalformedEventCostsNoOther(t *testing.T) {
	line := `{"type":"error","error":{"message":"a","source":"source"}}`
	b := browser.Datadog([]byte("error{\n"+line+"\n{\"type\":\"error\",\"error\":7}\n\n"+line), "env:staging,service:web,version:7", captured)
	if len(b.Errors) != 2 || b.Malformed != 2 || b.Errors[0].Env != "staging" || b.Errors[0].Service != "web" || b.Errors[0].Version != "7" {
		t.Errorf("%+v", b)
	}
	event := `{"message":"a","timestamp":"1795210970.5"}`
	b = browser.Sentry(fmt.Appendf(nil, "{}\n{\"type\":\"event\"}\n7\n{\"type\":\"attachment\",\"length\":3}\nx\ny\n{\"type\":\"event\",\"length\":%d}\n%s\n", len(event), event), captured)
	if len(b.Errors) != 1 || b.Malformed != 1 || b.Errors[0].Message != "a" || b.Errors[0].Time != 1795210970500 {
		t.Errorf("%+v", b)
	}
}

func TestWhatIsNoErrorOfPage(t *testing.T) {
	for _, line := range []string{
		`{"type":"view","error":{"message":"a","source":"source"}}`,
		`{"type":"error","error":{"message":"a","source":"network"}}`,
		`{"type":"telemetry","error":{"message":"a","source":"source"}}`,
		`{"type":"error","error":{"message":"a","source":"source","stack":"Error: a\n  at f @ chrome-extension://abc/x.js:1:2"}}`,
	} {
		if b := browser.Datadog([]byte(line), "", captured); len(b.Errors) != 0 || b.Malformed != 0 {
			t.Errorf("%s: %+v", line, b)
		}
	}
}

func TestFloodIsCut(t *testing.T) {
	line := `{"type":"error","error":{"message":"a","source":"source"}}` + "\n"
	if b := browser.Datadog([]byte(strings.Repeat(line, 5000)), "", captured); len(b.Errors) != browser.MaxErrors || len(b.Errors)+b.Left != 5000 {
		t.Errorf("%d errors, %d left", len(b.Errors), b.Left)
	}
}

func within(t *testing.T, b browser.Batch) {
	t.Helper()
	if len(b.Errors) > browser.MaxErrors {
		t.Errorf("%d errors", len(b.Errors))
	}
	for _, e := range b.Errors {
		if !utf8.ValidString(e.Message+e.Stack+e.URL+e.Service) || utf8.RuneCountInString(e.Message) > rumerror.MaxMessage ||
			utf8.RuneCountInString(e.Stack) > rumerror.MaxStack || len(e.Frames) > rumerror.MaxFrames || len(e.Causes) > rumerror.MaxCauses ||
			e.Time > captured || len(rumerror.Of("app", &e).Key) != 32 {
			t.Errorf("beyond its bounds: %+v", e)
		}
	}
}

func FuzzDatadog(f *testing.F) {
	for _, line := range bytes.Split(file(f, "dd-01-beacon-exit.ndjson"), []byte("\n")) {
		f.Add(line, "env:a,service:b")
	}
	f.Add([]byte(`{"type":"error","date":-1,"error":{"source":"console","causes":[{}],"stack":"at\n@\nat (::)"}}`), ",:")
	f.Fuzz(func(t *testing.T, body []byte, tags string) { within(t, browser.Datadog(body, tags, captured)) })
}

func FuzzSentry(f *testing.F) {
	for _, name := range []string{"01-uncaught", "02-chained", "03-fingerprint", "04-message", "05-session", "06-tunnel", "07-nonerror"} {
		f.Add(file(f, "sentry-"+name+".envelope"))
	}
	f.Add([]byte("{}\n{\"type\":\"event\",\"length\":99}\n{}\n{\"length\":-1}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		browser.Header(body)
		within(t, browser.Sentry(body, captured))
	})
}
