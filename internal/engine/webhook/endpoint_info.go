package webhook

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// EndpointInfoRequest names a webhook.
type EndpointInfoRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The webhook."`
}

// EndpointInfo is how the endpoint of a webhook is.
type EndpointInfo struct {
	State        string         `json:"state" enum:"closed,open,half-open" doc:"closed: messages are sent; open: none is sent until held_until; half-open: the next one is sent to try it."`
	Failures     int64          `json:"failures" doc:"Failed attempts in a row."`
	FailingSince int64          `json:"failing_since" doc:"The first of them, Unix milliseconds; 0: the last attempt succeeded, or there was none."`
	HeldUntil    int64          `json:"held_until" doc:"No attempt is made before, Unix milliseconds; 0: it is not held."`
	LastError    sentence.Words `json:"last_error" doc:"Why the last attempt failed; empty when it did not."`
	Waiting      int64          `json:"waiting" doc:"Messages that wait for an attempt, or are being sent."`
}

// endpointInfo is POST /webhook/endpoint/info.
func (r *Service) endpointInfo(c *api.Call, in EndpointInfoRequest) (e EndpointInfo, err error) {
	i, err := integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	switch {
	case err != nil:
		return e, err
	case !i.IsWebhook():
		return e, fault.Invalid("integration_id", "%d is a %s, not a webhook", in.IntegrationID, i.IntegrationType)
	}
	if err := readable(c, in.IntegrationID, 0); err != nil {
		return e, err
	}
	_, _, err = db.One(c.Tx, func(scan db.Scan) (none struct{}, err error) {
		return none, scan(&e.Failures, &e.FailingSince, &e.HeldUntil, &e.Waiting)
	}, `SELECT coalesce(failures, 0), coalesce(failing_since, 0), coalesce(held_until, 0),
			(SELECT count(*) FROM webhook_message WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0)
		FROM (SELECT 1 AS always) one LEFT JOIN (
			SELECT failures, failing_since, held_until FROM webhook_endpoint WHERE account_id = $1 AND integration_id = $2) e ON 1 = 1`,
		c.Who.AccountID, in.IntegrationID)
	if err == nil && e.Failures > 0 {
		var why string
		why, _, err = db.One(c.Tx, db.Column[string], `SELECT error_message FROM webhook_exchange WHERE account_id = $1 AND event_id = (
			SELECT event_id FROM webhook_delivery WHERE account_id = $1 AND integration_id = $2 AND status = 'failed' AND event_time >= $3
			ORDER BY event_time DESC, event_id DESC LIMIT 1)`, c.Who.AccountID, in.IntegrationID, nanosecondsOf(e.FailingSince))
		e.LastError = sentence.Words(why)
	}
	e.State = "closed"
	if e.HeldUntil > c.Now.UnixMilli() {
		e.State = "open"
	} else if e.HeldUntil > 0 {
		e.State = "half-open"
	}
	return e, err
}
