package notify_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Notifications that waited when the limit of messages came: the end of an incident, a message about no incident and
// pages are not taken for each other afterwards, and the most severe page is first.
func TestWaitingNotificationsOfEarlierVersion(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	text, err := os.ReadFile("../../platform/db/migrations/0055_waiting_notices.sql")
	if err != nil {
		t.Fatal(err)
	}
	r.write(func(tx *db.Tx) error {
		var all []incident.Incident
		for n, severity := range []string{"Critical", "Warning", "Info"} {
			all = append(all, incident.Incident{IncidentID: fmt.Sprint("663a1b2c3d4e5f6789abcdf", n), Title: "t", Severity: severity})
		}
		return incident.Load(tx, apitest.AccountA, all)
	})
	want := map[string]int64{"Critical": 0, "Warning": 1, "Info": 2, "over": 4, "shift": 3, "joined": 2}
	for key, incident := range map[string]int{"Critical": 0, "Warning": 1, "Info": 2, "over": 0, "joined": 0, "shift": -1} {
		n := notify.Notification{Account: apitest.AccountA, Key: key, Cause: notify.Page, Method: "email", Address: notify.Address{To: key}}
		if incident >= 0 {
			n.Incident = fmt.Sprint("663a1b2c3d4e5f6789abcdf", incident)
		}
		switch key {
		case "over":
			n.Cause = notify.Recovery
		case "joined":
			n.Cause = notify.Joined
		}
		r.write(func(tx *db.Tx) error { return r.Put(tx, n, r.clock.Now()) })
	}
	r.write(func(tx *db.Tx) error {
		if _, err := tx.Exec(`UPDATE notice SET urgency = 2`); err != nil { // as the migration that added the column left it
			return err
		}
		for _, statement := range strings.Split(string(text), ";\n") {
			if at := strings.Index(statement, "UPDATE notice"); at >= 0 {
				if _, err := tx.Exec(statement[at:]); err != nil {
					return err
				}
			}
		}
		for key, urgency := range want {
			got, _, err := db.One(tx, db.Column[int64], `SELECT urgency FROM notice WHERE notice_key = $1`, key)
			if err != nil || got != urgency {
				t.Errorf("%s has urgency %d, want %d (%v)", key, got, urgency, err)
			}
		}
		return nil
	})
}
