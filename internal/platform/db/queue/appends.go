package queue

import (
	"time"
)

// Appends are the queues of the lanes that append, each of one lane. Appends of all share a commit. While several accounts
// append, those of many rows have a lane of their own: a single event would wait for hundreds.
type Appends[J any] struct {
	All, Large *Queue[J] // nil: appends are writes
}

// maxSmall is how many rows an append has at most that has not many.
const maxSmall = 100

// Choose returns the queue of an append.
func (a *Appends[J]) Choose(w *Write[J], now time.Time) *Queue[J] {
	if w.Rows > maxSmall && !a.All.rests.meter.Alone(w.Account, now) {
		return a.Large
	}
	return a.All
}

// Crowded reports whether appends wait for others: more comes in than the database takes at once.
func (a *Appends[J]) Crowded() bool {
	for _, g := range []*Queue[J]{a.All, a.Large} {
		if g != nil && g.Crowded() {
			return true
		}
	}
	return false
}
