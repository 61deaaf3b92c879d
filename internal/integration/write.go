package integration

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/id"
)

// Body is what a caller may say of an integration.
type Body struct {
	Description *string   `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	TeamID      *int64    `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	ChannelID   *int64    `json:"channel_id,omitzero" minimum:"0" doc:"The channel that it is dedicated to; 0: its route decides."`
	RefID       *string   `json:"ref_id,omitzero" maxLength:"255" doc:"Its id in the system it comes from."`
	Settings    *Settings `json:"settings,omitzero" doc:"Of a webhook, heartbeat or app; replaced as a whole."`
}

type createRequest struct {
	IntegrationName string `json:"integration_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	IntegrationType string `json:"integration_type" enum:"standard,prometheus,grafana,pagerduty,zabbix,sentry,heartbeat,change,webhook_incident,webhook_alert,slack_app,feishu_app,dingtalk_app,wecom_app,teams_app" doc:"What it is connected with; never changes."`
	Body
}

type created struct {
	IntegrationID   int64  `json:"integration_id" doc:"The new integration."`
	IntegrationName string `json:"integration_name" doc:"Its name, as it was sent."`
	IntegrationKey  string `json:"integration_key" doc:"The key that events come with; empty for a webhook or an app."`
	PushURL         string `json:"push_url" doc:"The path and query to push events to; empty for a webhook or an app."`
	api.Warnings
}

func (r *Service) create(c *api.Call, in createRequest) (created, error) {
	i := Integration{AccountID: c.Who.AccountID, IntegrationID: id.Number(), IntegrationName: in.IntegrationName,
		IntegrationType: in.IntegrationType,
		Status:          "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	if i.IsSource() {
		i.IntegrationKey = newKey()
	}
	plain := i.IntegrationKey
	warnings, err := r.store(c, &i, in.Body, nil)
	i.IntegrationKey = plain
	return created{i.IntegrationID, i.IntegrationName, plain, i.push(), api.Warn(warnings)}, err
}

// push is where a source pushes to.
func (i *Integration) push() string {
	if !i.IsSource() {
		return ""
	}
	kind := "alert/" + i.IntegrationType
	switch i.IntegrationType {
	case Change:
		kind = "change/standard"
	case Heartbeat:
		kind = Heartbeat
	}
	path := "/event/push/" + kind
	if i.IntegrationKey != "" {
		path += "?integration_key=" + i.IntegrationKey
	}
	return path
}

type updateRequest struct {
	IntegrationID   int64   `json:"integration_id" minimum:"1" doc:"The integration to change."`
	IntegrationName *string `json:"integration_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

func (r *Service) update(c *api.Call, in updateRequest) (api.Warnings, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return api.Warnings{}, err
	}
	if in.IntegrationName != nil {
		i.IntegrationName = *in.IntegrationName
	}
	warnings, err := r.store(c, &i, in.Body, i.Settings)
	return api.Warn(warnings), err
}

// opened reads an integration that the caller may touch, its secrets in clear.
func (r *Service) opened(c *api.Call, integration int64) (Integration, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err == nil {
		err = i.permit(c)
	}
	if err == nil {
		err = Kind.Show(r.Keyring, c.Who.AccountID, &i, c.Report)
	}
	return i, err
}

