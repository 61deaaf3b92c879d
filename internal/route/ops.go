package route

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func Ops() []api.Op {
	read := []auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage}
	manage := []auth.Permission{auth.IntegrationsManage}
	const one = `{"integration_id": 3846027460131}`
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/route/upsert", Allow: manage, Effect: api.Write, Audit: "route:write:upsert",
			Doc: "Sets the route of an integration, all of it.",
			Notes: "With version the change is rejected when the route has been changed since that version was read." +
				" Every version is stored.",
			Example: `{"integration_id": 3846027460131, "cases": [{"if": [{"key": "severity", "oper": "IN", "vals": ["Critical"]}],` +
				` "channel_ids": [1001], "fallthrough": false}], "default": {"channel_ids": [1002]}}`,
			Do: api.Do(upsert),
		},
		{
			Path: "/route/info", Allow: read, Effect: api.Snapshot,
			Doc: "Shows the route of an integration; ResourceNotFound when it has none.", Example: one, Do: api.Do(info),
		},
		{
			Path: "/route/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Shows the routes of several integrations, in the order of the request; those without one are left out.",
			Example: `{"integration_ids": [3846027460131]}`, Do: api.Do(list),
		},
		{
			Path: "/route/history/list", Allow: read, Effect: api.Snapshot,
			Doc:     "Lists the versions of an integration's route page by page, newest first.",
			Example: one, Do: api.Do(historyList),
		},
		{
			Path: "/route/preview", Allow: read, Effect: api.Snapshot,
			Doc: "Shows where alerts that came in would go by a route that is not stored.",
			Notes: "It reads stored alerts, not alerts in the request." +
				" An alert that does not exist, or that the caller may not read, is left out.",
			Example: `{"alert_ids": ["67a1c0de0000000a00000004"], "route": {"default": {"channel_ids": [1001]}}}`,
			Do:      api.Do(preview),
		},
	})
}
