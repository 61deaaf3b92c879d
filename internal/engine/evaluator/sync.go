package evaluator

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/core/evaluate"
)

// sync reports to the center, and takes over what it orders.
func (e *Evaluator) sync(ctx context.Context, now time.Time) error {
	if !e.blind.IsZero() && now.Sub(e.blind) > lease {
		if err := e.see(ctx, now); err != nil {
			return err
		}
	}
	report, silent := e.news(now)
	orders, err := e.Center.Sync(ctx, report)
	e.cut.Store(err != nil && e.Journal != nil)
	e.more.Store(err == nil && orders.More)
	before := now
	now = e.Clock.Now() // the center may have set it
	if now.Before(before) {
		e.setBack(now)
	}
	if err != nil {
		e.unreported(report)
		if orders.Slots == nil || e.Journal == nil {
			return err
		}
		e.unsure = true // the orders are those of before a restart
		e.Journal.Hold()
	}
	if err == nil {
		e.compared(orders.Wrong)
		for i, s := range silent {
			s.sent(report.Sources[i], now)
		}
		err = e.save(ctx)
	}
	reload, lost := e.obey(orders, now)
	if err == nil && lost { // the process that takes them over waits for the report without them
		defer e.Changed()
	}
	err = errors.Join(err, e.read(ctx, now))
	switch {
	case len(e.unread) == 0 || e.Journal == nil:
		e.blind = time.Time{}
	case reload && e.blind.IsZero():
		e.blind = now
	}
	if err != nil || e.Journal == nil {
		return err
	}
	return e.reconcile(ctx, orders.Differ)
}

// obey takes over which slots are evaluated, and notes which rules are to be read. reload reports that there are other slots than
// before, lost that some are those of another process now.
func (e *Evaluator) obey(orders Orders, now time.Time) (reload, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.cut.Load() {
		e.reported = now
	}
	reload = e.reload || e.moved(orders.Slots)
	e.reload = false
	lost = e.hasLost(orders.Slots)
	e.slots = orders.Slots
	for key, w := range e.watches {
		epoch, own := orders.Slots[w.Slot]
		if _, has := orders.Accounts[key.Account]; !has || !own || epoch != w.epoch {
			e.drop(w)
		}
	}
	e.unread = map[int64]int64{}
	for account, revision := range orders.Accounts {
		if before, known := e.have[account]; reload || !known || before != revision {
			e.unread[account] = revision
		}
	}
	return reload, lost
}

// see reads the rules of slots that have not been evaluated for a lease. Until it can there are no reports: the center would take
// them for a process that evaluates its slots, and another process may reach the rules.
func (e *Evaluator) see(ctx context.Context, now time.Time) error {
	e.cut.Store(true)
	err := e.read(ctx, now)
	if err == nil {
		e.blind = time.Time{}
	}
	return err
}

// read reads the rules of the accounts that are unread. The rules of one account that cannot be read must not stop others.
func (e *Evaluator) read(ctx context.Context, now time.Time) (err error) {
	for account, revision := range e.unread {
		failed := e.load(ctx, account, now)
		e.mu.Lock()
		if failed == nil {
			e.have[account] = revision
			delete(e.unread, account)
		} else {
			delete(e.have, account)
		}
		e.mu.Unlock()
		err = errors.Join(err, failed)
	}
	return err
}

// setBack plans all evaluations again after the clock was set back to the center's: they would wait until it shows again what
// it had shown.
func (e *Evaluator) setBack(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.due {
		w.moment, w.at = w.nextMoment(now)
	}
	heap.Init(&e.due)
}

// unreported keeps what could not be reported for the next report.
func (e *Evaluator) unreported(r Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range r.Watches {
		if _, newer := e.changed[w.Key]; !newer {
			e.changed[w.Key] = w
		}
	}
}

