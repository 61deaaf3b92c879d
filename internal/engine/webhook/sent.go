package webhook

import (
	"net/http"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/id"
)

// PutSent stores the message of an attempt that is in the history and delivered an event: a past that is made up, of which
// nothing is sent. An event of a deleted object has none.
func PutSent(tx *db.Tx, item activity.Item, d Delivery, response string) error {
	bodies, err := payloads(tx, "", item.Account, []activity.Item{item})
	if err != nil || bodies[0] == nil {
		return err
	}
	standard, err := bodies[0].text()
	if err != nil {
		return err
	}
	f := &attempt{message: message{
		account: item.Account, id: id.Message(item.At), integration: d.IntegrationID, webhookType: d.WebhookType, eventType: d.EventType,
		channel: d.ChannelID, ref: d.RefID, attempts: d.Attempt, started: item.At.UnixMilli(), happened: item.At.UnixMilli(),
	}}
	f.payload = withID(standard, f.id)
	if err := put(tx, item.Account, &f.message); err != nil {
		return err
	}
	began := time.Time(d.EventTime)
	if err := f.settle(tx, delivered, "", began.Add(time.Duration(d.Duration)*time.Millisecond)); err != nil {
		return err
	}
	answer := egress.Attempt{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(response)}
	x, err := f.exchange(f.header(began), answer, "")
	if err != nil {
		return err
	}
	return recordExchanges(tx, item.Account, []Delivery{d}, []exchange{x})
}
