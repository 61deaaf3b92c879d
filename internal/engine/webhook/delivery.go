package webhook

import "tocsin/internal/platform/db"

// Delivery is the record of one attempt to deliver a webhook (the specification, 2.9).
type Delivery struct {
	IntegrationID int64  `json:"integration_id" doc:"The integration of the webhook."`
	EventID       string `json:"event_id" maxLength:"128" doc:"The id of this attempt; unique in the account."`
	WebhookType   string `json:"webhook_type" maxLength:"64" doc:"What the event happened to: incident or alert."`
	EventType     string `json:"event_type" maxLength:"64" doc:"What happened, such as i_new or a_update."`
	ChannelID     int64  `json:"channel_id" doc:"The channel of the incident or alert."`
	RefID         string `json:"ref_id" maxLength:"128" doc:"The incident or alert."`
	Endpoint      string `json:"endpoint" maxLength:"2048" doc:"URL it was sent to."`
	Attempt       int64  `json:"attempt" doc:"1 for the first try of an event, 2 for the second and so on; 0: it was given up before there was one."`
	Duration      int64  `json:"duration" doc:"How long the attempt took, in milliseconds."`
	Status        string `json:"status" enum:"success,failed" doc:"success when the destination answered with a status of 2xx, else failed."`
	StatusCode    int64  `json:"status_code" doc:"HTTP status of the answer; 0 when there was none."`
	EventTime     Moment `json:"event_time" doc:"When the attempt was made: RFC 3339 with microseconds, in the offset of the account's time zone."`
	Origin        string `json:"origin,omitzero" enum:"test,replay" doc:"Why it was made if not for its event alone: test or replay."`
}

// statuses are the values of Delivery.Status, in the order of their indexes.
var statuses = []string{"failed", "success"}

// columns are those of a Delivery, in the order of its fields.
const columns = `integration_id, event_id, webhook_type, event_type, channel_id, ref_id, endpoint, attempt, duration,
	status, status_code, event_time, origin`

// scan reads the columns.
func scan(row db.Scan) (d Delivery, err error) {
	var nanoseconds int64
	err = row(&d.IntegrationID, &d.EventID, &d.WebhookType, &d.EventType, &d.ChannelID, &d.RefID, &d.Endpoint, &d.Attempt,
		&d.Duration, &d.Status, &d.StatusCode, &nanoseconds, &d.Origin)
	d.EventTime = moment(nanoseconds)
	return d, err
}