// moved reports whether other slots than before are to be evaluated, or under other epochs. The caller holds the lock.
func (e *Evaluator) moved(slots map[int64]int64) bool {
	for slot, epoch := range slots {
		if e.slots[slot] != epoch {
			return true
		}
	}
	return false
}

// hasLost reports whether some of the slots are those of another process now. The caller holds the lock.
func (e *Evaluator) hasLost(slots map[int64]int64) bool {
	for slot := range e.slots {
		if _, own := slots[slot]; !own {
			return true
		}
	}
	return false
}

// news returns what is to be reported, and the datasources in the order of the report.
func (e *Evaluator) news(now time.Time) (Report, []*source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Report{At: now, Held: map[int64]bool{}, Digests: e.digests(), Late: percentile(e.late)}
	e.late = e.late[:0]
	for slot := range e.slots {
		r.Held[slot] = true
	}
	if e.unsure { // since when something is so may be untrue
		return r, nil
	}
	for _, w := range e.watches {
		e.overdue(w, now)
		if w.last.Unknown && now.Sub(e.reported) > lease { // the center may have hidden it behind the loss of this evaluator
			e.changed[w.Key] = w.last
		}
	}
	for _, state := range e.changed {
		r.Watches = append(r.Watches, state)
	}
	clear(e.changed)
	var sources []*source
	blind := map[*source]map[string]int64{}
	for _, s := range e.sources {
		state, news := s.state(now)
		if !news {
			continue
		}
		state.Blind = map[string]int64{}
		blind[s] = state.Blind
		sources, r.Sources = append(sources, s), append(r.Sources, state)
	}
	for _, w := range e.watches {
		if count := blind[w.source]; count != nil {
			count[w.Severity]++
		}
	}
	return r, sources
}

// overdueAfter is how many intervals late a watch is unknown, and not sooner than the default of what a rule allows.
const (
	overdueAfter = 3
	leastOverdue = 2 * time.Minute
)

// overdue notes a watch whose evaluation is long late: it waits for others, or is still asked. The caller holds the lock.
func (e *Evaluator) overdue(w *watch, now time.Time) {
	if !w.waits || min(now.Sub(w.at), now.Sub(e.thawed)) < max(overdueAfter*w.Rule.Interval, leastOverdue) || w.last.Unknown {
		return
	}
	w.last = WatchState{
		Key: w.Key, Rule: w.Rule.Name, Severity: w.Severity, Source: w.Source.Name,
		Unknown: true, Kind: evaluate.Missed, Message: "its evaluations wait for others", Since: w.at,
	}
	e.changed[w.Key] = w.last
}

// percentile returns the 99th percentile; 0: of none.
func percentile(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)*99-1)/100]
}

// save stores the states that have changed, of watches that are not evaluated now.
func (e *Evaluator) save(ctx context.Context) error {
	e.mu.Lock()
	var quiet []*watch
	for _, w := range e.watches {
		if !w.waits {
			quiet = append(quiet, w)
		}
	}
	e.mu.Unlock()
	changed, of := map[int64][]Saved{}, map[int64][]*watch{}
	for _, w := range quiet {
		if !w.mu.TryLock() {
			continue
		}
		w.unsaved = w.unsaved || w.core.Changed()
		if w.unsaved && w.unsent == nil && !w.apart {
			changed[w.Account] = append(changed[w.Account], Saved{Key: w.Key, Slot: w.Slot, Epoch: w.epoch, State: w.core.State()})
			w.unsaved = false
			of[w.Account] = append(of[w.Account], w)
		}
		w.mu.Unlock()
	}
	var err error
	for account, states := range changed {
		failed := e.Center.Save(ctx, account, states)
		err = errors.Join(err, failed)
		for _, w := range of[account] {
			if failed != nil {
				w.mu.Lock()
				w.unsaved = true
				w.mu.Unlock()
			}
		}
	}
	return err
}

