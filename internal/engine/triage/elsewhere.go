package triage

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/jobs"
)

// elsewhere holds the accounts whose events another process decides: what this one prepares meanwhile is lost, and with
// several processes that was most of their work. It leaves such an account alone until its first event has waited for
// patience: so no process must know of the others, nor which of them still run.
type elsewhere struct {
	sync.Mutex
	accounts map[int64]head
	missed   map[int64]int // by account: how often in a row another process was faster
}

// head is the first event of an account that waits, and since when it has been the first.
type head struct {
	event    string
	since    time.Time
	patience time.Duration
}

// patience is how long another process may take for the first events of an account. It doubles each time that this one was
// too early, up to maxPatience: a process that has much to decide takes long for each account.
const (
	patience    = 200 * time.Millisecond
	maxPatience = time.Second
)

// few is the batch size up to which losing the race costs less than a switch to another account.
const few = 10

// Errors that end a batch when another process has decided all or some of its events meanwhile. The remaining events are
// decided again.
var (
	errElsewhere = errors.New("another process has decided these events")
	errOverlap   = errors.New("another process has decided some of these events")
)

// note leaves an account to another process.
func (o *elsewhere) note(account int64, now time.Time) {
	o.Lock()
	defer o.Unlock()
	if o.accounts == nil {
		o.accounts, o.missed = map[int64]head{}, map[int64]int{}
	}
	o.accounts[account] = head{since: now, patience: min(patience<<o.missed[account], maxPatience)}
	o.missed[account] = min(o.missed[account]+1, 3)
}

// own states that this process has decided events of an account.
func (o *elsewhere) own(account int64) {
	o.Lock()
	defer o.Unlock()
	delete(o.missed, account)
}

// until returns until when an account whose first waiting event is this one is left to another process; zero: it is not.
func (o *elsewhere) until(account int64, event string, now time.Time) time.Time {
	o.Lock()
	defer o.Unlock()
	was, known := o.accounts[account]
	switch waited := now.Sub(was.since); {
	case !known:
		return time.Time{}
	case event != was.event:
		o.accounts[account] = head{event, now, was.patience}
		return now.Add(was.patience)
	case waited < 0 || waited >= was.patience: // a clock that was set back must not make it wait longer
		delete(o.accounts, account)
		return time.Time{}
	}
	return was.since.Add(was.patience)
}

// apart returns those of some accounts that are not left to another process, and when the first of all that are is looked at
// again; zero: none is.
func (o *elsewhere) apart(accounts []int64) (own []int64, again time.Time) {
	o.Lock()
	defer o.Unlock()
	for _, left := range o.accounts {
		again = jobs.Earlier(again, left.since.Add(left.patience))
	}
	return slices.DeleteFunc(accounts, func(account int64) bool { _, left := o.accounts[account]; return left }), again
}

// keep forgets the accounts that no event waits for.
func (o *elsewhere) keep(waiting map[int64]bool) {
	o.Lock()
	defer o.Unlock()
	maps.DeleteFunc(o.accounts, func(account int64, _ head) bool { return !waiting[account] })
	maps.DeleteFunc(o.missed, func(account int64, _ int) bool { return !waiting[account] })
}
