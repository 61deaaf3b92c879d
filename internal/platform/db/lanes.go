package db

import (
	"context"
	"time"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/queue"
	"tocsin/internal/platform/fair"
)

// write is a write that waits for its turn, or runs.
type write = queue.Write[job]

// job is what a write does.
type job struct {
	fn      func(*Tx) error
	batches []Rows // what Append inserts, in place of fn
	panic   any
	after   []func() // see Tx.OnCommit
}

// lane is a connection that writes, and whose turn it is there.
type lane struct {
	*queue.Lane[job]
	db     *DB
	conn   driver.Conn
	queue  *queue.Queue[job]
	looked time.Time // when a lane that appends last asked whether the program may write
}

// shardOf returns the part that an account is in.
func shardOf(account int64) int64 { return int64(uint64(account) % driver.Shards) } //nolint:gosec // less than 64

// BatchSize returns how many rows of one account a transaction should write, of many: the usual number in the one lane of all
// accounts, twice as many where no other account waits for it.
func (d *DB) BatchSize(usual int) int {
	if !d.writes.Single() {
		return 2 * usual
	}
	return usual
}

// Write runs fn in a write transaction, while no other runs in any process that has the database open. When Write returns
// nil the change is on disk. When fn or the commit fails, none of it is. Writes that arrive together share a commit: fn
// may see changes that are not on disk yet, and these reach the disk no later than its own. fn runs on another goroutine
// than its caller's.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{Job: job{fn: fn}, Account: account(ctx)})
}

// WriteOf is Write for a function that writes rows of one account, and reads no other rows before it does: transactions
// of other accounts may run beside it. The functions of one account never run at once, in any process.
func (d *DB) WriteOf(ctx context.Context, account int64, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{Job: job{fn: fn}, Account: account, Shards: []int64{shardOf(account)}})
}

// ClaimOf is WriteOf for a function that calls Tx.TryLock. Those of one process take turns, so that none finds a lock that
// another of them has.
func (d *DB) ClaimOf(ctx context.Context, account int64, fn func(*Tx) error) error {
	return d.write(ctx, d.writes, &write{Job: job{fn: fn}, Account: account, Shards: []int64{shardOf(account)}, Claims: d.traits.Claimers > 0})
}

// NoAccount is for WriteOf of rows that no write of an account touches, such as those about processes: Write would make
// all accounts wait.
const NoAccount = queue.NoAccount

// write adds a write to a queue and waits for its result.
func (d *DB) write(ctx context.Context, g *queue.Queue[job], w *write) error {
	return d.reason(ctx, d.wait(ctx, g, w))
}

func (d *DB) wait(ctx context.Context, g *queue.Queue[job], w *write) error {
	defer func(began time.Time) { fair.Waited(ctx, time.Since(began)) }(time.Now())
	over, stop := d.patience()
	defer stop()
	err := g.Wait(ctx, w, over, errBusy, d.closed, ErrClosed)
	if w.Job.panic != nil {
		panic(w.Job.panic)
	}
	if err == nil {
		for _, fn := range w.Job.after {
			fn()
		}
	}
	return err
}

func failed(w *write) bool { return w.Err != nil || w.Job.panic != nil }

// fail stores an error of a write that has none yet.
func fail(w *write, err error) {
	if !failed(w) {
		w.Err = err
	}
}

// Crowded reports whether appends wait for others: more comes in than the database takes at once. Those of accounts that
// rest wait for their own.
func (d *DB) Crowded() bool { return d.appends.Crowded() }
