package jobs

import (
	"time"

	"tocsin/internal/platform/db"
)

// Overdue is how many rows of one kind of work are due and not processed.
type Overdue struct {
	Work   string
	Count  int64
	Oldest time.Time // when the oldest row was due; zero: none is
}

// CountOverdue runs a query that returns how many rows are due and the earliest time at which one was, in units since
// 1970 (0: none).
func CountOverdue(tx *db.Tx, work string, unit time.Duration, query string, args ...any) (Overdue, error) {
	o, oldest := Overdue{Work: work}, int64(0)
	_, _, err := db.One(tx, func(scan db.Scan) (struct{}, error) { return struct{}{}, scan(&o.Count, &oldest) }, query, args...)
	if oldest > 0 {
		o.Oldest = time.Unix(0, oldest*int64(unit))
	}
	return o, err
}
