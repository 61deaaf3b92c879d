package db_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// BenchmarkFeed compares the feed in the parts of a year with one table of the same rows: storing entries, reading those
// of one alert, and the retention of a week of 100,000 alerts, of which one in a hundred is left.
func BenchmarkFeed(b *testing.B) {
	if dbtest.Server == "" {
		b.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	d, err := db.Open(ctx, dbtest.Migrated(b))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	run := func(query string, args ...any) {
		b.Helper()
		if err := d.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
			b.Fatal(err)
		}
	}
	run(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 1, 1)`)
	run(`CREATE TABLE whole (LIKE feed INCLUDING ALL)`)
	from := time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC) // a Monday
	for n := range 52 {
		if _, err := d.Ahead(ctx, from.AddDate(0, 0, 7*n), nil); err != nil {
			b.Fatal(err)
		}
	}
	fill := func(table string) { // a thousand alerts a week with four entries each, and the first week full
		run(`INSERT INTO `+table+` SELECT 1, to_hex($1 + CASE WHEN n <= 100000 THEN n * 6 ELSE (n - 100000) * 604 END) || lpad(to_hex(n), 16, '0'), entry, 1, 'a_new', 0,
			'{"title":"something that is long enough to be one"}' FROM generate_series(1, 151000) AS n, generate_series(1, 4) AS entry`, from.Unix())
	}
	for _, table := range []string{"whole", "feed"} {
		fill(table)
		run(`ANALYZE ` + table)
	}
	serial := 0
	for _, table := range []string{"whole", "feed", "whole", "feed"} {
		b.Run("insert/"+table, func(b *testing.B) {
			for b.Loop() {
				serial++
				at := from.AddDate(0, 0, 7*40+serial%7).Unix()
				run(`INSERT INTO `+table+` (account_id, ref_id, feed_id, created_at, type, person_id, detail) SELECT r.* FROM known_accounts(ARRAY[CAST(1 AS BIGINT)]) AS k,
					(SELECT 1, to_hex($1 + n) || lpad(to_hex($2 + n), 16, 'f'), 1, 1, 'a_new', 0, '{"title":"something that is long enough to be one"}'
					FROM generate_series(1, 100) AS n) AS r WHERE k`, at, int64(serial)*1000)
			}
		})
		b.Run("read/"+table, func(b *testing.B) {
			for b.Loop() {
				serial++
				n := 100001 + serial*7919%51000
				ref := fmt.Sprintf("%08x%016x", from.Unix()+int64(n-100000)*604, n)
				if err := d.Read(ctx, func(tx *db.Tx) error {
					got, err := db.All(tx, db.Column[string], `SELECT detail FROM `+table+` WHERE account_id = $1 AND ref_id = $2 ORDER BY feed_id LIMIT $3 + 0`, 1, ref, 100)
					if err == nil && len(got) != 4 {
						err = fmt.Errorf("%d entries", len(got))
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run(`INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key, title,
		title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name, responder_email, labels, images,
		created_at, updated_at, deleted_at) SELECT 1, ref_id, 1, '', 0, '', '', '', 'k', 't', '', '', 'Info', 'Info', 1, 1, 0, 1, FALSE, '', '', '{}', '[]', 1, 1, 0
		FROM whole WHERE feed_id = 1 AND (hashtext(ref_id) % 100 = 0 OR ref_id >= $1)`, fmt.Sprintf("%08x", from.AddDate(0, 0, 7).Unix()))
	run(`ANALYZE alert`)
	b.Run("retention/rows", func(b *testing.B) { // as for each alert that is deleted
		for b.Loop() {
			var gone []string
			if err := d.Read(ctx, func(tx *db.Tx) (err error) {
				gone, err = db.All(tx, db.Column[string], `SELECT ref_id FROM whole WHERE feed_id = 1 AND ref_id < $1
					AND NOT EXISTS (SELECT 1 FROM alert WHERE account_id = 1 AND alert_id = ref_id)`, fmt.Sprintf("%08x", from.AddDate(0, 0, 7).Unix()))
				return err
			}); err != nil {
				b.Fatal(err)
			}
			for len(gone) > 0 {
				batch := gone[:min(500, len(gone))]
				gone = gone[len(batch):]
				if err := d.Write(ctx, func(tx *db.Tx) error {
					for _, ref := range batch {
						if err := tx.Do(`DELETE FROM whole WHERE account_id = $1 AND ref_id = $2`, 1, ref); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("retention/fold", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Fold(ctx, from.AddDate(0, 0, 8), folded); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := d.Read(ctx, func(tx *db.Tx) error {
		left, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM whole`)
		if err != nil {
			return err
		}
		parts, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM feed`)
		b.Logf("%d and %d rows are left", left, parts)
		return err
	}); err != nil {
		b.Fatal(err)
	}
}
