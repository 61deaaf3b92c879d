package rum

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// ApplicationUpdateRequest is what changes of an application. An absent member stays as it is.
type ApplicationUpdateRequest struct {
	ApplicationID   string         `json:"application_id" maxLength:"255" minLength:"1" doc:"The application."`
	ApplicationName *string        `json:"application_name,omitzero" minLength:"1" maxLength:"40" doc:"Name for people, 1 to 40 characters."`
	Type            string         `json:"type,omitzero" enum:"browser,ios,android,react-native,flutter,kotlin-multiplatform,roku,unity" doc:"Where it runs."`
	TeamID          *int64         `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	IsPrivate       *bool          `json:"is_private,omitzero" doc:"Its data is for its team."`
	NoIP            *bool          `json:"no_ip,omitzero" doc:"Do not keep addresses of users."`
	NoGeo           *bool          `json:"no_geo,omitzero" doc:"Do not derive locations of users from their addresses."`
	AllowedOrigins  []string       `json:"allowed_origins,omitzero" maxItems:"100" maxLength:"255" doc:"The origins of the pages that may send, such as https://shop.example.com or https://*.example.com; an empty list: any."`
	Status          string         `json:"status,omitzero" enum:"enabled,disabled," doc:"Whether it takes errors; absent or empty: unchanged."`
	Alerting        *AlertingInput `json:"alerting,omitzero" doc:"Which issues become alerts, and where."`
	Tracing         *TracingInput  `json:"tracing,omitzero" doc:"Where its traces can be seen."`
	TracingAlias    *TracingInput  `json:"the service,omitzero" doc:"The same as tracing, under a name that some clients send."`
}

// applicationUpdate answers /rum/application/update. Teams and channels are checked only if they are sent: those
// stored may come from a file, which is loaded without this check.
func (r *Service) applicationUpdate(c *api.Call, in ApplicationUpdateRequest) (api.Warnings, error) {
	a, err := find(c.Tx, c.Who, in.ApplicationID)
	if err != nil {
		return api.Warnings{}, err
	}
	before := a
	configstore.SetIfSent(&a.ApplicationName, in.ApplicationName)
	if in.Type != "" {
		a.Type = in.Type
	}
	configstore.SetIfSent(&a.TeamID, in.TeamID)
	configstore.SetIfSent(&a.IsPrivate, in.IsPrivate)
	configstore.SetIfSent(&a.NoIP, in.NoIP)
	configstore.SetIfSent(&a.NoGeo, in.NoGeo)
	a.Status = cmp.Or(in.Status, a.Status)
	if in.AllowedOrigins != nil {
		a.AllowedOrigins = in.AllowedOrigins
	}
	if err := a.configure(in.Alerting, in.Tracing, in.TracingAlias); err != nil {
		return api.Warnings{}, err
	}
	if err := a.check(configstore.RecordPath(""), c.Who.AccountID); err != nil {
		return api.Warnings{}, err
	}
	if a.TeamID != before.TeamID {
		if err := a.checkTeam(c.Tx); err != nil {
			return api.Warnings{}, err
		}
	}
	if !slices.Equal(a.Alerting.ChannelIDs, before.Alerting.ChannelIDs) {
		if err := configstore.FirstError(a.checkChannels(c.Tx), a.permitChannels(c, before.Alerting.ChannelIDs)); err != nil {
			return api.Warnings{}, err
		}
	}
	a.UpdatedAt, a.UpdatedBy = c.Now.UnixMilli(), c.Who.PersonID
	if err := a.update(c.Tx); err != nil {
		return api.Warnings{}, err
	}
	c.Touched(configstore.Application, a.ApplicationID, a.ApplicationName)
	return a.warnings(), a.refer(c.Tx)
}
