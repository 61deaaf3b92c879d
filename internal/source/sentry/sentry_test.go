package sentry_test

import (
	"strings"
	"testing"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
	"tocsin/internal/source/sentry"
	"tocsin/internal/source/sourcetest"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, sentry.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, sentry.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, sentry.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	sourcetest.Refuses(t, sentry.Parse, map[string]string{
		`{}`: "data: must hold an event or an issue", `{"data": {"event": {}}}`: "data.event.title: is required", `{"action": "created", "data": {"issue": {"id": 1}}}`: "data.issue.title: is required",
		`{"action": "created", "data": {"issue": {"title": "x"}}}`: "data.issue.id: is required", `{"data": {"event": []}}`: "data.event: cannot be read: it must not be a list", `x`: "it is no JSON",
	})
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]string{"fatal": event.Critical, "error": event.Critical, "warning": event.Warning, "info": event.Info, "debug": event.Info, "sample": event.Warning, "": event.Warning} {
		if e := sourcetest.One(t, sentry.Parse, `{"action": "triggered", "data": {"event": {"title": "x", "level": "`+level+`"}}}`); e.Status != want {
			t.Errorf("%s: %s, want %s", level, e.Status, want)
		}
	}
}

// TestActions: changes of an issue apply to the alert of its events; only resolving ends it.
func TestActions(t *testing.T) {
	alert := sourcetest.One(t, sentry.Parse, `{"action": "triggered", "data": {"event": {"title": "x", "issue_id": "7", "level": "error"}}}`)
	for action, want := range map[string]string{"created": event.Critical, "unresolved": event.Critical, "resolved": event.Ok} {
		if e := sourcetest.One(t, sentry.Parse, `{"action": "`+action+`", "data": {"issue": {"title": "x", "id": 7, "level": "error"}}}`); e.Status != want || e.Severity != event.Critical || e.AlertKey != alert.AlertKey {
			t.Errorf("%s: %+v", action, e)
		}
	}
	for _, action := range []string{"assigned", "ignored", "archived", "odd"} {
		if batch, err := sentry.Parse(source.Request{Body: []byte(`{"action": "` + action + `", "data": {"issue": {"title": "x", "id": 7}}}`), At: sourcetest.Came, MaxAlerts: source.MaxAlerts}); err != nil || len(batch.Events) != 0 {
			t.Errorf("%s: %+v, %v", action, batch, err)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, body := range []string{`{"data": {"event": {"issue_id": 1, "title": "x", "message": "` + long + `"}}}`, `{"data": {"event": {"issue_id": 1, "title": "` + long + `"}}}`, `{"action": "created", "data": {"issue": {"id": 1, "title": "x", "culprit": "` + long + `"}}}`} {
		sourcetest.One(t, sentry.Parse, body)
	}
}
