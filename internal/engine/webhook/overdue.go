package webhook

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Overdue returns how many events wait until the webhooks that subscribe to them are found. Messages are not counted: an
// endpoint that is down is not this server's fault.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "webhook event", time.Millisecond,
		`SELECT count(*), coalesce(min(happened_at), 0) FROM webhook_event WHERE happened_at <= $1`, now.UnixMilli())
}
