package integration

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// newKey returns a random key.
func newKey() string { return id.Token(20) }

// RotateRequest asks for a new key of a source.
type RotateRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	GraceSeconds  int64 `json:"grace_seconds,omitzero" minimum:"0" maximum:"604800" doc:"For how many seconds the old key still works, at most 7 days; absent: it stops at once."`
}

// Rotated is the new key of a source.
type Rotated struct {
	IntegrationKey string `json:"integration_key" doc:"The new key."`
	PushURL        string `json:"push_url" doc:"The path and query to push events to."`
}

// keptExpired is for how many seconds an expired key is kept: events that still come with it are counted as refused.
const keptExpired = 30 * 86400

// expireKeys ends the keys of an integration at now (Unix seconds), its present key grace seconds later.
func expireKeys(tx *db.Tx, account int64, i *Integration, now, grace int64) error {
	id := strconv.FormatInt(i.IntegrationID, 10)
	if err := tx.Do(`DELETE FROM integration_key WHERE account_id = $1 AND integration_id = $2 AND expires_at > 0 AND expires_at < $3`,
		account, id, now-keptExpired); err != nil {
		return err
	}
	if err := tx.Do(`UPDATE integration_key SET expires_at = $3 WHERE account_id = $1 AND integration_id = $2
		AND (expires_at = 0 OR expires_at > $3)`, account, id, now); err != nil {
		return err
	}
	return registerKey(tx, account, i, now+grace)
}

// rotate replaces the key of a source. Keys of earlier rotations stop working at once.
func (r *Service) rotate(c *api.Call, in RotateRequest) (Rotated, error) {
	i, err := r.readInClear(c, in.IntegrationID)
	if err != nil {
		return Rotated{}, err
	}
	if !i.IsSource() {
		return Rotated{}, fault.Invalid("integration_id", "%d is a %s, which has no key", in.IntegrationID, i.IntegrationType)
	}
	if err := expireKeys(c.Tx, c.Who.AccountID, &i, c.Unix(), in.GraceSeconds); err != nil {
		return Rotated{}, err
	}
	i.IntegrationKey = newKey()
	out := Rotated{i.IntegrationKey, i.pushPath()}
	_, err = r.store(c, &i, Body{}, i.Settings)
	return out, err
}
