package prometheus_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
	"tocsin/internal/source/prometheus"
	"tocsin/internal/source/sourcetest"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, prometheus.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, prometheus.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, prometheus.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	sourcetest.Refuses(t, prometheus.Parse, map[string]string{
		`{}`:             "alerts: must hold 1 to 10000 alerts, got 0",
		`{"alerts": {}}`: "alerts: cannot be read: it must not be an object", `[]`: "must not be a list", `{"alerts": [`: "it is no JSON",
	})
}

// TestNeighboursAreKept: a malformed alert is named, and its neighbours are read.
func TestNeighboursAreKept(t *testing.T) {
	good := `{"status": "firing", "labels": {"alertname": "A"}}`
	for bad, want := range map[string]string{
		`{"status": "odd", "labels": {"a": "b"}}`:              `alerts[1].status: must be firing or resolved, got "odd"`,
		`{"status": "firing"}`:                                 "alerts[1].labels: is required",
		`{"status": "firing", "labels": {"a": ["b"]}}`:         "alerts[1].labels.a: cannot be read: it must not be a list",
		`{"status": "firing", "labels": {}, "annotations": 5}`: "alerts[1].annotations: cannot be read: it must not be a number",
		`5`: "alerts[1]: cannot be read: it must not be a number",
	} {
		batch, err := prometheus.Parse(source.Request{Body: []byte(`{"alerts": [` + good + `, ` + bad + `, ` + good + `]}`), At: sourcetest.Came, MaxAlerts: source.MaxAlerts})
		if err != nil || len(batch.Events) != 2 || len(batch.Refused) != 1 || batch.Refused[0].Index != 1 {
			t.Errorf("%s: %+v, %v", bad, batch, err)
		} else if got := batch.Refused[0].Field + ": " + batch.Refused[0].Message; got != want {
			t.Errorf("%s: %s, want %s", bad, got, want)
		}
	}
}

func TestSeverities(t *testing.T) {
	for labels, want := range map[string]string{
		`"severity": "critical"`: event.Critical, `"severity": " CRITICAL "`: event.Critical, `"severity": "warning"`: event.Warning, `"priority": "warn"`: event.Warning,
		`"level": "info"`: event.Info, `"severity": "acknowledged"`: event.Info, `"severity": "unknown"`: event.Info, `"severity": "unk"`: event.Info, `"severity": "ok"`: event.Ok,
		`"severity": "none"`: event.Info, `"severity": "page"`: event.Critical, `"severity": "x", "priority": "P1"`: event.Critical, `"level": "error"`: event.Warning, `"other": "critical"`: event.Warning, `"severity": "", "priority": "critical"`: event.Critical,
		`"level": "critical", "priority": "info"`: event.Info, `"priority": "critical", "severity": "info"`: event.Info,
	} {
		if e := sourcetest.One(t, prometheus.Parse, `{"alerts": [{"status": "firing", "labels": {`+labels+`}}]}`); e.Status != want {
			t.Errorf("%s: %s, want %s", labels, e.Status, want)
		}
	}
}

// TestSeverityWordIsKept: an event keeps the word as it came, beside the label, also for a resolved alert.
func TestSeverityWordIsKept(t *testing.T) {
	for labels, want := range map[string]string{`"a": "b"`: "", `"severity": "Page"`: "Page", `"severity": " Tier 1 "`: "Tier 1 unknown", `"severity": "Tier 2"`: "Tier 2"} {
		for _, status := range []string{"firing", "resolved"} {
			batch, err := prometheus.Parse(source.Request{Body: []byte(`{"alerts": [{"status": "` + status + `", "labels": {` + labels + `}}]}`), At: sourcetest.Came,
				MaxAlerts: source.MaxAlerts, Severities: source.SeverityMap{"tier 2": event.Info}})
			if err != nil {
				t.Fatal(err)
			}
			e := batch.Events[0]
			if got := e.Word + map[bool]string{true: " unknown"}[e.UnknownWord]; got != want {
				t.Errorf("%s: %q, want %q", labels, got, want)
			}
		}
	}
}

// TestKeyOfLabels: without a fingerprint the labels identify the alert, and its end has the same key.
func TestKeyOfLabels(t *testing.T) {
	begin := sourcetest.One(t, prometheus.Parse, `{"alerts": [{"status": "firing", "labels": {"a": "1"}, "annotations": {"summary": "x"}}]}`)
	end := sourcetest.One(t, prometheus.Parse, `{"alerts": [{"status": "resolved", "labels": {"a": "1"}}]}`)
	if begin.AlertKey != end.AlertKey || end.Status != event.Ok {
		t.Errorf("%+v and %+v", begin, end)
	}
}

// TestBrokenText: a broken character must not cost a notification.
func TestBrokenText(t *testing.T) {
	if e := sourcetest.One(t, prometheus.Parse, "{\"alerts\": [{\"status\": \"firing\", \"labels\": {\"a\": \"x\xff\\u0000y\"}}]}"); e.Labels["a"] != "x\uFFFDy" {
		t.Errorf("%q", e.Labels)
	}
}

// TestLabelsGoBeforeAnnotations: annotations never displace an alert's own labels, which routes and the title need.
func TestLabelsGoBeforeAnnotations(t *testing.T) {
	var annotations []string
	for i := range 60 {
		annotations = append(annotations, fmt.Sprintf(`"a%02d": "x"`, i))
	}
	e := sourcetest.One(t, prometheus.Parse, `{"alerts": [{"status": "firing", "labels": {"alertname": "Slow", "service": "shop"}, "annotations": {"service": "not me", `+strings.Join(annotations, ", ")+`}}]}`)
	if e.Title != "Slow::shop" || e.Labels["service"] != "shop" || len(e.Labels) != event.MaxLabels {
		t.Errorf("%+v", e)
	}
}
