package webhook

import (
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Record adds deliveries to the history of an account. One call with many costs less than many calls. An event id that
// the account has already is an error.
func Record(tx *db.Tx, account int64, deliveries []Delivery) error {
	counts := counters{}
	for _, d := range deliveries {
		at := d.EventTime.nanoseconds()
		if _, err := tx.Exec(insert, account, d.IntegrationID, d.EventID, d.WebhookType, d.EventType, d.ChannelID, d.RefID, d.Endpoint,
			d.Attempt, d.Duration, d.Status, d.StatusCode, at, d.Origin); err != nil {
			return fault.Wrap(err, "record delivery %s", d.EventID)
		}
		counts.add(d.IntegrationID, d.EventType, d.Status, at, 1)
	}
	return counts.store(tx, account)
}

const insert = `INSERT INTO webhook_delivery (account_id, ` + columns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// exchange is the request and the response of an attempt.
type exchange struct {
	messageID       string
	requestHeaders  string // JSON, as responseHeaders
	errorMessage    string
	responseHeaders string
	responseBody    string
}

// record adds deliveries with their exchanges.
func record(tx *db.Tx, account int64, deliveries []Delivery, exchanges []exchange) error {
	if err := Record(tx, account, deliveries); err != nil {
		return err
	}
	for i, x := range exchanges {
		if _, err := tx.Exec(`INSERT INTO webhook_exchange (account_id, event_id, message_id, request_headers, error_message,
			response_headers, response_body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			account, deliveries[i].EventID, x.messageID, x.requestHeaders, x.errorMessage, x.responseHeaders, x.responseBody); err != nil {
			return err
		}
	}
	return nil
}
