package evaluator

import "slices"

// How many evaluations run at a time: in the process, and on a datasource. An account has no more than are left free, so that
// datasources that do not answer leave a place to others, however many accounts have them.
const (
	mostAtOnce   = 32
	mostOfSource = 8
)

// queue holds the watches that wait for a place: accounts take turns, then the datasources of an account.
type queue struct {
	accounts []*accountQueue // the first has its turn next
	all      int             // evaluations in progress
	running  map[int64]int   // of them, by account
}

type accountQueue struct {
	account int64
	sources []*source // with watches that wait; the first has its turn next
}

// add adds a watch that is due.
func (q *queue) add(w *watch) {
	s := w.source
	s.waiting = append(s.waiting, w)
	if len(s.waiting) > 1 {
		return
	}
	at := slices.IndexFunc(q.accounts, func(a *accountQueue) bool { return a.account == w.Account })
	if at < 0 {
		at = len(q.accounts)
		q.accounts = append(q.accounts, &accountQueue{account: w.Account})
	}
	q.accounts[at].sources = append(q.accounts[at].sources, s)
}

// take returns the watch whose turn it is, which then has a place; nil: no place is free, or none waits.
func (q *queue) take() *watch {
	for i, a := range q.accounts {
		if q.running[a.account] >= mostAtOnce-q.all {
			continue
		}
		at := slices.IndexFunc(a.sources, func(s *source) bool { return s.running < mostOfSource })
		if at < 0 {
			continue
		}
		s := a.sources[at]
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		a.sources = slices.Delete(a.sources, at, at+1)
		if len(s.waiting) > 0 {
			a.sources = append(a.sources, s)
		} else {
			s.waiting = nil
		}
		q.accounts = slices.Delete(q.accounts, i, i+1)
		if len(a.sources) > 0 {
			q.accounts = append(q.accounts, a)
		}
		q.all++
		q.running[a.account]++
		s.running++
		return w
	}
	return nil
}

// leave frees the place of a watch.
func (q *queue) leave(w *watch) {
	q.all--
	w.source.running--
	if q.running[w.Account]--; q.running[w.Account] == 0 {
		delete(q.running, w.Account)
	}
}
