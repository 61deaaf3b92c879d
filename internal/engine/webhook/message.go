package webhook

import (
	"time"

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

// put stores a message under the endpoint's next number. It is due at once, unless it must wait for an earlier message of
// its object.
func (m *message) put(tx *db.Tx) (err error) {
	m.number, _, err = db.One(tx, db.Column[int64], `INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until)
		VALUES ($1, $2, 1, 0, 0)
		ON CONFLICT (account_id, integration_id) DO UPDATE SET number = webhook_endpoint.number + 1 RETURNING number`, m.account, m.integration)
	if err != nil {
		return err
	}
	due, err := m.firstDue(tx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO webhook_message (`+messageColumns+`, due_at, settled_at, status, outcome)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, 'waiting', '')`,
		m.account, m.id, m.integration, m.number, m.webhookType, m.eventType, m.channel, m.ref, m.payload,
		m.attemptID, m.attempts, m.started, m.origin, m.happened, due)
	return err
}

// sendFirst makes a waiting message due before all others of its endpoint: one that is held gets one message at a time, and
// this must be the next.
func (m *message) sendFirst(tx *db.Tx, now time.Time) error {
	if _, err := tx.Exec(`UPDATE webhook_message SET due_at = 1 WHERE account_id = $1 AND message_id = $2`, m.account, m.id); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE webhook_endpoint SET held_until = $3 WHERE account_id = $1 AND integration_id = $2 AND held_until > $3`,
		m.account, m.integration, now.UnixMilli())
	return err
}

// maxHeldUp is how long a message that is refused may hold up the later ones of its object, counted from its start. Then
// these are sent too: a receiver that refuses one message must not miss the end of an incident.
const maxHeldUp = time.Minute

// firstDue returns when a new message is due, Unix milliseconds: after the message before it of its object, if that is
// not settled. An attempt of that one makes it due (release); without a release it would be due when it is a day old.
func (m *message) firstDue(tx *db.Tx) (int64, error) {
	type earlier struct {
		status            string
		attempts, started int64
	}
	before, found, err := db.One(tx, func(scan db.Scan) (e earlier, err error) { return e, scan(&e.status, &e.attempts, &e.started) },
		`SELECT status, attempts, started_at FROM webhook_message
		WHERE account_id = $1 AND integration_id = $2 AND ref_id = $3 AND settled_at = 0 ORDER BY number DESC LIMIT 1`,
		m.account, m.integration, m.ref)
	switch {
	case err != nil || !found:
		return m.started, err
	case before.status == waiting && before.attempts > 0: // it was refused before this one was made
		return max(m.started, before.started+maxHeldUp.Milliseconds()), nil
	}
	return m.started + maxAge.Milliseconds(), nil
}

// release makes the next message of the same object due, unless it is due earlier or was attempted.
func (m *message) release(tx *db.Tx, due time.Time) error {
	_, err := tx.Exec(`UPDATE webhook_message SET due_at = $5 WHERE account_id = $1 AND message_id = (
			SELECT message_id FROM webhook_message
			WHERE account_id = $1 AND integration_id = $2 AND ref_id = $3 AND settled_at = 0 AND number > $4 ORDER BY number LIMIT 1)
		AND status = 'waiting' AND attempts = 0 AND due_at > $5`, m.account, m.integration, m.ref, m.number, due.UnixMilli())
	return err
}

// wait makes a message due again. held is false when this attempt had lost its lease to another one.
func (m *message) wait(tx *db.Tx, due time.Time, why string) (held bool, err error) {
	n, err := tx.Exec(`UPDATE webhook_message SET status = 'waiting', attempt_id = '', due_at = $3, outcome = $4
		WHERE account_id = $1 AND message_id = $2 AND settled_at = 0 AND attempts = $5`, m.account, m.id, due.UnixMilli(), why, m.attempts)
	if err != nil || n == 0 {
		return false, err
	}
	return true, m.release(tx, time.UnixMilli(m.started).Add(maxHeldUp))
}

// unclaim makes a claimed message due again that was not attempted.
func (m *message) unclaim(tx *db.Tx, now time.Time) error {
	_, err := tx.Exec(`UPDATE webhook_message SET status = 'waiting', due_at = $3, attempts = attempts - 1
		WHERE account_id = $1 AND message_id = $2 AND settled_at = 0 AND attempts = $4`,
		m.account, m.id, now.UnixMilli(), m.attempts)
	return err
}

// settle stores the final status of a message. A person may replay it later. held is false when another attempt has
// settled it before.
func (m *message) settle(tx *db.Tx, status, why string, now time.Time) (held bool, err error) {
	n, err := tx.Exec(`UPDATE webhook_message SET status = $3, attempt_id = '', settled_at = $4, outcome = $5
		WHERE account_id = $1 AND message_id = $2 AND settled_at = 0`,
		m.account, m.id, status, now.UnixMilli(), why)
	if err != nil || n == 0 {
		return false, err
	}
	return true, m.release(tx, now)
}

// maxCancelled is the most messages that one transaction cancels: other writers wait for it.
const maxCancelled = 200

// cancelSome cancels messages of an endpoint that must not be called any more, and returns them. If there are
// maxCancelled, others may be left.
func cancelSome(tx *db.Tx, e endpointKey, why string, now time.Time) ([]message, error) {
	return db.All(tx, scanMessage, someOf, e.account, e.integration, now.UnixMilli(), why, maxCancelled)
}

const someOf = `UPDATE webhook_message SET status = 'cancelled', attempt_id = '', settled_at = $3, outcome = $4
	WHERE account_id = $1 AND message_id IN (
	SELECT message_id FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 ORDER BY due_at LIMIT $5 + 0)
	RETURNING ` + messageColumns
