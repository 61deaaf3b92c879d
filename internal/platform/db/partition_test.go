package db_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	ulid "tocsin/internal/platform/id"
)

// parts is a database whose parts tests look at.
type parts struct {
	*testing.T
	*db.DB
	monday time.Time // the first week after what was there before there were parts
}

func openParts(t *testing.T) parts {
	t.Helper()
	p := parts{t, onPostgres(t), time.Time{}}
	p.monday = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	for p.monday.Weekday() != time.Monday {
		p.monday = p.monday.AddDate(0, 0, 1)
	}
	p.account(1)
	p.account(2)
	return p
}

// onPostgres opens a new database, which the embedded engine has no parts in.
func onPostgres(t *testing.T) *db.DB {
	t.Helper()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	return openNew(t)
}

func (p parts) account(id int64) {
	write(p.T, p.DB, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'a', 'UTC', 1, 1)`, id)
}

// week returns the beginning of a week.
func (p parts) week(n int) time.Time { return p.monday.AddDate(0, 0, 7*n) }

// name returns the name of the part of a week.
func (p parts) name(table string, n int) string { return table + "_" + p.week(n).Format("20060102") }

// event returns the rows of an event that came at a time.
func event(account int64, at time.Time, number int64) db.Rows {
	return db.Rows{Table: "event", Columns: []string{"account_id", "event_id", "received_at", "integration_id", "body"},
		Values: [][]any{{account, fmt.Sprintf("%08x%016x", at.Unix(), number), at.UnixNano(), int64(1), "{}"}}}
}

func (p parts) append(rows ...db.Rows) {
	p.Helper()
	if err := p.Append(ctx, rows...); err != nil {
		p.Fatal(err)
	}
}

func (p parts) ahead(now time.Time, forever ...string) (made []string) {
	p.Helper()
	made, err := p.Ahead(ctx, now, forever)
	if err != nil {
		p.Fatal(err)
	}
	return made
}

func (p parts) drop(before time.Time, tables ...string) (dropped []string) {
	p.Helper()
	var all []db.Droppable
	for _, table := range tables {
		all = append(all, droppable[table])
	}
	until, dropped, err := p.Drop(ctx, before, all)
	if err != nil {
		p.Fatal(err)
	}
	if until.After(before) || before.Sub(until) >= 7*24*time.Hour {
		p.Errorf("what is left is deleted before %s, retention ends at %s", until, before)
	}
	return dropped
}

// droppable are as the modules describe them.
var droppable = map[string]db.Droppable{
	"event": {Table: "event", Kept: `p.received_at >= %d OR EXISTS (SELECT 1 FROM event_waiting w
		WHERE w.account_id = p.account_id AND w.event_id = p.event_id)`},
	"verdict": {Table: "verdict", Kept: `p.decided_at >= %d / 1000000`},
	"webhook_delivery": {Table: "webhook_delivery", Counts: []string{
		`DELETE FROM webhook_count WHERE hour >= $1 / 3600 AND hour < $2 / 3600`,
		`DELETE FROM webhook_count_day WHERE day >= $1 / 86400 AND day < $2 / 86400`,
	}},
	"webhook_exchange": {Table: "webhook_exchange"},
}

func (p parts) count(query string, args ...any) (n int64) {
	p.Helper()
	err := p.Read(ctx, func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// where returns in which parts the events are.
func (p parts) where() string {
	p.Helper()
	return p.whereIs("event")
}

// whereIs returns in which parts the rows of a table are.
func (p parts) whereIs(table string) string {
	p.Helper()
	var all []string
	err := p.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = db.All(tx, db.Column[string],
			`SELECT CAST(CAST(tableoid AS regclass) AS TEXT) || ' ' || count(*) FROM `+table+` GROUP BY tableoid ORDER BY 1`)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return strings.Join(all, ", ")
}

func TestPartsAreMadeAheadOnce(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	if made := p.ahead(p.week(-1)); !slices.Contains(made, p.name("event", 0)) || !slices.Contains(made, p.name("webhook_exchange", 1)) || len(made) != 14 {
		t.Errorf("made %q, want the parts of two weeks of seven tables", made)
	}
	if made := p.ahead(p.week(0).Add(-time.Second)); len(made) != 0 {
		t.Errorf("made again: %q", made)
	}
	var mu sync.Mutex
	var made []string
	var nodes sync.WaitGroup
	for range 3 {
		nodes.Go(func() {
			one, err := p.Ahead(ctx, p.week(1), nil)
			mu.Lock()
			defer mu.Unlock()
			made = append(made, one...)
			if err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	if slices.Sort(made); len(made) != 14 || len(slices.Compact(made)) != 14 {
		t.Errorf("three nodes together made %q", made)
	}
}

// TestRowsThatComeBeforeTheirPart are stored, found, and moved to the part when it is made.
func TestRowsThatComeBeforeTheirPart(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.append(event(1, p.week(-1), 1), event(1, p.week(5).Add(time.Hour), 2), event(1, p.week(7), 3), event(1, p.week(300), 4))
	if got := p.where(); got != "event_before 1, event_default 3" {
		t.Errorf("events are in %s", got)
	}
	p.ahead(p.week(6))
	want := []string{"event_before 1", p.name("event", 5) + " 1", p.name("event", 7) + " 1", "event_default 1"}
	slices.Sort(want)
	if got := p.where(); got != strings.Join(want, ", ") {
		t.Errorf("events are in %s, want %s", got, want)
	}
}

// TestRetentionDropsParts: but none with a row that retention keeps.
func TestRetentionDropsParts(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(0))
	waiting, late := event(1, p.week(1).Add(time.Hour), 3), event(2, p.week(2).Add(-time.Hour), 4)
	late.Values[0][2] = p.week(3).UnixNano() // it came long after its id was made
	p.append(event(1, p.week(-1), 1), event(2, p.week(0), 2), waiting, late,
		db.Rows{Table: "event_waiting", Columns: []string{"account_id", "event_id", "received_at"}, Values: [][]any{waiting.Values[0][:3]}})
	if dropped := p.drop(p.week(1).Add(-time.Second), "event", "verdict"); !slices.Equal(dropped, []string{"event_before", "verdict_before"}) {
		t.Errorf("dropped %q", dropped)
	}
	if dropped := p.drop(p.week(2).Add(time.Hour), "event"); !slices.Equal(dropped, []string{p.name("event", 0)}) {
		t.Errorf("dropped %q: the second part has an event that waits", dropped)
	}
	write(t, p.DB, `DELETE FROM event_waiting`)
	if dropped := p.drop(p.week(2).Add(time.Hour), "event"); len(dropped) != 0 {
		t.Errorf("dropped %q: the part has an event that came later", dropped)
	}
	if got := p.where(); got != p.name("event", 1)+" 2" {
		t.Errorf("events are in %s", got)
	}
	if dropped := p.drop(p.week(4), "event"); !slices.Contains(dropped, p.name("event", 1)) {
		t.Errorf("dropped %q", dropped)
	}
	if n := p.count(`SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname IN ($1, $2)`, p.name("event", 0), p.name("event", 1)); n != 0 {
		t.Errorf("%d dropped parts are tables still", n)
	}
	p.append(event(1, p.week(0), 9)) // of a part that is gone, such as of an account that moves here
}

// TestRetentionDropsCountsWithDeliveries: what counts them is deleted in the same transaction.
func TestRetentionDropsCountsWithDeliveries(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(0))
	for n := range 3 {
		at := p.week(n).Add(6*24*time.Hour + 23*time.Hour)
		p.append(db.Rows{Table: "webhook_delivery", Columns: []string{"account_id", "event_id", "event_time", "status", "integration_id", "event_type",
			"ref_id", "webhook_type", "channel_id", "endpoint", "attempt", "duration", "status_code"},
			Values: [][]any{{int64(1), fmt.Sprint("d", n), at.UnixNano(), "failed", int64(1), "i_new", "r", "incident", int64(1), "", int64(1), int64(1), int64(0)}}})
		write(t, p.DB, `INSERT INTO webhook_count_day (account_id, shape, integration_id, event_type, status, day, deliveries) VALUES (1, 0, 0, '', '', $1, 1)`, at.Unix()/86400)
		write(t, p.DB, `INSERT INTO webhook_count (account_id, shape, integration_id, event_type, status, hour, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11)
			VALUES (1, 0, 0, '', '', $1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`, at.Unix()/3600)
	}
	p.drop(p.week(2), "webhook_delivery", "webhook_exchange")
	for _, query := range []string{`SELECT count(*) FROM webhook_delivery`, `SELECT count(*) FROM webhook_count`,
		`SELECT CAST(sum(deliveries) AS BIGINT) FROM webhook_count_day`} {
		if n := p.count(query); n != 1 {
			t.Errorf("%s: %d, want 1", query, n)
		}
	}
}

// TestIntakeGoesOnWhilePartsChange: rows come to weeks whose parts are there, are being made, and are not there yet, while
// others are dropped. Each is stored.
func TestIntakeGoesOnWhilePartsChange(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	const rounds = 6
	var sent, kept atomic.Int64
	end := make(chan struct{})
	var writers sync.WaitGroup
	var weekNow atomic.Int64
	for account := int64(1); account <= 2; account++ {
		for range 2 {
			writers.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
					}
					n := sent.Add(1)
					week := int(weekNow.Load()) + int(n%5) // up to two weeks beyond those that are made
					if err := p.Append(ctx, event(account, p.week(week).Add(time.Duration(n)*time.Second), n)); err != nil {
						t.Error(err)
						return
					}
					if week >= rounds-2 {
						kept.Add(1)
					}
					if err := p.Read(ctx, func(tx *db.Tx) error {
						_, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM event WHERE account_id = $1 AND event_id < '0'`, account)
						return err
					}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for n := range rounds {
		weekNow.Store(int64(n))
		p.ahead(p.week(n))
		if n >= 3 {
			p.drop(p.week(n-2), "event")
		}
	}
	close(end)
	writers.Wait()
	p.ahead(p.week(rounds))
	if n := p.count(`SELECT count(*) FROM event WHERE received_at >= $1`, p.week(rounds-2).UnixNano()); n != kept.Load() || n == 0 {
		t.Errorf("%d events are stored, %d were acknowledged", n, kept.Load())
	}
}

