package apitest

import (
	"fmt"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// Every call of every test is checked for this rule: a write that changes the account's configuration must bump its
// revision in the same transaction (see package configstore). Else nodes would continue to use stale caches.

// configuration lists the tables that are cached by revision, with the columns that matter where not all do.
var configuration = map[string]string{
	"account": " OF account_name, time_zone, owner_id", "person": "", "person_role": "", "role": "", "team": "", "team_person": "", "schedule": "", "channel": "", "object": "",
}

// watch adds a table to the database that records which accounts' configuration was changed and which revisions were
// bumped since the table was last emptied.
func watch(tx *db.Tx) error {
	if _, err := tx.Exec(`CREATE TABLE watched (account_id BIGINT NOT NULL, what TEXT NOT NULL)`); err != nil {
		return err
	}
	triggers := []dbtest.Trigger{{Name: "watch_revision", At: "AFTER UPDATE OF revision ON account", Do: "INSERT INTO watched VALUES (NEW.account_id, 'revision')"}}
	for table, columns := range configuration {
		for verb, row := range map[string]string{"INSERT": "NEW", "UPDATE" + columns: "NEW", "DELETE": "OLD"} {
			triggers = append(triggers, dbtest.Trigger{
				Name: "watch_" + table + "_" + verb[:6], At: "AFTER " + verb + " ON " + table,
				Do: fmt.Sprintf("INSERT INTO watched VALUES (%s.account_id, '%s')", row, strings.ToLower(verb[:6])+" "+table),
			})
		}
	}
	for _, g := range triggers {
		if err := g.Make(tx); err != nil {
			return err
		}
	}
	return nil
}

// revised returns a record function that checks the rule before it records a write.
func (s *Server) revised(record func(*db.Tx, api.AuditEntry) error) func(*db.Tx, api.AuditEntry) error {
	return func(tx *db.Tx, e api.AuditEntry) error {
		uncounted, err := db.All(tx, db.Column[string], `SELECT DISTINCT what FROM watched w WHERE NOT EXISTS (SELECT 1 FROM watched r WHERE r.account_id = w.account_id AND r.what = 'revision')`)
		if err != nil {
			return err
		}
		if len(uncounted) > 0 {
			s.t.Errorf("%s changes configuration (%s) without configstore.BumpRevision in the same transaction", e.Operation, strings.Join(uncounted, ", "))
		}
		if _, err := tx.Exec(`DELETE FROM watched`); err != nil {
			return err
		}
		return record(tx, e)
	}
}

// count bumps the revision of all accounts, for fixtures that write SQL directly.
func count(tx *db.Tx) error {
	for _, account := range []int64{AccountA, AccountB} {
		if err := configstore.BumpRevision(tx, account); err != nil {
			return err
		}
	}
	return nil
}
