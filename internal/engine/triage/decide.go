package triage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
)

// pending is an event that waits for its verdict. Its body is decoded when the event is decided, so that one corrupt row
// cannot block the others.
type pending struct {
	seq      int64 // the order of arrival
	id       string
	received int64 // Unix nanoseconds
	attempts int64
	rank     int64   // rankFirst or rankUsual
	chain    int64   // the alert key's; see chainOf
	of       Request // Last: the event is the last one of its request to wait
	early    bool    // more events than a batch has wait before this event
	body     string
	event.Event
	prepared *decide.Prepared
}

// maxAttempts is how often deciding an event may fail before it ends with the verdict `failed`.
const maxAttempts = 5

// failedBefore is the number, for RoundRobin, of the events that could not be decided before.
const failedBefore = 1

// mostAttempts returns how often an event of an account may have failed to be decided now. Failed events rest for a moment.
// After a round that failed as a whole, all events rest: then the result is negative.
func (r *Service) mostAttempts(account int64, now time.Time) int64 {
	switch after := r.events.After(account, now); {
	case after > failedBefore:
		return -1
	case after == failedBefore:
		return 0
	}
	return maxAttempts
}

// decide starts the work of each account that has events to decide, and returns when failed events, or those that were left
// to another process, are looked at again. Of a process with many events it is woken often: it does not look for the
// accounts then, because the index still holds the entries of the events that were decided lately.
func (r *Service) decide(ctx context.Context, now time.Time) (again time.Time, err error) {
	accounts, all := r.Decide.Accounts(ctx)
	if !all {
		accounts = slices.DeleteFunc(accounts, func(account int64) bool { return r.mostAttempts(account, now) < 0 })
		return r.events.Again(now), r.events.Begin(ctx, now, accounts, r.decideAccount)
	}
	accounts, again = nil, r.events.Again(now)
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		all, err := db.All(tx, db.Column[int64], db.Ahead(`FROM event_waiting WHERE TRUE`)+`
			SELECT account_id FROM ahead WHERE account_id IS NOT NULL`)
		if err != nil {
			return err
		}
		for _, account := range all {
			found := true
			if most := r.mostAttempts(account, now); most < maxAttempts {
				_, found, err = db.One(tx, db.Column[int64],
					`SELECT 1 FROM event_waiting WHERE account_id = $1 AND attempts <= $2 LIMIT 1`, account, most)
				if err != nil {
					return err
				}
			}
			if found {
				accounts = append(accounts, account)
			}
		}
		return nil
	})
	if err != nil {
		return again, err
	}
	return again, r.events.Begin(ctx, now, accounts, r.decideAccount)
}

// Sizes, in events. A batch shares one transaction: of 60 events each costs a third less than of 15, because the engine
// then writes each page of an index once for several of them. Other writers wait about 3 ms for it. Where only those of the
// account wait, of 120 each costs a third less again, mostly because the server runs fewer statements.
const (
	usualBatch = 60
	maxRound   = 180       // events of one account before the next account's
	expensive  = 1_000_000 // filter steps after which a batch ends; the account then waits longer for its next round
)

// batchSize returns how many events or alerts one transaction decides.
func (r *Service) batchSize() int { return r.DB.BatchSize(usualBatch) }

// decideAccount decides events of one account, in the order of next.
func (r *Service) decideAccount(t *jobs.Round) error {
	p := &progress{Round: t, most: r.mostAttempts(t.Account, t.Now)}
	for p.taken < maxRound && (p.taken == 0 || t.GoesOn()) {
		more, err := r.batch(p)
		if err != nil {
			return errors.Join(err, p.failed)
		}
		t.More, t.Full = more, more
		if !more {
			break
		}
	}
	return p.failed
}

// progress is the state of one account's round.
type progress struct {
	*jobs.Round
	taken  int   // events so far
	most   int64 // attempts of an event that may be decided now
	single int   // how many events are decided one by one: storing them together failed, or their reads had changed
	failed error // the joined errors of events
}

