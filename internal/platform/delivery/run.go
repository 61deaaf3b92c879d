package delivery

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
)

// patience is how long a run waits for the claims of accounts that are being written, unless it is woken before: rows become
// due by the passing of time too.
var patience = time.Second

// run claims the rows that are due and have a free slot, and begins their attempts. again is when the next row is due.
// A slot that becomes free wakes the job, which then claims the rows that waited for it.
func (r *Runner[K, R, O]) run(ctx context.Context, now time.Time) (again time.Time, err error) {
	if r.Held != nil && r.Held() != "" {
		return again, nil
	}
	var ready []Queue[K]
	var all []UnderWay[K]
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		ready, all, again, err = r.ready(tx, now)
		return err
	})
	if err != nil {
		return again, err
	}
	for len(ready) > 0 { // else there is nothing to do, and an empty transaction would still wait for its turn
		orders := r.allot(ready, all)
		done := r.claim(ctx, orders, now)
		if len(orders) > 0 && len(done.failed) == len(orders) {
			return again, errors.Join(done.failed...)
		}
		if soon := now.Add(contention); done.contended && (again.IsZero() || again.After(soon)) {
			again = soon
		}
		ready = done.full
	}
	return again, nil
}

// contention is how long a run waits for another process that claims rows of the same target.
const contention = 20 * time.Millisecond

// ready returns the queues that have a due row and a free slot, with the attempts of all processes, and when the first row
// of the others is due.
func (r *Runner[K, R, O]) ready(tx *db.Tx, now time.Time) (ready []Queue[K], all []UnderWay[K], next time.Time, err error) {
	queues, err := r.store.Queues(tx, now)
	if err != nil {
		return nil, nil, next, err
	}
	r.mu.Lock()
	own := r.slots.copy() // slots may become free meanwhile, but only run takes any, so a plan never exceeds the limits
	clear(r.full)
	for _, q := range queues {
		switch {
		case q.Due.After(now):
			if next.IsZero() || q.Due.Before(next) {
				next = q.Due
			}
		case own.free(q) > 0:
			ready = append(ready, q)
		default:
			r.full[q.Key] = true
		}
	}
	r.mu.Unlock()
	if len(ready) == 0 {
		return nil, nil, next, nil
	}
	all, err = r.store.UnderWay(tx, now) // other processes may have taken the slots
	r.inProgress(all)
	own.join(all)
	return slices.DeleteFunc(ready, func(q Queue[K]) bool { return own.free(q) == 0 }), all, next, err
}

// inProgress removes the attempts whose slots are free already from the number of stored ones: a row counts as being attempted
// until its result is recorded.
func (r *Runner[K, R, O]) inProgress(all []UnderWay[K]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range all {
		all[i].Attempts -= r.freed[all[i].Key]
	}
}

// begin makes one attempt on its own goroutine, in a slot that is taken, and passes the result to record. A process that was
// frozen since the row was claimed makes none: the row may be another's by now.
func (r *Runner[K, R, O]) begin(job context.Context, queue Queue[K], row R, claimed time.Time) {
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	r.running.Go(func() {
		result := Result[R, O]{Row: row, Began: r.Now()}
		if result.Began.Sub(claimed) >= r.Lease {
			r.Log.Warn("an attempt was not made: its lease expired before it began", "job", r.Name, "queue", queue.Key)
			r.late.Inc()
			r.release([]ended[K, R, O]{{queue: queue}})
			return
		}
		result.Outcome, result.Err = r.attempt(ctx, row)
		result.Ended = r.Now()
		if result.Err != nil && ctx.Err() != nil { // the program stops: the lease expires, and the row is claimed again
			r.release([]ended[K, R, O]{{queue: queue}})
			return
		}
		r.end(job, ended[K, R, O]{queue: queue, Result: result})
	})
}

// Panic is the error of an attempt that panicked. Its cause is in the log only.
type Panic struct{}

func (*Panic) Error() string { return "the attempt failed; the server's log says why" }

func (r *Runner[K, R, O]) attempt(ctx context.Context, row R) (outcome O, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("an attempt panicked", "job", r.Name, "panic", p, "stack", string(debug.Stack()))
			err = &Panic{}
		}
	}()
	return r.store.Attempt(ctx, row)
}

// maxRecorded is how many results one transaction records at most, and maxWeight how many rows it claims or records, give
// or take the last attempt: other writes wait for it. The claims of maxShared accounts that share a commit have that weight
// together.
const (
	maxRecorded = 64
	maxWeight   = 1000
	maxShared   = 16
)

