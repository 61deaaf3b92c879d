package jobs

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
)

// Batch is one kind of work on rows of accounts. Rows are read and prepared without the writer, and read again in the write
// transaction, so that several processes may do the same work. All rows of a batch are done together. If that fails, each
// half is done by itself, so that one corrupt row does not hold back the others.
type Batch[R any] struct {
	DB *db.DB
	// Due reads the next rows of an account that are due. more reports whether there are others.
	Due func(tx *db.Tx, account int64, now time.Time) (rows []R, more bool, err error)
	// Prepare does what needs no transaction, such as rendering and encoding, and returns the rows with it; nil: nothing.
	Prepare func(ctx context.Context, account int64, rows []R, now time.Time) ([]R, error)
	// Still returns the rows that are still to be done, in the write transaction.
	Still func(tx *db.Tx, account int64, rows []R, now time.Time) ([]R, error)
	// Do does the work of rows, or fails and changes nothing.
	Do func(tx *db.Tx, account int64, rows []R, now time.Time) error
	// Postpone leaves a row for later that fails by itself; nil: the error of the row is the error of the batch.
	Postpone func(tx *db.Tx, account int64, row R, cause error, now time.Time) error
}

// Round does one batch of an account.
func (b *Batch[R]) Round(t *Round) error {
	var rows []R
	err := b.DB.Read(t.Ctx, func(tx *db.Tx) (err error) {
		rows, t.More, err = b.Due(tx, t.Account, t.Now)
		t.Full = t.More
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	done, err := b.Process(t.Ctx, t.Account, rows, t.Now)
	if err == nil && done == 0 {
		t.Missed(len(rows))
	}
	return err
}

// Process does the work of rows of an account, and returns how many of them were still to be done.
func (b *Batch[R]) Process(ctx context.Context, account int64, rows []R, now time.Time) (done int, err error) {
	if b.Prepare != nil {
		rows, err = b.Prepare(ctx, account, rows, now)
		if err != nil {
			return 0, err
		}
	}
	err = b.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		still, err := b.Still(tx, account, rows, now)
		if err != nil {
			return err
		}
		done = len(still)
		return b.try(tx, account, still, now)
	})
	return done, err
}

// try does rows together, or each half by itself if that fails.
func (b *Batch[R]) try(tx *db.Tx, account int64, rows []R, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	failed, err := tx.Try(func() error { return b.Do(tx, account, rows, now) })
	switch {
	case err != nil || failed == nil:
		return err
	case len(rows) > 1:
		half := len(rows) / 2
		if err := b.try(tx, account, rows[:half], now); err != nil {
			return err
		}
		return b.try(tx, account, rows[half:], now)
	case b.Postpone == nil:
		return failed
	}
	return b.Postpone(tx, account, rows[0], failed, now)
}

// Rounds returns the function of a job that does batches of all accounts, in turns. accounts finds each account that has
// rows, and when the first is due.
func (b *Batch[R]) Rounds(turns *RoundRobin, accounts func(tx *db.Tx) ([]Next, error)) func(context.Context, time.Time) (time.Time, error) {
	return func(ctx context.Context, now time.Time) (again time.Time, err error) {
		waiting, all := turns.Signalled(ctx, now)
		if !all {
			return turns.Again(now), turns.Begin(ctx, now, waiting, b.Round)
		}
		var next []Next
		err = b.DB.Read(ctx, func(tx *db.Tx) (err error) {
			next, err = accounts(tx)
			return err
		})
		if err != nil {
			return again, err
		}
		waiting, again = turns.Due(next, now)
		return again, turns.Begin(ctx, now, waiting, b.Round)
	}
}

// Backoff bounds the pause before a retry.
type Backoff struct{ Min, Max time.Duration }

// Wait returns want within the bounds, then a quarter shorter (spread 0) to a quarter longer (spread 1): retries of
// calls that failed together must not come together. A caller that doubles want with each failure waits twice as
// long each time.
func (b Backoff) Wait(want time.Duration, spread float64) time.Duration {
	return time.Duration(float64(min(max(want, b.Min), b.Max)) * (0.75 + spread/2))
}
