package delivery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// order is what is claimed of an account in one transaction.
type order[K comparable] struct {
	account int64
	parts   []part[K]
}

// part is how many rows of a queue are claimed at most.
type part[K comparable] struct {
	queue Queue[K]
	n     int
}

// allot divides the free slots between queues, and takes them. Queues with few attempts in progress come
// first, and a queue gets no more than its share, so that one that is full cannot take the slots of the others. An account
// whose last claim has not ended gets none until then.
func (r *Runner[K, R, O]) allot(queues []Queue[K], all []UnderWay[K]) (orders []order[K]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	plan := r.slots.copy()
	plan.join(all)
	slices.SortStableFunc(queues, func(a, b Queue[K]) int { return cmp.Compare(plan.used[a.Key], plan.used[b.Key]) })
	at := map[int64]int{}
	shares := plan.shares(queues)
	for i, q := range queues {
		account := r.store.Account(q.Key)
		n := min(plan.free(q), shares[i])
		if _, claims := r.claiming[account]; claims {
			r.claiming[account] = true
			continue
		}
		if n == 0 {
			r.full[q.Key] = true
			continue
		}
		plan.take(q, n)
		r.slots.take(q, n)
		if _, known := at[account]; !known {
			at[account] = len(orders)
			orders = append(orders, order[K]{account: account})
		}
		o := &orders[at[account]]
		o.parts = append(o.parts, part[K]{q, n})
	}
	for _, o := range orders {
		r.claiming[o.account] = false
	}
	return orders
}

// claimed is the result of claims.
type claimed[K comparable] struct {
	full      []Queue[K] // may have further rows that are due
	contended bool       // another process claims for one of the targets
	failed    []error    // one for each account that failed
}

// claim carries out all orders at once, each in a transaction of its account, so that no account waits for another, and
// begins the attempts. Transactions of one process share their commits. It returns when all have ended, or earlier when the
// job is woken or patience is over: rows that became due meanwhile must not wait for the slowest account. The claims that it
// leaves wake the job themselves if there is more to claim.
func (r *Runner[K, R, O]) claim(ctx context.Context, orders []order[K], now time.Time) (all claimed[K]) {
	ends := make(chan claimed[K], len(orders))
	weight := max(1, maxWeight/max(1, min(len(orders), maxShared)))
	for _, o := range orders {
		r.running.Go(func() { ends <- r.claimOf(ctx, o, weight, now) })
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for n := range orders {
		select {
		case one := <-ends:
			all.full = append(all.full, one.full...)
			all.contended = all.contended || one.contended
			all.failed = append(all.failed, one.failed...)
			continue
		case <-r.wake.C():
			r.wake.Raise() // for the next run
		case <-timer.C:
		}
		r.running.Go(func() { r.follow(ends, len(orders)-n) })
		all.full = nil
		return all
	}
	return all
}

// follow wakes the job for each remaining claim that leaves due rows.
func (r *Runner[K, R, O]) follow(ends <-chan claimed[K], left int) {
	for range left {
		one := <-ends
		switch {
		case len(one.full) > 0:
			r.wake.Raise()
		case one.contended:
			time.AfterFunc(contention, r.wake.Raise)
		}
	}
}

// claimOf carries out one order and begins the attempts. Slots that are not used are given back.
func (r *Runner[K, R, O]) claimOf(ctx context.Context, o order[K], weight int, now time.Time) (all claimed[K]) {
	var rows [][]R
	err := fault.Guard(func() error {
		return r.DB.ClaimOf(ctx, o.account, func(tx *db.Tx) (err error) {
			rows, all.contended, err = r.take(tx, o, weight, now)
			return err
		})
	})
	if err != nil {
		rows, all = nil, claimed[K]{failed: []error{err}}
		if ctx.Err() == nil {
			r.Log.Error("the rows of an account cannot be claimed", "job", r.Name, "account_id", o.account, "error", err)
		}
	}
	r.mu.Lock()
	if r.claiming[o.account] && err == nil {
		r.wake.Raise()
	}
	delete(r.claiming, o.account)
	for i, p := range o.parts {
		got := 0
		if i < len(rows) {
			got = len(rows[i])
		}
		r.slots.take(p.queue, got-p.n)
		if got == p.n || err == nil && i >= len(rows) {
			all.full = append(all.full, p.queue)
		}
	}
	r.mu.Unlock()
	for i := range rows {
		for _, row := range rows[i] {
			if r.store.Lost(row) {
				r.lost.Inc()
			}
			r.begin(ctx, o.parts[i].queue, row, now)
		}
	}
	return all
}

// take claims the rows of an order. The slots are counted in the transaction that takes them: those of an account's own
// queues cannot change while the account is locked, and a target that accounts share is locked by its name. It ends early
// when the rows of the claimed attempts are many, since the account's other writers wait.
func (r *Runner[K, R, O]) take(tx *db.Tx, o order[K], weight int, now time.Time) (rows [][]R, contended bool, err error) {
	exact := newSlots[K](0, 0)
	counted := map[string]bool{} // whether the target is locked
	for _, p := range o.parts {
		target := p.queue.Target
		locked, known := counted[target]
		if !known {
			locked, err = r.count(tx, &exact, o.account, target, now)
			if err != nil {
				return nil, false, err
			}
			counted[target] = locked
		}
		var some []R
		if n := min(p.n, exact.room(p.queue)); locked && n > 0 {
			some, err = r.takeOf(tx, p.queue, n, now)
			if err != nil {
				return nil, false, err
			}
		}
		contended = contended || !locked
		rows = append(rows, some)
		exact.take(p.queue, len(some))
		for _, row := range some {
			weight -= r.weigh(row)
		}
		if weight <= 0 {
			break
		}
	}
	return rows, contended, nil
}

// count locks a target and adds the attempts that all processes make at it. Empty: those of the account's queues that have
// their targets for themselves.
func (r *Runner[K, R, O]) count(tx *db.Tx, exact *slots[K], account int64, target string, now time.Time) (locked bool, err error) {
	if target != "" {
		locked, err = tx.TryLock(r.Name + " " + target)
		if err != nil || !locked {
			return false, err
		}
	}
	all, err := r.store.UnderWayAt(tx, account, target, now)
	r.inProgress(all)
	exact.join(all)
	return true, err
}

// takeOf claims up to n rows of a queue. A queue whose claim fails is skipped, so that it cannot block the others.
func (r *Runner[K, R, O]) takeOf(tx *db.Tx, q Queue[K], n int, now time.Time) (rows []R, err error) {
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
