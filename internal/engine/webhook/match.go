package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

// Limits of one account's batch of matching; then other accounts are matched.
const (
	maxEvents  = 64
	maxMatched = 128       // messages
	maxMade    = 512 << 10 // bytes of messages, but at least one of them
)

// matchAll starts the work of each account with waiting events, so that none waits for the commits of the others.
func (r *Service) matchAll(ctx context.Context, now time.Time) (again time.Time, err error) {
	accounts, all := r.match.Accounts(ctx)
	if all {
		err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			accounts, err = db.All(tx, db.Column[int64], unmatched)
			return err
		})
		if err != nil {
			return again, err
		}
	}
	accounts = slices.DeleteFunc(accounts, func(account int64) bool { return r.matching.After(account, now) > 0 })
	return r.matching.Again(now), r.matching.Begin(ctx, now, accounts, r.matchRound)
}

// maxBatches is how many batches of an account are matched before it has another round.
const maxBatches = 4

// matchRound matches events of an account while no other account waits.
func (r *Service) matchRound(t *jobs.Round) error {
	for n := 0; n < maxBatches && (n == 0 || t.GoesOn()); n++ {
		more, missed, err := r.matchAccount(t.Ctx, t.Account)
		t.More, t.Full = more, more
		if err != nil || !more {
			return err
		}
		if missed > 0 {
			t.Missed(missed)
			break
		}
	}
	return nil
}

// unmatched finds the accounts with events: it steps from one to the next in the index, so that the accounts without any
// cost nothing.
const unmatched = `WITH RECURSIVE ahead (account_id) AS (
	SELECT min(account_id) FROM webhook_event
	UNION ALL SELECT (SELECT min(account_id) FROM webhook_event WHERE account_id > ahead.account_id)
		FROM ahead WHERE ahead.account_id IS NOT NULL)
	SELECT account_id FROM ahead WHERE account_id IS NOT NULL`

// matchAccount creates the messages of the first events of an account. Filters and templates of the account are not
// evaluated in the write transaction. That stores the messages and deletes the events together: each subscriber gets one
// message of each event, in the order of the events. more reports whether events are left, and missed how many events were
// read if another process has matched all of them meanwhile.
func (r *Service) matchAccount(ctx context.Context, account int64) (more bool, missed int, err error) {
	var events []event
	var to subscribed
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		to, err = r.subscriptions(tx, account)
		if err != nil {
			return err
		}
		events, err = db.All(tx, scanEvent,
			`SELECT `+eventColumns+` FROM webhook_event WHERE account_id = $1 ORDER BY number LIMIT $2 + 0`, account, maxEvents)
		return err
	})
	if err != nil {
		return false, 0, err
	}
	made := matching{account: account, to: to}
	if r.between != nil {
		r.between(account)
	}
	done := 0
	for done < len(events) && made.match(&events[done]) {
		done++
	}
	err = r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		held, err := r.enqueue(tx, account, events[:min(done+1, len(events))], done, made.messages)
		missed = 0
		if held == 0 {
			missed = len(events)
		}
		return err
	})
	return err == nil && (done < len(events) || len(events) == maxEvents), missed, err
}

// matching collects the messages of some events.
type matching struct {
	account  int64
	to       subscribed
	messages []made
	cost     int // of all of them, in bytes written
}

// made is a message with its event.
type made struct {
	message
	event int64 // its number
}

// match creates the messages of an event. It returns false when there are enough for one transaction; e.matched is then
// the last subscriber that has its message.
func (m *matching) match(e *event) bool {
	for i := range m.to.all {
		s := &m.to.all[i]
		if s.integration <= e.matched || !s.matches(e.webhookType, e.eventType, e.channel, m.to.private) {
			continue
		}
		if len(m.messages) >= maxMatched || m.cost >= maxMade {
			return false
		}
		one := message{
			account: m.account, id: id.Message(time.UnixMilli(e.at)), integration: s.integration,
			webhookType: e.webhookType, eventType: e.eventType, channel: e.channel, ref: e.ref, started: e.at, happened: e.at,
		}
		var cost int
		one.payload, cost = fillIn(e.payload, one.id, s.body)
		m.messages = append(m.messages, made{one, e.number})
		m.cost += cost
		e.matched = s.integration
	}
	return true
}

// enqueue stores messages, deletes the first done events, and stores how far the event after them was matched. Messages
// of an event that another process has matched meanwhile are left out; n is how many events it had not.
func (r *Service) enqueue(tx *db.Tx, account int64, events []event, done int, messages []made) (n int, err error) {
	held, err := remove(tx, account, events[:done])
	if err != nil {
		return 0, err
	}
	n = len(held)
	for _, e := range events[done:] {
		changed, err := tx.Exec(`UPDATE webhook_event SET matched = $5 WHERE account_id = $1 AND number = $2 AND token = $3 AND matched = $4`,
			account, e.number, e.token, e.before, e.matched)
		if err != nil {
			return 0, err
		}
		held[e.number] = changed > 0
		n += int(changed)
	}
	var mine []*message
	for i := range messages {
		if held[messages[i].event] {
			mine = append(mine, &messages[i].message)
		}
	}
	tx.OnCommit(r.runner.Wake)
	return n, put(tx, account, mine...)
}

// remove deletes events, and returns by number which of them were as they had been read.
func remove(tx *db.Tx, account int64, events []event) (held map[int64]bool, err error) {
	held = map[int64]bool{}
	if len(events) == 0 {
		return held, nil
	}
	read := make([]string, len(events))
	for i, e := range events {
		read[i] = fmt.Sprint(e.token, " ", e.before)
	}
	numbers, err := db.All(tx, db.Column[int64], `DELETE FROM webhook_event WHERE account_id = $1 AND number >= $2 AND number <= $3
		AND token || ' ' || matched IN (SELECT value FROM json_each($4)) RETURNING number`,
		account, events[0].number, events[len(events)-1].number, db.JSON(read))
	for _, n := range numbers {
		held[n] = true
	}
	return held, err
}
