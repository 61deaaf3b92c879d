package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/notify"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// takesAll takes every message.
func takesAll(context.Context, string, notify.Address, sender.Message) (sender.Receipt, error) {
	return sender.Receipt{}, nil
}

// answersAll answers all webhooks.
type answersAll struct{}

func (answersAll) Do(context.Context, egress.Request) (egress.Attempt, error) {
	return egress.Attempt{Status: 204}, nil
}

const opened = 300 // incidents

// Incidents that reach no person are the fallback's in batches, and so are the results of its notifications: each costs less
// than half a round trip.
func TestFallbackSharesRoundTrips(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	d := newDeciding(t, 0)
	d.exec(`UPDATE person SET email = 'olga@example.com'`)
	d.take(decidingKinds[0], "k", opened-1) // newDeciding has opened the first
	d.decide()
	d.until("escalate", time.Now(), `SELECT count(*) FROM escalation WHERE next_at > 0`)
	const waiting = `SELECT count(*) FROM untold WHERE next_at > 0 AND next_at <= %d`
	now := time.Now()
	told := d.until("untold", now, fmt.Sprintf(waiting, now.Unix())) / opened
	d.wantRows(opened, `SELECT count(DISTINCT incident_id) FROM notice WHERE cause = 'fallback'`)
	d.exec(`UPDATE notice SET status = 'sent', settled_at = 1`)
	now = now.Add(time.Minute)
	settled := d.until("untold", now, fmt.Sprintf(waiting, now.Unix())) / opened
	d.wantRows(opened, `SELECT count(*) FROM untold WHERE state = 'fallback'`)
	t.Logf("%.2f and %.2f round trips for each incident", told, settled)
	if told > 0.5 || settled > 0.5 {
		t.Errorf("%.2f and %.2f round trips for each incident", told, settled)
	}
}

// Events that no channel takes are decided in batches as others are.
func TestEventsWithoutChannelShareRoundTrips(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	d := newDeciding(t, 0)
	i := integration.Integration{IntegrationID: 7000000000053, IntegrationName: "c", IntegrationType: "standard", Status: "enabled"}
	if err := d.app.DB.Write(context.Background(), func(tx *db.Tx) error { return integration.Kind.Put(tx, decidingID, &i) }); err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{event.Warning, event.Critical, event.Ok} {
		d.take(decidingKind{source: i.IntegrationID, status: status, title: "down"}, "k", opened)
		if cost := d.decide(); cost.trips > 0.5 {
			t.Errorf("%s: %.2f round trips for each event", status, cost.trips)
		}
		if status == event.Critical {
			d.wantRows(opened, `SELECT count(*) FROM untold WHERE severity = 'Critical' AND events = 2`)
		}
	}
	d.wantRows(0, `SELECT count(*) FROM untold WHERE incident_id = ''`)
}

// Messages to webhooks are made and sent in batches.
func TestWebhooksShareRoundTrips(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	d := newDeciding(t, 0)
	d.subscribe(integration.WebhookIncident, activity.IncidentNew)
	d.subscribe(integration.WebhookAlert, activity.AlertNew)
	d.take(decidingKinds[0], "k", opened)
	if cost := d.decide(); cost.trips > 0.5 || cost.statements > 0.75 {
		t.Errorf("%.2f round trips and %.2f statements to decide an event with its bodies", cost.trips, cost.statements)
	}
	const messages = 2 * opened
	d.wantRows(messages, `SELECT count(*) FROM webhook_event`)
	matched := d.until("webhook subscriptions", time.Now(), `SELECT count(*) FROM webhook_event`) / messages
	sent := d.until("webhooks", time.Now(), `SELECT count(*) FROM webhook_message WHERE settled_at = 0`) / messages
	d.wantRows(messages, `SELECT count(*) FROM webhook_message WHERE status = 'delivered'`)
	t.Logf("%.2f round trips to match a message, %.2f to deliver it", matched, sent)
	if matched > 0.5 || sent > 3 {
		t.Errorf("%.2f round trips to match a message, %.2f to deliver it", matched, sent)
	}
}

// subscribe makes a webhook for events of one type; empty: of all.
func (d *deciding) subscribe(kind, event string) {
	d.Helper()
	i := integration.Integration{IntegrationID: 7000000000060 + int64(len(kind)), IntegrationName: kind, IntegrationType: kind, Status: "enabled",
		Settings: &integration.Settings{Endpoint: "https://hooks.example.com/" + kind}}
	if event != "" {
		i.Settings.EventTypes = []string{event}
	}
	if err := d.app.DB.Write(context.Background(), func(tx *db.Tx) error { return integration.Kind.Put(tx, decidingID, &i) }); err != nil {
		d.Fatal(err)
	}
}

func (d *deciding) count(query string) (n int64) {
	d.Helper()
	if err := d.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query)
		return err
	}); err != nil {
		d.Fatal(err)
	}
	return n
}

func (d *deciding) wantRows(want int64, query string) {
	d.Helper()
	if n := d.count(query); n != want {
		d.Fatalf("%d rows, want %d: %s", n, want, query)
	}
}

// until runs a job at a time until a query counts nothing, and returns how many round trips the job made.
func (d *deciding) until(name string, now time.Time, query string) (trips float64) {
	d.Helper()
	job := d.jobOf(name)
	for range 1000 {
		before := d.link.Trips.Load()
		if _, err := job.Run(context.Background(), now); err != nil {
			d.Fatal(err)
		}
		job.Wait()
		trips += float64(d.link.Trips.Load() - before)
		if d.count(query) == 0 {
			return trips
		}
	}
	d.Fatalf("%s goes on: %s", name, query)
	return 0
}
