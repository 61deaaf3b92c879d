// Package delivery delivers rows to their targets. It claims the rows that are due under a lease, makes one attempt for
// each on a worker slot, and records the results of many attempts in one transaction.
//
// A row belongs to the queue of its target. A queue has few slots. A queue without an attempt in progress may start one
// beyond the total, so that targets that hang block no other. Nothing is kept in memory: after a crash the leases
// expire and the rows are claimed again. A target may receive a row twice but never misses one.
//
// Many processes may deliver from one database. The slots of a queue and of its target are those of all of them: a claim
// counts the attempts in progress in the transaction that claims. That is a transaction of one account, which no other
// account waits for: a target that accounts share is locked by a name, and a process that finds it locked claims a moment
// later. The total bounds the work of each process by itself.
// A process that was frozen for longer than a lease begins none of the attempts that it has claimed, and the store drops
// the results of those that it had begun, unless their rows were not claimed again.
//
// The package knows no table and must never read a clock: a Store has the SQL, Config.Now the time.
package delivery

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Queue is the rows that wait for one target, or those of one account that do.
type Queue[K comparable] struct {
	Key   K
	Due   time.Time // when its first row may be claimed
	Slots int       // how many of its attempts may be in progress at once
	// Target is shared by the queues of one target: their attempts in progress count together against Slots, and free
	// slots are divided fairly between them. Empty: the queue has its target for itself.
	Target string
}

// Result is the result of one attempt.
type Result[R, O any] struct {
	Row     R
	Outcome O
	Err     error // what Attempt returned; a *Panic when it panicked
	Began   time.Time
	Ended   time.Time
}

// UnderWay is how many attempts of a queue are in progress, in all processes.
type UnderWay[K comparable] struct {
	Key      K
	Target   string // as in Queue
	Attempts int
}

// Store holds the SQL of the rows and sends them to their targets. K identifies a queue, R is a claimed row, O is what an
// attempt returns. A store whose rows stand for several stored ones has a method Weight, which returns for how many. One whose
// targets may be called again before the result of an attempt is recorded has a method Frees, which reports for which results.
type Store[K comparable, R, O any] interface {
	// Queues lists the queues with rows that are not settled, the most urgent first. It runs in a read transaction.
	Queues(tx *db.Tx, now time.Time) ([]Queue[K], error)
	// UnderWay counts the attempts in progress of all processes. One that must have ended long ago does not count, although
	// its lease lasts: its process was killed, and the queue must not wait for it.
	UnderWay(tx *db.Tx, now time.Time) ([]UnderWay[K], error)
	// UnderWayAt is UnderWay for a target that accounts share; empty: for the queues of an account that have their targets
	// for themselves.
	UnderWayAt(tx *db.Tx, account int64, target string, now time.Time) ([]UnderWay[K], error)
	// Account returns the account of a queue. Claim and Record read and write rows of one account.
	Account(queue K) int64
	// Claim claims up to n due rows of a queue and stores when their lease expires. A row is due again once its lease
	// has expired. What Queues read may have changed since: Claim must check again whether the queue may send. It must do
	// no work besides: the account's other writers wait, so it must not render or match anything.
	Claim(tx *db.Tx, queue K, n int, now time.Time) ([]R, error)
	// Lost reports whether the attempt before this one left no result within its lease: the target may get the row twice.
	Lost(row R) bool
	// Attempt makes one attempt, outside of any transaction. It should end when ctx does.
	Attempt(ctx context.Context, row R) (O, error)
	// Record stores the results of attempts of one account, all or none of them. A result whose row was claimed again must not change the
	// row: Record passes it to Late. Metrics and log lines belong in tx.OnCommit.
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
	Lease time.Duration // how long a claim is good for
	Grace time.Duration // how long Wait lets attempts run before it cancels them
	Held  func() string // why no row is claimed now; empty, or nil: rows are claimed
	Beats bool          // results gather until the next beat, and keep their slots until then but for those of Frees

	Metrics prometheus.Registerer // nil: none
}

// Runner delivers the rows of a Store. It is created by New.
type Runner[K comparable, R, O any] struct {
	Config
	store   Store[K, R, O]
	wake    *jobs.Signal   // raised when a row that is due was committed, or slots have become free
	running sync.WaitGroup // attempts and the goroutine that records
	lost    prometheus.Counter
	late    prometheus.Counter

	mu       sync.Mutex
	slots    slots[K]                   // of attempts in progress, and of claims
	full     map[K]bool                 // queues with a due row and no free slot when the job looked last
	freed    map[K]int                  // attempts whose slots are free already, and whose record has not begun
	claiming map[int64]bool             // by account: its claim has not ended; true: rows became due meanwhile
	ended    map[int64][]ended[K, R, O] // by account: attempts that are not recorded yet; none: no goroutine records
	ctx      context.Context            // of attempts; replaced after Wait has cancelled it
	cancel   context.CancelFunc
}

