package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

const escalatingAccount = `{"format": "tocsin.account/1",
	"account": {"account_id": 7000000000001, "account_name": "Deciding", "time_zone": "UTC", "owner_id": 7000000000011},
	"persons": [{"person_id": 7000000000011, "person_name": "Olga", "email": "olga@example.com"},
		{"person_id": 7000000000012, "person_name": "Ann", "email": "ann@example.com", "phone": "+15551"},
		{"person_id": 7000000000013, "person_name": "Bob", "email": "bob@example.com", "phone": "+15552"},
		{"person_id": 7000000000014, "person_name": "Cid", "email": "cid@example.com", "phone": "+15553"}],
	"preferences": [{"person_id": 7000000000013, "trigger_notify": {"critical": ["sms", "email"]}},
		{"person_id": 7000000000014, "trigger_notify": {"critical": ["voice"]}}],
	"teams": [{"team_id": 7000000000021, "team_name": "Core", "person_ids": [7000000000014]}],
	"channels": [{"channel_id": 7000000000041, "channel_name": "Shop"}],
	"integrations": [{"integration_id": 7000000000051, "integration_name": "a", "integration_type": "standard", "channel_id": 7000000000041}]%s}`

// escalatingRule is a rule of three persons by their methods and then, after ten minutes, of the owner.
const escalatingRule = `,
	"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 7000000000041, "rule_name": "on call",
		"template_id": "000000000000000000000001", "layers": [
		{"escalate_window": 10, "target": {"person_ids": [7000000000012, 7000000000013], "team_ids": [7000000000021], "by": {"follow_preference": true}}},
		{"escalate_window": 10, "target": {"person_ids": [7000000000011], "by": {"follow_preference": true}}}]}]`

// Escalations and follow-ups are advanced in batches, so that an incident needs less than one round trip for each step.
func TestEscalatingSharesRoundTrips(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL")
	}
	const incidents, most = 300, 0.5
	t.Run("no rule", func(t *testing.T) {
		d := newDecidingOf(t, 0, fmt.Sprintf(escalatingAccount, ""))
		const noted = `SELECT count(*) FROM untold`
		d.escalate(time.Now(), noted, 1)
		d.take(decidingKinds[0], "k", incidents)
		d.decide()
		d.within("no rule matches", d.escalate(time.Now(), noted, 1+incidents), most)
	})
	t.Run("rule", func(t *testing.T) {
		d := newDecidingOf(t, 0, fmt.Sprintf(escalatingAccount, escalatingRule))
		const pages, reminders = `SELECT count(*) FROM notice`, `SELECT count(*) FROM notice WHERE cause = 'reminder'`
		d.escalate(time.Now(), pages, 4)
		d.take(decidingKinds[0], "k", incidents)
		d.decide()
		now := time.Now()
		d.within("first layer", d.escalate(now, pages, 4+4*incidents), most)
		now = now.Add(11 * time.Minute)
		d.within("second layer", d.escalate(now, pages, 5+5*incidents), most)
		d.acknowledgeAll(now)
		d.escalate(now, `SELECT count(*) FROM escalation WHERE next_at = 0`, 1+incidents)
		d.within("follow-up", d.escalate(now.Add(5*time.Hour), reminders, 1+incidents), most) // reminders to the acknowledger alone
	})
}

// escalate runs the job until a query counts that many rows, and returns the round trips of each incident.
func (d *deciding) escalate(now time.Time, query string, want int64) float64 {
	d.Helper()
	job := d.jobOf("escalate")
	before := d.link.Trips.Load()
	has := int64(0)
	for runs := int64(0); has < want; runs++ {
		if _, err := job.Run(context.Background(), now); err != nil || runs > 100 {
			d.Fatal(has, " of ", want, " ", query, err)
		}
		job.Wait()
		if err := d.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			has, _, err = db.One(tx, db.Column[int64], query)
			return err
		}); err != nil {
			d.Fatal(err)
		}
	}
	if has != want {
		d.Errorf("%d rows, want %d: %s", has, want, query)
	}
	return float64(d.link.Trips.Load()-before) / d.n
}

func (d *deciding) within(what string, trips, most float64) {
	d.Helper()
	d.Logf("%s: %.2f round trips for each incident", what, trips)
	if trips > most {
		d.Errorf("%s: %.2f round trips for each incident, want at most %.2f", what, trips, most)
	}
}

// acknowledgeAll acknowledges every incident.
func (d *deciding) acknowledgeAll(now time.Time) {
	d.Helper()
	err := d.app.DB.WriteOf(context.Background(), decidingID, func(tx *db.Tx) error {
		ids, err := db.All(tx, db.Column[string], `SELECT incident_id FROM incident`)
		if err != nil {
			return err
		}
		bus := &activity.Bus{}
		for _, m := range d.app.Modules {
			if m.Handle != nil {
				bus.Subscribe(m.Handle)
			}
			if m.Handles != nil {
				bus.SubscribeAll(m.Handles)
			}
		}
		w := incident.Writer{Tx: tx, Bus: bus, Account: decidingID, Now: now, Person: 7000000000012}
		for _, id := range ids {
			i, err := w.Get(id)
			if err == nil {
				err = w.Ack(&i)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
}
