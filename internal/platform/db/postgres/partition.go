package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"tocsin/internal/platform/db/driver"
)

// partitioned is a table that PostgreSQL keeps in parts, one for each week or for a year, so that retention drops parts instead of
// deleting rows. See docs/decisions/0029-partitions.md. A row that belongs to no week is in the part TABLE_default.
type partitioned struct {
	table string
	key   string // the column that states the week
	unit  unit   // of the column
}

// inParts are the tables that are kept in parts.
var inParts = []partitioned{
	{table: "event", key: "event_id", unit: hexSeconds},
	{table: "verdict", key: "verdict_id", unit: microseconds},
	{table: "webhook_delivery", key: "event_time", unit: nanoseconds},
	{table: "webhook_exchange", key: "event_time", unit: nanoseconds},
	{table: "audit_log", key: "audit_id", unit: ulidTime},
	{table: "audit_touched", key: "audit_id", unit: ulidTime},
	{table: "audit_channel", key: "audit_id", unit: ulidTime},
}

// inPartsOf returns how a table is kept in parts.
func inPartsOf(table string) (partitioned, error) {
	i := slices.IndexFunc(inParts, func(p partitioned) bool { return p.table == table })
	if i < 0 {
		return partitioned{}, fmt.Errorf("table %s is not kept in parts", table)
	}
	return inParts[i], nil
}

// unreferenced are the tables whose rows belong to an account without a constraint that states it: the function
// known_accounts is called where rows are inserted, and the trigger delete_with_account deletes them.
var unreferenced = []string{
	"event", "event_waiting", "verdict", "feed", "webhook_delivery", "webhook_exchange", "audit_log", "audit_touched", "audit_channel",
}

const (
	week = 7 * 24 * time.Hour
	// weeksAhead is how many weeks have their part before they begin.
	weeksAhead = 2
	// weeksForever is how many weeks a part of a table has that is never deleted from: parts of a week would become too many.
	weeksForever = 52
	// weeksBack is how far back rows that came before there was a part for them are moved to one.
	weeksBack = 60
)

// weekOf returns the Monday on which the week of a time begins, in UTC.
func weekOf(t time.Time) time.Time {
	const monday = 4 * 24 * time.Hour // the first after the epoch
	since := time.Duration(t.Unix())*time.Second - monday
	weeks := since / week
	if since < 0 && since%week != 0 {
		weeks--
	}
	return time.Unix(0, 0).Add(monday + weeks*week).UTC()
}

// part is a part of a table: the rows from one time to before another.
type part struct {
	name     string
	from, to time.Time // from is zero for the part of all that was there before parts were made
}

// bounds finds the bounds of a part as the server writes them.
var bounds = regexp.MustCompile(`^FOR VALUES FROM \('?([^')]+)'?\) TO \('?([^')]+)'?\)$`)

// parts returns the parts of a table but the one for other rows, the oldest first.
func (p partitioned) parts(q driver.Queries) ([]part, error) {
	all, err := driver.All(q, func(scan driver.Scan) (one part, err error) {
		var bound string
		if err := scan(&one.name, &bound); err != nil {
			return one, err
		}
		match := bounds.FindStringSubmatch(bound)
		if match == nil {
			return one, fmt.Errorf("part %s has bounds that are not of this program: %s", one.name, bound)
		}
		if match[1] != "MINVALUE" {
			one.from, err = p.unit.time(match[1])
			if err != nil {
				return one, err
			}
		}
		one.to, err = p.unit.time(match[2])
		return one, err
	}, `SELECT CAST(c.relname AS TEXT), pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = CAST($1 AS regclass) AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'`, p.table)
	slices.SortFunc(all, func(a, b part) int { return a.to.Compare(b.to) })
	return all, err
}

// has reports whether one of the parts takes the rows of a week.
func has(parts []part, monday time.Time) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return !monday.Before(p.from) && monday.Before(p.to) })
}

// Changing parts takes locks that statements on the table wait for. So a change waits for the statements before it no
// longer than a moment, and is tried again later.
const (
	partLock  = "200ms"
	partPause = time.Second
	partTries = 20
)

