// Package incident keeps the incidents that alerts are merged into: what is done about them, by whom, and
// who has been responsible. What may be done when is a pure function (Station.After).
//
// It must never show an incident of a private channel to a caller outside the channel's team, and never do
// half of what a call asks for.
package incident

import (
	"embed"
	"log/slog"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service keeps incidents.
type Service struct {
	Bus       *activity.Bus
	CursorKey []byte // seals the places where pages end
	DB        *db.DB // of the job
	Log       *slog.Logger
}

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IncidentsRead}, []auth.Permission{auth.IncidentsManage}
	const one, some, together = `{"incident_id": "663a1b2c3d4e5f6789abcdf0"}`, `{"incident_ids": ["663a1b2c3d4e5f6789abcdf0"]}`, "All of them or none: when one cannot be, nothing is done."
	return api.WithReplies(golden, []api.Op{
		{Path: "/incident/create", Allow: manage, Effect: api.Write, Audit: "incident:write:create", Doc: "Opens an incident by hand.", Notes: "Without assigned_to the channel's escalation rules say who is told.",
			Example: `{"incident_severity": "Critical", "title": "Checkout is down", "channel_id": 1001}`, Do: api.Do(r.create)},
		{Path: "/incident/info", Allow: read, Effect: api.Snapshot, Doc: "Shows one incident.", Example: one, Do: api.Do(r.info)},
		{Path: "/incident/list", Allow: read, Effect: api.Snapshot, Doc: "Lists incidents by their beginning, page by page.", Example: `{"start_time": 1776000000, "end_time": 1778000000, "progress": "Triggered,Processing"}`, Do: api.Do(r.list)},
		{Path: "/incident/list-by-ids", Allow: read, Effect: api.Snapshot, Doc: "Shows several incidents, in the order of the request.", Notes: "It fails as a whole when one of them does not exist.", Example: some, Do: api.Do(r.listByIDs)},
		{Path: "/incident/alert/list", Allow: read, Effect: api.Snapshot, Doc: "Lists the alerts of an incident by their beginning.", Notes: "Without those of private channels that the caller may not read.", Example: one, Do: api.Do(r.alertList)},
		{Path: "/incident/feed", Allow: read, Effect: api.Snapshot, Doc: "Shows what happened to an incident, the newest first.", Example: one, Do: api.Do(r.feed)},
		{Path: "/incident/ack", Allow: manage, Effect: api.Write, Audit: "incident:write:ack", Doc: "Acknowledges incidents: the caller takes care.", Notes: "What is still to be told of them is cancelled. " + together, Example: some, Do: api.Do(r.ack)},
		{Path: "/incident/unack", Allow: manage, Effect: api.Write, Audit: "incident:write:unack", Doc: "Takes the caller's acknowledgement back.", Notes: "When nobody else has acknowledged, escalation begins anew. " + together, Example: some, Do: api.Do(r.unack)},
		{Path: "/incident/snooze", Allow: manage, Effect: api.Write, Audit: "incident:write:snooze", Doc: "Keeps incidents quiet for a while.", Notes: "Escalation stands still and goes on where it was. " + together, Example: `{"incident_ids": ["663a1b2c3d4e5f6789abcdf0"], "minutes": 30}`, Do: api.Do(r.snooze)},
		{Path: "/incident/wake", Allow: manage, Effect: api.Write, Audit: "incident:write:wake", Doc: "Ends a snooze.", Notes: together, Example: some, Do: api.Do(r.wake)},
		{Path: "/incident/resolve", Allow: manage, Effect: api.Write, Audit: "incident:write:resolve", Doc: "Closes incidents and their alerts.", Notes: together, Example: some, Do: api.Do(r.resolve)},
		{Path: "/incident/reopen", Allow: manage, Effect: api.Write, Audit: "incident:write:reopen", Doc: "Opens closed incidents again; escalation begins anew.", Notes: together, Example: some, Do: api.Do(r.reopen)},
		{Path: "/incident/merge", Allow: manage, Effect: api.Write, Audit: "incident:write:merge", Doc: "Makes the alerts of incidents those of another and closes the first.",
			Example: `{"source_incident_ids": ["663a1b2c3d4e5f6789abcdf1"], "target_incident_id": "663a1b2c3d4e5f6789abcdf0"}`, Do: api.Do(r.merge)},
		{Path: "/incident/disable-merge", Allow: manage, Effect: api.Write, Audit: "incident:write:disable-merge", Doc: "Lets no further alert join incidents by itself.", Notes: together, Example: some, Do: api.Do(r.disableMerge)},
		{Path: "/incident/assign", Allow: manage, Effect: api.Write, Audit: "incident:write:assign", Doc: "Makes others responsible, in place of those who are.", Notes: "Persons are told; an escalation rule escalates from layer_idx on. " + together,
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "assigned_to": {"person_ids": [11]}}`, Do: api.Do(r.assign)},
		{Path: "/incident/responder/add", Allow: manage, Effect: api.Write, Audit: "incident:write:add-responder", Doc: "Makes further persons responsible, and tells them.", Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "person_ids": [11]}`, Do: api.Do(r.addResponders)},
		{Path: "/incident/comment", Allow: manage, Effect: api.Write, Audit: "incident:write:comment", Doc: "Adds a comment to the feed of incidents.", Example: `{"incident_ids": ["663a1b2c3d4e5f6789abcdf0"], "comment": "Rolling back."}`, Do: api.Do(r.comment)},
		{Path: "/incident/reset", Allow: manage, Effect: api.Write, Audit: "incident:write:reset", Doc: "Changes what is said of an incident: only the members that are sent.", Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "impact": "Nobody can pay."}`, Do: api.Do(r.reset)},
		{Path: "/incident/field/reset", Allow: manage, Effect: api.Write, Audit: "incident:write:field-reset", Doc: "Sets a custom field of an incident.", Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "field_name": "impacted_region", "field_value": "eu"}`, Do: api.Do(r.resetField)},
		{Path: "/incident/remove", Allow: manage, Effect: api.Write, Audit: "incident:write:remove", Danger: true, Doc: "Removes incidents for good; open ones are closed first.", Notes: together, Example: some, Do: api.Do(r.remove)},
		{Path: "/alert/merge", Allow: manage, Effect: api.Write, Audit: "alert:write:merge", Doc: "Makes alerts those of an incident.", Notes: "An incident that they leave without any that is active is closed.",
			Example: `{"alert_ids": ["663a1b2c3d4e5f6789abcdef"], "incident_id": "663a1b2c3d4e5f6789abcdf0"}`, Do: api.Do(r.mergeAlerts)},
		{Path: "/alert/close", Allow: manage, Effect: api.Write, Audit: "alert:write:close", Doc: "Ends alerts by hand: the next event of their key begins another.", Notes: "An incident whose last alert it was is resolved. " + together,
			Example: `{"alert_ids": ["663a1b2c3d4e5f6789abcdef"]}`, Do: api.Do(r.closeAlerts)},
		{
			Path:    "/incident/war-room/default-observers",
			Effect:  api.Read,
			Doc:     "The persons who were once responsible for an incident and no longer are, whom a war room invites to observe.",
			Notes:   "In the order of their first assignment. Persons who have left the account are not among them.",
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0"}`,
			Do:      api.Do(warRoomDefaultObservers),
		},
	})
}
