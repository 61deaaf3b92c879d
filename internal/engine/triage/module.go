// Package triage decides about the events that came in. It compiles an account's configuration, calls the pure
// core/decide, and stores the results with their reasons: alerts, incidents, verdicts and domain events.
//
// Deciding uses read transactions. A short write transaction then stores the verdicts if all rows that were read for
// them are still the same; otherwise they are decided again. Accounts are processed in rounds, so that none is starved.
//
// It must never lose an event: one that cannot be decided is retried by itself, and ends at last with the verdict
// `failed`. It must never match a filter in a write transaction, nor let one account wait for another's rules.
package triage

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs, retention and count of overdue work.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/triage",
		Ops:     r.Ops(),
		Jobs:    r.Jobs(),
		Prune:   []module.Retention{{Period: module.Events, Prune: Prune, Tables: droppable}, {Period: module.Dropped, Prune: PruneDropped}},
		Overdue: Overdue,
	}
}

// Overdue returns how many events wait for their verdict.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "event", time.Nanosecond,
		`SELECT count(*), coalesce(min(received_at), 0) FROM event_waiting WHERE received_at <= $1`, now.UnixNano())
}

// batchPruned is the most rows that one transaction deletes of an account.
const batchPruned = 2000

// droppable are the tables of events and verdicts, with the rows that Prune would not delete.
var droppable = []db.Droppable{
	{Table: "event", Kept: `p.received_at >= %d OR EXISTS (SELECT 1 FROM event_waiting w
		WHERE w.account_id = p.account_id AND w.event_id = p.event_id)`},
	{Table: "verdict", Kept: `p.decided_at >= %d / 1000000`},
}

// Prune deletes events that came and verdicts that were made before a moment. more reports whether there may be
// others; the caller then calls it again. In both tables the order of the keys is the order of time, so Prune reads only
// the first rows of an account. An index by time is not needed, which would cost a write for every event. No key is later
// than its row's time, so rows with later keys are not looked at.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	for _, account := range accounts {
		events, err := tx.Exec(`DELETE FROM event WHERE account_id = $1 AND event_id IN (SELECT event_id FROM
			(SELECT event_id, received_at FROM event WHERE account_id = $1 AND event_id < $4 ORDER BY event_id LIMIT $3 + 0) AS oldest
			WHERE received_at < $2) AND event_id < $4 AND event_id NOT IN (SELECT event_id FROM event_waiting WHERE account_id = $1)`,
			account.ID, before.UnixNano(), batchPruned, id.After(before))
		if err != nil {
			return false, err
		}
		verdicts, err := tx.Exec(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id IN (SELECT verdict_id FROM
			(SELECT verdict_id, decided_at FROM verdict WHERE account_id = $1 AND verdict_id < $4 ORDER BY verdict_id LIMIT $3 + 0) AS oldest
			WHERE decided_at < $2) AND verdict_id < $4`, account.ID, before.UnixMilli(), batchPruned, before.UnixMicro())
		if err != nil {
			return false, err
		}
		more = more || events == batchPruned || verdicts == batchPruned
	}
	return more, nil
}

// siblings is more than the verdicts of one event, one for each of its channels. They are stored together, so that their
// ids follow each other.
const siblings = 10_000

// PruneDropped is Prune for events that became no part of an alert. They are many, and are of interest for a short time
// only. An event stays while there is another verdict about it.
func PruneDropped(tx *db.Tx, before time.Time) (more bool, err error) {
	type row struct {
		account, verdict int64
		event            string
	}
	scanRow := func(scan db.Scan) (r row, err error) { return r, scan(&r.account, &r.verdict, &r.event) }
	rows, err := db.All(tx, scanRow, `SELECT account_id, verdict_id, event_id FROM verdict
		WHERE decided_at < $1 AND outcome IN ('dropped', 'discarded', 'unrouted', 'unmatched', 'repeated') LIMIT $2 + 0`,
		before.UnixMilli(), batchPruned)
	if err != nil {
		return false, err
	}
	for _, r := range rows {
		if err := tx.Do(`DELETE FROM verdict WHERE account_id = $1 AND verdict_id = $2`, r.account, r.verdict); err != nil {
			return false, err
		}
		if err := tx.Do(`DELETE FROM event WHERE account_id = $1 AND event_id = $2
			AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.account_id = event.account_id AND v.event_id = event.event_id
				AND v.verdict_id > $3 AND v.verdict_id < $4)`, r.account, r.event, r.verdict-siblings, r.verdict+siblings); err != nil {
			return false, err
		}
	}
	return len(rows) == batchPruned, nil
}
