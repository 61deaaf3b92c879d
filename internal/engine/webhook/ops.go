package webhook

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/webhook/history/list",
			Allow:   []auth.Permission{auth.IntegrationsRead},
			Effect:  api.Snapshot,
			Doc:     "The attempts to deliver outbound webhooks in a window of time, page by page.",
			Notes:   "Newest first unless asc is true; attempts of the same moment are ordered by event_id. To walk the list, send the same request with search_after_ctx from the reply until it comes back empty; only limit may change on the way. Attempts of webhooks that name a private channel are for those who may read it; of other attempts that tell of such a channel, channel_id, ref_id and endpoint are empty for everybody else.",
			Example: `{"limit": 20, "start_time": 1776009600000, "end_time": 1776096000000, "status": "failed"}`,
			Do:      api.Do(r.historyList),
		},
		{
			Path:    "/webhook/history/detail",
			Allow:   []auth.Permission{auth.IntegrationsRead},
			Effect:  api.Snapshot,
			Doc:     "One attempt to deliver a webhook, with what was sent and what was answered.",
			Notes:   "What belongs to a private channel is for those who may read that.",
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp", "integration_id": 6113996590131}`,
			Do:      api.Do(r.historyDetail),
		},
		{
			Path:    "/webhook/history/replay",
			Allow:   []auth.Permission{auth.IntegrationsManage},
			Effect:  api.Write,
			Audit:   "webhook:write:replay",
			Doc:     "Sends a delivery again: the same body under the same event id, as another attempt.",
			Notes:   "The reply names the attempt before it is made; should it fail, others follow for a day. An endpoint that is held because it fails gets it at once.",
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp"}`,
			Do:      api.Do(r.historyReplay),
		},
	})
}
