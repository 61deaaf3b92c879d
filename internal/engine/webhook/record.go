package webhook

import (
	"slices"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// Record adds deliveries to the history of an account. One call with many costs less than many calls. An event id that
// the account has already is an error.
func Record(tx *db.Tx, account int64, deliveries []Delivery) error {
	counts := counters{}
	for some := range slices.Chunk(deliveries, batch) {
		rows := db.Rows{Table: "webhook_delivery", Columns: recorded}
		for _, d := range some {
			at := d.EventTime.nanoseconds()
			rows.Values = append(rows.Values, []any{account, d.IntegrationID, d.EventID, d.WebhookType, d.EventType, d.ChannelID, d.RefID,
				d.Endpoint, d.Attempt, d.Duration, d.Status, d.StatusCode, at, d.Origin})
			counts.add(d.IntegrationID, d.EventType, d.Status, at, 1)
		}
		if err := tx.Insert(rows); err != nil {
			return err
		}
	}
	return counts.store(tx, account)
}

var (
	recorded  = db.Columns("account_id, " + columns)
	exchanged = db.Columns("account_id, event_id, event_time, message_id, request_headers, error_message, response_headers, response_body")
)

// exchange is the request and the response of an attempt.
type exchange struct {
	messageID       string
	requestHeaders  string // JSON, as responseHeaders
	errorMessage    sentence.Value
	responseHeaders string
	responseBody    string
}

// record adds deliveries with their exchanges.
func record(tx *db.Tx, account int64, deliveries []Delivery, exchanges []exchange) error {
	if err := Record(tx, account, deliveries); err != nil {
		return err
	}
	return recordExchanges(tx, account, deliveries, exchanges)
}

// recordExchanges adds the exchanges of deliveries that are in the history.
func recordExchanges(tx *db.Tx, account int64, deliveries []Delivery, exchanges []exchange) error {
	rows := db.Rows{Table: "webhook_exchange", Columns: exchanged}
	for i, x := range exchanges {
		rows.Values = append(rows.Values, []any{account, deliveries[i].EventID, deliveries[i].EventTime.nanoseconds(), x.messageID,
			x.requestHeaders, string(x.errorMessage), x.responseHeaders, x.responseBody})
	}
	return tx.Insert(rows)
}
