package page

import (
	"sync"
	"time"

	"tocsin/internal/engine/lint"
)

// checkup is the page with what is wrong with the configuration.
const checkup = "/lint"

// The number in the menu is found by reading the whole account, for which /lint/list has a limit of its own: the menu must leave
// most of it to others.
const (
	maxWorstAge = time.Minute      // of the number that a person is shown
	worstEvery  = 10 * time.Second // at most, for an account
	maxWorst    = 10_000           // persons and accounts that are known
)

// worst holds how many problems of the worst kind each person was shown last.
type worst struct {
	mu    sync.Mutex
	known map[[2]int64]counted // by account and person: not everyone may see everything
	asked map[int64]time.Time  // when it was found last for an account
}

type counted struct {
	problems int64
	at       time.Time
}

// last returns the number that a person was shown last, and reports whether it is time to find it again.
func (w *worst) last(account, person int64, now time.Time) (problems int64, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known, asked := w.known[[2]int64{account, person}], w.asked[account]
	if now.Sub(known.at) < maxWorstAge || now.Sub(asked) < worstEvery {
		return known.problems, false
	}
	if w.known == nil || max(len(w.known), len(w.asked)) >= maxWorst {
		w.known, w.asked = map[[2]int64]counted{}, map[int64]time.Time{}
	}
	w.asked[account] = now
	return known.problems, true
}

func (w *worst) found(account, person, problems int64, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[[2]int64{account, person}] = counted{problems, now}
}

// Worst returns how many problems of the worst kind the configuration has: alerts would reach no one. The number is up to
// a minute old, or older while the check is refused because it was asked for too often.
func (v *Visit) Worst() int64 {
	if !v.ReadsLint() {
		return 0
	}
	problems, due := v.worst.last(v.Who.AccountID, v.Who.PersonID, v.Now)
	if !due {
		return problems
	}
	reply, err := Call[lint.Listed](v, "/lint/list", lint.ListRequest{Severity: "error"})
	if err != nil {
		return problems // asked too often: a later page finds it
	}
	v.worst.found(v.Who.AccountID, v.Who.PersonID, reply.Total, v.Now)
	return reply.Total
}
