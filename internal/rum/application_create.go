package rum

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/id"
)

// ApplicationCreateRequest is an application to create.
type ApplicationCreateRequest struct {
	ApplicationName string         `json:"application_name" minLength:"1" maxLength:"40" doc:"Name for people, 1 to 40 characters; need not be unique."`
	Type            string         `json:"type" enum:"browser,ios,android,react-native,flutter,kotlin-multiplatform,roku,unity" doc:"Where it runs."`
	TeamID          int64          `json:"team_id" minimum:"0" doc:"Owning team; 0: none."`
	IsPrivate       bool           `json:"is_private,omitzero" doc:"Its data is for its team."`
	NoIP            bool           `json:"no_ip,omitzero" doc:"Do not keep addresses of users."`
	NoGeo           bool           `json:"no_geo,omitzero" doc:"Do not derive locations of users from their addresses."`
	AllowedOrigins  []string       `json:"allowed_origins,omitzero" maxItems:"100" maxLength:"255" doc:"The origins of the pages that may send, such as https://shop.example.com or https://*.example.com; absent or empty: any."`
	Alerting        *AlertingInput `json:"alerting,omitzero" doc:"Which issues become alerts, and where; absent: none do."`
	Tracing         *TracingInput  `json:"tracing,omitzero" doc:"Where its traces can be seen; absent: nowhere."`
	TracingAlias    *TracingInput  `json:"the service,omitzero" doc:"The same as tracing, under a name that some clients send."`
}

// ApplicationCreated is the reply of /rum/application/create.
type ApplicationCreated struct {
	ApplicationID   string `json:"application_id" doc:"The new application."`
	ApplicationName string `json:"application_name" doc:"Its name."`
	ClientToken     string `json:"client_token" doc:"The token that its SDK sends; a secret."`
	api.Warnings
}

// applicationCreate answers /rum/application/create.
func (r *Service) applicationCreate(c *api.Call, in ApplicationCreateRequest) (ApplicationCreated, error) {
	account, now := c.Who.AccountID, c.Now.UnixMilli()
	a := Application{
		AccountID: account, ApplicationID: id.Short(), ApplicationName: in.ApplicationName, Type: in.Type, ClientToken: newToken(account),
		TeamID: in.TeamID, IsPrivate: in.IsPrivate, NoIP: in.NoIP, NoGeo: in.NoGeo, Alerting: Alerting{ChannelIDs: []int64{}},
		AllowedOrigins: in.AllowedOrigins, Status: "enabled",
		CreatedBy: c.Who.PersonID, UpdatedBy: c.Who.PersonID, CreatedAt: now, UpdatedAt: now,
	}
	if err := a.configure(in.Alerting, in.Tracing, in.TracingAlias); err != nil {
		return ApplicationCreated{}, err
	}
	if err := configstore.FirstError(a.check("", account), a.checkTeam(c.Tx), a.checkChannels(c.Tx), a.permitChannels(c, nil)); err != nil {
		return ApplicationCreated{}, err
	}
	if _, err := a.insert(c.Tx, r.keyring, account); err != nil { // 128 random bits do not repeat
		return ApplicationCreated{}, err
	}
	c.Touched(configstore.Application, a.ApplicationID, a.ApplicationName)
	return ApplicationCreated{a.ApplicationID, a.ApplicationName, a.ClientToken, a.warnings()}, a.refer(c.Tx)
}

// newToken returns a client token of an account: 128 random bits in hexadecimal digits, and the last three digits
// of the account's number, by which people distinguish tokens of different accounts.
func newToken(account int64) string { return fmt.Sprintf("%s%03d", id.Token(16), account%1000) }
