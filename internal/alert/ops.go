// Package alert keeps the alerts that incoming events are merged into.
//
// It must never show an alert of a private channel to a caller outside the channel's team.
package alert

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/alert/info",
			Allow:   []auth.Permission{auth.ChannelsRead},
			Effect:  api.Read,
			Doc:     "One alert in full, with the incident it was merged into.",
			Example: `{"alert_id": "663a1b2c3d4e5f6789abcdef"}`,
			Do:      api.Do(info),
		},
		{Path: "/alert/pipeline/upsert", Allow: []auth.Permission{auth.IntegrationsManage}, Effect: api.Write, Audit: "alert_pipeline:write:upsert", Doc: "Sets the alert pipeline of an integration, all of it.",
			Notes:   "Rules are applied from top to bottom to every event but those that end an alert.",
			Example: `{"integration_id": 6113996590131, "rules": [{"kind": "severity_reset", "if": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "settings": {"severity": "Info"}}]}`, Do: api.Do(pipelineUpsert)},
		{Path: "/alert/pipeline/info", Allow: []auth.Permission{auth.IntegrationsRead}, Effect: api.Snapshot, Doc: "Shows the alert pipeline of an integration; null when it has none.",
			Example: `{"integration_id": 6113996590131}`, Do: api.Do(pipelineInfo)},
		{Path: "/alert/pipeline/list", Allow: []auth.Permission{auth.IntegrationsRead}, Effect: api.Snapshot, Doc: "Shows the alert pipelines of several integrations, in the order of the request; those without one are left out.",
			Example: `{"integration_ids": [6113996590131]}`, Do: api.Do(pipelineList)},
	})
}
