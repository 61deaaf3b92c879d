package alert

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package. Operations on alerts that also change incidents are in higher layers:
// /alert/merge and /alert/close in internal/incident, /alert/explain in internal/engine/explain.
func Ops() []api.Op {
	read := []auth.Permission{auth.ChannelsRead}
	const one = `{"alert_id": "67a1c0de0000000a00000004"}`
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/alert/info", Allow: read, Effect: api.Snapshot,
			Doc: "One alert in full, with the incident it was merged into.", Example: one, Do: api.Do(info),
		},
		{
			Path: "/alert/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists alerts by their beginning, page by page.",
			Example: `{"start_time": 1712620800, "end_time": 1712707200, "is_active": true}`, Do: api.Do(list),
		},
		{
			Path: "/alert/list-by-ids", Allow: read, Effect: api.Snapshot,
			Errors:  api.Missing("alert"),
			Doc:     "Shows several alerts, in the order of the request.",
			Notes:   "It fails as a whole when one of them does not exist.",
			Example: `{"alert_ids": ["67a1c0de0000000a00000004"]}`, Do: api.Do(listByIDs),
		},
		{
			Path: "/alert/event/list", Allow: read, Effect: api.Snapshot,
			Doc: "Lists the events of an alert.",
			Notes: "Without p, limit, search_after_ctx and asc: the newest 1,000 in the order in which they came; those before them are behind " +
				"the cursor, newest first. With one of these members: page by page, newest first unless asc is set, 20 on a page.",
			Example: one, Do: api.Do(eventList),
		},
		{
			Path: "/alert-event/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the events of all alerts, the newest first, page by page.",
			Example: `{"start_time": 1712620800, "end_time": 1712707200}`, Do: api.Do(allEvents),
		},
		{
			Path: "/alert/feed", Allow: read, Effect: api.Snapshot,
			Doc: "Shows what happened to an alert, the newest first.", Example: one, Do: api.Do(feed),
		},
		{
			Path: "/alert/filter/try", Allow: read, Effect: api.Snapshot,
			Errors: api.Missing("channel or alert"),
			Doc:    "Shows which alerts of the last days a filter matches, by team, and why it matches one alert or not.",
			Notes:  "For trying the filter of a rule before it is stored. It is matched as the rules of channels are; nothing is stored.",
			Example: `{"channel_ids": [1001], "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "days": 7,` +
				` "alert_id": "67a1c0de0000000a00000004"}`, Do: api.Do(try),
		},
		{
			Path: "/alert/rule/hits", Allow: read, Effect: api.Snapshot,
			Doc:     "Counts, for each rule of a channel that held back events in the last days, how many it held back.",
			Notes:   "Drop, silence and inhibit rules, also those that leave no alert. Rules without such events are left out.",
			Example: `{"channel_id": 1001, "days": 7}`, Do: api.Do(ruleHits),
		},
		{
			Path: "/alert/pipeline/upsert", Allow: []auth.Permission{auth.IntegrationsManage},
			Effect: api.Write, Audit: "alert_pipeline:write:upsert",
			Doc:   "Sets the alert pipeline of an integration, all of it.",
			Notes: "Rules are applied from top to bottom to every event but those that end an alert.",
			Example: `{"integration_id": 3846027460131, "rules": [{"kind": "severity_reset",` +
				` "if": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "settings": {"severity": "Info"}}]}`,
			Do: api.Do(pipelineUpsert),
		},
		{
			Path: "/alert/pipeline/info", Allow: []auth.Permission{auth.IntegrationsRead}, Effect: api.Snapshot,
			Doc:     "Shows the alert pipeline of an integration; ResourceNotFound when it has none.",
			Example: `{"integration_id": 3846027460131}`, Do: api.Do(pipelineInfo),
		},
		{
			Path: "/alert/pipeline/list", Allow: []auth.Permission{auth.IntegrationsRead}, Effect: api.Snapshot,
			Doc:     "Shows the alert pipelines of several integrations, in the order of the request; those without one are left out.",
			Example: `{"integration_ids": [3846027460131]}`, Do: api.Do(pipelineList),
		},
	})
}
