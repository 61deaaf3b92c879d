package webhook

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// PruneSome is Prune with a limit of rows.
var PruneSome = prune

// RecordExchange records a delivery with its exchange, and its message, which is settled.
func RecordExchange(tx *db.Tx, account int64, d Delivery, messageID, payload string) error {
	m := message{account: account, id: messageID, integration: d.IntegrationID, webhookType: d.WebhookType, eventType: d.EventType, channel: d.ChannelID, ref: d.RefID,
		payload: payload, attempts: d.Attempt, started: d.EventTime.nanoseconds() / 1_000_000, happened: d.EventTime.nanoseconds() / 1_000_000}
	if err := m.put(tx); err != nil {
		return err
	}
	if err := record(tx, account, []Delivery{d}, []exchange{{messageID, `{"Content-Type":"application/json","Webhook-Signature":"***"}`, "it answered 400 Bad Request", `{"Content-Length":"2"}`, "no"}}); err != nil {
		return err
	}
	_, err := m.settle(tx, failed, "it answered 400 Bad Request", d.EventTime.time())
	return err
}

// Match creates the messages of all waiting events. It stops at the first failure.
func (r *Service) Match(ctx context.Context) error {
	for {
		again, err := r.matchAll(ctx, time.Time{}.Add(1))
		if err != nil || again.IsZero() {
			return err
		}
	}
}

// PutMessage stores a message that is due.
func PutMessage(tx *db.Tx, account, integration int64, at time.Time, payload string) error {
	m := message{account: account, id: id.Token(16), integration: integration, webhookType: "alert", eventType: "a_new", ref: "5e5e5e5e5e5e5e5e5e5e5e01", payload: payload, started: at.UnixMilli(), happened: at.UnixMilli()}
	return m.put(tx)
}
