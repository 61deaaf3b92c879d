package incident

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many incidents are to be resolved or woken.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "incident", time.Second, `SELECT count(*), coalesce(min(at), 0) FROM (
		SELECT resolve_at AS at FROM incident WHERE progress <> 'Closed' AND resolve_at > 0 AND resolve_at <= $1
		UNION ALL
		SELECT snoozed_before FROM incident WHERE progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before <= $1) AS due`, now.Unix())
}

// Snoozed returns the ids of an account's incidents that are snoozed now, in Unix seconds. "+ 0" makes the engine read the
// index of what is snoozed rather than all incidents of the account.
func Snoozed(tx *db.Tx, account, now int64) ([]string, error) {
	return db.All(tx, db.Column[string], `SELECT incident_id FROM incident
		WHERE account_id + 0 = $1 AND progress <> 'Closed' AND snoozed_before > 0 AND snoozed_before > $2`, account, now)
}
