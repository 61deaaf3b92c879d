package db

import (
	"sync"
	"time"

	"tocsin/internal/platform/gate"
)

// appends are the queues of the lanes that append, each of one lane. Appends of all share a commit. While several accounts
// append, those of many rows have a lane of their own: a single event would wait for hundreds.
type appends struct {
	all, large *group // nil: appends are writes

	mu      sync.Mutex
	company gate.Company
}

// maxSmall is how many rows an append has at most that has not many.
const maxSmall = 100

// choose returns the queue of an append.
func (a *appends) choose(w *write, now time.Time) *group {
	a.mu.Lock()
	alone := a.company.Alone(w.account, now)
	a.mu.Unlock()
	if !alone && w.rows > maxSmall {
		return a.large
	}
	return a.all
}

// Crowded reports whether appends wait for others: more comes in than the database takes at once. Those of accounts that
// rest wait for their own.
func (d *DB) Crowded() bool {
	for _, g := range []*group{d.appends.all, d.appends.large} {
		if g != nil && g.crowded() {
			return true
		}
	}
	return false
}

func (g *group) crowded() bool {
	g.Lock()
	defer g.Unlock()
	return len(g.rests.without(g.waiting)) > 0
}
