package webhook

import (
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type historyDetailRequest struct {
	EventID       string `json:"event_id" minLength:"1" maxLength:"128" doc:"The attempt, as the list names it."`
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The webhook that it was made for."`
}

type historyDetail struct {
	Delivery
	RequestHeaders  string `json:"request_headers" doc:"What was sent, as a JSON object; the values of the webhook's own headers and the signature are hidden. Empty for attempts of an account file, as the next four."`
	RequestBody     string `json:"request_body" doc:"The body that was sent."`
	ErrorMessage    string `json:"error_message" doc:"Why it failed; empty when it did not."`
	ResponseHeaders string `json:"response_headers" doc:"What was answered, as a JSON object; what signs in is hidden."`
	ResponseBody    string `json:"response_body" doc:"The first 16 KiB of the answer; secrets of the webhook are hidden."`
	RefTitle        string `json:"ref_title" doc:"Title of the incident or alert now; empty when it is gone."`
	ChannelName     string `json:"channel_name" doc:"Name of the channel now; empty when it is gone."`
}

// historyDetail is POST /webhook/history/detail. What was sent is as private as the channel that it tells of.
func (r *Service) historyDetail(c *api.Call, in historyDetailRequest) (h historyDetail, err error) {
	h, found, err := db.One(c.Tx, scanDetail, `SELECT `+columns+`, coalesce(request_headers, ''), coalesce(payload, ''), coalesce(error_message, ''), coalesce(response_headers, ''), coalesce(response_body, '')
		FROM webhook_delivery LEFT JOIN (
			SELECT x.request_headers, m.payload, x.error_message, x.response_headers, x.response_body
			FROM webhook_exchange x LEFT JOIN webhook_message m ON m.account_id = x.account_id AND m.message_id = x.message_id
			WHERE x.account_id = $1 AND x.event_id = $2) said ON 1 = 1
		WHERE account_id = $1 AND event_id = $2 AND integration_id = $3`, c.Who.AccountID, in.EventID, in.IntegrationID)
	if err == nil && !found {
		err = fault.Missing("webhook delivery", in.EventID)
	}
	if err == nil {
		err = readable(c, h.IntegrationID, h.ChannelID)
	}
	if err != nil {
		return historyDetail{}, err
	}
	h.EventTime = h.EventTime.In(c.Who.Zone)
	return h, h.name(c)
}

func scanDetail(row db.Scan) (h historyDetail, err error) {
	h.Delivery, err = scan(func(dest ...any) error {
		return row(append(dest, &h.RequestHeaders, &h.RequestBody, &h.ErrorMessage, &h.ResponseHeaders, &h.ResponseBody)...)
	})
	return h, err
}

// readable refuses what belongs to a private channel, and all that a webhook which names one was sent, to those who may
// not read that channel. A channel or webhook that is gone hides nothing.
func readable(c *api.Call, hook, ch int64) error {
	if err := integration.Permit(c, hook); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return channel.PermitAll(c.Tx, c.Who, ch)
}

// name looks up what things are called now.
func (h *historyDetail) name(c *api.Call) error {
	ch, _, err := channel.Find(c.Tx, c.Who.AccountID, h.ChannelID)
	if err != nil {
		return err
	}
	h.ChannelName = ch.ChannelName
	if h.WebhookType == "incident" {
		i, _, err := incident.Find(c.Tx, c.Who.AccountID, h.RefID)
		h.RefTitle = i.Title
		return err
	}
	a, _, err := alert.Show(c.Tx, c.Who.AccountID, h.RefID)
	h.RefTitle = a.Title
	return err
}
