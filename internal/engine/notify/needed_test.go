package notify_test

import (
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// A process finds no incident, as on a server that is behind. Nothing has deleted the incident: its page is not cancelled, and
// the next attempt sends it.
func TestPageIsCancelledOnlyByDeletionOnRecord(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	writer := incident.Writer{Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
	var i incident.Incident
	r.write(func(tx *db.Tx) error {
		writer.Tx = tx
		i = incident.Incident{IncidentID: incidentID, Title: "T", Severity: "Critical"}
		if err := writer.Open(&i); err != nil {
			return err
		}
		return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: "k", Incident: incidentID, Cause: notify.Page,
			Method: "email", Address: notify.Address{To: "a@example.com"}}, start)
	})
	r.write(func(tx *db.Tx) error { return r.Miss(tx, "k", start) })
	if s := r.stored("k"); s.status != notify.Waiting {
		t.Errorf("after a read that found no incident it is %v, want %s", s, notify.Waiting)
	}
	r.settle()
	if s := r.stored("k"); s.status != notify.Sent {
		t.Errorf("it is %v, want %s", s, notify.Sent)
	}
}
