package webhook

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// EndpointListRequest asks for the webhooks whose last attempt failed.
type EndpointListRequest struct{ api.Page }

// Check holds the request against its bounds.
func (in EndpointListRequest) Check() error { return in.Page.Check() }

// FailingEndpoint is a webhook whose endpoint failed at the last attempt.
type FailingEndpoint struct {
	IntegrationID   int64  `json:"integration_id" doc:"The webhook."`
	IntegrationName string `json:"integration_name" doc:"Its name; empty when it was deleted."`
	Failures        int64  `json:"failures" doc:"Failed attempts in a row."`
	HeldUntil       int64  `json:"held_until" doc:"When the next attempt is made, Unix milliseconds; 0: it is not held."`
	Waiting         int64  `json:"waiting" doc:"How many messages wait for it."`
}

const failing = ` FROM webhook_endpoint e WHERE e.account_id = $1 AND e.failures > 0 AND NOT ($2 LIKE '%,' || e.integration_id || ',%')`

func (r *Service) endpointList(c *api.Call, in EndpointListRequest) (reply api.Paged[FailingEndpoint], err error) {
	hidden, err := privateTo(c)
	if err != nil {
		return reply, err
	}
	args := []any{c.Who.AccountID, db.List(hidden.webhooks)}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+failing, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	items, err := db.All(c.Tx, func(scan db.Scan) (e FailingEndpoint, err error) {
		return e, scan(&e.IntegrationID, &e.Failures, &e.HeldUntil, &e.Waiting)
	}, `SELECT e.integration_id, e.failures, e.held_until, (SELECT count(*) FROM webhook_message m
			WHERE m.account_id = e.account_id AND m.integration_id = e.integration_id AND m.settled_at = 0)`+failing+`
		ORDER BY e.failures DESC, e.integration_id LIMIT $3 + 0 OFFSET $4 + 0`, append(args, limit, offset)...)
	if err != nil {
		return reply, err
	}
	for i := range items {
		w, _, err := integration.Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(items[i].IntegrationID, 10))
		if err != nil {
			return reply, err
		}
		items[i].IntegrationName = w.IntegrationName
	}
	return api.NewPaged(items, offset, total), nil
}

// LastDelivery returns the time of the latest attempt to deliver, in Unix nanoseconds; 0: there was none.
func LastDelivery(tx *db.Tx, account int64) (last int64, err error) {
	for _, status := range statuses {
		at, _, err := db.One(tx, db.Column[int64], `SELECT event_time FROM webhook_delivery WHERE account_id = $1 AND status = $2
			ORDER BY event_time DESC LIMIT 1`,
			account, status)
		if err != nil {
			return 0, err
		}
		last = max(last, at)
	}
	return last, nil
}
