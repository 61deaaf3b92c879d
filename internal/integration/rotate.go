package integration

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

func newKey() string { return id.Token(20) }

type rotateRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	GraceSeconds  int64 `json:"grace_seconds,omitzero" minimum:"0" maximum:"604800" doc:"For how many seconds the old key still works, at most 7 days; absent: not at all."`
}

type rotated struct {
	IntegrationKey string `json:"integration_key" doc:"The new key."`
	PushURL        string `json:"push_url" doc:"The path and query to push events to."`
}

func (r *Service) rotate(c *api.Call, in rotateRequest) (rotated, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return rotated{}, err
	}
	if !i.IsSource() {
		return rotated{}, fault.Invalid("integration_id", "%d is a %s, which has no key", in.IntegrationID, i.IntegrationType)
	}
	key := strconv.FormatInt(i.IntegrationID, 10)
	if _, err := c.Tx.Exec(`DELETE FROM integration_key WHERE account_id = $1 AND integration_id = $2`, c.Who.AccountID, key); err != nil {
		return rotated{}, err
	}
	if in.GraceSeconds > 0 {
		if err := know(c.Tx, c.Who.AccountID, &i, c.Unix()+in.GraceSeconds); err != nil {
			return rotated{}, err
		}
	}
	i.IntegrationKey = newKey()
	out := rotated{i.IntegrationKey, i.push()}
	_, err = r.store(c, &i, Body{}, i.Settings)
	return out, err
}
