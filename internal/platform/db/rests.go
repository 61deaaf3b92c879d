package db

import (
	"slices"
	"time"

	"tocsin/internal/platform/gate"
)

// rests keep the lanes of a queue free a part of the time while an account writes without a pause and others write now and
// then. Taking turns is not enough: a write of another account would nearly always find a transaction in progress,
// and wait for most of it and then for its own. What arrives while an account rests shares its next transaction, so that it
// writes about as many rows.
type rests struct {
	pauses gate.Pauses
	until  map[int64]time.Time
	timer  *time.Timer // nil: the lane waits for no rest
}

// An account may write for writeCredit before it rests, and rests for longestRest at most after a transaction.
const (
	writeCredit = 100 * time.Millisecond
	longestRest = 100 * time.Millisecond
)

func newRests() rests {
	return rests{pauses: gate.Pauses{Credit: writeCredit, Longest: longestRest}, until: map[int64]time.Time{}}
}

// of reports whether an account rests.
func (r *rests) of(account int64, now time.Time) bool {
	until, known := r.until[account]
	if known && !until.After(now) {
		delete(r.until, account)
	}
	return until.After(now)
}

// without returns the writes of accounts that do not rest.
func (r *rests) without(writes []*write) []*write {
	if len(r.until) == 0 {
		return writes
	}
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(writes), func(w *write) bool { return r.of(w.account, now) })
}

// after lets the accounts of a transaction rest that must. What did not run functions, most of all the commit, counts for its
// writes alike.
func (r *rests) after(writes []*write, began, ended time.Time) {
	took, common := map[int64]time.Duration{}, ended.Sub(began)
	for _, w := range writes {
		common -= w.took
	}
	for _, w := range writes {
		took[w.account] += w.took + common/time.Duration(len(writes))
	}
	delete(took, NoAccount)
	for account, t := range took {
		if pause := r.pauses.After(account, t, ended); pause > 0 {
			r.until[account] = ended.Add(pause)
		}
	}
}

// end calls a function when the first rest ends of the accounts of some writes, if one of them rests.
func (r *rests) end(of []*write, do func()) {
	var first time.Time
	for _, w := range of {
		if until, rests := r.until[w.account]; rests && (first.IsZero() || until.Before(first)) {
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
