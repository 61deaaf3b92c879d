package webhook

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// HistoryReplayRequest names the message to send again, by an attempt.
type HistoryReplayRequest struct {
	EventID string `json:"event_id" minLength:"1" maxLength:"128" doc:"The id of any attempt of the delivery to send again."`
}

// Replayed is the reply of /webhook/history/replay.
type Replayed struct {
	EventID string `json:"event_id" doc:"The id of the new attempt; its record is in the history when it has been made."`
}

// historyReplay is POST /webhook/history/replay: it makes a delivery due again, with the same payload and the same event
// id. If the attempt fails, it is retried for another day. The message is stored before the attempt is made.
func (r *Service) historyReplay(c *api.Call, in HistoryReplayRequest) (Replayed, error) {
	m, status, err := replayable(c, in.EventID)
	if err != nil {
		return Replayed{}, err
	}
	i, err := r.callable(c, m.integration)
	if err != nil {
		return Replayed{}, err
	}
	if status == sending {
		return Replayed{}, fault.New(fault.Conflict, "the delivery is being sent just now")
	}
	if m.attemptID == "" {
		m.attemptID = attemptID(c.Now)
	}
	if err := c.Tx.Do(`UPDATE webhook_message SET status = 'waiting', attempt_id = $3, started_at = $4, settled_at = 0,
		outcome = '', origin = 'replay' WHERE account_id = $1 AND message_id = $2`,
		m.account, m.id, m.attemptID, c.Now.UnixMilli()); err != nil {
		return Replayed{}, err
	}
	c.Touched(integration.Kind.Name, m.integration, i.IntegrationName)
	return Replayed{m.attemptID}, m.sendFirst(c.Tx, c.Now)
}

// callable returns the enabled webhook of a call.
func (r *Service) callable(c *api.Call, hook int64) (i integration.Integration, err error) {
	i, err = integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(hook, 10))
	switch {
	case err != nil:
		return i, err
	case !i.IsWebhook() || i.Settings == nil:
		return i, fault.Invalid("integration_id", "%d is a %s, not a webhook", hook, i.IntegrationType)
	case i.Status != "enabled":
		return i, fault.New(fault.Conflict, "integration %d is disabled", hook)
	case r.Closed:
		return i, fault.New(fault.Conflict, "this server calls no webhooks")
	}
	return i, nil
}

// replayable returns the message of an attempt and its status, if the caller may read it.
func replayable(c *api.Call, attempt string) (m message, status string, err error) {
	m, found, err := db.One(c.Tx, func(scan db.Scan) (message, error) {
		return scanMessage(func(dest ...any) error { return scan(append(dest, &status)...) })
	}, `SELECT `+messageColumns+`, status FROM webhook_message
		WHERE account_id = $1 AND message_id = (SELECT message_id FROM webhook_exchange WHERE account_id = $1 AND event_id = $2)`,
		c.Who.AccountID, attempt)
	if err != nil {
		return m, status, err
	}
	if !found {
		return m, status, fault.Missing("webhook delivery", attempt)
	}
	return m, status, readable(c, m.integration, m.channel)
}
