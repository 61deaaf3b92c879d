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
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp", "integration_id": 3846027451131}`,
			Do:      api.Do(r.historyDetail),
		},
		{
			Path:   "/webhook/message/info",
			Allow:  []auth.Permission{auth.IntegrationsRead},
			Effect: api.Snapshot,
			Doc:    "Shows a message by one of its attempts: what became of it, and its latest 100 attempts.",
			Notes: "/webhook/history/detail shows the request and the response of an attempt. Attempts that came with an account file have " +
				"no message. A message about a private channel is shown only to callers who may read that channel.",
			Example: `{"event_id": "20260413mGsxP3drpFfs4ZCQd2pSDp"}`,
			Do:      api.Do(r.messageInfo),
		},
		{
			Path:   "/webhook/endpoint/info",
			Allow:  []auth.Permission{auth.IntegrationsRead},
			Effect: api.Snapshot,
			Doc:    "Shows whether messages are sent to the endpoint of a webhook, since when it fails and why, and how many wait.",
			Notes: "After failures in a row no message is sent for a while (open), then one alone to try the endpoint (half-open); its success " +
				"closes the breaker and all others follow.",
			Example: `{"integration_id": 3846027454131}`,
			Do:      api.Do(r.endpointInfo),
		},
		{
			Path:   "/webhook/endpoint/days",
			Allow:  []auth.Permission{auth.IntegrationsRead},
			Effect: api.Snapshot,
			Doc: "Counts the attempts to deliver to the endpoint of a webhook on each of the last days, " +
				"those that succeeded and those that failed.",
			Notes: "Of the webhook's own deliveries, also those about incidents and alerts that the caller may not read: a count names none. " +
				"A webhook that names a private channel is shown only to callers who may read it.",
			Example: `{"integration_id": 3846027454131, "days": 14}`,
			Do:      api.Do(r.endpointDays),
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
		{
			Path:   "/webhook/test",
			Allow:  []auth.Permission{auth.IntegrationsManage},
			Effect: api.Write,
			Audit:  "webhook:write:test",
			Doc:    "Sends a sample event to a webhook, and returns what came of the first attempt.",
			Notes: "The message takes the way of all others: it is signed, retried for a day if it fails, and in the delivery history " +
				"with origin test. Its payload has test: true, its header Webhook-Origin is test. A held endpoint gets it at once.",
			Example: `{"integration_id": 3846027454131, "event_type": "a_new"}`,
			Do:      api.DoAfter(r.testSend, r.testShow),
		},
		{
			Path:   "/webhook/replay",
			Allow:  []auth.Permission{auth.IntegrationsManage},
			Effect: api.Write,
			Audit:  "webhook:write:replay",
			Doc:    "Sends again what a filter finds in a window of at most 30 days, oldest first.",
			Notes: "First call it with dry_run, then with the count of that reply. Messages keep their body and their event_id, so a receiver " +
				"that has handled one drops it; the header Webhook-Origin is replay. At most two of a webhook are sent at a time, " +
				"so that new messages do not wait. A webhook has one replay at a time, which goes on after a restart.",
			Example: `{"integration_ids": [3846027454131], "start_time": 1776009600000, "end_time": 1776096000000, "dry_run": true}`,
			Do:      api.DoAfter(r.countReplay, r.startReplay),
		},
		{
			Path:    "/webhook/replay/list",
			Allow:   []auth.Permission{auth.IntegrationsRead},
			Effect:  api.Snapshot,
			Doc:     "Lists the latest 100 replays, newest first, with how far each has come.",
			Example: `{}`,
			Do:      api.Do(r.replayList),
		},
		{
			Path:    "/webhook/replay/cancel",
			Allow:   []auth.Permission{auth.IntegrationsManage},
			Effect:  api.Write,
			Audit:   "webhook:write:cancel-replay",
			Doc:     "Ends a replay. What it has sent is not called back.",
			Example: `{"replay_id": "69db2f72a0fe7db6448b1501"}`,
			Do:      api.Do(r.replayCancel),
		},
	})
}
