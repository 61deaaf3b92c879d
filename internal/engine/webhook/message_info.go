package webhook

import (
	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// MessageInfoRequest names a message, by an attempt.
type MessageInfoRequest struct {
	EventID string `json:"event_id" minLength:"1" maxLength:"128" doc:"The id of any attempt of the message."`
}

// MessageInfo is a message with its latest attempts.
type MessageInfo struct {
	MessageID     string         `json:"message_id" doc:"The event_id of the payload, the same for every attempt."`
	IntegrationID int64          `json:"integration_id" doc:"The integration of the webhook."`
	WebhookType   string         `json:"webhook_type" doc:"What the event happened to: incident or alert."`
	EventType     string         `json:"event_type" doc:"What happened, such as i_new or a_update."`
	ChannelID     int64          `json:"channel_id" doc:"The channel of the incident or alert."`
	RefID         string         `json:"ref_id" doc:"The incident or alert."`
	Origin        string         `json:"origin,omitzero" enum:"test,replay" doc:"Why it was last sent if not for its event alone: test or replay."`
	Status        string         `json:"status" enum:"waiting,sending,success,failed,cancelled" doc:"waiting for its next attempt, sending, or how it ended."`
	HappenedAt    int64          `json:"happened_at" doc:"When its event happened, Unix milliseconds, as the next two."`
	NextAt        int64          `json:"next_at" doc:"No attempt is made before; 0: none is due."`
	SettledAt     int64          `json:"settled_at" doc:"When it ended; 0: it has not."`
	Reason        sentence.Words `json:"reason" doc:"Why the last attempt failed or the message was cancelled; empty when neither is so."`
	ReasonData    sentence.Data  `json:"reason_data,omitzero" doc:"The reason as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Attempts      []AttemptShown `json:"attempts" doc:"Its latest attempts, newest first, at most 100."`
}

// AttemptShown is an attempt of a message.
type AttemptShown struct {
	Delivery
	ErrorMessage sentence.Words `json:"error_message" doc:"Why it failed; empty when it did not."`
	ErrorData    sentence.Data  `json:"error_message_data,omitzero" doc:"The message as data, see docs/sentences.md; absent: it is no sentence of the table."`
}

// maxAttemptsShown is how many attempts of a message are shown. A message is attempted less often in the day that it is
// retried, but it may be replayed again and again.
const maxAttemptsShown = 100

// messageInfo is POST /webhook/message/info. A message is as private as its webhook and its channel.
func (r *Service) messageInfo(c *api.Call, in MessageInfoRequest) (m MessageInfo, err error) {
	stored, status, err := replayable(c, in.EventID)
	if err != nil {
		return m, err
	}
	m = MessageInfo{
		MessageID: stored.id, IntegrationID: stored.integration, WebhookType: stored.webhookType, EventType: stored.eventType,
		ChannelID: stored.channel, RefID: stored.ref, Origin: stored.origin, Status: status, HappenedAt: stored.happened,
	}
	if status == delivered {
		m.Status = "success"
	}
	reason, _, err := db.One(c.Tx, func(scan db.Scan) (why sentence.Value, err error) {
		return why, scan(&m.NextAt, &m.SettledAt, (*string)(&why))
	},
		`SELECT CASE WHEN status <> 'waiting' THEN 0 WHEN coalesce(held_until, 0) > due_at THEN held_until ELSE due_at END, settled_at, outcome
		FROM webhook_message
		LEFT JOIN (SELECT integration_id AS held, held_until FROM webhook_endpoint WHERE account_id = $1) e ON held = integration_id
		WHERE account_id = $1 AND message_id = $2`, stored.account, stored.id)
	if err != nil {
		return m, err
	}
	m.Reason, m.ReasonData = sentence.Words(reason), reason.Data()
	m.Attempts, err = db.All(c.Tx, func(scan db.Scan) (a AttemptShown, err error) {
		var why sentence.Value
		a.Delivery, err = scanDelivery(scan, (*string)(&why))
		a.ErrorMessage, a.ErrorData = sentence.Words(why), why.Data()
		a.EventTime = a.EventTime.In(c.Who.Zone)
		return a, err
	}, `SELECT `+columns+`, (SELECT error_message FROM webhook_exchange x WHERE x.account_id = $1 AND x.event_id = webhook_delivery.event_id)
		FROM webhook_delivery
		WHERE account_id = $1 AND ref_id = $2 AND $3 = (
			SELECT message_id FROM webhook_exchange x WHERE x.account_id = $1 AND x.event_id = webhook_delivery.event_id)
		ORDER BY event_time DESC, event_id DESC LIMIT $4 + 0`, stored.account, stored.ref, stored.id, maxAttemptsShown)
	return m, err
}

// scanDelivery reads the columns of a delivery and those that follow them.
func scanDelivery(row db.Scan, more ...any) (Delivery, error) {
	return scan(func(dest ...any) error { return row(append(dest, more...)...) })
}

// messageOf returns the message of an attempt; empty for an attempt of an account file.
func messageOf(tx *db.Tx, account int64, attempt string) (string, error) {
	id, _, err := db.One(tx, db.Column[string], `SELECT message_id FROM webhook_exchange WHERE account_id = $1 AND event_id = $2`,
		account, attempt)
	return id, err
}
