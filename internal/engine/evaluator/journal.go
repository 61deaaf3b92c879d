package evaluator

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"

	"tocsin/internal/core/evaluate"
)

// Journal keeps watches on the disk of an evaluator whose center may be out of reach. Its methods may be called at the same
// time, those about one watch one after the other.
type Journal interface {
	// Kept returns what is kept of a watch.
	Kept(Key) (Kept, bool)
	// Keep keeps a watch. If it is to be durable it is on the disk when Keep returns. Keep reports false if there was no room
	// for what is unsent; the rest is kept.
	Keep(k Kept, durable bool) bool
	// Forget forgets a watch.
	Forget(Key)
	// Hold leaves the disk as it is until Release: a process that ends before has kept nothing since.
	Hold()
	// Release puts on the disk what was kept since Hold, or goes back to what is there.
	Release(keep bool)
}

// Kept is what a journal keeps of a watch.
type Kept struct {
	Saved
	Moment time.Time             // of the last evaluation
	Unsent []evaluate.Transition // the oldest first
}

// lease is how long a process may stand still until others may have gone on in its place.
const lease = 15 * time.Second

// mostUnsent bounds the transitions of a watch that wait for the center. The oldest are left out: what is open has begun when
// its instance has, whether or not the transition is there.
const mostUnsent = 1000

// found adds transitions to the list that waits for the center.
func (w *watch) found(b Batch) {
	if w.unsent != nil {
		b.Transitions = slices.Concat(w.unsent.Transitions, b.Transitions)
		b.Transitions = b.Transitions[max(0, len(b.Transitions)-mostUnsent):]
	}
	w.unsent = &b
}

// kept returns what the journal has of a watch that no one else has evaluated meanwhile; nil: nothing.
func (e *Evaluator) kept(c Watch) *Kept {
	if e.Journal == nil {
		return nil
	}
	k, has := e.Journal.Kept(c.Key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !has || k.Epoch != e.slots[c.Slot] {
		return nil
	}
	return &k
}

// keep puts a watch into the journal if it has changed. The caller holds the lock of the watch.
func (e *Evaluator) keep(w *watch, durable bool) {
	changed, behind := w.core.Changed(), w.apart || w.unsent != nil
	if e.Journal == nil || !changed && !durable && behind == w.behind {
		return
	}
	w.unsaved = w.unsaved || changed
	var digest uint64
	for _, i := range w.core.Instances() {
		if i.Firing {
			digest ^= DigestOf(w.Key, i.Check, i.Key, i.Severity)
		}
	}
	k := Kept{Saved: Saved{Key: w.Key, Slot: w.Slot, State: w.core.State()}}
	if w.unsent != nil {
		k.Unsent = w.unsent.Transitions
	}
	e.releasing.RLock()
	defer e.releasing.RUnlock()
	e.mu.Lock()
	w.digest, w.behind = digest, behind
	k.Epoch, k.Moment = w.epoch, w.moment
	dropped := w.dropped
	e.mu.Unlock()
	for !dropped && !e.Journal.Keep(k, durable) {
		k.Unsent = k.Unsent[(len(k.Unsent)+1)/2:]
		if w.apart { // else they are sent at once
			w.unsent.Transitions = k.Unsent
		}
	}
}

// compared ends the time in which the clock was not known. What was found by a clock that was wrong is forgotten: it cannot be set
// right, since no datasource answers about a moment that is still to come, and one that is past was evaluated before. Each watch begins
// again where it was before the start.
func (e *Evaluator) compared(wrong bool) {
	if !e.unsure {
		return
	}
	e.unsure = false
	e.releasing.Lock()
	defer e.releasing.Unlock()
	if wrong {
		e.mu.Lock()
		for _, w := range e.watches {
			e.drop(w)
		}
		clear(e.sources) // evaluations that have begun have theirs
		e.reload = true
		e.mu.Unlock()
	}
	e.Journal.Release(!wrong)
}

// noteLoop notes that the process is running.
func (e *Evaluator) noteLoop(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Journal != nil && now.Sub(e.looped) > lease {
		e.thawed = now
	}
	e.looped = now
}

// stood reports whether the process has stood still since a moment: what it found then may be over.
func (e *Evaluator) stood(since time.Time) bool {
	now := e.Clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	return now.Sub(e.looped) > lease || e.thawed.After(since)
}

// digests returns the digests of the slots of which the center has everything. The caller holds the lock.
func (e *Evaluator) digests() map[int64]uint64 {
	if e.Journal == nil {
		return nil
	}
	all := map[int64]uint64{}
	for slot := range e.slots {
		all[slot] = 0
	}
	for _, w := range e.watches {
		all[w.Slot] ^= w.digest
	}
	for _, w := range e.watches {
		if w.behind {
			delete(all, w.Slot)
		}
	}
	return all
}

// mostHistory is how much history is sent after a report: 1,000 transitions in a second, so that a long cut does not hold up the next
// report, nor the server's other writes. The rest goes after later ones.
const mostHistory = 1000 * int(syncEvery/time.Second)

// paced returns the part of a history that may be sent now, and the rest.
func (e *Evaluator) paced(past []evaluate.Transition) (now, rest []evaluate.Transition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(past), e.history)
	e.history -= n
	return past[:n], past[n:]
}

