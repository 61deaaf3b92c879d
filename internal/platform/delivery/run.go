package delivery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"tocsin/internal/platform/db"
)

// run claims the rows that are due and have a free slot, and begins their attempts. again is when the next row is due.
// A slot that becomes free wakes the job, which then claims the rows that waited for it.
func (r *Runner[K, R, O]) run(ctx context.Context, now time.Time) (again time.Time, err error) {
	if r.Held != nil && r.Held() != "" {
		return again, nil
	}
	var queues []Queue[K]
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		queues, err = r.store.Queues(tx, now)
		return err
	})
	if err != nil {
		return again, err
	}
	ready, again := r.ready(queues, now)
	if len(ready) == 0 { // an empty transaction would still wait for the one writer
		return again, nil
	}
	var claimed []claim[K, R]
	if err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		claimed, err = r.claim(tx, ready, now)
		return err
	}); err != nil {
		return again, err
	}
	weight := 0
	for _, c := range claimed {
		weight += r.weigh(c.row)
		r.begin(c.queue, c.row)
	}
	if weight >= maxWeight { // there may be more
		again = now
	}
	return again, nil
}

// ready returns the queues that have a due row and a free slot, and when the first row of the others is due.
func (r *Runner[K, R, O]) ready(queues []Queue[K], now time.Time) (ready []Queue[K], next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range queues {
		switch {
		case q.Due.After(now):
			if next.IsZero() || q.Due.Before(next) {
				next = q.Due
			}
		case r.slots.free(q) > 0:
			ready = append(ready, q)
		}
	}
	return ready, next
}

type claim[K comparable, R any] struct {
	queue Queue[K]
	row   R
}

// claim claims rows of the queues until no slot is free. Queues with few attempts in progress come first, and in each
// round a queue gets no more than its share, so that one that is full cannot take the slots of the others. It ends early
// when the rows of the claimed attempts are many, since other writers wait for the transaction.
func (r *Runner[K, R, O]) claim(tx *db.Tx, queues []Queue[K], now time.Time) (claimed []claim[K, R], err error) {
	plan, weight := r.copySlots(), 0
	slices.SortStableFunc(queues, func(a, b Queue[K]) int { return cmp.Compare(plan.used[a.Key], plan.used[b.Key]) })
	for len(queues) > 0 {
		var more []Queue[K] // those that may have further rows
		shares := plan.shares(queues)
		for i, q := range queues {
			n := min(plan.free(q), shares[i])
			if n == 0 {
				if plan.all >= plan.first {
					return claimed, nil
				}
				continue
			}
			rows, err := r.claimOf(tx, q, n, now)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				claimed = append(claimed, claim[K, R]{q, row})
				weight += r.weigh(row)
			}
			if weight >= maxWeight {
				return claimed, nil
			}
			if plan.take(q, len(rows)); len(rows) == n {
				more = append(more, q)
			}
		}
		queues = more
	}
	return claimed, nil
}

// claimOf claims up to n rows of a queue. A queue whose claim fails is skipped, so that it cannot block the others.
func (r *Runner[K, R, O]) claimOf(tx *db.Tx, q Queue[K], n int, now time.Time) (rows []R, err error) {
	failed, err := tx.Try(func() (err error) {
		rows, err = r.store.Claim(tx, q.Key, n, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	if failed != nil {
		r.Log.Error("the rows of a queue cannot be claimed", "job", r.Name, "queue", q.Key, "error", failed)
		return nil, nil
	}
	return rows, nil
}

// copySlots copies the slots to plan claims with. Slots may become free meanwhile, but only run takes any, so a plan
// never exceeds the limits.
func (r *Runner[K, R, O]) copySlots() slots[K] {
	r.mu.Lock()
	defer r.mu.Unlock()
	plan := r.slots
	plan.used, plan.targets = maps.Clone(r.slots.used), maps.Clone(r.slots.targets)
	return plan
}

// begin makes one attempt on its own goroutine and passes the result to record.
func (r *Runner[K, R, O]) begin(queue Queue[K], row R) {
	r.mu.Lock()
	r.slots.take(queue, 1)
	ctx := r.ctx
	r.mu.Unlock()
	r.running.Go(func() {
		result := Result[R, O]{Row: row, Began: r.Now()}
		result.Outcome, result.Err = r.attempt(ctx, row)
		result.Ended = r.Now()
		if result.Err != nil && ctx.Err() != nil { // the program stops: the lease expires, and the row is claimed again
			r.release([]ended[K, R, O]{{queue: queue}})
			return
		}
		r.end(ended[K, R, O]{queue, result})
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
// or take the last attempt: other writes wait for it.
const (
	maxRecorded = 64
	maxWeight   = 1000
)

// weigh returns how many stored rows an attempt changes.
func (r *Runner[K, R, O]) weigh(row R) int {
	if s, ok := r.store.(interface{ Weight(R) int }); ok {
		return s.Weight(row)
	}
	return 1
}

// end passes a result to the goroutine that records, and starts it if it does not run. Results that arrive while it
// commits share the next commit.
func (r *Runner[K, R, O]) end(e ended[K, R, O]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, e)
	if !r.recording {
		r.recording = true
		r.running.Go(r.record)
	}
}

// record records results until there are none. A slot becomes free only once its result is on disk, because the result
// decides whether the target may be called again.
func (r *Runner[K, R, O]) record() {
	for {
		r.mu.Lock()
		n, weight := 0, 0
		for n < min(len(r.ended), maxRecorded) && weight < maxWeight {
			weight += r.weigh(r.ended[n].Row)
			n++
		}
		batch := append([]ended[K, R, O](nil), r.ended[:n]...)
		r.ended = append(r.ended[:0], r.ended[n:]...)
		r.recording = n > 0
		r.mu.Unlock()
		if n == 0 {
			return
		}
		r.commit(batch)
		r.release(batch)
	}
}

// commit records a batch in one transaction. When that fails it records each half by itself, so that one corrupt row
// cannot block the others. A result that cannot be recorded is lost: the lease expires, and the attempt is made again.
func (r *Runner[K, R, O]) commit(batch []ended[K, R, O]) {
	results := make([]Result[R, O], len(batch))
	for i, e := range batch {
		results[i] = e.Result
	}
	err := r.write(results)
	switch half := len(batch) / 2; {
	case err == nil:
	case half > 0:
		r.commit(batch[:half])
		r.commit(batch[half:])
	default:
		r.Log.Error("the result of an attempt cannot be recorded", "job", r.Name, "queue", batch[0].queue.Key, "error", err)
	}
}

func (r *Runner[K, R, O]) write(results []Result[R, O]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.DB.Write(context.Background(), func(tx *db.Tx) error { return r.store.Record(tx, results) })
}

// release frees the slots of attempts that have ended and wakes the job.
func (r *Runner[K, R, O]) release(batch []ended[K, R, O]) {
	r.mu.Lock()
	for _, e := range batch {
		r.slots.take(e.queue, -1)
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
