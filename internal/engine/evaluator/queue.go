package evaluator

import "slices"

// queue holds the watches that wait for a place: accounts take turns, then the datasources of an account.
type queue struct {
	accounts []*accountQueue // the first has its turn next
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

// take removes and returns the watch whose turn it is, of a datasource with a free place; nil: there is none.
func (q *queue) take() *watch {
	for i, a := range q.accounts {
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
		return w
	}
	return nil
}
