// Package webhook sends the events of alerts and incidents to other programs, and keeps the history: one record for each
// attempt, and their list (the specification, 2.9 and 4.7).
//
// A message is stored in the transaction of its event, sent at least once, with the same event_id each time, and retried
// for a day. One endpoint that hangs or fails must never block another. No secret of a webhook may be stored in the
// history.
//
// A list of a million deliveries must open at once, with its exact total, whatever the filter. So there is an index for
// each filter and a table of counts beside the deliveries. Only Record and Prune may change the deliveries, and they must
// never do it without the counts.
package webhook

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs, subscription to domain events, retention, count of overdue work, gauges
// and sections of an account file.
func (r *Service) Module() module.Module {
	m := module.Module{
		Name:     "engine/webhook",
		Ops:      r.Ops(),
		Jobs:     r.Jobs(),
		Overdue:  Overdue,
		Prune:    []module.Retention{{Period: module.Deliveries, Prune: Prune, Tables: droppable}},
		Sections: []string{"webhook_deliveries"},
		Gauges:   []module.Gauge{retries},
	}
	if !r.Closed {
		m.Handles = r.Handle
	}
	return m
}

// Overdue returns how many events wait until the webhooks that subscribe to them are found. Messages are not counted: an
// endpoint that is down is not this server's fault.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "webhook event", time.Millisecond,
		`SELECT count(*), coalesce(min(happened_at), 0) FROM webhook_event WHERE happened_at <= $1`, now.UnixMilli())
}

// batch is the most rows that one call of Prune deletes, so that other writers do not wait long while a day of
// deliveries is deleted.
const batch = 1000

// droppable are the tables of the history. Their parts end with an hour and a day, as the counts do.
var droppable = []db.Droppable{
	{Table: "webhook_delivery", Counts: []string{
		`DELETE FROM webhook_count WHERE hour >= $1 / 3600 AND hour < $2 / 3600`,
		`DELETE FROM webhook_count_day WHERE day >= $1 / 86400 AND day < $2 / 86400`,
	}},
	{Table: "webhook_exchange"},
}

// Prune deletes deliveries of all accounts that were made before a time, together with their counts and exchanges, and
// messages that were settled before it. It deletes a thousand of them at most, the oldest of an account first. more
// reports whether there may be others, for the next transaction.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) { return prune(tx, before, batch) }

// prune is Prune with a limit of rows.
func prune(tx *db.Tx, before time.Time, left int) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	for _, a := range accounts {
		account := a.ID
		for _, status := range statuses {
			n, err := pruneOne(tx, account, status, before.UnixNano(), left)
			if err != nil {
				return false, err
			}
			if left -= n; left == 0 {
				return true, nil
			}
		}
		if err := tx.Do(`DELETE FROM webhook_replay WHERE account_id = $1 AND ended_at > 0 AND ended_at < $2`, account,
			before.Unix()); err != nil {
			return false, err
		}
		n, err := tx.Exec(`DELETE FROM webhook_message WHERE account_id = $1 AND message_id IN (
			SELECT message_id FROM webhook_message WHERE account_id = $1 AND settled_at > 0 AND settled_at < $2
			ORDER BY settled_at LIMIT $3 + 0)`, account, before.UnixMilli(), left)
		if err != nil {
			return false, err
		}
		if left -= int(n); left == 0 {
			return true, nil
		}
	}
	return false, nil
}

// pruneOne deletes deliveries of one status of an account, and returns how many.
func pruneOne(tx *db.Tx, account int64, status string, before int64, limit int) (int, error) {
	counts := counters{}
	gone, err := db.All(tx, func(scan db.Scan) (id string, err error) {
		var integration, at int64
		var eventType string
		err = scan(&id, &integration, &eventType, &at)
		counts.add(integration, eventType, status, at, -1)
		return id, err
	}, prunable, account, status, before, limit)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	if err := tx.Do(`DELETE FROM webhook_exchange WHERE account_id = $1 AND event_id IN (SELECT value FROM json_each($2))`,
		account, db.JSON(gone)); err != nil { // no constraint does it on PostgreSQL
		return 0, err
	}
	return len(gone), counts.store(tx, account)
}

const prunable = `DELETE FROM webhook_delivery WHERE account_id = $1 AND event_id IN (
		SELECT event_id FROM webhook_delivery WHERE account_id = $1 AND status = $2 AND event_time < $3
		ORDER BY event_time, event_id LIMIT $4 + 0)
	RETURNING event_id, integration_id, event_type, event_time`

// retries counts the messages that failed and are tried again.
var retries = module.Gauge{
	Name: "tocsin_webhook_retries_waiting", Help: "Messages to webhooks that failed and wait for another attempt.",
	Read: func(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM webhook_message
			WHERE settled_at = 0 AND status = 'waiting' AND attempts > 0`)
		return []module.Sample{{Value: float64(n)}}, err
	},
}