// TestLookupsReadOnePart: also where the plan is made before the values are known.
func TestLookupsReadOnePart(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(0))
	at := p.week(1).Add(time.Hour)
	id := fmt.Sprintf("'%08x%016x'", at.Unix(), 1)
	for _, c := range []struct{ query, values, table string }{
		{`SELECT body FROM event WHERE account_id = $1 AND event_id = $2`, `1, ` + id, "event"},
		{`DELETE FROM event WHERE account_id = $1 AND event_id = $2`, `1, ` + id, "event"},
		{`SELECT v.body FROM verdict v WHERE v.account_id = $1 AND v.event_id = $2 AND v.verdict_id > $3 - 10 AND v.verdict_id < $3 + 10`,
			`1, ` + id + fmt.Sprintf(", %d", at.UnixMicro()), "verdict"},
		{`SELECT count(*) FROM webhook_delivery WHERE account_id = $1 AND event_time >= $2 AND event_time < $3`,
			fmt.Sprintf("1, %d, %d", at.UnixNano(), at.Add(time.Hour).UnixNano()), "webhook_delivery"},
		{`SELECT kind FROM audit_touched WHERE account_id = $1 AND audit_id = $2`, `1, '` + ulid.ULID(at) + `'`, "audit_touched"},
		{`SELECT count(*) FROM event WHERE account_id = $1 AND event_id < $2`, fmt.Sprintf("1, '%08x'", p.week(-2).Unix()), "event"},
	} {
		err := p.Write(ctx, func(tx *db.Tx) error {
			types := strings.Repeat(", BIGINT", strings.Count(c.values, ","))
			if strings.Contains(c.values, "'") {
				types = strings.Replace(types, "BIGINT", "TEXT", 1)
			}
			for _, query := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE looked (BIGINT" + types + ") AS " + c.query} {
				if _, err := tx.Exec(query); err != nil {
					return err
				}
			}
			plan, err := db.All(tx, db.Column[string], "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE looked("+c.values+")")
			text := strings.Join(plan, "\n")
			if read := regexp.MustCompile(`Scan.* on `+c.table+`_\w+`).FindAllString(text, -1); len(read) != 1 {
				t.Errorf("%s reads %q:\n%s", c.query, read, text)
			}
			_, err2 := tx.Exec("DEALLOCATE looked")
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestUpgradeToParts: what was there stays, in one part, and what is new comes to others.
func TestUpgradeToParts(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	d, err := db.Connect(ctx, dbtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.MigrateTo(ctx, 91); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	later := time.Now().AddDate(0, 2, 0)
	entry := ""
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 1, 1)`)
	for n, at := range []time.Time{now.AddDate(0, -3, 0), now, later} {
		write(t, d, `INSERT INTO event (account_id, event_id, received_at, integration_id, body) VALUES (1, $1, $2, 1, '{}')`,
			fmt.Sprintf("%08x%016x", at.Unix(), n), at.UnixNano())
		write(t, d, `INSERT INTO verdict (account_id, verdict_id, decided_at, event_id, channel_id, outcome, alert_id, incident_id, integration_id, event_time, severity, body, trace)
			VALUES (1, $1, $2, '', 1, 'opened', '', '', 1, 1, '', '{}', '[]')`, n+1, at.UnixMilli())
		write(t, d, `INSERT INTO webhook_delivery (account_id, event_id, event_time, status, integration_id, event_type, ref_id, webhook_type, channel_id, endpoint, attempt, duration, status_code)
			VALUES (1, $1, $2, 'failed', 1, '', '', '', 1, '', 1, 1, 1)`, fmt.Sprint(n), at.UnixNano())
		write(t, d, `INSERT INTO webhook_exchange (account_id, event_id, message_id, request_headers, error_message, response_headers, response_body)
			VALUES (1, $1, '', '', '', '', '')`, fmt.Sprint(n))
	}
	for n, at := range []time.Time{now.AddDate(0, -3, 0), now, later} {
		for _, r := range rowsWithoutConstraint(1) {
			switch r.Table {
			case "feed":
				r.Values[0][1] = fmt.Sprintf("%08x%016x", at.Unix(), n)
			case "audit_log", "audit_channel":
				r.Values[0][1] = ulid.ULID(at)[:25] + fmt.Sprint(n)
			case "audit_touched": // of the entry before
				r.Values[0][4] = entry
			default:
				continue
			}
			if r.Table == "audit_log" {
				entry = r.Values[0][1].(string)
			}
			if r.Table == "audit_channel" {
				r.Values[0][1] = entry
			}
			marks := regexp.MustCompile(`\w+`).ReplaceAllString(strings.Join(r.Columns, ", "), "?")
			for i := range r.Columns {
				marks = strings.Replace(marks, "?", fmt.Sprintf("$%d", i+1), 1)
			}
			write(t, d, `INSERT INTO `+r.Table+` (`+strings.Join(r.Columns, ", ")+`) VALUES (`+marks+`)`, r.Values[0]...)
		}
	}
	if _, err := d.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	p := parts{T: t, DB: d}
	if got := p.where(); got != "event_before 2, event_default 1" {
		t.Errorf("events are in %s", got)
	}
	for _, table := range []string{"feed", "audit_log", "audit_touched", "audit_channel"} {
		if before, others := p.count(`SELECT count(*) FROM `+table+`_before`), p.count(`SELECT count(*) FROM `+table+`_default`); before != 2 || others != 1 {
			t.Errorf("%s: %d rows in the part of all before, %d in no part", table, before, others)
		}
	}
	if n := p.count(`SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid IN (SELECT inhrelid FROM pg_inherits)`); n != 0 {
		t.Errorf("%d parts have foreign keys", n)
	}
	for query, want := range map[string]int64{
		`SELECT count(*) FROM verdict`: 3, `SELECT count(*) FROM verdict_before`: 3,
		`SELECT count(*) FROM webhook_delivery`: 3,
		`SELECT count(*) FROM webhook_exchange x JOIN webhook_delivery d ON d.event_id = x.event_id AND d.event_time = x.event_time`: 3,
	} {
		if n := p.count(query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	p.ahead(later)
	if n := p.count(`SELECT count(*) FROM event_default`); n != 0 {
		t.Errorf("%d events have no part", n)
	}
	// A program of an earlier version writes no time beside an exchange.
	write(t, d, `INSERT INTO webhook_exchange (account_id, event_id, message_id, request_headers, error_message, response_headers, response_body)
		VALUES (1, 'new', '', '', '', '', '')`)
	if n := p.count(`SELECT event_time FROM webhook_exchange WHERE event_id = 'new'`); n < now.UnixNano()-int64(time.Hour) {
		t.Errorf("its time is %d", n)
	}
}

// rowsWithoutConstraint are rows of an account, in each of the tables that have no constraint for it on PostgreSQL.
func rowsWithoutConstraint(account int64) []db.Rows {
	return []db.Rows{
		event(account, time.Unix(1776052800, 0), 1),
		{Table: "event_waiting", Columns: []string{"account_id", "event_id", "received_at"}, Values: [][]any{{account, "e", int64(1)}}},
		{Table: "verdict", Columns: []string{"account_id", "verdict_id", "decided_at", "event_id", "channel_id", "outcome", "alert_id",
			"incident_id", "integration_id", "event_time", "severity", "body", "trace"},
			Values: [][]any{{account, int64(1), int64(1), "e", int64(1), "opened", "", "", int64(1), int64(1), "", "{}", "[]"}}},
		{Table: "feed", Columns: []string{"account_id", "ref_id", "feed_id", "created_at", "type", "person_id", "detail"},
			Values: [][]any{{account, "r", int64(1), int64(1), "i_new", int64(0), "{}"}}},
		{Table: "webhook_delivery", Columns: []string{"account_id", "event_id", "event_time", "status", "integration_id", "event_type",
			"ref_id", "webhook_type", "channel_id", "endpoint", "attempt", "duration", "status_code"},
			Values: [][]any{{account, "d", int64(1), "failed", int64(1), "i_new", "r", "incident", int64(1), "", int64(1), int64(1), int64(0)}}},
		{Table: "webhook_exchange", Columns: []string{"account_id", "event_id", "event_time", "message_id", "request_headers", "error_message",
			"response_headers", "response_body"}, Values: [][]any{{account, "d", int64(1), "", "", "", "", ""}}},
		{Table: "audit_log", Columns: []string{"account_id", "audit_id", "created_at", "person_id", "person_name", "request_id", "ip", "operation",
			"outcome", "body", "is_dangerous", "is_write"}, Values: [][]any{{account, "01", int64(1), int64(1), "", "", "", "", "", "", false, true}}},
		{Table: "audit_touched", Columns: []string{"account_id", "kind", "object_id", "created_at", "audit_id", "object_name"},
			Values: [][]any{{account, "k", "1", int64(1), "01", ""}}},
		{Table: "audit_channel", Columns: []string{"account_id", "audit_id", "channel_id"}, Values: [][]any{{account, "01", int64(1)}}},
	}
}

// TestEveryRowHasItsAccount: rows of no account are refused however they come, and none outlives its account.
func TestEveryRowHasItsAccount(t *testing.T) {
	t.Parallel()
	d := openNew(t)
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (7, 'a', 'UTC', 1, 1)`)
	for n, r := range rowsWithoutConstraint(8) {
		if n == 5 {
			continue // of no delivery either
		}
		if err := d.Append(ctx, r); err == nil {
			t.Errorf("%s: a row of no account was appended", r.Table)
		}
		if err := d.Append(ctx, db.Rows{Table: r.Table, Columns: r.Columns, Values: append(rowsWithoutConstraint(7)[n].Values, r.Values...)}); err == nil {
			t.Errorf("%s: a row of no account was appended beside another", r.Table)
		}
		if err := d.Write(ctx, func(tx *db.Tx) error { return tx.Insert(r) }); err == nil {
			t.Errorf("%s: a row of no account was inserted", r.Table)
		}
	}
	for _, r := range rowsWithoutConstraint(7) {
		if err := d.Append(ctx, r); err != nil {
			t.Error(err)
		}
	}
	rows := func() (n int64) {
		for _, r := range rowsWithoutConstraint(7) {
			err := d.Read(ctx, func(tx *db.Tx) error {
				one, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM `+r.Table)
				n += one
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		return n
	}
	if n := rows(); n != 9 {
		t.Errorf("%d rows, want 9", n)
	}
	write(t, d, `DELETE FROM account`)
	if n := rows(); n != 0 {
		t.Errorf("%d rows outlived their account", n)
	}
}

// TestAppendWaitsForAccountThatMoves: while its row is locked no event is accepted, and none once it is gone.
func TestAppendWaitsForAccountThatMoves(t *testing.T) {
	t.Parallel()
	d := onPostgres(t)
	write(t, d, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (7, 'a', 'UTC', 1, 1)`)
	outcome := make(chan error, 1)
	err := d.Write(ctx, func(tx *db.Tx) error {
		if err := d.LockRow(tx, "account", 7); err != nil {
			return err
		}
		go func() { outcome <- d.Append(context.Background(), event(7, time.Unix(1776052800, 0), 1)) }()
		for waits := int64(0); waits == 0; { // until the server reports the lock
			var err error
			waits, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO event%'`)
			if err != nil {
				return err
			}
			select {
			case err := <-outcome:
				t.Errorf("the event did not wait: %v", err)
				return err
			default:
			}
			if waits == 0 {
				if _, err := tx.Exec(`SELECT 1 FROM pg_stat_clear_snapshot()`); err != nil {
					return err
				}
			}
		}
		_, err := tx.Exec(`DELETE FROM account WHERE account_id = 7`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-outcome; err == nil {
		t.Error("an event of an account that is gone was accepted")
	}
}

// TestTablesKeptForEverHaveFewParts: and get those of weeks when their retention is limited.
func TestTablesKeptForEverHaveFewParts(t *testing.T) {
	t.Parallel()
	p := openParts(t)
	p.ahead(p.week(-1))
	if made := p.ahead(p.week(0), "audit_log"); !slices.Contains(made, p.name("audit_log", 2)) {
		t.Errorf("made %q", made)
	}
	for n := 1; n < 52; n++ {
		for _, name := range p.ahead(p.week(n), "audit_log") {
			if strings.HasPrefix(name, "audit_log") && name != p.name("audit_log", 54) {
				t.Errorf("made %s in week %d", name, n)
			}
		}
	}
	if n := p.count(`SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('audit_log' AS regclass)`); n != 5 { // before, default, two weeks, a year
		t.Errorf("the audit log has %d parts", n)
	}
	if made := p.ahead(p.week(55)); !slices.Contains(made, p.name("audit_log", 56)) || !slices.Contains(made, p.name("audit_log", 57)) {
		t.Errorf("made %q", made)
	}
}
