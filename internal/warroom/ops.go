// Package warroom opens and closes war rooms: groups in a chat service where people work on an incident.
//
// It must never hold a transaction while it talks with a service, and never show the war room of a private
// channel's incident to a caller outside the channel's team.
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

// Service serves the operations on war rooms.
type Service struct {
	Keyring *secret.Keyring // opens the credentials of apps
	Bus     *activity.Bus
	Out     *egress.Client
}

// timeout is how long a service may take altogether: less than the server takes to answer a call.
const timeout = 40 * time.Second

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IncidentsRead}, []auth.Permission{auth.IncidentsManage}
	const chat = `{"integration_id": 6113996590131, "chat_id": "C0123456789"}`
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/incident/war-room/create",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "war_room:write:create",
			Doc:    "Opens a group in a chat service for an incident, with the caller and its responders.",
			Notes: "Where there is one with the integration already, that is answered and nothing is done. Whom the service does not know " +
				"is named in warnings. With add_observers those are invited too whom /incident/war-room/default-observers lists.",
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "integration_id": 6113996590131, "add_observers": true}`,
			Do:      api.DoAfter(r.ask, r.create),
		},
		{
			Path:    "/incident/war-room/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the war rooms of an incident, the oldest first.",
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0"}`,
			Do:      api.Do(list),
		},
		{
			Path:   "/incident/war-room/detail",
			Allow:  read,
			Effect: api.Snapshot,
			Doc:    "Shows a war room's group as its service has it now.",
			Notes: "{} when the service has it no more. When the service does not answer, or the app is disabled or gone, the group is " +
				"shown as it was when it was opened, and warnings say why.",
			Example: chat,
			Do:      api.DoAfter(r.see, detail),
		},
		{
			Path:   "/incident/war-room/delete",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "war_room:write:delete",
			Danger: true,
			Doc:    "Takes a war room away from its incident, and closes its group.",
			Notes: "Slack archives the channel, Feishu dissolves the group; in DingTalk and WeCom it stays, renamed, and warnings say so, " +
				"as they do when the service refuses. When trying again may help nothing is done, and the error says so. A dry run " +
				"asks no service.",
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0", "integration_id": 6113996590131, "dry_run": true}`,
			Do:      api.DoAfter(r.close, r.remove),
		},
		{
			Path:    "/incident/war-room/add-member",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "war_room:write:add-member",
			Doc:     "Adds persons to a war room's group.",
			Notes:   "Whom the service does not know is named in warnings.",
			Example: `{"integration_id": 6113996590131, "chat_id": "C0123456789", "member_ids": [11]}`,
			Do:      api.DoAfter(r.add, r.added),
		},
	})
}
