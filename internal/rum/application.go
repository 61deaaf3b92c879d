package rum

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Application is a web site or app that reports the errors of its users.
type Application struct {
	AccountID       int64    `json:"account_id" doc:"Owning account."`
	ApplicationID   string   `json:"application_id" maxLength:"255" doc:"The application's identifier."`
	ApplicationName string   `json:"application_name" maxLength:"40" doc:"1 to 40 characters."`
	Type            string   `json:"type" enum:"browser,ios,android,react-native,flutter,kotlin-multiplatform,roku,unity" doc:"Where it runs."`
	ClientToken     string   `json:"client_token" maxLength:"255" doc:"The token that its SDK sends; a secret."`
	TeamID          int64    `json:"team_id" doc:"Owning team; 0: none."`
	IsPrivate       bool     `json:"is_private" doc:"Its data is for its team."`
	NoIP            bool     `json:"no_ip" doc:"Addresses of users are not kept."`
	NoGeo           bool     `json:"no_geo" doc:"Locations of users are not derived from their addresses."`
	AllowedOrigins  []string `json:"allowed_origins,omitempty" maxItems:"100" maxLength:"255" doc:"The origins of the pages that may send, such as https://shop.example.com; absent: any."`
	Alerting        Alerting `json:"alerting" doc:"Which issues become alerts, and where."`
	Tracing         Tracing  `json:"tracing" doc:"Where its traces can be seen."`
	TracingAlias    Tracing  `json:"the service" doc:"The same as tracing, under a name that some clients read."`
	Status          string   `json:"status" enum:"enabled,disabled,deleted" doc:"Whether it reports."`
	CreatedBy       int64    `json:"created_by" doc:"The person who created it."`
	UpdatedBy       int64    `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt       int64    `json:"created_at" doc:"Unix milliseconds."`
	UpdatedAt       int64    `json:"updated_at" doc:"Unix milliseconds."`
	OldTokenUntil   int64    `json:"old_token_until,omitzero" doc:"Until when the client token before the present one works as well, Unix milliseconds; absent: it does not."`
}

// Alerting is the setting of the channels in which an application's issues become alerts.
type Alerting struct {
	Enabled       bool    `json:"enabled" doc:"Issues become alerts."`
	ChannelIDs    []int64 `json:"channel_ids" maxItems:"100" doc:"The channels that receive them."`
	IntegrationID int64   `json:"integration_id" doc:"The integration they come through."`
}

// Tracing is the setting of the link to the trace of a user's request.
type Tracing struct {
	Enabled  bool   `json:"enabled" doc:"Traces are linked."`
	OpenType string `json:"open_type" enum:"popup,tab," doc:"How a link opens: popup, tab, or empty when never set."`
	Endpoint string `json:"endpoint" maxLength:"2048" doc:"http or https URL in which ${trace_id} stands for the trace; may be empty."`
}

const applicationColumns = `account_id, application_id, application_name, type, client_token, team_id, is_private, no_ip, no_geo,
	alerting_enabled, alerting_channel_ids, alerting_integration_id, tracing_enabled, tracing_open_type, tracing_endpoint,
	status, created_by, updated_by, created_at, updated_at, allowed_origins, old_token_until`

// scanApplication reads applicationColumns; the client token stays sealed.
func scanApplication(scan db.Scan) (a Application, err error) {
	var channels, origins string
	if err := scan(&a.AccountID, &a.ApplicationID, &a.ApplicationName, &a.Type, &a.ClientToken, &a.TeamID, &a.IsPrivate, &a.NoIP, &a.NoGeo,
		&a.Alerting.Enabled, &channels, &a.Alerting.IntegrationID, &a.Tracing.Enabled, &a.Tracing.OpenType, &a.Tracing.Endpoint,
		&a.Status, &a.CreatedBy, &a.UpdatedBy, &a.CreatedAt, &a.UpdatedAt, &origins, &a.OldTokenUntil); err != nil {
		return a, err
	}
	a.TracingAlias = a.Tracing
	if origins != "" {
		a.AllowedOrigins = strings.Split(origins, " ")
	}
	return a, fault.Wrap(json.Unmarshal([]byte(channels), &a.Alerting.ChannelIDs), "channels of application %s", a.ApplicationID)
}

// openToken decrypts the client token in place. open is secret.Keyring.Open, or Show for people.
func (a *Application) openToken(open secret.Renew) (err error) {
	a.ClientToken, err = open(a.ClientToken, tokenContext(a.AccountID, a.ApplicationID))
	return err
}

// tokenContext returns the associated data of a sealed client token: it opens in its own row only.
func tokenContext(account int64, application string) string {
	return fmt.Sprintf("rum/%d/application/%s/client_token", account, application)
}

// EraseApplication deletes an application's row. It does nothing if there is none. Its issues stay: they are
// records of their own.
func EraseApplication(tx *db.Tx, account int64, id string) error {
	if err := tx.Do(`DELETE FROM rum_application WHERE account_id = $1 AND application_id = $2`, account, id); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Application, id)
}