// Ahead makes the parts of this week and the next, and those of earlier weeks whose rows had none.
func (e *Engine) Ahead(ctx context.Context, read driver.Read, now time.Time, forever []string) (made []string, err error) {
	missing := make([][]time.Time, len(inParts))
	err = read(ctx, func(q driver.Queries) (err error) {
		for i := range inParts {
			missing[i], err = inParts[i].missing(q, weekOf(now))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !slices.ContainsFunc(missing, func(m []time.Time) bool { return len(m) > 0 }) {
		return nil, err
	}
	err = e.alone(ctx, func(q driver.Session) error {
		for i, p := range inParts {
			for _, monday := range missing[i] {
				end := monday.Add(week)
				if !monday.Before(weekOf(now)) && slices.Contains(forever, p.table) {
					end = monday.Add(weeksForever * week)
				}
				done := false
				if err := change(ctx, q, func() (err error) {
					done, err = p.add(q, monday, end)
					return err
				}); err != nil {
					return err
				}
				if done {
					made = append(made, p.named(monday))
				}
			}
		}
		return nil
	})
	return made, err
}

// named returns the name of the part of a week.
func (p partitioned) named(monday time.Time) string { return p.table + "_" + monday.Format("20060102") }

// missing returns the weeks whose part is to be made.
func (p partitioned) missing(q driver.Queries, this time.Time) (mondays []time.Time, err error) {
	parts, err := p.parts(q)
	if err != nil {
		return nil, err
	}
	last := this.Add(weeksAhead * week)
	for from := this.Add(-weeksBack * week); ; { // weeks of rows that are in no part
		first, _, err := driver.One(q, driver.Column[string], fmt.Sprintf(`SELECT coalesce(CAST(min(%[2]s) AS TEXT), '') FROM %[1]s_default
			WHERE %[2]s >= %[3]s AND %[2]s < %[4]s`, p.table, p.key, p.unit.of(from), p.unit.of(last)))
		if err != nil {
			return nil, err
		}
		if first == "" {
			break
		}
		at, err := p.unit.time(first)
		if err != nil {
			return nil, err
		}
		from = weekOf(at).Add(week)
		mondays = append(mondays, weekOf(at))
	}
	for monday := this; !monday.After(last); monday = monday.Add(week) {
		mondays = append(mondays, monday)
	}
	slices.SortFunc(mondays, time.Time.Compare)
	mondays = slices.DeleteFunc(slices.Compact(mondays), func(monday time.Time) bool { return has(parts, monday) })
	return mondays, nil
}

// add makes the part from a week up to a later one, or to the next part, unless another process has. Rows of these weeks that
// came before are moved to it. The new table is attached rather than made as a part, because statements on the table go on
// meanwhile.
func (p partitioned) add(q driver.Queries, monday, end time.Time) (done bool, err error) {
	if err := run(q, "LOCK TABLE "+p.table+" IN SHARE UPDATE EXCLUSIVE MODE"); err != nil { // of one process at a time
		return false, err
	}
	parts, err := p.parts(q)
	if err != nil || has(parts, monday) {
		return false, err
	}
	for _, later := range parts {
		if later.from.After(monday) && later.from.Before(end) {
			end = later.from
		}
	}
	name := p.named(monday)
	from := p.unit.of(monday)
	to := p.unit.of(end)
	of := fmt.Sprintf(` FROM %[1]s_default WHERE %[2]s >= %[3]s AND %[2]s < %[4]s`, p.table, p.key, from, to)
	return true, run(q,
		`CREATE TABLE `+name+` (LIKE `+p.table+` INCLUDING ALL)`,
		`LOCK TABLE `+p.table+`_default IN ACCESS EXCLUSIVE MODE`,
		`INSERT INTO `+name+` SELECT *`+of,
		`DELETE`+of,
		fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)`, p.table, name, from, to),
	)
}

// alone runs fn on a connection of its own, without a transaction. Its statements may take long, so that a server that has
// become silent is noticed late: the end of ctx closes the connection, or a program that stops would wait for it.
func (e *Engine) alone(ctx context.Context, fn func(driver.Session) error) (err error) {
	c := &conn{engine: e, config: e.config.Copy(), raw: noConn()}
	c.config.RuntimeParams["statement_timeout"] = "10min"
	c.config.RuntimeParams["lock_timeout"] = partLock
	c.config.RuntimeParams["idle_in_transaction_session_timeout"] = idleTimeout
	if err := c.open(ctx); err != nil {
		return failedToConnect(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	network := c.raw.Conn()
	defer context.AfterFunc(ctx, func() { _ = network.Close() })() // its statement fails
	return fn(driver.Session{Conn: c})
}

// change runs fn in a transaction. When a lock cannot be had at once it tries again after a pause, in which the statements
// that waited behind it go on.
func change(ctx context.Context, q driver.Session, fn func() error) (err error) {
	for range partTries {
		err = run(q, "BEGIN ISOLATION LEVEL READ COMMITTED")
		if err == nil {
			err = fn()
		}
		if err == nil {
			err = run(q, "COMMIT")
		}
		if err == nil {
			return nil
		}
		q.Rollback()
		if !inTheWay(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(partPause):
		}
	}
	return err
}

// run runs statements one after the other.
func run(q driver.Queries, queries ...string) error {
	for _, query := range queries {
		if _, err := driver.Exec(q, query); err != nil {
			return err
		}
	}
	return nil
}

// unchecked returns the accounts of rows to be inserted into a table whose rows refer to them in no constraint, without those
// that were checked before, and adds them to these.
func unchecked(r driver.Rows, checked map[any]bool) (accounts []any) {
	column := slices.Index(r.Columns, "account_id")
	if column < 0 || !slices.Contains(unreferenced, r.Table) {
		return nil
	}
	for _, row := range r.Values {
		if account := row[column]; !checked[account] {
			checked[account] = true
			accounts = append(accounts, account)
		}
	}
	return accounts
}