// reconciling is how many watches send at a time what the center does not have.
const reconciling = 8

// reconcile sends what the center does not have of watches that are evaluated as their schedules want it: after a cut, a start
// or while the process stood still, what was found is not sent before a new evaluation. Those of slots that differ twice in
// a row are among them.
func (e *Evaluator) reconcile(ctx context.Context, differ []int64) error {
	var ready []*watch
	now := e.Clock.Now()
	e.mu.Lock()
	e.history = mostHistory
	before := e.differs
	e.differs = map[int64]bool{}
	for _, slot := range differ {
		e.differs[slot] = true
	}
	for _, w := range e.watches {
		if !w.behind && !(e.differs[w.Slot] && before[w.Slot]) || w.waits || !w.at.After(now) || !w.mu.TryLock() {
			continue
		}
		w.apart = true // it sends nothing until then
		w.mu.Unlock()
		ready = append(ready, w)
	}
	e.mu.Unlock()
	if len(ready) == 0 {
		return nil
	}
	keys := make([]Key, len(ready))
	for i, w := range ready {
		keys[i] = w.Key
	}
	stored, err := e.Center.State(ctx, keys[0].Account, keys)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	places := make(chan struct{}, reconciling)
	for _, w := range ready {
		places <- struct{}{}
		all.Go(func() {
			e.reconcileOne(ctx, w, stored[w.Key].Open)
			<-places
		})
	}
	all.Wait()
	return nil
}

// reconcileOne sends what the center does not have of a watch.
func (e *Evaluator) reconcileOne(ctx context.Context, w *watch, open []evaluate.Instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.mu.Lock()
	current := !w.dropped && !w.waits && w.at.After(e.Clock.Now())
	asOf := w.moment.Add(-w.Delay)
	e.mu.Unlock()
	if !current {
		return
	}
	unsent := w.unsent
	b := Batch{Watch: &w.Watch, Epoch: w.epoch, AsOf: asOf}
	var found []evaluate.Transition
	if unsent != nil {
		b.AsOf = unsent.AsOf
		b.Related = unsent.Related
		found = unsent.Transitions
	}
	changes, past := w.core.Reconcile(asOf, open, found)
	now, rest := e.paced(past)
	b.Transitions, b.Past = changes, now
	w.unsent, w.apart = &b, false
	if len(b.Transitions) > 0 || len(b.Past) > 0 {
		e.send(ctx, w)
	}
	switch {
	case w.apart: // it could not be sent
		w.unsent = unsent
	case len(rest) > 0:
		w.unsent, w.apart = &Batch{Watch: &w.Watch, AsOf: asOf, Transitions: rest}, true
	default:
		w.unsent = nil
	}
	e.keep(w, false)
}

// DigestOf returns a number of an open instance. The digest of a slot is the exclusive or of those of all its open instances.
func DigestOf(key Key, check, instance, severity string) uint64 {
	h := fnv.New64a()
	text := strconv.AppendUint(nil, key.Rule, 10)
	text = strconv.AppendUint(append(text, '/'), key.Datasource, 10)
	_, _ = h.Write(append(text, "/"+check+"/"+instance+"/"+severity...)) // never fails
	return h.Sum64()
}
