package alert

import (
	"time"

	"tocsin/internal/db"
	"tocsin/internal/work"
)

// Overdue returns how many muted alerts are to be decided again.
func Overdue(tx *db.Tx, now time.Time) (work.Overdue, error) {
	return work.CountOverdue(tx, "muted alert", time.Second, `SELECT count(*), coalesce(min(muted_until), 0) FROM alert WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0 AND muted_until <= $1`, now.Unix())
}
