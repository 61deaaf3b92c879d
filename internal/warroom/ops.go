package warroom

import (
	"embed"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the dependencies of the operations on war rooms.
type Service struct {
	Keyring   *secret.Keyring // opens the credentials of apps
	Bus       *activity.Bus
	Out       *egress.Client
	PublicURL string // of the server, without a final slash; empty: not known
}

// timeout bounds all calls to a chat service in one request. It is shorter than the timeout of the request.
const timeout = 40 * time.Second

// Ops returns the operations of this package.
func (r *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IncidentsRead}, []auth.Permission{auth.IncidentsManage}
	const chat = `{"integration_id": 3846027470131, "chat_id": "C0123456789"}`
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/incident/war-room/create",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "war_room:write:create",
			Doc:    "Opens a group in a chat service for an incident, with the caller and its responders.",
			Notes: "If one is open with the integration already, it is returned and nothing is changed. Persons unknown to the service " +
				"are named in warnings. With add_observers the persons of /incident/war-room/default-observers are invited too.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "integration_id": 3846027470131, "add_observers": true}`,
			Do:      api.DoAfter(r.openGroup, r.create),
		},
		{
			Path:    "/incident/war-room/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the war rooms of an incident, the oldest first.",
			Example: `{"incident_id": "67a1c0de0000000100000002"}`,
			Do:      api.Do(list),
		},
		{
			Path:    "/datasource/im/war-room-enabled/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the chat integrations that war rooms are opened with: enabled, and with war_room_enabled.",
			Example: `{}`,
			Do:      api.Do(enabledList),
		},
		{
			Path:   "/incident/war-room/detail",
			Allow:  read,
			Effect: api.Snapshot,
			Doc:    "Shows the current state of a war room's group at its service.",
			Notes: "{} when the group no longer exists. When the service does not answer, or the app is disabled or deleted, the group is " +
				"shown as it was when it was opened, and warnings state why.",
			Example: chat,
			Do:      api.DoAfter(r.readGroup, detail),
		},
		{
			Path:   "/incident/war-room/delete",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "war_room:write:delete",
			Danger: true,
			Doc:    "Deletes a war room of an incident, and closes its group.",
			Notes: "Slack archives the channel, Feishu dissolves the group; in DingTalk and WeCom it stays, renamed, and warnings state so, " +
				"as they do when the service refuses. For a temporary failure nothing is changed and the call fails. A dry run " +
				"calls no service.",
			Example: `{"incident_id": "67a1c0de0000000100000002", "integration_id": 3846027470131, "dry_run": true}`,
			Do:      api.DoAfter(r.close, r.remove),
		},
		{
			Path:    "/incident/war-room/add-member",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "war_room:write:add-member",
			Doc:     "Adds persons to a war room's group.",
			Notes:   "Persons unknown to the service are named in warnings.",
			Example: `{"integration_id": 3846027470131, "chat_id": "C0123456789", "member_ids": [3846027201131]}`,
			Do:      api.DoAfter(r.add, r.added),
		},
	})
}
