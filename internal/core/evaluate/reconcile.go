package evaluate

import (
	"slices"
	"time"

	"tocsin/internal/core/sentence"
)

// Reconcile returns the transitions after which what is stored of the watch is what it has open. found is what it has found
// since it last knew what is stored, the oldest first. A transition that is over, or stored already, is past.
//
// An instance that is stored although the watch has not found its end is open again: only a complete answer ends it.
func (w *Watch) Reconcile(at time.Time, stored []Instance, found []Transition) (left, past []Transition) {
	r := reconciliation{at: at, found: found, of: map[instanceID][]int{}, used: map[int]bool{}}
	for n := range found {
		id := instanceID{found[n].Check, found[n].Key}
		r.of[id] = append(r.of[id], n)
	}
	there := map[instanceID]*Instance{}
	for n := range stored {
		there[instanceID{stored[n].Check, stored[n].Key}] = &stored[n]
	}
	for _, i := range w.Instances() {
		s := there[instanceID{i.Check, i.Key}]
		switch {
		case !i.Firing:
			continue
		case s == nil:
			r.add(&i, "", Begin)
		case severityOf(i.Severity) > severityOf(s.Severity):
			r.add(&i, s.Severity, Rise)
		case i.Severity != s.Severity:
			r.add(&i, s.Severity, Fall)
		}
		delete(there, instanceID{i.Check, i.Key})
	}
	for id, s := range there {
		if n := r.last(id, To.Ends); n >= 0 {
			r.take(n, s.Severity)
			continue
		}
		c, level := w.check(s.Check), severityOf(s.Severity)
		if c == nil || level == none {
			continue
		}
		c.adopt(s, level)
		w.modified = true
		if c.kind != tooMany {
			w.opened++
		}
	}
	for n := range found {
		if !r.used[n] && found[n].To != Repeat {
			past = append(past, found[n])
		}
	}
	return r.left, past
}

type instanceID struct{ check, key string }

type reconciliation struct {
	at    time.Time
	found []Transition
	of    map[instanceID][]int // the transitions of an instance in found
	used  map[int]bool
	left  []Transition
}

// last returns the last transition of an instance of a kind; -1: there is none.
func (r *reconciliation) last(id instanceID, is func(To) bool) int {
	for _, n := range slices.Backward(r.of[id]) {
		if is(r.found[n].To) {
			return n
		}
	}
	return -1
}

func (r *reconciliation) take(n int, from string) *Transition {
	r.used[n] = true
	r.left = append(r.left, r.found[n])
	t := &r.left[len(r.left)-1]
	t.From = from
	return t
}

// add adds a transition to what an instance is: the transition that was found, or another with the reason that it was not stored.
func (r *reconciliation) add(i *Instance, from string, to To) {
	if n := r.last(instanceID{i.Check, i.Key}, func(t To) bool { return t == to }); n >= 0 {
		r.take(n, from).Severity = i.Severity
		return
	}
	r.left = append(r.left, Transition{Check: i.Check, Query: i.Query, Key: i.Key, Labels: i.Labels, At: r.at, Since: i.Since, To: to,
		From: from, Severity: i.Severity, Value: i.Value, Why: []sentence.Value{sentence.New("mon_reconciled")}})
}