// store puts what was sent into an integration whose secrets are in clear, checks, seals and stores it.
func (r *Service) store(c *api.Call, i *Integration, b Body, old *Settings) (warnings []string, err error) {
	for field, sent := range map[*string]*string{&i.Description: b.Description, &i.RefID: b.RefID} {
		if sent != nil {
			*field = *sent
		}
	}
	if b.ChannelID != nil && *b.ChannelID != i.ChannelID {
		if err := permitRouted(c, i.IntegrationID); err != nil {
			return nil, err
		}
	}
	for field, sent := range map[*int64]*int64{&i.TeamID: b.TeamID, &i.ChannelID: b.ChannelID} {
		if sent != nil {
			*field = *sent
		}
	}
	if b.Settings != nil {
		i.Settings = b.Settings.keeping(old)
	}
	if err := configstore.FirstError(i.check(""), i.alone(c.Tx, "", c.Who.AccountID)); err != nil {
		return nil, err
	}
	if b.Settings != nil {
		if err := i.complete(); err != nil {
			return nil, err
		}
	}
	if err := configstore.Need(c.Tx, c.Who.AccountID, "team_id", configstore.RefTo(configstore.Team, i.TeamID)); err != nil {
		return nil, err
	}
	if err := configstore.Need(c.Tx, c.Who.AccountID, "channel_id", configstore.RefTo(configstore.Channel, i.ChannelID)); err != nil {
		return nil, err
	}
	if i.Settings != nil {
		for n, ch := range i.Settings.ChannelIDs {
			if err := configstore.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("settings.channel_ids[%d]", n),
				configstore.RefTo(configstore.Channel, ch)); err != nil {
				return nil, err
			}
		}
		warnings = i.Settings.warnings()
	}
	if err := i.permit(c); err != nil {
		return nil, err
	}
	i.UpdatedAt, i.UpdatedBy, i.PushURL = c.Unix(), c.Who.PersonID, ""
	c.Touched(Kind.Name, i.IntegrationID, i.IntegrationName)
	if err := know(c.Tx, c.Who.AccountID, i, 0); err != nil {
		return nil, err
	}
	if err := Kind.Seal(r.Keyring, c.Who.AccountID, i); err != nil {
		return nil, err
	}
	return warnings, Kind.Put(c.Tx, c.Who.AccountID, i)
}

// keeping fills secrets that come back empty with those that are there.
func (s *Settings) keeping(old *Settings) *Settings {
	if old == nil {
		return s
	}
	k := *s
	if k.SignSecret == "" {
		k.SignSecret = old.SignSecret
	}
	k.Headers = maps.Clone(k.Headers)
	for name, value := range k.Headers {
		if value == "" {
			k.Headers[name] = old.Headers[name]
		}
	}
	k.App = maps.Clone(k.App)
	for name, value := range k.App {
		if value == "" && !slices.Contains(open, name) {
			k.App[name] = old.App[name]
		}
	}
	return &k
}

// warnings names an address that can probably not be reached from outside.
func (s *Settings) warnings() []string {
	place, what, address := "settings.endpoint", "webhooks go", s.Endpoint
	if s.App != nil {
		place, what, address = "settings.app.base_url", "calls go", s.App["base_url"]
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" ||
		ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()) {
		return []string{place + ": is an address of this network; " + what + " there only where the server allows it"}
	}
	return nil
}

// switched is the function of /integration/enable and /integration/disable.
func (r *Service) switched(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		i, err := r.opened(c, in.IntegrationID)
		if err != nil {
			return api.Empty{}, err
		}
		i.Status = status
		_, err = r.store(c, &i, Body{}, i.Settings)
		return api.Empty{}, err
	}
}

type deleteRequest struct {
	OneRequest
	api.DryRun
}

// remove deletes an integration. What is set up for it alone goes with it; history keeps its name.
func (r *Service) remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := permitRouted(c, i.IntegrationID); err != nil {
		return api.Removal{}, err
	}
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, Kind.Name, i.IntegrationID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, i.IntegrationID, i.IntegrationName)
	key := strconv.FormatInt(i.IntegrationID, 10)
	for _, kind := range []string{configstore.Route, configstore.Pipeline, configstore.Enrichment} {
		known, err := configstore.Known(c.Tx, c.Who.AccountID, configstore.RefTo(kind, key))
		if err != nil {
			return api.Removal{}, err
		}
		if known {
			c.Removed(kind, key, i.IntegrationName)
			if err := configstore.Delete(c.Tx, c.Who.AccountID, kind, key); err != nil {
				return api.Removal{}, err
			}
		}
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, key)
}
