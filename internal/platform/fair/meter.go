package fair

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Meter measures how long the work of each account takes, whatever it is: calls that read, rounds of jobs, transactions. One
// meter for all kinds of work keeps an account that always has work of every kind from using more than another. When an account
// works for much longer than the others that have been at work for some seconds do on average, its work takes a quarter of the
// time of one processor at most. Accounts with similar load, a single account and occasional work are not throttled. Times are
// those of the machine, not of the program's clock.
//
// A nil *Meter lets no one pause.
type Meter struct {
	mu     sync.Mutex
	used   map[int64]use
	began  time.Time     // of the window that is counted
	total  time.Duration // of all accounts, in the window before it
	active [lasts]int    // how many accounts worked in each of the last windows, the newest first
}

// use is how long the work of an account took.
type use struct {
	sum       time.Duration // lately: it falls by a quarter of the time that passes
	at        time.Time
	now, last time.Duration // in this window, and in the one before
	worked    [lasts]bool   // in each of the last windows, the newest first
}

const (
	window = time.Second
	lasts  = 3 // windows in a row: jobs that do a little for every account once a minute are no company
	much   = 3 // times as long as the others on average
	part   = 4 // the work of such an account takes one of so many parts of the time

	credit       = 100 * time.Millisecond // of work without a pause
	longestPause = 4 * time.Second
)

// NewMeter returns a meter without any work.
func NewMeter() *Meter { return &Meter{used: map[int64]use{}} }

// Alone reports whether no other account has been at work in each of the last seconds. An account that is alone need leave no room.
func (m *Meter) Alone(account int64, now time.Time) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.began) > window {
		m.turn(now)
	}
	return m.company(m.used[account]) == 0
}

// Worked notes a piece of work that has ended, and returns how long its account pauses after it.
func (m *Meter) Worked(account int64, took time.Duration, ended time.Time) time.Duration {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ended.Sub(m.began) > window {
		m.turn(ended)
	}
	u := m.used[account]
	u.sum = min(u.level(ended)+took, credit+longestPause/part)
	u.now, u.at = u.now+took, ended
	m.used[account] = u
	n := m.company(u)
	if n == 0 || max(u.last, u.now) <= much*(m.total-u.last)/time.Duration(n) {
		return 0
	}
	return part * max(0, u.sum-credit)
}

// company returns how many other accounts worked in the last window, if there were any in each of the last ones.
func (m *Meter) company(u use) (others int) {
	for i := range slices.Backward(u.worked[:]) {
		others = m.active[i]
		if u.worked[i] {
			others--
		}
		if others == 0 {
			return 0
		}
	}
	return others
}

// level returns the sum as it is at a moment.
func (u use) level(at time.Time) time.Duration { return max(0, u.sum-max(0, at.Sub(u.at))/part) }

// turn begins the next window, and forgets the accounts whose last work is long past. What was counted is of the last window
// only if that has just ended.
func (m *Meter) turn(now time.Time) {
	past := now.Sub(m.began) > 2*window
	m.began, m.total = now, 0
	copy(m.active[1:], m.active[:])
	m.active[0] = 0
	if past {
		m.active = [lasts]int{}
	}
	for account, u := range m.used {
		u.last, u.now = u.now, 0
		copy(u.worked[1:], u.worked[:])
		if past {
			u.last, u.worked = 0, [lasts]bool{}
		}
		u.worked[0] = u.last > 0
		if u.worked == [lasts]bool{} && u.level(now) == 0 {
			delete(m.used, account)
			continue
		}
		m.used[account] = u
		if u.worked[0] {
			m.total += u.last
			m.active[0]++
		}
	}
}

// waits is the key of how long work has waited, nanoseconds.
type waits struct{}

// WithWaits returns a context in which work notes how long it waits, and a function that returns that time.
func WithWaits(ctx context.Context) (_ context.Context, waited func() time.Duration) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, waits{}, n), func() time.Duration { return time.Duration(n.Load()) }
}

// Waited notes how long work has waited for something that measures by itself what it does.
func Waited(ctx context.Context, long time.Duration) {
	if n, ok := ctx.Value(waits{}).(*atomic.Int64); ok {
		n.Add(int64(long))
	}
}
