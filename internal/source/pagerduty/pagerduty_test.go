package pagerduty_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/source/change"
	"tocsin/internal/source/pagerduty"
	"tocsin/internal/source/sourcetest"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, pagerduty.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, pagerduty.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, pagerduty.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	sourcetest.Refuses(t, pagerduty.Parse, map[string]string{
		`{}`: "event_action: must be trigger, acknowledge or resolve", `{"event_type": "triggered"}`: "event_type: must be",
		`{"event_action": "resolve"}`: "dedup_key: is required", `{"event_type": "resolve"}`: "incident_key: is required",
		`{"event_action": "trigger"}`: "payload.summary: is required", `{"event_type": "trigger"}`: "description: is required",
		`{"event_action": "trigger", "dedup_key": "` + strings.Repeat("x", 256) + `"}`: "dedup_key: must be at most 255 characters, got 256",
		`{"event_action": "trigger", "payload": []}`:                                   "payload: cannot be read: it must not be a list", `{`: "it is no JSON",
	})
}

func trigger(more string) string {
	return `{"event_action": "trigger", "dedup_key": "k", "payload": {"summary": "x", ` + more + `}}`
}

func TestSeverities(t *testing.T) {
	for word, want := range map[string]string{"critical": event.Critical, "error": event.Critical, "warning": event.Warning, "info": event.Info, "Info": event.Info, "odd": event.Warning, "": event.Critical} {
		if e := sourcetest.One(t, pagerduty.Parse, trigger(`"severity": "`+word+`"`)); e.Status != want {
			t.Errorf("%q: %s, want %s", word, e.Status, want)
		}
	}
}

// TestResolve: a resolve holds only the key of the alert that is over, which is that of its trigger.
func TestResolve(t *testing.T) {
	e := sourcetest.One(t, pagerduty.Parse, `{"event_action": "resolve", "dedup_key": "k"}`)
	if e.AlertKey != sourcetest.One(t, pagerduty.Parse, trigger(`"source": "y"`)).AlertKey || e.Status != event.Ok || e.Severity != event.Info {
		t.Errorf("%+v", e)
	}
}

// TestDetails: details with one name in two forms, or nested deeply, always result in the same labels.
func TestDetails(t *testing.T) {
	e := sourcetest.One(t, pagerduty.Parse, trigger(`"source": 5, "custom_details": {"a.b": 1, "a": {"b": 2, "c": {"d": {"e": 3}}}, "big": 12345678901234567890, "list": ["x"], "none": null, "source": "hidden", "": "x"}`))
	want := map[string]string{"a.b": "2", "a.c.d": `{"e": 3}`, "big": "12345678901234567890", "list": `["x"]`, "source": "5"}
	for name, value := range want {
		if e.Labels[name] != value {
			t.Errorf("%s: %q, want %q", name, e.Labels[name], value)
		}
	}
	if len(e.Labels) != len(want) {
		t.Errorf("%q", e.Labels)
	}
	if e := sourcetest.One(t, pagerduty.Parse, trigger(`"custom_details": "all of it"`)); e.Description != "all of it" {
		t.Errorf("%q", e.Description)
	}
}

func TestPicturesAndLinks(t *testing.T) {
	e := sourcetest.One(t, pagerduty.Parse, `{"event_action": "trigger", "payload": {"summary": "x"}, "links": [{"href": "javascript:alert(1)"}, {"href": "https://e.com/run", "text": "Runbook"}],
		"images": [{"src": "javascript:alert(1)"}, {"src": "https://e.com/a.png", "href": "javascript:alert(1)", "alt": "A\u0000"}, {"src": "https://e.com/b.png", "alt": "A"}]}`)
	if e.Description != "Runbook https://e.com/run" || len(e.Images) != 2 || e.Images[0] != (event.Image{Src: "https://e.com/a.png", Alt: "A"}) || e.Images[1] != (event.Image{Src: "https://e.com/b.png"}) {
		t.Errorf("%q %+v", e.Description, e.Images)
	}
}