type ended[K comparable, R, O any] struct {
	queue Queue[K]
	Result[R, O]
	freed bool // its slot is free already
}

// New returns a runner. It makes no attempt before its job runs. Its metrics are tocsin_delivery_lost_total and
// tocsin_delivery_late_total by task: each attempt that they count may have been made twice.
func New[K comparable, R, O any](c Config, store Store[K, R, O]) *Runner[K, R, O] {
	task := prometheus.Labels{"task": c.Name}
	r := &Runner[K, R, O]{
		Config: c, store: store, wake: jobs.NewSignal(), slots: newSlots[K](c.Slots, c.First),
		full: map[K]bool{}, freed: map[K]int{}, claiming: map[int64]bool{}, ended: map[int64][]ended[K, R, O]{},
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tocsin_delivery_lost_total", ConstLabels: task,
			Help: "Attempts without a result within their lease, which were made again: a target may have got a message twice.",
		}),
		late: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tocsin_delivery_late_total", ConstLabels: task,
			Help: "Attempts, or their results, that came after their lease and changed nothing.",
		}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.lost, r.late)
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Job returns the background job. It runs when it is woken and when the next row is due, at least once a second.
func (r *Runner[K, R, O]) Job() jobs.Job {
	return jobs.Job{Name: r.Name, Interval: time.Second, Run: r.run, Wait: r.Wait, Signal: r.wake}
}

// Wake wakes the job. It is called after a row that is due has been committed.
func (r *Runner[K, R, O]) Wake() { r.wake.Raise() }

// Late counts a result of an attempt that had lost its lease to another one, once tx is committed.
func (r *Runner[K, R, O]) Late(tx *db.Tx) { tx.OnCommit(r.late.Inc) }

// slots counts the attempts in progress.
type slots[K comparable] struct {
	most, first int // as in Config
	all         int
	used        map[K]int
	targets     map[string]int // by Queue.Target
}

func newSlots[K comparable](most, first int) slots[K] {
	return slots[K]{most: most, first: first, used: map[K]int{}, targets: map[string]int{}}
}

// free returns how many attempts may begin in a queue. A queue without an attempt in progress may begin one even when
// all slots are taken, so that targets that hang, and other accounts, do not block it.
func (s *slots[K]) free(q Queue[K]) int {
	n := min(s.left(q), s.most-s.all)
	if n <= 0 && q.Slots > 0 && s.used[q.Key] == 0 && s.all < s.first {
		return 1
	}
	return max(0, n)
}

// left returns how many slots of a queue's target are free.
func (s *slots[K]) left(q Queue[K]) int {
	if q.Target == "" {
		return q.Slots - s.used[q.Key]
	}
	return q.Slots - s.targets[q.Target]
}

// room returns how many attempts may begin in a queue as far as its own limit goes.
func (s *slots[K]) room(q Queue[K]) int {
	n := s.left(q)
	if n <= 0 && q.Slots > 0 && s.used[q.Key] == 0 {
		return 1
	}
	return max(0, n)
}

// copy returns slots that can be changed without changing these.
func (s *slots[K]) copy() slots[K] {
	plan := *s
	plan.used, plan.targets = maps.Clone(s.used), maps.Clone(s.targets)
	return plan
}

// take counts n attempts that begin; a negative n counts attempts that ended.
func (s *slots[K]) take(q Queue[K], n int) {
	s.all += n
	add(s.used, q.Key, n)
	if q.Target != "" {
		add(s.targets, q.Target, n)
	}
}

// join raises the counts of queues and targets to those of all processes. The total stays that of this process.
func (s *slots[K]) join(all []UnderWay[K]) {
	targets := map[string]int{}
	for _, u := range all {
		s.used[u.Key] = max(s.used[u.Key], u.Attempts)
		if u.Target != "" {
			targets[u.Target] += u.Attempts
		}
	}
	for target, n := range targets {
		s.targets[target] = max(s.targets[target], n)
	}
}

// add adds to a count and deletes it when it is zero.
func add[K comparable](counts map[K]int, key K, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// shares returns how many attempts each of some queues may begin at most, so that free slots are divided fairly: those of
// a target between its queues, and all of them between all queues.
func (s *slots[K]) shares(queues []Queue[K]) []int {
	ofTarget := map[string]int{}
	for _, q := range queues {
		ofTarget[q.Target]++
	}
	all := make([]int, len(queues))
	for i, q := range queues {
		all[i] = max(1, (s.most-s.all)/len(queues))
		if q.Target != "" {
			all[i] = min(all[i], max(1, s.left(q)/ofTarget[q.Target]))
		}
	}
	return all
}
