// Package fair divides among accounts what is scarce: the time of the processors. A Queue lets flows take turns at seats, as API
// priority and fairness of Kubernetes does (KEP-1040), whose words it uses; a Meter states how long a flow pauses that works more
// than the others.
//
// It must never let one flow keep another waiting for longer than its calls that have begun, nor limit an account that is alone.
package fair

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Flow is whose calls take turns: an account, or a network of callers whose account is not known.
type Flow struct {
	Account int64
	Network netip.Prefix
}

// Of returns the flow of an account.
func Of(account int64) Flow { return Flow{Account: account} }

// Limits are the limits of a queue.
type Limits struct {
	Seats   int  // calls of all flows that run at a time; 0: no bound
	Flow    int  // calls of one flow at a time while they are quick; while they take long it has one
	Rest    bool // a seat rests three times as long as its call took, so it takes a quarter of one processor at most
	Waiting int  // calls of one flow that may wait, and ten times as many of all; 0: no bound
}

// The limits of the program's queues.
var (
	// Quick is for calls that are expected to take milliseconds.
	Quick = Limits{Flow: 8}
	// Long is for calls that compute for long: half of the processors stay free for others.
	Long = Limits{Flow: 1, Seats: max(1, runtime.NumCPU()/2)}
	// Rare is for expensive calls that anyone may make.
	Rare = Limits{Flow: 1, Seats: 1, Rest: true, Waiting: 100}
)

// ErrFull is returned when as many calls of a flow, or of all, wait as may.
var ErrFull = errors.New("too many calls wait for their turn")

// Queue lets flows take turns. A nil *Queue limits no one.
type Queue struct {
	limits Limits
	meter  *Meter
	now    func() time.Time
	after  func(time.Duration, func()) // runs a function later, on another goroutine

	mu      sync.Mutex
	flows   map[Flow]*flow
	order   []*flow // those with calls that wait; the one whose turn is next is first
	running int     // seats that are taken, or rest
	waiting int
}

// flow is what a flow has in progress.
type flow struct {
	of      Flow
	running int // or at rest
	waiting []waiter
	had     map[int64]int // by key: the number of its last turn, while any waits
	turns   int
	long    time.Duration // how long its calls take: a long one counts at once, and quick ones let it fall
	quick   int           // how many quick calls there were since the last long one, up to Limits.Flow
}

// waiter waits for a turn.
type waiter struct {
	key  int64
	turn chan struct{}
}

const (
	quick     = 5 * time.Millisecond   // calls that take no longer are
	quickRest = 100 * time.Millisecond // the pause after one, at most: people must not wait for other work of the account
	rest      = 3                      // times as long as the call
	decay     = 16                     // a quick call lets long fall by this part of it
	remembers = 10_000                 // flows
)

// NewQueue returns a queue. Without a meter no account pauses. Times are those of the machine, as the meter's.
func NewQueue(l Limits, m *Meter) *Queue {
	after := func(d time.Duration, do func()) { time.AfterFunc(d, do) }
	return &Queue{limits: l, meter: m, now: time.Now, after: after, flows: map[Flow]*flow{}}
}

// Enter waits for the turn of a flow. The keys of a flow take turns within it: calls of one do not wait for all those of another.
// The caller must call leave afterwards, and must not enter again before. ErrFull is returned at once.
func (q *Queue) Enter(ctx context.Context, of Flow, key int64) (leave func(), err error) {
	if q == nil {
		return func() {}, nil
	}
	q.mu.Lock()
	began := q.now()
	f := q.flow(of)
	if q.free() && len(f.waiting) == 0 && q.may(f, began) {
		q.begin(f, key)
		q.mu.Unlock()
		return func() { q.leave(f, began) }, nil
	}
	if most := q.limits.Waiting; most > 0 && (len(f.waiting) >= most || q.waiting >= 10*most) {
		q.mu.Unlock()
		return nil, ErrFull
	}
	turn := make(chan struct{})
	if len(f.waiting) == 0 {
		q.order = append(q.order, f)
	}
	f.waiting = append(f.waiting, waiter{key, turn})
	q.waiting++
	q.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		if q.remove(f, waiter{key, turn}) {
			return nil, ctx.Err()
		}
	}
	began = q.now()
	return func() { q.leave(f, began) }, nil
}

