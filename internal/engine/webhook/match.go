package webhook

import (
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

// maxBatches is how many batches of an account are matched before it has another round.
const maxBatches = 4

// matchRound matches events of an account while no other account waits.
func (r *Service) matchRound(t *jobs.Round) error {
	work := jobs.Batch[matched]{DB: r.DB, Steady: true, Due: r.nextEvents, Prepare: r.prepare, Still: take, Do: r.enqueue}
	for n := 0; n < maxBatches && (n == 0 || t.GoesOn()); n++ {
		if err := work.Round(t); err != nil || !t.More {
			return err
		}
	}
	return nil
}

// unmatched finds the accounts with events.
var unmatched = db.Ahead(`FROM webhook_event WHERE TRUE`) + ` SELECT account_id, 0 FROM ahead WHERE account_id IS NOT NULL`

// matched is an event with the messages of its subscribers. Filters and templates of the account are not evaluated in the write
// transaction. That stores the messages and deletes the events together: each subscriber gets one message of each event, in the
// order of the events.
type matched struct {
	event
	to       *subscribed
	messages []*message
	part     bool // it has more subscribers than there was room for
}

// nextEvents reads the first events of an account.
func (r *Service) nextEvents(tx *db.Tx, t *jobs.Round) ([]matched, error) {
	to, err := r.subscriptions(tx, t.Account)
	if err != nil {
		return nil, err
	}
	all, err := db.All(tx, func(scan db.Scan) (matched, error) {
		e, err := scanEvent(scan)
		return matched{event: e, to: &to}, err
	}, `SELECT `+eventColumns+` FROM webhook_event WHERE account_id = $1 ORDER BY number LIMIT $2 + 0`, t.Account, maxEvents)
	t.More = len(all) == maxEvents
	t.Full = t.More
	return all, err
}

// prepare creates the messages of events, as many as one transaction stores.
func (r *Service) prepare(t *jobs.Round, all []matched) ([]matched, error) {
	if r.between != nil {
		r.between(t.Account)
	}
	has := size{}
	for i := range all {
		all[i].match(t.Account, &has)
		if all[i].part {
			t.More, t.Full = true, true
			return all[:i+1], nil
		}
	}
	return all, nil
}

// size is how much messages are.
type size struct{ messages, bytes int }

// match creates the messages of an event while there is room for them in the transaction. e.matched is then the last subscriber
// that has its message.
func (e *matched) match(account int64, has *size) {
	for i := range e.to.all {
		s := &e.to.all[i]
		if s.integration <= e.matched || !s.matches(e.webhookType, e.eventType, e.channel, e.to.private) {
			continue
		}
		if has.messages >= maxMatched || has.bytes >= maxMade {
			e.part = true
			return
		}
		one := &message{
			account: account, id: id.Message(time.UnixMilli(e.at)), integration: s.integration,
			webhookType: e.webhookType, eventType: e.eventType, channel: e.channel, ref: e.ref, started: e.at, happened: e.at,
		}
		var cost int
		one.payload, cost = fillIn(e.payload, one.id, s.body)
		e.messages = append(e.messages, one)
		has.messages++
		has.bytes += cost
		e.matched = s.integration
	}
}

// take deletes events, and stores how far the last one was matched if it has more subscribers. It returns those that no other
// process has matched meanwhile.
func take(tx *db.Tx, t *jobs.Round, all []matched) ([]matched, error) {
	whole, last := all, &all[len(all)-1]
	if last.part {
		whole = all[:len(all)-1]
	}
	held, err := remove(tx, t.Account, whole)
	if err != nil {
		return nil, err
	}
	if last.part {
		changed, err := tx.Exec(`UPDATE webhook_event SET matched = $5 WHERE account_id = $1 AND number = $2 AND token = $3 AND matched = $4`,
			t.Account, last.number, last.token, last.before, last.matched)
		if err != nil {
			return nil, err
		}
		held[last.number] = changed > 0
	}
	return slices.DeleteFunc(slices.Clone(all), func(e matched) bool { return !held[e.number] }), nil
}

// enqueue stores the messages of events.
func (r *Service) enqueue(tx *db.Tx, t *jobs.Round, all []matched) error {
	var messages []*message
	for _, e := range all {
		messages = append(messages, e.messages...)
	}
	tx.OnCommit(r.runner.Wake)
	return put(tx, t.Account, messages...)
}

// remove deletes events, and returns by number which of them were as they had been read.
func remove(tx *db.Tx, account int64, events []matched) (held map[int64]bool, err error) {
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
