// Package delivery delivers rows to their targets. It claims the rows that are due under a lease, makes one attempt for
// each on a worker slot, and records the results of many attempts in one transaction.
//
// A row belongs to the queue of its target. A queue has few slots. A queue without an attempt in progress may start one
// beyond the total, so that targets that hang block no other. Nothing is kept in memory: after a crash the leases
// expire and the rows are claimed again. A target may receive a row twice but never misses one.
//
// The package knows no table and must never read a clock: a Store has the SQL, Config.Now the time.
package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Queue is the rows that wait for one target.
type Queue[K comparable] struct {
	Key   K
	Due   time.Time // when its first row may be claimed
	Slots int       // how many of its attempts may be in progress at once
}

// Result is the result of one attempt.
type Result[R, O any] struct {
	Row     R
	Outcome O
	Err     error // what Attempt returned; a *Panic when it panicked
	Began   time.Time
	Ended   time.Time
}

// Store holds the SQL of the rows and sends them to their targets. K identifies a queue, R is a claimed row, O is what an
// attempt returns.
type Store[K comparable, R, O any] interface {
	// Queues lists the queues with rows that are not settled, the most urgent first. It runs in a read transaction.
	Queues(tx *db.Tx, now time.Time) ([]Queue[K], error)
	// Claim claims up to n due rows of a queue and stores when their lease expires. A row is due again once its lease
	// has expired. Claim must do no work besides: it holds the one writer, so it must not render or match anything.
	Claim(tx *db.Tx, queue K, n int, now time.Time) ([]R, error)
	// Attempt makes one attempt, outside of any transaction. It should end when ctx does.
	Attempt(ctx context.Context, row R) (O, error)
	// Record stores the results of attempts, all or none of them. Metrics and log lines belong in tx.OnCommit.
	Record(tx *db.Tx, results []Result[R, O]) error
}

// Config holds the dependencies and bounds of a Runner.
type Config struct {
	Name  string // of its job, as metrics and logs show it
	DB    *db.DB
	Now   func() time.Time
	Log   *slog.Logger
	Slots int           // attempts in progress at once; the first of each queue may exceed it
	First int           // attempts in progress at once, the first of each queue included
	Grace time.Duration // how long Wait lets attempts run before it cancels them
	Held  func() string // why no row is claimed now; empty, or nil: rows are claimed
}

// Runner delivers the rows of a Store. It is created by New.
type Runner[K comparable, R, O any] struct {
	Config
	store   Store[K, R, O]
	wake    *jobs.Signal   // raised when a row that is due was committed, or slots have become free
	running sync.WaitGroup // attempts and the goroutine that records

	mu        sync.Mutex
	slots     slots[K]
	ended     []ended[K, R, O] // attempts that are not recorded yet
	recording bool
	ctx       context.Context // of attempts; replaced after Wait has cancelled it
	cancel    context.CancelFunc
}

type ended[K comparable, R, O any] struct {
	queue K
	Result[R, O]
}

// New returns a runner. It makes no attempt before its job runs.
func New[K comparable, R, O any](c Config, store Store[K, R, O]) *Runner[K, R, O] {
	r := &Runner[K, R, O]{Config: c, store: store, wake: jobs.NewSignal(), slots: slots[K]{most: c.Slots, first: c.First, used: map[K]int{}}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Job returns the background job. It runs when it is woken and when the next row is due, at least once a second.
func (r *Runner[K, R, O]) Job() jobs.Job {
	return jobs.Job{Name: r.Name, Interval: time.Second, Run: r.run, Wait: r.Wait, Signal: r.wake}
}

// Wake wakes the job. It is called after a row that is due has been committed.
func (r *Runner[K, R, O]) Wake() { r.wake.Raise() }

// slots counts the attempts in progress.
type slots[K comparable] struct {
	most, first int // as in Config
	all         int
	used        map[K]int
}

// free returns how many attempts may begin in a queue that has own slots. A queue without an attempt in progress may
// begin one even when all slots are taken, so that queues that hang do not block it.
func (s *slots[K]) free(queue K, own int) int {
	n := min(own-s.used[queue], s.most-s.all)
	if n <= 0 && own > 0 && s.used[queue] == 0 && s.all < s.first {
		return 1
	}
	return max(0, n)
}

// take counts n attempts that begin; a negative n counts attempts that ended.
func (s *slots[K]) take(queue K, n int) {
	s.all += n
	if s.used[queue] += n; s.used[queue] == 0 {
		delete(s.used, queue)
	}
}
