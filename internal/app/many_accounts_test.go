package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// TestJobsAskOnceForAllAccounts: what the jobs ask the database for in each second does not grow with the accounts that
// have work which is not due: open escalations, the fallback, heartbeats.
func TestJobsAskOnceForAllAccounts(t *testing.T) {
	t.Parallel()
	d := newCounted(t)
	next := int64(1000)
	add := func(accounts int) {
		for range accounts {
			next++
			d.copyOf("account", next)
			d.copyOf("incident", next)
			d.exec(`INSERT INTO escalation (account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended)
				SELECT account_id, incident_id, 1, 'r', 'r', '{}', '{}', 1, 0, 9000000000, '' FROM incident WHERE account_id = $1`, next)
			d.exec(`INSERT INTO untold (account_id, ref_id, incident_id, channel_id, integration_id, event_id, title, severity, why, by_choice,
					state, since, last_at, events, next_at, attempt, told_at, told_key)
				VALUES ($1, 'i', 'i', 1, 0, '', 't', 'Info', 'w', '', 'waiting', 1, 1, 0, 9000000000, 0, 0, '')`, next)
			d.exec(`INSERT INTO object (account_id, kind, id, parent, rank, name_folded, team_id, creator_id, created_at, updated_at, body)
				VALUES ($1, 'integration', '5', '', 0, 'b', 0, 0, 1, 1,
				'{"integration_id": 5, "integration_type": "heartbeat", "status": "enabled", "settings": {"interval_seconds": 600}}')`, next)
		}
	}
	for _, name := range []string{"escalate", "untold", "heartbeats", "webhook subscriptions", "own alerts", "handover", "silence"} {
		var cost [2]int64
		for i, accounts := range []int{1, 6} {
			add(accounts)
			run := func() {
				if _, err := d.jobOf(name).Run(t.Context(), time.Now()); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			run() // what it reads of a changed configuration
			before := d.statements()
			run()
			cost[i] = d.statements() - before
		}
		if cost[1] > cost[0] {
			t.Errorf("%s: %d statements, and %d with more accounts", name, cost[0], cost[1])
		}
	}
}

// TestIdleProgramAsksSame: one round of all jobs takes as many statements whatever the number of accounts is.
func TestIdleProgramAsksSame(t *testing.T) {
	t.Parallel()
	d := newCounted(t)
	next := int64(1000)
	var cost [2]int64
	for i, accounts := range []int{2, 40} {
		for range accounts {
			next++
			d.copyOf("account", next)
			d.exec(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed, missing_at) VALUES ($1, 5, 1, FALSE, 9000000000)`, next)
			d.exec(`INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until) VALUES ($1, 6, 1, 0, 0)`, next)
		}
		for range 3 { // what the jobs read of a changed configuration, then what an idle round takes
			before := d.statements()
			if err := d.app.Runner.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := d.statements() - before; cost[i] == 0 || took < cost[i] {
				cost[i] = took
			}
		}
	}
	if cost[1] > cost[0]+2 {
		t.Errorf("%d statements, and %d with more accounts", cost[0], cost[1])
	}
}

// TestLongPageAsksSame: a page takes as many statements whatever the number of its entries is. Each size is asked for
// several times: what a request finds in memory it must read again when the machine was busy and the copy is too old.
func TestLongPageAsksSame(t *testing.T) {
	t.Parallel()
	d := newCounted(t)
	d.take(decidingKinds[0], "page", 30)
	d.decide()
	for _, path := range []string{"/incident/list", "/alert/list", "/alert-event/list"} {
		cost := map[int]int64{}
		for _, n := range []int{2, 30, 2, 30, 2, 30, 2, 30} { // the first reads the configuration
			body := fmt.Sprintf(`{"start_time": %d, "end_time": %d, "limit": %d}`, d.now.Unix()-3600, d.now.Unix()+3600, n)
			before := d.statements()
			got := reply(d.app, decidingKey, path, body)
			took := d.statements() - before
			if least, known := cost[n]; !known || took < least {
				cost[n] = took
			}
			if entries := strings.Count(got, `"channel_id"`); !strings.HasPrefix(got, "200") || entries < n {
				t.Fatalf("%s: %d entries instead of %d: %s", path, entries, n, got)
			}
		}
		if cost[30] > cost[2] {
			t.Errorf("%s: %d statements, and %d with more entries", path, cost[2], cost[30])
		}
	}
}

// newCounted is newDeciding where statements are counted.
func newCounted(t *testing.T) *deciding {
	t.Helper()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine has no round trips")
	}
	return newDeciding(t, 0)
}

// statements returns how many statements were run. No caller waits for the COMMIT of a snapshot, so it waits for those.
func (d *deciding) statements() int64 {
	d.Helper()
	for own := int64(1); ; own++ {
		var open int64
		if err := d.app.DB.Read(d.Context(), func(tx *db.Tx) (err error) {
			open, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`)
			return err
		}); err != nil {
			d.Fatal(err)
		}
		if open == 0 {
			return d.link.Statements.Add(-own)
		}
	}
}

// copyOf copies an account's rows of a table to another account.
func (d *deciding) copyOf(name string, to int64) {
	d.Helper()
	if err := d.app.DB.Write(d.Context(), func(tx *db.Tx) error {
		tables, err := d.app.DB.Tables(tx)
		if err != nil {
			return err
		}
		table := tables[slices.IndexFunc(tables, func(t db.Table) bool { return t.Name == name })]
		rows := [][]any{}
		if err := d.app.DB.Records(tx, table, db.Span{Account: decidingID}, func(r db.Record) error {
			values := r.Values
			values[slices.IndexFunc(table.Columns, func(c db.TableColumn) bool { return c.Name == "account_id" })] = to
			rows = append(rows, values)
			return nil
		}); err != nil {
			return err
		}
		return d.app.DB.Load(tx, table, func(yield func([]any, error) bool) {
			for _, values := range rows {
				if !yield(values, nil) {
					return
				}
			}
		})
	}); err != nil {
		d.Fatal(err)
	}
}

func (d *deciding) exec(query string, args ...any) {
	d.Helper()
	if err := d.app.DB.Write(d.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		d.Fatal(err)
	}
}