// weigh returns how many stored rows an attempt changes.
func (r *Runner[K, R, O]) weigh(row R) int {
	if s, ok := r.store.(interface{ Weight(R) int }); ok {
		return s.Weight(row)
	}
	return 1
}

// frees reports whether the slot of an attempt is free before its result is recorded.
func (r *Runner[K, R, O]) frees(of *Result[R, O]) bool {
	s, ok := r.store.(interface{ Frees(O) bool })
	return ok && of.Err == nil && s.Frees(of.Outcome)
}

// end passes a result to the goroutine that records those of its account, and starts it if it does not run. Results that
// arrive while it commits share the next commit.
func (r *Runner[K, R, O]) end(job context.Context, e ended[K, R, O]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	account := r.store.Account(e.queue.Key)
	waiting, recording := r.ended[account]
	e.freed = len(waiting) < maxRecorded && r.frees(&e.Result) // else the target takes more than is recorded
	if e.freed {
		r.slots.take(e.queue, -1)
		r.freed[e.queue.Key]++
		if r.full[e.queue.Key] && 2*r.slots.used[e.queue.Key] <= e.queue.Slots { // else each claim would be of one row
			delete(r.full, e.queue.Key)
			r.wake.Raise()
		}
	}
	r.ended[account] = append(waiting, e)
	if !recording {
		r.running.Go(func() { r.record(job, account) })
	}
}

// record records results of an account until there are none. A slot becomes free only once its result is on disk, because
// the result decides whether the target may be called again; those of Frees are free already. With Config.Beats results gather
// until the next beat.
func (r *Runner[K, R, O]) record(job context.Context, account int64) {
	for {
		r.mu.Lock()
		waiting := r.ended[account]
		n, weight := 0, 0
		for n < min(len(waiting), maxRecorded) && weight < maxWeight {
			weight += r.weigh(waiting[n].Row)
			if waiting[n].freed {
				add(r.freed, waiting[n].queue.Key, -1)
			}
			n++
		}
		batch := slices.Clone(waiting[:n])
		r.ended[account] = append(waiting[:0], waiting[n:]...)
		if n == 0 {
			delete(r.ended, account)
		}
		r.mu.Unlock()
		if n == 0 {
			return
		}
		r.commit(account, batch)
		r.release(batch)
		if r.Beats && n < maxRecorded && weight < maxWeight { // else those that are left fill a transaction
			jobs.AwaitBeat(job)
		}
	}
}

// commit records a batch in one transaction. When that fails it records each half by itself, so that one corrupt row
// cannot block the others. A result that cannot be recorded is lost: the lease expires, and the attempt is made again.
func (r *Runner[K, R, O]) commit(account int64, batch []ended[K, R, O]) {
	results := make([]Result[R, O], len(batch))
	for i, e := range batch {
		results[i] = e.Result
	}
	err := r.write(account, results)
	switch half := len(batch) / 2; {
	case err == nil:
	case half > 0:
		r.commit(account, batch[:half])
		r.commit(account, batch[half:])
	default:
		r.Log.Error("the result of an attempt cannot be recorded", "job", r.Name, "queue", batch[0].queue.Key, "error", err)
	}
}

func (r *Runner[K, R, O]) write(account int64, results []Result[R, O]) error {
	return fault.Guard(func() error {
		return r.DB.WriteOf(context.Background(), account, func(tx *db.Tx) error { return r.store.Record(tx, results) })
	})
}

// release frees the slots of attempts that have ended and wakes the job.
func (r *Runner[K, R, O]) release(batch []ended[K, R, O]) {
	r.mu.Lock()
	for _, e := range batch {
		if !e.freed {
			r.slots.take(e.queue, -1)
		}
	}
	r.mu.Unlock()
	r.wake.Raise()
}

// Wait waits until all attempts have ended and are recorded. Attempts that still run after Config.Grace are cancelled.
// After another second Wait returns even if one has not ended: its lease expires, and the next process attempts the
// row again.
func (r *Runner[K, R, O]) Wait() {
	idle := make(chan struct{})
	go func() {
		r.running.Wait()
		close(idle)
	}()
	if within(idle, r.Grace) {
		return
	}
	r.mu.Lock()
	r.cancel()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.mu.Unlock()
	if !within(idle, time.Second) {
		r.Log.Error("attempts do not end", "job", r.Name)
	}
}

// within reports whether done is closed within d.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
