package jobs

import (
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Batch is one kind of work on rows of accounts. Rows are read and prepared without the writer, and read again in the write
// transaction, so that several processes may do the same work. All rows of a batch are done together. If that fails, each
// half is done by itself, so that one corrupt row does not hold back the others.
type Batch[R any] struct {
	DB     *db.DB
	Steady bool // Due makes several queries, which must see one state
	// Due reads the next rows of an account that are due. It sets Round.More and Round.Full.
	Due func(tx *db.Tx, t *Round) ([]R, error)
	// Prepare does what needs no transaction, such as rendering and encoding, and returns the rows with it; nil: nothing.
	Prepare func(t *Round, rows []R) ([]R, error)
	// Still returns the rows that are still to be done, in the write transaction.
	Still func(tx *db.Tx, t *Round, rows []R) ([]R, error)
	// Do does the work of rows, or fails and changes nothing.
	Do func(tx *db.Tx, t *Round, rows []R) error
	// Postpone leaves a row for later that fails by itself; nil: no row is done without the others of its batch.
	Postpone func(tx *db.Tx, t *Round, row R, cause error) error
}

// Round does one batch of an account.
func (b *Batch[R]) Round(t *Round) error {
	read := b.DB.Read
	if b.Steady {
		read = b.DB.Snapshot
	}
	var rows []R
	err := read(t.Ctx, func(tx *db.Tx) (err error) {
		rows, err = b.Due(tx, t)
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return b.Process(t, rows)
}

// Process does the work of rows of an account. If none of them is still to be done, another process was faster.
func (b *Batch[R]) Process(t *Round, rows []R) (err error) {
	if b.Prepare != nil {
		rows, err = b.Prepare(t, rows)
		if err != nil {
			return err
		}
	}
	done := 0
	err = b.DB.WriteOf(t.Ctx, t.Account, func(tx *db.Tx) error {
		still, err := b.Still(tx, t, rows)
		if err != nil {
			return err
		}
		done = len(still)
		return b.try(tx, t, still)
	})
	if err == nil && done == 0 {
		t.Missed(len(rows))
	}
	return err
}

// try does rows together, or each half by itself if that fails.
func (b *Batch[R]) try(tx *db.Tx, t *Round, rows []R) error {
	switch {
	case len(rows) == 0:
		return nil
	case b.Postpone == nil:
		return fault.Guard(func() error { return b.Do(tx, t, rows) })
	}
	failed, err := tx.Try(func() error { return b.Do(tx, t, rows) })
	if err != nil || failed == nil {
		return err
	}
	half := len(rows) / 2
	if half == 0 {
		return b.Postpone(tx, t, rows[0], failed)
	}
	if err := b.try(tx, t, rows[:half]); err != nil {
		return err
	}
	return b.try(tx, t, rows[half:])
}

// Backoff bounds the pause before a retry.
type Backoff struct{ Min, Max time.Duration }

// Wait returns want within the bounds, then a quarter shorter (spread 0) to a quarter longer (spread 1): retries of
// calls that failed together must not come together. A caller that doubles want with each failure waits twice as
// long each time.
func (b Backoff) Wait(want time.Duration, spread float64) time.Duration {
	return time.Duration(float64(min(max(want, b.Min), b.Max)) * (0.75 + spread/2))
}
