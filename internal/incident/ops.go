package incident

import (
	"embed"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the dependencies of the operations on incidents.
type Service struct {
	Bus       *activity.Bus
	PublicURL string // of the server, without a final slash; empty: not known
	DB        *db.DB // of the job
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Ops returns the operations of incidents.
func (r *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IncidentsRead}, []auth.Permission{auth.IncidentsManage}
	const (
		one       = `{"incident_id": "67a1c0de0000000100000002"}`
		some      = `{"incident_ids": ["67a1c0de0000000100000002"]}`
		silencing = "It makes a silence rule of the channel that holds up to the present severity: what gets worse is not silenced. " +
			"The feed and the chats of the channel's escalation rules name who made it."
		closedFirst = " Of more than 200 active alerts, some are closed before the incidents are."
		together    = "The call applies to all of them or, if one of them does not allow it, to none."
	)
	return api.WithReplies(golden, []api.Op{
		{
			Path:     "/incident/page-me",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "incident:write:test",
			Doc:      "Pages the caller for a test, as an incident of a severity would.",
			Notes: "It opens an incident with is_test that is assigned to the caller alone and is resolved after half an hour. " +
				"Its feed shows what " +
				"came of each notification. A person can do it once a minute. Tests are left out of all figures.",
			Example: `{"incident_severity": "Critical"}`,
			Do:      api.Do(r.pageMe),
		},
		{
			Path:    "/incident/create",
			Errors:  api.Missing("channel"),
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:create",
			Doc:     "Opens an incident by hand.",
			Notes:   "Without assigned_to the channel's escalation rules decide who is notified.",
			Example: `{"incident_severity": "Critical", "title": "Checkout is down", "channel_id": 1001}`,
			Do:      api.Do(r.create),
		},
		{
			Path:    "/incident/info",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Shows one incident.",
			Example: one,
			Do:      api.Do(r.info),
		},
		{
			Path:    "/incident/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists incidents by start time, page by page.",
			Example: `{"start_time": 1776000000, "end_time": 1778000000, "progress": "Triggered,Processing"}`,
			Do:      api.Do(r.list),
		},
		{
			Path:    "/incident/past/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Rate:    ratelimit.Rate{PerSecond: 20, PerMinute: 100},
			Doc:     "Lists earlier incidents that are similar by title and labels, the most similar first, and why.",
			Notes:   "Compared are the 3,000 incidents before it, and older ones with an alert of the same key. Drills are left out.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "limit": 5}`,
			Do:      api.Do(r.pastList),
		},
		{
			Path:    "/incident/list-by-ids",
			Errors:  api.Missing("incident"),
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Shows several incidents, in the order of the request.",
			Notes:   "It fails as a whole when one of them does not exist.",
			Example: some,
			Do:      api.Do(r.listByIDs),
		},
		{
			Path:    "/incident/alert/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the alerts of an incident by start time.",
			Notes:   "Without those of private channels that the caller may not read.",
			Example: one,
			Do:      api.Do(r.alertList),
		},
		{
			Path:    "/incident/feed",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Shows what happened to an incident, the newest first.",
			Example: one,
			Do:      api.Do(r.feed),
		},
		{
			Path:    "/incident/ack",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:ack",
			Doc:     "Acknowledges incidents: the caller becomes responsible.",
			Notes:   "Pending notifications about them are cancelled. " + together,
			Example: some,
			Do:      api.Do(r.ack),
		},
		{
			Path:    "/incident/unack",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:unack",
			Doc:     "Withdraws the caller's acknowledgement.",
			Notes:   "When no other person has acknowledged, escalation starts again from the first step. " + together,
			Example: `{"incident_ids": ["67a1c0de0000000100000003"]}`,
			Do:      api.Do(r.unack),
		},
		{
			Path:    "/incident/answer",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:answer",
			Doc:     "Answers a reminder, or the message about the end of a snooze.",
			Notes:   "For a person who has acknowledged the incidents, or snoozed them. It begins the interval of reminders again. " + together,
			Example: `{"incident_ids": ["67a1c0de0000000100000004"], "answer": "still"}`,
			Do:      api.Do(r.answer),
		},
		{
			Path:    "/incident/snooze",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:snooze",
			Doc:     "Stops notifications about incidents for a time.",
			Notes:   "Escalation pauses, and then continues from the same step. " + together,
			Example: `{"incident_ids": ["67a1c0de0000000100000002"], "minutes": 30}`,
			Do:      api.Do(r.snooze),
		},
		{
			Path:    "/incident/wake",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:wake",
			Doc:     "Ends a snooze.",
			Notes:   together,
			Example: `{"incident_ids": ["67a1c0de0000000100000007"]}`,
			Do:      api.Do(r.wake),
		},
		{
			Path:    "/incident/resolve",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:resolve",
			Doc:     "Closes incidents and their alerts.",
			Notes:   together + closedFirst,
			Example: some,
			Do:      api.DoAfter(r.beforeResolve, r.resolve),
		},
		{
			Path:    "/incident/reopen",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:reopen",
			Doc:     "Opens closed incidents again; escalation starts again from the first step.",
			Notes:   together,
			Example: `{"incident_ids": ["67a1c0de0000000100000009"]}`,
			Do:      api.Do(r.reopen),
		},
		{
			Path:    "/incident/merge",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:merge",
			Doc:     "Moves the alerts of incidents to another incident and closes the first.",
			Example: `{"source_incident_ids": ["67a1c0de0000000100000003"], "target_incident_id": "67a1c0de0000000100000002"}`,
			Do:      api.Do(r.merge),
		},
		{
			Path:    "/incident/disable-merge",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:disable-merge",
			Doc:     "Stops alerts from joining incidents automatically.",
			Notes:   together,
			Example: some,
			Do:      api.Do(r.disableMerge),
		},
		{
			Path:    "/incident/assign",
			Errors:  api.Missing("incident"),
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:assign",
			Doc:     "Makes other persons responsible, instead of those who are.",
			Notes:   "The persons are notified; an escalation rule starts from layer_idx. " + together,
			Example: `{"incident_id": "67a1c0de0000000100000002", "assigned_to": {"person_ids": [3846027201131]}}`,
			Do:      api.Do(r.assign),
		},
		{
			Path:    "/incident/responder/add",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:add-responder",
			Doc:     "Makes further persons responsible and notifies them.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "person_ids": [3846027201131]}`,
			Do:      api.Do(r.addResponders),
		},
		{
			Path:    "/incident/comment",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:comment",
			Doc:     "Adds a comment to the feed of incidents.",
			Example: `{"incident_ids": ["67a1c0de0000000100000002"], "comment": "Rolling back."}`,
			Do:      api.Do(r.comment),
		},
		{
			Path:    "/incident/reset",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:reset",
			Doc:     "Changes the texts and the severity of an incident: only the members that are sent.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "impact": "Nobody can pay."}`,
			Do:      api.Do(r.reset),
		},
		{
			Path:    "/incident/field/reset",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:field-reset",
			Doc:     "Sets a custom field of an incident.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "field_name": "customers_affected", "field_value": true}`,
			Do:      api.Do(r.resetField),
		},
		{
			Path:    "/incident/remove",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:remove",
			Danger:  true,
			Doc:     "Deletes incidents; open ones are closed first.",
			Notes:   together + closedFirst,
			Example: some,
			Do:      api.DoAfter(r.beforeRemove, r.remove),
		},
		{
			Path:    "/alert/merge",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "alert:write:merge",
			Doc:     "Moves alerts to an incident.",
			Notes:   "An incident that they leave without an active alert is closed.",
			Example: `{"alert_ids": ["67a1c0de0000000a00000004"], "incident_id": "67a1c0de0000000100000002"}`,
			Do:      api.Do(r.mergeAlerts),
		},
		{
			Path:    "/alert/close",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "alert:write:close",
			Doc:     "Ends alerts by hand: the next event of their key begins another alert.",
			Notes:   "An incident without any other active alert is resolved. " + together,
			Example: `{"alert_ids": ["67a1c0de0000000a00000004"]}`,
			Do:      api.Do(r.closeAlerts),
		},
		{
			Path:    "/alert/silence",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "alert:write:silence",
			Doc:     "Silences alerts like this one for some minutes.",
			Notes:   silencing + " An alert that is over can be silenced too: its next event is.",
			Example: `{"alert_id": "67a1c0de0000000a00000004", "minutes": 60}`,
			Do:      api.Do(r.silenceAlert),
		},
		{
			Path:    "/alert/silence/preview",
			Allow:   manage,
			Effect:  api.Snapshot,
			Rate:    ratelimit.Rate{PerSecond: 20, PerMinute: 100},
			Doc:     "Shows how many open alerts silences of this alert would cover now, by key and by labels.",
			Example: `{"alert_id": "67a1c0de0000000a00000004"}`,
			Do:      api.Do(r.previewSilenceOfAlert),
		},
		{
			Path:    "/alert/silence/list",
			Errors:  api.Missing("alert or incident"),
			Allow:   manage,
			Effect:  api.Snapshot,
			Doc:     "Lists the silences in force that responders have made from an alert or an incident.",
			Example: `{"alert_id": "67a1c0de0000000a00000004"}`,
			Do:      api.Do(r.listSilences),
		},
		{
			Path:    "/alert/silence/undo",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "alert:write:unsilence",
			Doc:     "Ends a silence that /alert/silence or /incident/silence has made.",
			Notes:   "Its rule is deleted, and the alerts that it held are decided again at once. A rule that was changed since is refused.",
			Example: `{"rule_id": "67a1c0de000000050000000a"}`,
			Do:      api.Do(r.undoSilence),
		},
		{
			Path:    "/incident/silence",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "incident:write:silence",
			Doc:     "Silences alerts like the open ones of an incident for some minutes.",
			Notes:   silencing + " By key it covers at most 500 alert keys.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "minutes": 60}`,
			Do:      api.Do(r.silenceIncident),
		},
		{
			Path:    "/incident/silence/preview",
			Allow:   manage,
			Effect:  api.Snapshot,
			Rate:    ratelimit.Rate{PerSecond: 20, PerMinute: 100},
			Doc:     "Shows how many open alerts silences of an incident's open alerts would cover now, by key and by labels.",
			Example: one,
			Do:      api.Do(r.previewSilenceOfIncident),
		},
		{
			Path:    "/incident/war-room/default-observers",
			Errors:  api.Private,
			Effect:  api.Snapshot,
			Doc:     "The persons who were once responsible for an incident and no longer are, whom a war room invites as observers.",
			Notes:   "In the order of their first assignment. Persons who have left the account are not among them.",
			Example: `{"incident_id": "67a1c0de0000000100000002"}`,
			Do:      api.Do(warRoomDefaultObservers),
		},
	})
}
