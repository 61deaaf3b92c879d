package webhook

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/webhook/history/list",
			Allow:  []auth.Permission{auth.IntegrationsRead},
			Effect: api.Snapshot,
			Doc:    "Lists the attempts to deliver outbound webhooks in a window of time, page by page.",
			Notes: "Newest first unless asc is true; attempts of the same moment are ordered by event_id. To read the whole list, " +
				"send the same request with search_after_ctx from the reply until it is empty; only limit may change. " +
				"Attempts of webhooks that name a private channel are shown only to callers who may read it. In other attempts about " +
				"such a channel, channel_id, ref_id and endpoint are empty for all other callers.",
			Example: `{"limit": 20, "start_time": 1776009600000, "end_time": 1776096000000, "status": "failed"}`,
			Do:      api.Do(r.historyList),
		},
		{
			Path:   "/webhook/endpoint/list",
			Allow:  []auth.Permission{auth.IntegrationsRead},
			Effect: api.Snapshot,
			Doc:    "Lists the webhooks whose endpoint failed at the last attempt, those with the most failures first.",
			Notes: "An endpoint that fails often is held: one attempt at held_until probes whether it works again. " +
				"Webhooks that name a private channel are shown only to callers who may read it.",
			Example: `{"limit": 20}`,
			Do:      api.Do(r.endpointList),
		},
		{
			Path:    "/webhook/history/detail",
			Allow:   []auth.Permission{auth.IntegrationsRead},
			Effect:  api.Snapshot,
			Doc:     "Shows one attempt to deliver a webhook, with the request and the response.",
			Notes:   "An attempt about a private channel is shown only to callers who may read that channel.",
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp", "integration_id": 6113996590131}`,
			Do:      api.Do(r.historyDetail),
		},
		{
			Path:   "/webhook/history/replay",
			Allow:  []auth.Permission{auth.IntegrationsManage},
			Effect: api.Write,
			Audit:  "webhook:write:replay",
			Doc:    "Sends a delivery again: the same body under the same event id, as another attempt.",
			Notes: "The reply has the id of the attempt before it is made. If it fails, it is retried for a day. " +
				"An endpoint that is held because it fails gets it at once.",
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp"}`,
			Do:      api.Do(r.historyReplay),
		},
	})
}
