package webhook

import (
	"fmt"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// Statuses of a message. A fifth is `cancelled`, when its webhook was deleted or disabled.
const (
	waiting   = "waiting"
	sending   = "sending"
	delivered = "delivered"
	failed    = "failed"
)

// message is a domain event to deliver to one webhook. All times are Unix milliseconds.
type message struct {
	account     int64
	id          string // event_id of the payload, the same for every attempt
	integration int64
	number      int64 // 1, 2, 3 in the order in which they were created for the integration
	webhookType string
	eventType   string
	channel     int64
	ref         string
	payload     string
	attemptID   string // event_id of the attempt that a replay promised or that is being made; empty: none is
	attempts    int64  // how many attempts were started
	started     int64  // the message is given up a day after this
	origin      string // test or replay; empty: it is sent for its event alone
	happened    int64  // when its event happened; stays the same when it is replayed
}

// Origins of messages and attempts.
const (
	test   = "test"
	replay = "replay"
)

const messageColumns = `account_id, message_id, integration_id, number, webhook_type, event_type, channel_id, ref_id, payload,
	attempt_id, attempts, started_at, origin, happened_at`

func scanMessage(scan db.Scan) (m message, err error) {
	return m, scan(&m.account, &m.id, &m.integration, &m.number, &m.webhookType, &m.eventType, &m.channel, &m.ref, &m.payload,
		&m.attemptID, &m.attempts, &m.started, &m.origin, &m.happened)
}

func (m *message) key() endpointKey { return endpointKey{m.account, m.integration} }

// put stores new messages of an account, in their order, under the next numbers of their endpoints. Each is due at once,
// unless it must wait for an earlier message of its object.
func put(tx *db.Tx, account int64, all ...*message) error {
	if len(all) == 0 {
		return nil
	}
	last, err := takeNumbers(tx, account, all)
	if err != nil {
		return err
	}
	before, err := latestOf(tx, account, all)
	if err != nil {
		return err
	}
	rows := db.Rows{Table: "webhook_message", Columns: putting}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].number = last[all[i].integration]
		last[all[i].integration]--
	}
	for _, m := range all {
		rows.Values = append(rows.Values, []any{m.account, m.id, m.integration, m.number, m.webhookType, m.eventType, m.channel, m.ref, m.payload,
			m.attemptID, m.attempts, m.started, m.origin, m.happened, m.firstDue(before[m.object()]), 0, waiting, ""})
		before[m.object()] = &earlier{status: waiting, started: m.started}
	}
	return tx.Insert(rows)
}

var putting = db.Columns(messageColumns + ", due_at, settled_at, status, outcome")

// takeNumbers counts messages at their endpoints, and returns the number of the last one of each.
func takeNumbers(tx *db.Tx, account int64, all []*message) (last map[int64]int64, err error) {
	integrations := make([]int64, len(all))
	for i, m := range all {
		integrations[i] = m.integration
	}
	last = map[int64]int64{}
	_, err = db.All(tx, func(scan db.Scan) (n int64, err error) {
		integration := int64(0)
		err = scan(&integration, &n)
		last[integration] = n
		return n, err
	}, `INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until)
		SELECT $1, CAST(value AS BIGINT), count(*), 0, 0 FROM json_each($2) GROUP BY value
		ON CONFLICT (account_id, integration_id) DO UPDATE SET number = webhook_endpoint.number + excluded.number
		RETURNING integration_id, number`, account, db.JSON(integrations))
	return last, err
}

