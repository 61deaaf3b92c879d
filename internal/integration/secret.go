package integration

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// RotateSecretRequest asks for a new signing secret of a webhook.
type RotateSecretRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The webhook."`
	GraceSeconds  int64 `json:"grace_seconds,omitzero" minimum:"0" maximum:"2592000" doc:"For how many seconds requests are signed with the old secret as well, at most 30 days; absent: not any more."`
}

// RotatedSecret is the new signing secret of a webhook.
type RotatedSecret struct {
	SignSecret string `json:"sign_secret" doc:"The new secret; it is not shown again."`
	ExpiresAt  int64  `json:"previous_sign_secret_expires_at" doc:"Until when requests are signed with the old secret as well, Unix seconds; 0: they are not."`
}

// newSignSecret returns a random secret in the form of Standard Webhooks.
func newSignSecret() string {
	var key [32]byte
	rand.Read(key[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(key[:])
}

// rotateSecret replaces the signing secret of a webhook. There are two at most: a secret of an earlier rotation ends now.
func (r *Service) rotateSecret(c *api.Call, in RotateSecretRequest) (RotatedSecret, error) {
	i, s, err := r.signed(c, in.IntegrationID)
	if err != nil {
		return RotatedSecret{}, err
	}
	s.PreviousSignSecret, s.PreviousSignSecretExpiresAt = "", 0
	if s.SignSecret != "" && in.GraceSeconds > 0 {
		s.PreviousSignSecret, s.PreviousSignSecretExpiresAt = s.SignSecret, c.Unix()+in.GraceSeconds
	}
	s.SignSecret, s.SignSecretRotatedAt = newSignSecret(), c.Unix()
	out := RotatedSecret{s.SignSecret, s.PreviousSignSecretExpiresAt}
	_, err = r.store(c, &i, Body{}, nil)
	return out, err
}

// expireSecret ends the old secret of a rotation before its time.
func (r *Service) expireSecret(c *api.Call, in OneRequest) (api.Empty, error) {
	i, s, err := r.signed(c, in.IntegrationID)
	if err != nil {
		return api.Empty{}, err
	}
	s.PreviousSignSecret, s.PreviousSignSecretExpiresAt = "", 0
	_, err = r.store(c, &i, Body{}, nil)
	return api.Empty{}, err
}

// signed returns a webhook and its settings, which the caller may change, with the secrets in clear.
func (r *Service) signed(c *api.Call, integration int64) (Integration, *Settings, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err == nil {
		err = i.permit(c)
	}
	if err == nil && (!i.IsWebhook() || i.Settings == nil) {
		err = fault.Invalid("integration_id", "%d is a %s, which signs nothing", integration, i.IntegrationType)
	}
	if err == nil { // Open and not Show: a secret that cannot be opened must not be replaced by an empty one
		err = Kind.Open(r.Keyring, c.Who.AccountID, &i)
	}
	return i, i.Settings, err
}

// SignSecrets returns the secrets that requests are signed with at a moment, the present one first.
func (s *Settings) SignSecrets(now time.Time) (secrets []string) {
	if s.SignSecret != "" {
		secrets = append(secrets, s.SignSecret)
	}
	if s.PreviousSignSecret != "" && now.Unix() < s.PreviousSignSecretExpiresAt {
		secrets = append(secrets, s.PreviousSignSecret)
	}
	return secrets
}

// keepRotation keeps what rotations left in old, unless a new secret was sent: that one replaces all others.
func (s *Settings) keepRotation(old *Settings) {
	s.PreviousSignSecret = ""
	s.PreviousSignSecretExpiresAt = 0
	s.SignSecretRotatedAt = 0
	if s.SignSecret == old.SignSecret {
		s.PreviousSignSecret, s.PreviousSignSecretExpiresAt = old.PreviousSignSecret, old.PreviousSignSecretExpiresAt
		s.SignSecretRotatedAt = old.SignSecretRotatedAt
	}
}

// hideRotated removes the secrets of a rotation: they were shown when they were made.
func (i *Integration) hideRotated() {
	if i.Settings == nil {
		return
	}
	s := *i.Settings
	s.PreviousSignSecret = ""
	if s.SignSecretRotatedAt != 0 {
		s.SignSecret = ""
	}
	i.Settings = &s
}
