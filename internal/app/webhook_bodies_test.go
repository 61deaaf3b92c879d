package app_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/core/event"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// body is a stored body of a webhook.
type body struct {
	EventType string         `json:"event_type"`
	Alert     map[string]any `json:"alert"`
	Incident  map[string]any `json:"incident"`
}

// bodies returns the bodies that were stored since the last call, in order.
func (d *deciding) bodies() (all []body) {
	d.Helper()
	if err := d.app.DB.Read(context.Background(), func(tx *db.Tx) error {
		_, err := db.All(tx, func(scan db.Scan) (text string, err error) {
			err = scan(&text)
			if err == nil {
				var b body
				err = json.Unmarshal([]byte(text), &b)
				all = append(all, b)
			}
			return text, err
		}, `SELECT payload FROM webhook_event ORDER BY number`)
		return err
	}); err != nil {
		d.Fatal(err)
	}
	d.exec(`DELETE FROM webhook_event`)
	return all
}

// shown returns an alert or incident as it is now, as the API shows it.
func (d *deciding) shown(b body) (now map[string]any) {
	d.Helper()
	err := d.app.DB.Read(context.Background(), func(tx *db.Tx) error {
		var view any
		if b.Alert != nil {
			a, found, err := alert.Show(tx, decidingID, b.Alert["alert_id"].(string))
			if err != nil || !found {
				d.Fatal(found, err)
			}
			view = a
			if a.Incident != nil {
				a.Incident.Progress = ""
			}
		} else {
			i, found, err := incident.Find(tx, decidingID, b.Incident["incident_id"].(string))
			if err != nil || !found {
				d.Fatal(found, err)
			}
			view, err = incident.Show(tx, "", &i)
			if err != nil {
				return err
			}
		}
		text, err := json.Marshal(view)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &now)
	})
	if err != nil {
		d.Fatal(err)
	}
	return now
}

func (d *deciding) subscribeAll() {
	d.subscribe(integration.WebhookIncident, "")
	d.subscribe(integration.WebhookAlert, "")
	d.exec(`UPDATE person SET email = 'olga@example.com'`)
}

// A body that is made from what its publisher has is what it would be if all was read.
func TestBodiesAreWhatIsStored(t *testing.T) {
	t.Parallel()
	d := newDeciding(t, 0)
	d.subscribeAll()
	worse := decidingKind{source: grouped, status: event.Critical, title: "worse"}
	better := decidingKind{source: grouped, status: event.Ok, title: "worse"}
	seen := map[string]int{}
	for n, kind := range slices.Concat(decidingKinds, []decidingKind{worse, better}) {
		d.take(kind, "k", 1)
		d.decide()
		for _, b := range d.bodies() {
			seen[b.EventType]++
			now, got := d.shown(b), b.Incident
			if b.Alert != nil {
				got = b.Alert
				if a, ok := now["incident"].(map[string]any); ok {
					delete(a, "progress")
				}
			}
			for member, value := range got {
				want, known := now[member]
				if b.Alert != nil && (member == "progress" || member == "close_time") {
					continue // of the payload alone
				}
				if !known || !reflect.DeepEqual(value, want) {
					t.Errorf("event %d, %s: %s is %v, want %v", n, b.EventType, member, value, want)
				}
			}
		}
	}
	for _, kind := range []string{"a_new", "a_update", "a_close", "i_new", "i_rslv", "i_r_severity"} {
		if seen[kind] == 0 {
			t.Errorf("no body of %s, but %v", kind, seen)
		}
	}
}

// Each body of an alert is of its moment, also where events of one alert are decided together.
func TestBodiesAreOfTheirMoment(t *testing.T) {
	t.Parallel()
	d := newDeciding(t, 0)
	d.subscribeAll()
	list := []string{event.Info, event.Warning, event.Critical, event.Ok}
	for _, status := range list {
		d.take(decidingKind{source: alone, status: status, title: "down"}, "k", 1)
	}
	d.decide()
	var got []any
	for _, b := range d.bodies() {
		if b.Alert != nil {
			got = append(got, b.EventType, b.Alert["alert_status"], b.Alert["event_cnt"], b.Alert["progress"])
			if title := b.Alert["incident"].(map[string]any)["title"]; title != "down" {
				t.Errorf("the title of the incident is %v", title)
			}
		}
	}
	want := []any{"a_new", "Info", 1.0, "Triggered", "a_update", "Warning", 2.0, "Triggered", "a_update", "Critical", 3.0, "Triggered",
		"a_update", "Ok", 4.0, "Closed", "a_close", "Ok", 4.0, "Closed"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("bodies of alerts\n%v, want\n%v", got, want)
	}
}