// batch decides the next events of an account and stores the verdicts. more reports whether there are other events.
func (r *Service) batch(p *progress) (more bool, err error) {
	var events []pending
	var others bool
	err = r.DB.Read(p.Ctx, func(tx *db.Tx) (err error) {
		events, others, err = next(tx, p.Account, p.most, r.batchSize())
		return err
	})
	if err != nil || len(events) == 0 {
		return false, err
	}
	if r.gathered != nil {
		r.gathered()
	}
	if p.single > 0 {
		events, others = events[:1], others || len(events) > 1
	}
	p.taken += len(events)
	ready, err := r.Configs.config(p.Ctx, p.Account)
	if err != nil {
		return false, err
	}
	m := newSnapshot(p.Ctx, r.DB, p.Account, ready, p.Now)
	prepared, failed := m.prepare(events)
	m.prefetch(prepared)
	var items []item
	for i := range prepared {
		e := &prepared[i]
		one := item{event: e}
		if err := m.guarded(&one, func() ([]decide.Verdict, error) { return e.prepared.Decide(m, m.now.Unix()) }); err != nil {
			failed = err
			break
		}
		items = append(items, one)
		p.Expensive = m.steps > expensive
		if p.Expensive {
			break // other accounts with expensive rules must not wait for this one
		}
	}
	more = others || len(items) < len(events)
	if r.between != nil {
		r.between(p.Account)
	}
	stored, err := r.store(m, items)
	switch {
	case p.Ctx.Err() != nil:
		return false, p.Ctx.Err()
	case errors.Is(err, errElsewhere):
		p.Missed(len(items))
		return false, nil
	case errors.Is(err, errOverlap):
		return true, nil
	case fault.KindOf(err) == fault.Unavailable: // no event is the cause: no event may overtake the first of its alert
		return false, err
	case err != nil && len(items) > 1: // storing them one by one finds the one that fails
		p.single = len(items)
		return true, nil
	case err != nil:
		return true, r.setAside(p, items[0].event, err)
	case stored < len(items): // a row has changed since it was read
		p.single = 1
		return true, nil
	case failed == nil, errors.Is(failed, errUnknown), errors.Is(failed, errReconfigured):
		p.single = max(0, p.single-len(items))
		return more, nil
	case fault.KindOf(failed) == fault.Unavailable:
		return false, failed
	}
	return true, r.setAside(p, &events[len(items)], failed)
}

// prepare decodes, rewrites and routes events, up to the first that fails, and as many as are decided without other
// accounts waiting long.
func (m *snapshot) prepare(events []pending) (prepared []pending, failed error) {
	steps := int64(0)
	for i := range events {
		e := &events[i]
		failed = fault.Guard(func() error { return m.prepareOne(e) })
		if failed != nil {
			return events[:i], failed
		}
		if steps += e.prepared.Steps(); steps > expensive {
			return events[:i+1], nil
		}
	}
	return events, nil
}

func (m *snapshot) prepareOne(p *pending) (err error) {
	if err := json.Unmarshal([]byte(p.body), &p.Event); err != nil {
		return err
	}
	p.prepared, err = decide.Prepare(m, p.Event)
	return errors.Join(err, m.failed)
}

// guarded runs a decision and fills an item with its verdicts. A panic becomes the error of this item alone.
func (m *snapshot) guarded(one *item, decide func() ([]decide.Verdict, error)) error {
	return fault.Guard(func() error {
		verdicts, err := decide()
		if err != nil {
			return err
		}
		return m.item(one, verdicts)
	})
}

// setAside counts a failed attempt to decide an event, and leaves the event for later. After maxAttempts it stores a failed
// verdict. The other events go on.
func (r *Service) setAside(p *progress, e *pending, cause error) error {
	r.Log.Error("an event could not be decided", "event_id", e.id, "account_id", p.Account, "attempts", e.attempts+1, "error", cause)
	p.failed = errors.Join(p.failed, cause)
	p.most, p.single = 0, max(0, p.single-1)
	p.Rest(failedBefore)
	t := &counts{}
	err := r.write(p.Ctx, p.Account, t, func(tx *db.Tx) error {
		if e.attempts+1 < maxAttempts {
			return tx.Do(`UPDATE event_waiting SET attempts = attempts + 1 WHERE account_id = $1 AND seq = $2 AND event_id = $3`,
				p.Account, e.seq, e.id)
		}
		if err := done(tx, p.Account, e); err != nil {
			return err
		}
		why := sentence.New("not_decided", maxAttempts)
		v := verdict{Verdict: decide.Verdict{Outcome: decide.Failed, Event: e.Event, Trace: []decide.Step{{Stage: "channel", Why: why}}}}
		last, err := lastVerdict(tx, p.Account, p.Now)
		if err == nil {
			err = v.encode()
		}
		if err == nil {
			err = tx.Insert(db.Rows{Table: "verdict", Columns: verdictColumns, Values: [][]any{v.values(p.Account, last+1, e.id, p.Now)}})
		}
		if err != nil {
			return err
		}
		t.outcomes = append(t.outcomes, string(decide.Failed))
		return nil
	})
	if errors.Is(err, errElsewhere) {
		return nil
	}
	return err
}
