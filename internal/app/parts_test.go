package app_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
)

// TestRetentionDropsPartsOfTables: a server makes the parts of the weeks to come, and drops those whose rows are past their
// retention. What others keep, an event that waits and rows of a younger week, stays.
func TestRetentionDropsPartsOfTables(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	start := time.Now().UTC().AddDate(0, 1, 0)
	at := clock.At(start)
	c := nodeConfig(dbtest.Migrated(t), secret.NewKey())
	c.Clock = at
	c.EventDays = 14
	c.DeliveryDays = 14
	c.IncidentDays = 14
	c.AuditDays = 14
	a := newNode(t, c)
	if _, err := a.FirstStart(t.Context(), "UTC"); err != nil {
		t.Fatal(err)
	}
	settle := func() {
		t.Helper()
		if err := a.Runner.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	count := func(want int64, query string, args ...any) {
		t.Helper()
		err := a.DB.Read(t.Context(), func(tx *db.Tx) error {
			n, _, err := db.One(tx, db.Column[int64], query, args...)
			if err == nil && n != want {
				t.Errorf("%s: %d, want %d", query, n, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	event := func(name string, at time.Time) {
		t.Helper()
		err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
			account, _, err := db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
			if err != nil {
				return err
			}
			return tx.Insert(db.Rows{Table: "event", Columns: []string{"account_id", "event_id", "received_at", "integration_id", "body"},
				Values: [][]any{{account, fmt.Sprintf("%08x", at.Unix()) + name, at.UnixNano(), int64(1), "{}"}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	alert := func(name string, at, end int64) {
		t.Helper()
		err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
			account, _, err := db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
			if err != nil {
				return err
			}
			id := fmt.Sprintf("%08x", at) + name
			if err := tx.Do(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type,
				integration_ref_id, alert_key, title, title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt,
				ever_muted, responder_name, responder_email, labels, images, created_at, updated_at, deleted_at) VALUES ($1, $2, 1, '', 0, '', '', '', 'k', 't',
				'', '', 'Info', 'Info', $3, $3, $4, 1, FALSE, '', '', '{}', '[]', 1, 1, 0)`, account, id, at, end); err != nil {
				return err
			}
			return tx.Insert(db.Rows{Table: "feed", Columns: []string{"account_id", "ref_id", "feed_id", "created_at", "type", "person_id", "detail"},
				Values: [][]any{{account, id, int64(1), at * 1000, "a_new", int64(0), "{}"}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	settle()
	const parts = `SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('event' AS regclass)`
	count(5, parts) // before, default, and three weeks
	event("old", start)
	event("older", start.AddDate(0, -2, 0))
	alert("old", start.Unix(), start.Unix()+60)
	alert("open", start.Unix(), 0)
	alert("long", start.Unix(), start.AddDate(0, 0, 20).Unix())
	for day := range 30 {
		at.Add(24 * time.Hour)
		settle()
		if day < 12 {
			count(1, `SELECT count(*) FROM feed WHERE ref_id LIKE '%old'`)
		}
		if day == 15 {
			count(2, `SELECT count(*) FROM alert`)
			count(2, `SELECT count(*) FROM feed`) // entries go with their alert
		}
	}
	event("new", at.Now())
	count(0, `SELECT count(*) FROM feed WHERE ref_id LIKE '%old'`)
	count(2, `SELECT count(*) FROM feed`)
	count(2, `SELECT count(*) FROM alert`)
	count(0, `SELECT count(*) FROM event WHERE event_id LIKE '%old' OR event_id LIKE '%older'`)
	count(1, `SELECT count(*) FROM event`)
	count(0, `SELECT count(*) FROM pg_class WHERE relname IN ('event_before', 'verdict_before', 'webhook_delivery_before', 'audit_log_before', 'audit_touched_before')`)
	count(0, `SELECT count(*) FROM event_default`)
	for range 12 {
		at.Add(24 * time.Hour)
		settle()
	}
	count(1, `SELECT count(*) FROM event`)
	count(1, `SELECT count(*) FROM alert`)
	count(1, `SELECT count(*) FROM feed`) // of an alert that is open for ever
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}