// sendFirst makes a waiting message due before all others of its endpoint: one that is held gets one message at a time, and
// this must be the next.
func (m *message) sendFirst(tx *db.Tx, now time.Time) error {
	if err := tx.Do(`UPDATE webhook_message SET due_at = 1 WHERE account_id = $1 AND message_id = $2`, m.account, m.id); err != nil {
		return err
	}
	return tx.Do(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2 AND held_until > $3`,
		m.account, m.integration, now.UnixMilli())
}

// maxHeldUp is how long a message that is refused may hold up the later ones of its object, counted from its start. Then
// these are sent too: a receiver that refuses one message must not miss the end of an incident.
const maxHeldUp = time.Minute

// object names what a message is about, for its endpoint: 20 digits and the reference.
func (m *message) object() string { return fmt.Sprintf("%020d%s", m.integration, m.ref) }

// earlier is a message of an object that is not settled.
type earlier struct {
	status            string
	attempts, started int64
}

// The list is read first, and each message by its primary key.
const latestUnsettled = `SELECT slot.value, status, attempts, started_at FROM json_each($2) AS slot
	CROSS JOIN webhook_message WHERE account_id = $1 AND message_id = (
		SELECT m.message_id FROM webhook_message m WHERE m.account_id = $1 AND m.integration_id = CAST(substr(slot.value, 1, 20) AS BIGINT)
			AND m.ref_id = substr(slot.value, 21) AND m.settled_at = 0 ORDER BY m.number DESC LIMIT 1)`

// latestOf returns the last unsettled message of the object of each message; nil: there is none.
func latestOf(tx *db.Tx, account int64, all []*message) (before map[string]*earlier, err error) {
	before = map[string]*earlier{}
	objects := []string{}
	for _, m := range all {
		if _, twice := before[m.object()]; !twice {
			before[m.object()] = nil
			objects = append(objects, m.object())
		}
	}
	_, err = db.All(tx, func(scan db.Scan) (e *earlier, err error) {
		object := ""
		e = &earlier{}
		err = scan(&object, &e.status, &e.attempts, &e.started)
		before[object] = e
		return e, err
	}, latestUnsettled, account, db.JSON(objects))
	return before, err
}

// firstDue returns when a new message is due, Unix milliseconds: after the message before it of its object, if that is
// not settled. An attempt of that one makes it due (release); without a release it would be due when it is a day old.
func (m *message) firstDue(before *earlier) int64 {
	switch {
	case before == nil:
		return m.started
	case before.status == waiting && before.attempts > 0: // it was refused before this one was made
		return max(m.started, before.started+maxHeldUp.Milliseconds())
	}
	return m.started + maxAge.Milliseconds()
}

// release makes the next message of the same object due, unless it is due earlier or was attempted.
func (m *message) release(tx *db.Tx, due time.Time) error {
	return tx.Do(`UPDATE webhook_message SET due_at = $5 WHERE account_id = $1 AND message_id = (
			SELECT message_id FROM webhook_message
			WHERE account_id = $1 AND integration_id = $2 AND ref_id = $3 AND settled_at = 0 AND number > $4 ORDER BY number LIMIT 1)
		AND status = 'waiting' AND attempts = 0 AND due_at > $5`, m.account, m.integration, m.ref, m.number, due.UnixMilli())
}

// wait makes a message due again.
func (m *message) wait(tx *db.Tx, due time.Time, why sentence.Value) error {
	if err := tx.Do(`UPDATE webhook_message SET status = 'waiting', attempt_id = '', due_at = $3, outcome = $4
		WHERE account_id = $1 AND message_id = $2`, m.account, m.id, due.UnixMilli(), string(why)); err != nil {
		return err
	}
	return m.release(tx, time.UnixMilli(m.started).Add(maxHeldUp))
}

// unclaim makes a claimed message due again that was not attempted.
func (m *message) unclaim(tx *db.Tx, now time.Time) error {
	return tx.Do(`UPDATE webhook_message SET status = 'waiting', due_at = $3, attempts = attempts - 1, outcome = ''
		WHERE account_id = $1 AND message_id = $2`, m.account, m.id, now.UnixMilli())
}

// settle stores the final status of a message. A person may replay it later.
func (m *message) settle(tx *db.Tx, status string, why sentence.Value, now time.Time) error {
	if err := tx.Do(`UPDATE webhook_message SET status = $3, attempt_id = '', settled_at = $4, outcome = $5
		WHERE account_id = $1 AND message_id = $2`, m.account, m.id, status, now.UnixMilli(), string(why)); err != nil {
		return err
	}
	return m.release(tx, now)
}

// maxCancelled is the most messages that one transaction cancels: other writers wait for it.
const maxCancelled = 200

// cancelSome cancels messages of an endpoint that must not be called any more, and returns them. If there are
// maxCancelled, others may be left. A claim that led to no request is no attempt; one that did is recorded by itself.
func cancelSome(tx *db.Tx, e endpointKey, why sentence.Value, now time.Time) ([]message, error) {
	return db.All(tx, scanMessage, someOf, e.account, e.integration, now.UnixMilli(), string(why), maxCancelled)
}

const someOf = `UPDATE webhook_message SET status = 'cancelled', attempt_id = '', settled_at = $3, outcome = $4,
	attempts = attempts - CASE WHEN status = 'sending' THEN 1 ELSE 0 END
	WHERE account_id = $1 AND message_id IN (
	SELECT message_id FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 ORDER BY due_at LIMIT $5 + 0)
	RETURNING ` + messageColumns
