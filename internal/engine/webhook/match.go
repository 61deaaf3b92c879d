package webhook

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// Limits of one account's batch of matching; then other accounts are matched.
const (
	maxEvents  = 64
	maxMatched = 128       // messages
	maxMade    = 512 << 10 // bytes of messages, but at least one of them
)

// matchAll creates the messages of waiting events, account by account, so that none blocks the others.
func (r *Service) matchAll(ctx context.Context, now time.Time) (again time.Time, err error) {
	var accounts []int64
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = db.All(tx, db.Column[int64], unmatched)
		return err
	})
	if err != nil {
		return again, err
	}
	var failed []error
	for _, account := range accounts {
		more, err := r.matchAccount(ctx, account)
		if err != nil {
			failed = append(failed, err)
		} else if more {
			again = now
		}
	}
	return again, errors.Join(failed...)
}

const unmatched = `SELECT account_id FROM account a WHERE EXISTS (SELECT 1 FROM webhook_event e WHERE e.account_id = a.account_id)`

// matchAccount creates the messages of the first events of an account. Filters and templates of the account are not
// evaluated in the write transaction. That stores the messages and deletes the events together: each subscriber gets one
// message of each event, in the order of the events. more reports whether events are left.
func (r *Service) matchAccount(ctx context.Context, account int64) (more bool, err error) {
	var events []event
	var to subscribed
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		if to, err = r.subscriptions(tx, account); err != nil {
			return err
		}
		events, err = db.All(tx, scanEvent,
			`SELECT `+eventColumns+` FROM webhook_event WHERE account_id = $1 ORDER BY number LIMIT $2 + 0`, account, maxEvents)
		return err
	})
	if err != nil {
		return false, err
	}
	made := matching{account: account, to: to}
	done := 0
	for done < len(events) && made.match(&events[done]) {
		done++
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		return r.enqueue(tx, account, events[:min(done+1, len(events))], done, made.messages)
	})
	return err == nil && (done < len(events) || len(events) == maxEvents), err
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
			account: m.account, id: id.Token(16), integration: s.integration,
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
// of an event that another process has matched meanwhile are left out.
func (r *Service) enqueue(tx *db.Tx, account int64, events []event, done int, messages []made) error {
	for i := range events {
		e := &events[i]
		query := `DELETE FROM webhook_event WHERE account_id = $1 AND number = $2 AND token = $3 AND matched = $4`
		args := []any{account, e.number, e.token, e.before}
		if i >= done {
			query = `UPDATE webhook_event SET matched = $5 WHERE account_id = $1 AND number = $2 AND token = $3 AND matched = $4`
			args = append(args, e.matched)
		}
		held, err := tx.Exec(query, args...)
		if err != nil {
			return err
		}
		for ; len(messages) > 0 && messages[0].event == e.number; messages = messages[1:] {
			if held == 0 {
				continue
			}
			if err := messages[0].put(tx); err != nil {
				return err
			}
		}
	}
	tx.OnCommit(r.runner.Wake)
	return nil
}
