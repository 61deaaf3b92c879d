package evaluator

import "tocsin/internal/core/evaluate"

// Look is what is known of a watch in memory.
type Look struct {
	Instances []evaluate.Instance // pending and firing; nil while it is evaluated
	Recent    []Evaluation        // the oldest first; likewise
	Empty     int                 // known evaluations in a row without a row, up to the last; likewise
	State     WatchState
}

// Look returns what is known of a watch that is evaluated here.
func (e *Evaluator) Look(key Key) (l Look, here bool) {
	e.mu.Lock()
	w := e.watches[key]
	if w != nil {
		l.State = w.last
	}
	e.mu.Unlock()
	if w == nil {
		return l, false
	}
	if w.mu.TryLock() {
		defer w.mu.Unlock()
		l.Instances = w.core.Instances()
		l.Empty = w.empty
		l.Recent = append([]Evaluation(nil), w.recent...)
	}
	return l, true
}

// Pending returns how many instances of an account's watches that are evaluated here are pending, by rule.
func (e *Evaluator) Pending(account int64) map[uint64]int {
	all := map[uint64]int{}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, w := range e.watches {
		if key.Account == account && w.last.Pending > 0 {
			all[key.Rule] += w.last.Pending
		}
	}
	return all
}

// Watches returns how many watches are evaluated here, and how many of them are unknown.
func (e *Evaluator) Watches() (all, unknown int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watches {
		if w.last.Unknown {
			unknown++
		}
	}
	return len(e.watches), unknown
}
