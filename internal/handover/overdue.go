package handover

import (
	"time"

	"tocsin/internal/db"
	"tocsin/internal/work"
)

// Overdue returns how many shifts people are to be notified of.
func Overdue(tx *db.Tx, now time.Time) (work.Overdue, error) {
	return work.CountOverdue(tx, "turn on call", time.Second, `SELECT count(*), coalesce(min(due_at), 0) FROM handover WHERE due_at > 0 AND due_at <= $1`, now.Unix())
}
