package webhook

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// PruneSome is Prune with a limit of rows.
var PruneSome = prune

// RecordExchange records a delivery with its exchange, and its message, which is settled.
func RecordExchange(tx *db.Tx, account int64, d Delivery, messageID, payload string) error {
	m := message{account: account, id: messageID, integration: d.IntegrationID, webhookType: d.WebhookType, eventType: d.EventType, channel: d.ChannelID, ref: d.RefID,
		payload: payload, attempts: d.Attempt, started: d.EventTime.nanoseconds() / 1_000_000, happened: d.EventTime.nanoseconds() / 1_000_000}
	if err := put(tx, account, &m); err != nil {
		return err
	}
	if err := record(tx, account, []Delivery{d}, []exchange{{messageID, `{"Content-Type":"application/json","Webhook-Signature":"***"}`, sentence.New("answered", 400, "Bad Request"), `{"Content-Length":"2"}`, "no"}}); err != nil {
		return err
	}
	return m.settle(tx, failed, sentence.New("answered", 400, "Bad Request"), d.EventTime.time())
}

// Match creates the messages of all waiting events. It stops at the first failure.
func (r *Service) Match(ctx context.Context) error {
	for {
		var left []int64
		if err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			left, err = db.All(tx, db.Column[int64], `SELECT DISTINCT account_id FROM webhook_event`)
			return err
		}); err != nil || len(left) == 0 {
			return err
		}
		_, err := r.Jobs()[0].Run(ctx, time.Unix(2*matches.Add(1), 0)) // an account that failed does not rest any more
		r.matching.Wait()
		if err := errors.Join(err, r.matching.Failed()); err != nil {
			return err
		}
	}
}

var matches atomic.Int64

// Between makes fn run between reading the events of an account and storing their messages.
func (r *Service) Between(fn func(account int64)) { r.between = fn }

// PutMessage stores a message that is due.
func PutMessage(tx *db.Tx, account, integration int64, at time.Time, payload string) error {
	m := message{account: account, id: id.Token(16), integration: integration, webhookType: "alert", eventType: "a_new", ref: "5e5e5e5e5e5e5e5e5e5e5e01", payload: payload, started: at.UnixMilli(), happened: at.UnixMilli()}
	return put(tx, account, &m)
}