func TestKey(t *testing.T) {
	for body, want := range map[string]string{`{"routing_key": " r "}`: "r", `{"service_key": "s"}`: "s", `{"routing_key": "r", "service_key": "s"}`: "r", `{}`: "", `x`: "", `{"routing_key": 5}`: ""} {
		if got := pagerduty.Key([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestOwnLabelsGoBeforeDetails: details never displace the labels of PagerDuty's own fields.
func TestOwnLabelsGoBeforeDetails(t *testing.T) {
	var details []string
	for i := range 60 {
		details = append(details, fmt.Sprintf(`"a%02d": "x"`, i))
	}
	e := sourcetest.One(t, pagerduty.Parse, `{"event_action": "trigger", "payload": {"summary": "Slow", "source": "shop", "severity": "info", "custom_details": {"source": "not me", `+strings.Join(details, ", ")+`}}}`)
	if e.Labels["source"] != "shop" || len(e.Labels) != event.MaxLabels {
		t.Errorf("%+v", e.Labels)
	}
}

func TestSteady(t *testing.T) {
	sourcetest.Steady(t, pagerduty.Parse, `{"event_action": "trigger", "payload": {"summary": "x", "custom_details": {"a": {"b": 1}, "a.b": 2, "c": {"d.e": 3, "d": {"e": 4}}}}}`)
}

func changed(t *testing.T, body string) change.Event {
	t.Helper()
	e, err := pagerduty.ParseChange([]byte(body), sourcetest.Came)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return e
}

// TestChangeEvents reads the example of PagerDuty's documentation. The same body has the same key, so that one that is sent
// again is one change; without a time of its own it is a change of the moment in which it came.
func TestChangeEvents(t *testing.T) {
	const build = `{"routing_key": "k", "payload": {"summary": "Build Success - Increase snapshot create timeout", "timestamp": "2026-04-13T03:00:00.000Z", "source": "acme-build-pipeline",
		"custom_details": {"build_state": "passed", "build_number": 2}}, "links": [{"href": "javascript:alert(1)", "text": "bad"}, {"href": "https://acme.test/build/2", "text": "View more"}, {"href": "https://acme.test/diff", "text": "Diff"}]}`
	e := changed(t, build)
	want := map[string]string{"source": "acme-build-pipeline", "build_state": "passed", "build_number": "2"}
	if e.Title != "Build Success - Increase snapshot create timeout" || e.Status != "Done" || e.Link != "https://acme.test/build/2" || e.Description != "Diff https://acme.test/diff" ||
		e.Time != 1776049200 || !maps.Equal(e.Labels, want) {
		t.Errorf("%+v", e)
	}
	if again := changed(t, build); again.Key != e.Key || e.Key == "" {
		t.Errorf("%q and %q", e.Key, again.Key)
	}
	if other := changed(t, strings.Replace(build, `"build_number": 2`, `"build_number": 3`, 1)); other.Key == e.Key {
		t.Error("two builds are one change")
	}
	now := changed(t, `{"payload": {"summary": "x"}}`)
	later, err := pagerduty.ParseChange([]byte(`{"payload": {"summary": "x"}}`), sourcetest.Came.Add(time.Hour))
	if err != nil || now.Key == later.Key || now.Time != sourcetest.Came.Unix() {
		t.Errorf("%+v %+v %v", now, later, err)
	}
	for body, says := range map[string]string{`{}`: "payload.summary: is required", `[]`: "must not be a list", `{"payload": {"summary": " "}}`: "payload.summary: is required"} {
		if _, err := pagerduty.ParseChange([]byte(body), sourcetest.Came); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", body, err, says)
		}
	}
}

func TestDedupKey(t *testing.T) {
	for body, want := range map[string]string{`{"dedup_key": "d"}`: "d", `{"incident_key": 5}`: "5", `{"dedup_key": "d", "incident_key": "i"}`: "d", `{}`: "", `x`: ""} {
		if got := pagerduty.DedupKey([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