// load reads the watches of an account, and takes over those of its slots.
func (e *Evaluator) load(ctx context.Context, account int64, now time.Time) error {
	all, err := e.Center.Watches(ctx, account)
	if err != nil {
		return err
	}
	var fresh []Watch
	e.mu.Lock()
	there := map[Key]bool{}
	for _, c := range all {
		if _, own := e.slots[c.Slot]; !own {
			continue
		}
		there[c.Key] = true
		w := e.watches[c.Key]
		switch {
		case w == nil:
			fresh = append(fresh, c)
		case w.planned == nil && w.Rule.Revision == c.Rule.Revision && w.Source.Version == c.Source.Version:
		default:
			w.planned = &c
			w.source.configure(c.Source)
		}
	}
	for key, w := range e.watches {
		if key.Account == account && !there[key] {
			e.drop(w)
		}
	}
	e.mu.Unlock()
	return e.begin(ctx, account, fresh, now)
}

// begin begins to evaluate watches, each where its last process stopped.
func (e *Evaluator) begin(ctx context.Context, account int64, fresh []Watch, now time.Time) error {
	if len(fresh) == 0 {
		return nil
	}
	keys := make([]Key, len(fresh))
	for i, c := range fresh {
		keys[i] = c.Key
	}
	stored, err := e.Center.State(ctx, account, keys)
	if err != nil && !e.cut.Load() {
		return err
	}
	for _, c := range fresh {
		before, kept := stored[c.Key], e.kept(c)
		if kept != nil {
			before = kept.Saved
		}
		core, failed := evaluate.New(c.Rule, before.State)
		if failed != nil && before.State != "" {
			e.Log.Error("the counters of an alert rule cannot be read", "account_id", account, "rule_id", c.Key.Rule, "error", failed)
			core, failed = evaluate.New(c.Rule, "")
		}
		if failed != nil { // create refuses such rules
			e.Log.Error("an alert rule cannot be evaluated", "account_id", account, "rule_id", c.Key.Rule, "error", failed)
			continue
		}
		w := &watch{core: core, moment: now, place: -1, apart: e.cut.Load()}
		w.configure(c)
		if kept == nil {
			core.Adopt(before.Open)
		} else { // it is evaluated before what was found is sent
			w.moment, w.apart = kept.Moment, true
			w.unsent = &Batch{Watch: &w.Watch, AsOf: kept.Moment, Transitions: kept.Unsent}
		}
		w.mu.Lock()
		e.mu.Lock()
		w.epoch = e.slots[c.Slot]
		w.source = e.sourceOf(c)
		e.watches[c.Key] = w
		e.plan(w, now)
		if w.at.Before(now) { // the process was not running
			w.moment, _ = w.catchUp(now)
			w.at = now
			heap.Fix(&e.due, w.place)
		}
		e.mu.Unlock()
		e.keep(w, false)
		w.mu.Unlock()
	}
	return nil
}

// sourceOf returns the datasource of a watch. The caller holds the lock.
func (e *Evaluator) sourceOf(c Watch) *source {
	key := sourceKey{c.Account, c.Source.ID}
	s := e.sources[key]
	if s == nil {
		s = &source{key: key, config: c.Source}
		e.sources[key] = s
	}
	s.configure(c.Source)
	s.used++
	return s
}

// drop ends the evaluation of a watch here. The caller holds the lock.
func (e *Evaluator) drop(w *watch) {
	if w.dropped {
		return
	}
	w.dropped = true
	if e.Journal != nil {
		e.Journal.Forget(w.Key)
	}
	delete(e.watches, w.Key)
	delete(e.changed, w.Key)
	if w.place >= 0 {
		heap.Remove(&e.due, w.place)
	}
	if !w.waits {
		e.leave(w.source)
	}
}

// leave ends the use of a datasource by a watch. The caller holds the lock.
func (e *Evaluator) leave(s *source) {
	if s.used--; s.used == 0 {
		if e.sources[s.key] == s {
			delete(e.sources, s.key)
		}
		s.close()
	}
}
