package db

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"tocsin/internal/platform/db/migrations"
)

// TestClosedIncidentsOfOlderDatabase: the migration fills in when incidents were closed, as far as that is known,
// and keeps the escalations of incidents that exist.
func TestClosedIncidentsOfOlderDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	d, err := Connect(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, h, migrations.Files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 33); err != nil {
		t.Fatal(err)
	}
	insert := []string{`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 2, 0)`}
	for id, values := range map[string]string{"open": `'Triggered', 10, 20, '{}'`, "closed": `'Closed', 10, 20, '{"close_time":30}'`, "loaded": `'Closed', 10, 20, '{}'`, "bare": `'Closed', 0, 0, '{}'`} {
		insert = append(insert, fmt.Sprintf(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress, start_time, last_time, body) VALUES (1, '%s', '', 0, %s)`, id, values))
	}
	for _, id := range []string{"open", "gone"} {
		insert = append(insert, fmt.Sprintf(`INSERT INTO escalation (account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended) VALUES (1, '%s', 1, '', '', '', '', 0, 0, 5, '')`, id))
	}
	for _, query := range insert {
		if _, err := h.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := ""
	err = d.Write(t.Context(), func(tx *Tx) error {
		row := func(scan Scan) (s string, err error) {
			var at int64
			err = scan(&s, &at)
			return fmt.Sprintf("%s %d, ", s, at), err
		}
		for _, query := range []string{`SELECT incident_id, closed_at FROM incident ORDER BY incident_id`, `SELECT incident_id, next_at FROM escalation`} {
			lines, err := All(tx, row, query)
			if err != nil {
				return err
			}
			for _, line := range lines {
				got += line
			}
		}
		if _, err := tx.Exec(`DELETE FROM incident`); err != nil {
			return err
		}
		left, _, err := One(tx, Column[int64], `SELECT count(*) FROM escalation`)
		got += fmt.Sprint(left)
		return err
	})
	if want := "bare 0, closed 30, loaded 20, open 0, open 5, 0"; err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}
