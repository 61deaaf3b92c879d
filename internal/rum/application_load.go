package rum

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// LoadApplications checks the records of an account file's rum_applications and inserts them, their
// client tokens sealed. A record without a status is enabled; tracing may have either of its names. Teams,
// channels and persons that do not exist are accepted. Errors are fault.Invalid with the record's path.
func LoadApplications(tx *db.Tx, keyring *secret.Keyring, account int64, records []Application) error {
	for i, a := range records {
		at := configstore.PathOf("rum_applications", i)
		if err := a.settle(at, account); err != nil {
			return err
		}
		n, err := a.insert(tx, keyring, account)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("application_id", a.ApplicationID)
		}
		if err := a.refer(tx); err != nil {
			return err
		}
	}
	return nil
}

// settle sets the members that a record may leave out and checks all of them.
func (a *Application) settle(at configstore.RecordPath, account int64) error {
	a.Status = cmp.Or(a.Status, "enabled")
	a.Tracing, a.TracingAlias = cmp.Or(a.Tracing, a.TracingAlias), cmp.Or(a.TracingAlias, a.Tracing)
	if err := a.check(at, account); err != nil {
		return err
	}
	a.AccountID, a.OldTokenUntil = account, 0
	return nil
}

func (a *Application) check(at configstore.RecordPath, account int64) error {
	if a.Tracing != a.TracingAlias {
		return at.Invalid("the service", "must be the same as tracing when both are given")
	}
	if url := a.Tracing.Endpoint; url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return at.Invalid("tracing.endpoint", "must begin with http:// or https://, got %.60q", url)
	}
	if err := checkOrigins(at, a.AllowedOrigins); err != nil {
		return err
	}
	return configstore.FirstError(
		at.Account(a.AccountID, account),
		at.Length("application_id", a.ApplicationID, 1, 128),
		at.Length("application_name", a.ApplicationName, 1, 40),
		at.OneOf("type", a.Type, "browser", "ios", "android", "react-native", "flutter", "kotlin-multiplatform", "roku", "unity"),
		at.AtLeast("team_id", a.TeamID, 0),
		at.AtLeast("alerting.integration_id", a.Alerting.IntegrationID, 0),
		at.OneOf("tracing.open_type", a.Tracing.OpenType, "", "popup", "tab"),
		at.OneOf("status", a.Status, "enabled", "disabled", "deleted"),
		at.AtLeast("created_by", a.CreatedBy, 0),
		at.AtLeast("updated_by", a.UpdatedBy, 0),
		at.AtLeast("created_at", a.CreatedAt, 0),
		at.AtLeast("updated_at", a.UpdatedAt, 0),
	)
}

func (a *Application) insert(tx *db.Tx, keyring *secret.Keyring, account int64) (int64, error) {
	channels, err := json.Marshal(a.Alerting.ChannelIDs)
	if err != nil {
		return 0, err
	}
	token, err := keyring.Seal(a.ClientToken, tokenContext(account, a.ApplicationID))
	if err != nil {
		return 0, err
	}
	return tx.Exec(`INSERT INTO rum_application (`+applicationColumns+`, name_folded, token_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
		ON CONFLICT DO NOTHING`,
		account, a.ApplicationID, a.ApplicationName, a.Type, token, a.TeamID, a.IsPrivate, a.NoIP, a.NoGeo,
		a.Alerting.Enabled, string(channels), a.Alerting.IntegrationID, a.Tracing.Enabled, a.Tracing.OpenType, a.Tracing.Endpoint,
		a.Status, a.CreatedBy, a.UpdatedBy, a.CreatedAt, a.UpdatedAt, a.origins(), a.OldTokenUntil,
		db.Fold(a.ApplicationName), tokenHash(a.ClientToken))
}

// update writes an existing application, except the members that never change.
func (a *Application) update(tx *db.Tx) error {
	channels, err := json.Marshal(a.Alerting.ChannelIDs)
	if err != nil {
		return err
	}
	return tx.Do(
		`UPDATE rum_application SET application_name = $1, name_folded = $2, type = $3, team_id = $4, is_private = $5, no_ip = $6, no_geo = $7,
		alerting_enabled = $8, alerting_channel_ids = $9, tracing_enabled = $10, tracing_open_type = $11, tracing_endpoint = $12,
		status = $13, updated_by = $14, updated_at = $15, allowed_origins = $16
		WHERE account_id = $17 AND application_id = $18`,
		a.ApplicationName, db.Fold(a.ApplicationName), a.Type, a.TeamID, a.IsPrivate, a.NoIP, a.NoGeo, a.Alerting.Enabled, string(channels),
		a.Tracing.Enabled, a.Tracing.OpenType, a.Tracing.Endpoint, a.Status, a.UpdatedBy, a.UpdatedAt, a.origins(), a.AccountID,
		a.ApplicationID)
}

// DumpApplications returns all applications of an account, deleted ones too, sorted by ID. Client tokens are empty
// unless secrets is set.
func DumpApplications(tx *db.Tx, keyring *secret.Keyring, account int64, secrets bool) ([]Application, error) {
	all, err := db.All(tx, scanApplication, `SELECT `+applicationColumns+` FROM rum_application WHERE account_id = $1 ORDER BY application_id`,
		account)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].OldTokenUntil = 0 // the token before ends where the account goes
		if !secrets {
			all[i].ClientToken = ""
		} else if err := all[i].openToken(keyring.Open); err != nil {
			return nil, err
		}
	}
	return all, nil
}
