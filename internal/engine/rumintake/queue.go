package rumintake

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rum"
	"tocsin/internal/source/browser"
)

// queue holds the reports of an account. One goroutine reads and stores them, many in one transaction. So a flood of
// one error costs a few writes, and one account at most one processor and one write at a time.
type queue struct {
	waiting []*report
}

// report is the body of one request.
type report struct {
	application rum.Application
	from        sender
	read        func() (browser.Batch, error)
	batch       browser.Batch
	within      int // how many of its errors, from the first one, are within the rate of its address
	now         time.Time
	err         error
	done        chan struct{} // closed when err is final
}

const (
	maxWaiting = 200 // reports of an account
	atOnce     = 500 // errors from which a transaction takes no further report
)

// errBusy is the fault of an account that has too many reports waiting.
var errBusy = fault.New(fault.Unavailable, "too many errors of this account wait to be stored")

// put waits until the errors of a body are stored.
func (r *Service) put(c *api.Call, a rum.Application, read func() (browser.Batch, error)) error {
	one := &report{application: a, from: senderOf(c, &a), read: read, now: c.Now, done: make(chan struct{})}
	if err := r.add(a.AccountID, one); err != nil {
		return err
	}
	select {
	case <-one.done:
		return one.err
	case <-c.Ctx.Done():
		return c.Ctx.Err()
	}
}

// add puts a report into the queue of its account, and starts the goroutine that stores it unless there is one.
func (r *Service) add(account int64, one *report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.accounts[account]
	if q == nil {
		q = &queue{}
		r.accounts[account] = q
		go r.drain(account, q)
	}
	if len(q.waiting) >= maxWaiting {
		r.errors.WithLabelValues("busy").Inc()
		return errBusy
	}
	q.waiting = append(q.waiting, one)
	return nil
}

// drain stores the reports of an account until none waits.
func (r *Service) drain(account int64, q *queue) {
	for {
		var batch []*report
		for n := 0; n < atOnce; {
			one := r.next(account, q, len(batch) == 0)
			if one == nil {
				break
			}
			one.err = one.decode()
			if one.err != nil {
				close(one.done)
				continue
			}
			one.within = r.withinRate(one)
			n += len(one.batch.Errors)
			batch = append(batch, one)
		}
		if len(batch) == 0 {
			return
		}
		r.finish(batch, fault.Guard(func() error { return r.store(context.Background(), account, batch) }))
	}
}

// next takes the first report that waits; nil: none does. If the goroutine holds none, it ends with the queue.
func (r *Service) next(account int64, q *queue, last bool) *report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(q.waiting) == 0 {
		if last {
			delete(r.accounts, account)
		}
		return nil
	}
	one := q.waiting[0]
	q.waiting = q.waiting[1:]
	return one
}

// decode reads the report's errors. A panic is an error of this report alone.
func (o *report) decode() error {
	return fault.Guard(func() (err error) {
		o.batch, err = o.read()
		o.read = nil // the body is not needed any more
		return err
	})
}

// finish answers reports that were stored together.
func (r *Service) finish(batch []*report, err error) {
	for _, one := range batch {
		if one.err == nil {
			one.err = err
		}
		if one.err == nil {
			r.errors.WithLabelValues("stored").Add(float64(len(one.batch.Errors)))
		}
		r.errors.WithLabelValues("malformed").Add(float64(one.batch.Malformed))
		r.errors.WithLabelValues("left").Add(float64(one.batch.Left))
		close(one.done)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		r.Log.Error("browser errors were not stored", "account_id", batch[0].application.AccountID, "error", err)
	}
}

// keyOf returns the number by which the memory of an application's bodies is counted.
func keyOf(application string) int64 {
	h := fnv.New64a()
	h.Write([]byte(application))
	return int64(h.Sum64() >> 1)
}
