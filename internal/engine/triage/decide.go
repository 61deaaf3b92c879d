package triage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// pending is an event that waits for its verdict. Its body is decoded when the event is decided, so that one corrupt row
// cannot block the others.
type pending struct {
	id       string
	received int64 // Unix nanoseconds
	attempts int64
	body     string
	event.Event
}

const waiting = `SELECT event_id, received_at, attempts, body FROM event
	WHERE account_id = $1 AND decided_at = 0 AND received_at > $2 ORDER BY received_at LIMIT $3 + 0`

func scanPending(scan db.Scan) (p pending, err error) {
	return p, scan(&p.id, &p.received, &p.attempts, &p.body)
}

// maxAttempts is how often deciding an event may fail before it ends with the verdict `failed`.
const maxAttempts = 5

// decide starts the work of each account that has events to decide, and returns when failed events are retried.
func (r *Service) decide(ctx context.Context, now time.Time) (again time.Time, err error) {
	var accounts []int64
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = r.withEvents(tx, now)
		return err
	})
	if err != nil {
		return again, err
	}
	return r.events.Again(now), r.events.Begin(ctx, now, accounts, r.decideAccount)
}

// withEvents returns the accounts that have events to be decided now.
func (r *Service) withEvents(tx *db.Tx, now time.Time) (accounts []int64, err error) {
	for account := int64(-1); ; {
		next, found, err := db.One(tx, db.Column[int64],
			`SELECT account_id FROM event WHERE decided_at = 0 AND account_id > $1 ORDER BY account_id LIMIT 1`, account)
		if err != nil || !found {
			return accounts, err
		}
		account = next
		if after := r.events.After(account, now); after > 0 {
			_, found, err = db.One(tx, db.Column[int64],
				`SELECT 1 FROM event WHERE account_id = $1 AND decided_at = 0 AND received_at > $2 LIMIT 1`, account, after)
			if err != nil {
				return nil, err
			}
		}
		if found {
			accounts = append(accounts, account)
		}
	}
}

// Sizes, in events. A batch shares one transaction: of 60 events each costs a third less than of 15, because the engine
// then writes each page of an index once for several of them. Other writers wait about 3 ms for it.
const (
	batchSize = 60
	maxRound  = 3 * batchSize // events of one account before the next account's
	expensive = 1_000_000     // filter steps after which a batch ends; the account then waits longer for its next round
)

// decideAccount decides events of one account, the oldest first.
func (r *Service) decideAccount(t *jobs.Round) error {
	p := &progress{Round: t, after: r.events.After(t.Account, t.Now)}
	for p.taken < maxRound && (p.taken == 0 || t.GoesOn()) {
		more, err := r.batch(p)
		if err != nil {
			return errors.Join(err, p.failed)
		}
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
	after  int64 // events up to this one have failed
	single int   // how many events are decided one by one: storing them together failed, or their reads had changed
	failed error // the joined errors of events
}

// size returns how many events the next batch has.
func (p *progress) size() int {
	if p.single > 0 {
		return 1
	}
	return batchSize
}

// batch decides the next events of an account and stores the verdicts. more reports whether there are other events.
func (r *Service) batch(p *progress) (more bool, err error) {
	size := p.size()
	var events []pending
	err = r.DB.Read(p.Ctx, func(tx *db.Tx) (err error) {
		events, err = db.All(tx, scanPending, waiting, p.Account, p.after, size)
		return err
	})
	if err != nil || len(events) == 0 {
		return false, err
	}
	p.taken += len(events)
	ready, err := r.Configs.config(p.Ctx, p.Account)
	if err != nil {
		return false, err
	}
	m := newSnapshot(p.Ctx, r.DB, p.Account, ready, p.Now)
	var items []item
	var failed error
	for i := range events {
		e := &events[i]
		one := item{event: e}
		if failed = m.guarded(&one, func() ([]decide.Verdict, error) { return m.event(e) }); failed != nil {
			break
		}
		items = append(items, one)
		if p.Expensive = m.steps > expensive; p.Expensive {
			break // other accounts with expensive rules must not wait for this one
		}
	}
	more = len(events) == size || len(items) < len(events)
	if r.between != nil {
		r.between(p.Account)
	}
	stored, err := r.store(m, items)
	switch {
	case p.Ctx.Err() != nil:
		return false, p.Ctx.Err()
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
	}
	return true, r.setAside(p, &events[len(items)], failed)
}

// event decodes and decides an event.
func (m *snapshot) event(p *pending) ([]decide.Verdict, error) {
	if err := json.Unmarshal([]byte(p.body), &p.Event); err != nil {
		return nil, err
	}
	verdicts, err := decide.Event(m, p.Event, m.now.Unix())
	return verdicts, errors.Join(err, m.failed)
}

// guarded runs a decision and fills an item with its verdicts. A panic becomes the error of this item alone.
func (m *snapshot) guarded(one *item, decide func() ([]decide.Verdict, error)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	verdicts, err := decide()
	if err != nil {
		return err
	}
	return m.item(one, verdicts)
}

// setAside counts a failed attempt to decide an event. After maxAttempts it stores a failed verdict. The other events go
// on.
func (r *Service) setAside(p *progress, e *pending, cause error) error {
	r.Log.Error("an event could not be decided", "event_id", e.id, "account_id", p.Account, "attempts", e.attempts+1, "error", cause)
	p.failed = errors.Join(p.failed, cause)
	p.after, p.single = e.received, max(0, p.single-1)
	p.Rest(e.received)
	t := &counts{}
	err := r.write(p.Ctx, t, func(tx *db.Tx) error {
		if e.attempts+1 < maxAttempts {
			_, err := tx.Exec(`UPDATE event SET attempts = attempts + 1 WHERE account_id = $1 AND event_id = $2`, p.Account, e.id)
			return err
		}
		why := sentence.Of("not_decided", maxAttempts)
		v := verdict{Verdict: decide.Verdict{Outcome: decide.Failed, Event: e.Event, Trace: []decide.Step{{Stage: "channel", Why: why}}}}
		last, err := lastVerdict(tx, p.Account)
		if err == nil {
			err = v.encode()
		}
		if err == nil {
			err = v.record(tx, p.Account, last+1, e.id, p.Now)
		}
		if err != nil {
			return err
		}
		t.outcomes = append(t.outcomes, string(decide.Failed))
		_, err = done(tx, p.Account, e.id, p.Now)
		return err
	})
	return err
}
