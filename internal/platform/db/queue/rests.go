package queue

import (
	"maps"
	"slices"
	"time"

	"tocsin/internal/platform/fair"
)

// rests throttles an account that writes continuously, so that occasional writers find a lane idle. Taking turns is not enough:
// a write of another account would nearly always find a transaction in progress, and wait for most of it and then for its own.
// What arrives while an account rests shares its next transaction, so that it writes about as many rows.
type rests[J any] struct {
	meter *fair.Meter
	until map[int64]time.Time // when the rests of accounts end
	timer *time.Timer         // of the last rest that a lane waited for
}

// longestRest is how long an account rests after a transaction, at most.
const longestRest = 100 * time.Millisecond

func newRests[J any](m *fair.Meter) rests[J] {
	return rests[J]{meter: m, until: map[int64]time.Time{}}
}

// without returns the writes of accounts that do not rest, and forgets the rests that have ended.
func (r *rests[J]) without(writes []*Write[J]) []*Write[J] {
	if len(r.until) == 0 {
		return writes
	}
	now := time.Now()
	maps.DeleteFunc(r.until, func(_ int64, until time.Time) bool { return !until.After(now) })
	return slices.DeleteFunc(slices.Clone(writes), func(w *Write[J]) bool { return !r.until[w.Account].IsZero() })
}

// after lets the accounts of a transaction rest that must. What did not run functions, most of all the commit, counts for its
// writes alike.
func (r *rests[J]) after(writes []*Write[J], began, ended time.Time) {
	took, common := map[int64]time.Duration{}, ended.Sub(began)
	for _, w := range writes {
		common -= w.Took
	}
	for _, w := range writes {
		took[w.Account] += w.Took + common/time.Duration(len(writes))
	}
	delete(took, NoAccount)
	for account, t := range took {
		if pause := r.meter.Worked(account, t, ended); pause > 0 {
			r.until[account] = ended.Add(min(pause, longestRest))
		}
	}
}

// end calls a function when the first rest ends of the accounts of some writes, if one of them rests.
func (r *rests[J]) end(of []*Write[J], do func()) {
	var first time.Time
	for _, w := range of {
		if until, rests := r.until[w.Account]; rests && (first.IsZero() || until.Before(first)) {
			first = until
		}
	}
	if first.IsZero() {
		return
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.timer = time.AfterFunc(time.Until(first), do)
}
