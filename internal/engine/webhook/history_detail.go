package webhook

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// HistoryDetailRequest names an attempt.
type HistoryDetailRequest struct {
	EventID       string `json:"event_id" minLength:"1" maxLength:"128" doc:"The id of the attempt, from the list."`
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The integration of its webhook."`
}

// HistoryDetail is an attempt with its request and its response.
type HistoryDetail struct {
	Delivery
	RequestHeaders  string         `json:"request_headers" doc:"The headers sent, as a JSON object; the values of the webhook's own headers and the signature are hidden. Empty for attempts of an account file, as the next four."`
	RequestBody     string         `json:"request_body" doc:"The body that was sent."`
	ErrorMessage    sentence.Words `json:"error_message" doc:"Why it failed; empty when it did not."`
	ErrorData       sentence.Data  `json:"error_message_data,omitzero" doc:"The message as data, see docs/sentences.md; absent: it is no sentence of the table."`
	ResponseHeaders string         `json:"response_headers" doc:"The headers of the response, as a JSON object; credentials are hidden."`
	ResponseBody    string         `json:"response_body" doc:"The first 16 KiB of the response; secrets of the webhook are hidden."`
	RefTitle        string         `json:"ref_title" doc:"Present title of the incident or alert; empty when it was deleted."`
	RefHeadline     string         `json:"ref_headline" doc:"What messages and the console call it now; empty when it was deleted."`
	ChannelName     string         `json:"channel_name" doc:"Present name of the channel; empty when it was deleted."`
}

// historyDetail is POST /webhook/history/detail. The request and the response are as private as the channel of the
// incident or alert.
func (r *Service) historyDetail(c *api.Call, in HistoryDetailRequest) (h HistoryDetail, err error) {
	h, found, err := db.One(c.Tx, scanDetail, `SELECT `+columns+`, coalesce(request_headers, ''), coalesce(payload, ''),
			coalesce(error_message, ''), coalesce(response_headers, ''), coalesce(response_body, '')
		FROM webhook_delivery LEFT JOIN (
			SELECT x.request_headers, m.payload, x.error_message, x.response_headers, x.response_body
			FROM webhook_exchange x LEFT JOIN webhook_message m ON m.account_id = x.account_id AND m.message_id = x.message_id
			WHERE x.account_id = $1 AND x.event_id = $2) exchanged ON 1 = 1
		WHERE account_id = $1 AND event_id = $2 AND integration_id = $3`, c.Who.AccountID, in.EventID, in.IntegrationID)
	if err != nil {
		return HistoryDetail{}, err
	}
	if !found {
		return HistoryDetail{}, fault.Missing("webhook delivery", in.EventID)
	}
	if err := readable(c, h.IntegrationID, h.ChannelID); err != nil {
		return HistoryDetail{}, err
	}
	h.EventTime = h.EventTime.In(c.Who.Zone)
	return h, h.name(c)
}

// scanDetail reads the columns of a delivery and those of its exchange.
func scanDetail(row db.Scan) (h HistoryDetail, err error) {
	var why sentence.Value
	h.Delivery, err = scanDelivery(row, &h.RequestHeaders, &h.RequestBody, (*string)(&why), &h.ResponseHeaders, &h.ResponseBody)
	h.ErrorMessage, h.ErrorData = sentence.Words(why), why.Data()
	return h, err
}

// readable returns an error for a caller who may not read the private channel of a delivery, or a private channel that
// its webhook names. A channel or webhook that was deleted hides nothing.
func readable(c *api.Call, hook, ch int64) error {
	if err := integration.Permit(c, hook); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return channel.PermitAll(c.Tx, c.Who, ch)
}

// name sets the present names of the channel and of the incident or alert.
func (h *HistoryDetail) name(c *api.Call) error {
	ch, _, err := channel.Find(c.Tx, c.Who.AccountID, h.ChannelID)
	if err != nil {
		return err
	}
	h.ChannelName = ch.ChannelName
	if h.WebhookType == "incident" {
		i, found, err := incident.Find(c.Tx, c.Who.AccountID, h.RefID)
		if err != nil || !found {
			return err
		}
		h.RefTitle = i.Title
		h.RefHeadline, err = i.NameNow(c.Tx)
		return err
	}
	a, _, err := alert.Show(c.Tx, c.Who.AccountID, h.RefID)
	h.RefTitle, h.RefHeadline = a.Title, render.AlertName(a.Title, a.Labels)
	return err
}
