package grafana_test

import (
	"testing"

	"tocsin/internal/core/event"
	"tocsin/internal/source"
	"tocsin/internal/source/grafana"
	"tocsin/internal/source/sourcetest"
)

func TestPayloads(t *testing.T) { sourcetest.Golden(t, grafana.Parse) }

func FuzzParse(f *testing.F) { sourcetest.Fuzz(f, grafana.Parse) }

func TestDisturbed(t *testing.T) { sourcetest.Disturbed(t, grafana.Parse) }

func TestInvalidBodiesAreRefused(t *testing.T) {
	sourcetest.Refuses(t, grafana.Parse, map[string]string{
		`{}`: "state: must be", `{"state": "firing", "ruleName": "x"}`: `got "firing"`, `{"state": "ok"}`: "ruleName: is required",
		`{"alerts": "x"}`: "alerts: cannot be read: it must not be a text", `{"state": 5}`: "state: cannot be read: it must not be a number", `x`: "it is no JSON",
	})
}

func TestLegacyStates(t *testing.T) {
	for state, want := range map[string]string{"alerting": event.Warning, "no_data": event.Critical, "ok": event.Ok} {
		if e := sourcetest.One(t, grafana.Parse, `{"ruleName": "x", "ruleId": 7, "state": "`+state+`"}`); e.Status != want {
			t.Errorf("%s: %s, want %s", state, e.Status, want)
		}
	}
	for _, state := range []string{"paused", "pending"} {
		if batch, err := grafana.Parse(source.Request{Body: []byte(`{"ruleName": "x", "state": "` + state + `"}`), At: sourcetest.Came, MaxAlerts: source.MaxAlerts}); err != nil || len(batch.Events) != 0 {
			t.Errorf("%s: %+v, %v", state, batch, err)
		}
	}
}

// TestLegacyKey: the rule identifies the alert, whatever its title; a test message, which has no rule, its name.
func TestLegacyKey(t *testing.T) {
	key := func(body string) string { return sourcetest.One(t, grafana.Parse, body).AlertKey }
	if a, b := key(`{"ruleName": "x", "ruleId": 7, "state": "alerting"}`), key(`{"ruleName": "y", "ruleId": "7", "state": "ok"}`); a != b {
		t.Errorf("%s and %s of one rule", a, b)
	}
	if a, b := key(`{"ruleName": "x", "ruleId": 0, "state": "alerting"}`), key(`{"ruleName": "y", "ruleId": 0, "state": "alerting"}`); a == b {
		t.Errorf("%s of two rules", a)
	}
}

func TestInvalidImageIsLeftOut(t *testing.T) {
	if e := sourcetest.One(t, grafana.Parse, `{"ruleName": "x", "state": "alerting", "imageUrl": "javascript://e.com/%0aalert(1)"}`); e.Images != nil {
		t.Errorf("%+v", e.Images)
	}
}

// TestNoDataNamesRule: of Grafana's own alerts the rule is in a label, and the picture of a unified alert is kept.
func TestNoDataNamesRule(t *testing.T) {
	for labels, want := range map[string]string{
		`"alertname": "DatasourceNoData", "rulename": "Disk full", "instance": "db-1"`: "DatasourceNoData::Disk full::db-1",
		`"alertname": "DatasourceError", "rulename": "Disk full"`:                      "DatasourceError::Disk full",
		`"alertname": "Disk full", "rulename": "other"`:                                "Disk full",
	} {
		e := sourcetest.One(t, grafana.Parse, `{"alerts": [{"status": "firing", "labels": {`+labels+`}, "imageURL": "https://grafana.example.com/a.png"}]}`)
		if e.Title != want || len(e.Images) != 1 || e.Images[0].Src != "https://grafana.example.com/a.png" {
			t.Errorf("%q %+v, want %q", e.Title, e.Images, want)
		}
	}
}
