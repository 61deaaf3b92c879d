package integration

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/platform/id"
)

// Body is the part of an integration that both create and update write.
type Body struct {
	Description *string   `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	TeamID      *int64    `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	ChannelID   *int64    `json:"channel_id,omitzero" minimum:"0" doc:"The channel that it is dedicated to; 0: its route decides."`
	RefID       *string   `json:"ref_id,omitzero" maxLength:"255" doc:"Its id in the system it comes from."`
	Settings    *Settings `json:"settings,omitzero" doc:"Of a webhook, heartbeat or app, and of a source its severity_map and max_bytes_per_day; replaced as a whole."`
}

// CreateRequest asks for a new integration.
type CreateRequest struct {
	IntegrationName string `json:"integration_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	IntegrationType string `json:"integration_type" enum:"standard,prometheus,grafana,pagerduty,zabbix,sentry,heartbeat,change,webhook_incident,webhook_alert,slack_app,feishu_app,dingtalk_app,wecom_app,teams_app" doc:"What it is connected with; never changes."`
	Body
}

// Created is the reply of /integration/create.
type Created struct {
	IntegrationID   int64  `json:"integration_id" doc:"The new integration."`
	IntegrationName string `json:"integration_name" doc:"Its name, as it was sent."`
	IntegrationKey  string `json:"integration_key" doc:"The key that events come with; empty for a webhook or an app."`
	PushURL         string `json:"push_url" doc:"The path and query to push events to; empty for a webhook or an app."`
	api.Warnings
}

func (r *Service) create(c *api.Call, in CreateRequest) (Created, error) {
	unused, err := id.Unused(func(n int64) (bool, error) {
		return Kind.Exists(c.Tx, c.Who.AccountID, strconv.FormatInt(n, 10))
	})
	if err != nil {
		return Created{}, err
	}
	i := Integration{AccountID: c.Who.AccountID, IntegrationID: unused, IntegrationName: in.IntegrationName,
		IntegrationType: in.IntegrationType,
		Status:          "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	if i.IsSource() {
		i.IntegrationKey = newKey()
	}
	plain := i.IntegrationKey
	warnings, err := r.store(c, &i, in.Body, nil)
	i.IntegrationKey = plain
	return Created{i.IntegrationID, i.IntegrationName, plain, i.pushPath(), api.Warn(warnings)}, err
}

// pushPath returns the path and query that a source pushes events to; empty for webhooks and apps.
func (i *Integration) pushPath() string {
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
