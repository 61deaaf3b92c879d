package notify_test

import (
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// The changes since a notification was stored decide whether it is still sent.
func TestStaleNotificationsAreNotSent(t *testing.T) {
	t.Parallel()
	type state func(incident.Writer, *incident.Incident) error
	acked := func(d incident.Writer, i *incident.Incident) error { return d.Ack(i) }
	snoozed := func(d incident.Writer, i *incident.Incident) error { return d.Snooze(i, 30) }
	closed := func(d incident.Writer, i *incident.Incident) error { return d.Resolve(i, "", "") }
	reopened := func(d incident.Writer, i *incident.Incident) error {
		if err := d.Resolve(i, "", ""); err != nil {
			return err
		}
		return d.Reopen(i, "")
	}
	removed := func(d incident.Writer, i *incident.Incident) error {
		if err := d.Resolve(i, "", ""); err != nil {
			return err
		}
		return d.Remove(i)
	}
	untouched := func(incident.Writer, *incident.Incident) error { return nil }
	const sent = ""
	for _, c := range []struct {
		cause  string
		forced bool
		state  state
		want   string // why it is not sent; sent: it is
	}{
		{notify.Page, false, untouched, sent},
		{notify.Page, false, acked, "the incident was acknowledged"},
		{notify.Page, true, acked, sent},
		{notify.Page, false, snoozed, "the incident is snoozed"},
		{notify.Page, true, snoozed, "the incident is snoozed"},
		{notify.Page, true, closed, "the incident is over"},
		{notify.Page, false, reopened, sent},
		{notify.Page, false, removed, "the incident was removed"},
		{notify.Fallback, false, untouched, sent},
		{notify.Fallback, false, acked, "the incident was acknowledged"},
		{notify.Fallback, false, snoozed, "the incident is snoozed"},
		{notify.Fallback, false, closed, "the incident is over"},
		{notify.Storm, false, acked, "the incident was acknowledged"},
		{notify.Storm, false, snoozed, "the incident is snoozed"},
		{notify.Assigned, false, acked, sent},
		{notify.Assigned, false, snoozed, sent},
		{notify.Assigned, false, closed, "the incident is over"},
		{notify.Recovery, false, closed, sent},
		{notify.Recovery, false, reopened, "the incident was opened again"},
		{notify.Recovery, false, removed, "the incident was removed"},
	} {
		r := newFixture(t)
		writer := incident.Writer{Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
		r.write(func(tx *db.Tx) error {
			writer.Tx = tx
			i := incident.Incident{IncidentID: incidentID, Title: "T", Severity: "Critical"}
			if err := writer.Open(&i); err != nil {
				return err
			}
			n := notify.Notification{Account: apitest.AccountA, Key: "k", Incident: incidentID, Cause: c.cause, Method: "email", Address: notify.Address{To: "a@example.com"}, Detail: notify.Detail{Forced: c.forced}}
			if err := r.Put(tx, n, start); err != nil {
				return err
			}
			return c.state(writer, &i)
		})
		r.clock.Add(time.Minute)
		r.settle()
		s, status := r.stored("k"), notify.Sent
		if c.want != sent {
			status = notify.Cancelled
		}
		if s.status != status || sentence.Value(s.outcome).English() != c.want {
			t.Errorf("%s (forced %v): %v, want %s: %s", c.cause, c.forced, s, status, c.want)
		}
		if taken := len(r.took) == 1; taken != (c.want == sent) {
			t.Errorf("%s (forced %v): took %v", c.cause, c.forced, r.took)
		}
	}
}