// Waiting returns how many calls wait for their turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// flow returns what a flow has in progress. Flows without any are forgotten when there are many. The caller holds the lock.
func (q *Queue) flow(of Flow) *flow {
	f := q.flows[of]
	if f != nil {
		return f
	}
	if len(q.flows) >= remembers {
		for one, idle := range q.flows {
			if idle.running == 0 && len(idle.waiting) == 0 {
				delete(q.flows, one)
			}
		}
	}
	f = &flow{of: of}
	q.flows[of] = f
	return f
}

// alone reports whether a flow is an account that is alone.
func (q *Queue) alone(f *flow, now time.Time) bool {
	return f.of.Account != 0 && q.meter.Alone(f.of.Account, now)
}

// may reports whether another call of a flow may run when there is a seat.
func (q *Queue) may(f *flow, now time.Time) bool { return f.running < q.seats(f) || q.alone(f, now) }

func (q *Queue) free() bool { return q.limits.Seats == 0 || q.running < q.limits.Seats }

// seats returns how many calls of a flow may run at a time.
func (q *Queue) seats(f *flow) int {
	if f.long > quick {
		return max(1, int(time.Duration(q.limits.Flow)*quick/f.long))
	}
	return min(q.limits.Flow, 1+f.quick)
}

// begin takes a seat for a key of a flow.
func (q *Queue) begin(f *flow, key int64) {
	q.running++
	f.running++
	if f.had == nil {
		f.had = map[int64]int{}
	}
	f.turns++
	f.had[key] = f.turns
}

// leave ends a turn that began at a moment. The flow pauses as the meter states, and the seat where seats rest: after the call of an
// account that is alone there is no one to rest for.
func (q *Queue) leave(f *flow, began time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ended := q.now()
	took := ended.Sub(began)
	var pause time.Duration
	if f.of.Account != 0 {
		pause = q.meter.Worked(f.of.Account, took, ended)
	}
	f.long = max(took, f.long-f.long/decay)
	if took <= quick {
		f.quick = min(q.limits.Flow, f.quick+1)
		pause = min(pause, quickRest)
	} else {
		f.quick = 0
	}
	if q.limits.Rest && !q.alone(f, ended) {
		q.later(min(rest*took, longestPause), func() {
			q.running--
			f.running--
		})
		return
	}
	q.running--
	q.later(pause, func() { f.running-- })
}

// later ends a rest after some time, and passes on what it has freed. The caller holds the lock.
func (q *Queue) later(d time.Duration, end func()) {
	if d == 0 {
		end()
		q.pass()
		return
	}
	q.pass() // a seat may be free, for other flows
	q.after(d, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		end()
		q.pass()
	})
}

// pass assigns free seats to flows that wait, in turn, and within a flow to the key whose last turn is longest ago.
func (q *Queue) pass() {
	now := q.now()
	for n := 0; q.free() && n < len(q.order); {
		f := q.order[n]
		if !q.may(f, now) {
			n++
			continue
		}
		first := slices.MinFunc(f.waiting, func(a, b waiter) int { return cmp.Compare(f.had[a.key], f.had[b.key]) })
		q.begin(f, first.key)
		close(first.turn)
		q.drop(f, first)
		if len(f.waiting) > 0 { // after all others
			q.order = append(slices.Delete(q.order, n, n+1), f)
			n = 0
		}
	}
}

// remove removes a call that waits no more. It returns false if the call has its turn already.
func (q *Queue) remove(f *flow, w waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(f.waiting, w) {
		return false
	}
	q.drop(f, w)
	return true
}

// drop ends the waiting of a call.
func (q *Queue) drop(f *flow, w waiter) {
	q.waiting--
	f.waiting = slices.DeleteFunc(f.waiting, func(one waiter) bool { return one == w })
	if len(f.waiting) == 0 {
		clear(f.had)
		q.order = slices.DeleteFunc(q.order, func(one *flow) bool { return one == f })
	}
}
