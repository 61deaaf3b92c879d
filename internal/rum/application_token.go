package rum

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// TokenRotateRequest names an application whose token is replaced.
type TokenRotateRequest struct {
	ApplicationID string `json:"application_id" maxLength:"255" minLength:"1" doc:"The application."`
	GraceSeconds  int64  `json:"grace_seconds,omitzero" minimum:"0" maximum:"2592000" doc:"For how many seconds the old token still works, at most 30 days; absent: it stops at once."`
}

// TokenRotated has the new token.
type TokenRotated struct {
	ClientToken   string `json:"client_token" doc:"The new token that its SDK sends; a secret."`
	OldTokenUntil int64  `json:"old_token_until,omitzero" doc:"Until when the old token works as well, Unix milliseconds; absent: it does not."`
}

// rotate answers /rum/application/token/rotate. The application has one old token at most.
func (r *Service) rotate(c *api.Call, in TokenRotateRequest) (TokenRotated, error) {
	a, err := find(c.Tx, c.Who, in.ApplicationID)
	if err != nil {
		return TokenRotated{}, err
	}
	out := TokenRotated{ClientToken: newToken(a.AccountID)}
	if in.GraceSeconds > 0 {
		out.OldTokenUntil = c.Now.UnixMilli() + in.GraceSeconds*1000
	}
	sealed, err := r.keyring.Seal(out.ClientToken, tokenContext(a.AccountID, a.ApplicationID))
	if err != nil {
		return TokenRotated{}, err
	}
	c.Touched(configstore.Application, a.ApplicationID, a.ApplicationName)
	return out, c.Tx.Do(`UPDATE rum_application SET old_token_hash = CASE WHEN $1 > 0 THEN token_hash ELSE '' END, old_token_until = $1,
		client_token = $2, token_hash = $3, updated_by = $4, updated_at = $5 WHERE account_id = $6 AND application_id = $7`,
		out.OldTokenUntil, sealed, tokenHash(out.ClientToken), c.Who.PersonID, c.Now.UnixMilli(), a.AccountID, a.ApplicationID)
}
