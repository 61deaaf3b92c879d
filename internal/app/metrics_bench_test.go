package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// BenchmarkMetrics collects the metrics of a database with a million alerts and incidents, of which ten thousand are open.
func BenchmarkMetrics(b *testing.B) {
	c := app.Config{DB: "sqlite:" + filepath.Join(b.TempDir(), "tocsin.db"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "bench"}
	a, err := app.New(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if _, err := a.FirstStart(b.Context(), "UTC"); err != nil {
		b.Fatal(err)
	}
	const alerts, open = 1_000_000, 10_000
	err = a.DB.Write(b.Context(), func(tx *db.Tx) error {
		account, _, err := db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
		if err != nil {
			return err
		}
		for _, query := range []string{
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[2]d)
				INSERT INTO incident (account_id, incident_id, title, channel_id, progress, severity, start_time)
				SELECT %[1]d, printf('%%024x', i), 'Trouble', i %% 300, CASE WHEN i > %[3]d THEN 'Closed' WHEN i %% 2 = 0 THEN 'Processing' ELSE 'Triggered' END,
				CASE i %% 3 WHEN 0 THEN 'Critical' ELSE 'Warning' END, 1700000000 + i FROM n`,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[2]d)
				INSERT INTO alert (account_id, alert_id, channel_id, incident_id, integration_id, integration_name, integration_type, integration_ref_id, alert_key,
					title, title_rule, description, alert_severity, alert_status, start_time, last_time, end_time, event_cnt, ever_muted, responder_name,
					responder_email, labels, images, created_at, updated_at, deleted_at)
				SELECT %[1]d, printf('%%024x', i), i %% 300, printf('%%024x', i), 1, '', 'standard', '', 'key' || i, 'Trouble', '', '', 'Critical', 'Critical',
				1700000000 + i, 1700000000 + i, CASE WHEN i > %[3]d THEN 1700000001 + i ELSE 0 END, 1, 0, '', '', '{}', '[]', 0, 0, 0 FROM n`,
		} {
			if _, err := tx.Exec(fmt.Sprintf(query, account, alerts, open)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := httptest.NewRecorder()
		handler.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if r.Code != http.StatusOK {
			b.Fatal(r.Code)
		}
	}
}
